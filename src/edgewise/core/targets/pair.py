"""The paper's target: the best pair of arms of every edge kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.evidence.evidence import Evidence, gather, watch
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.needs import Needs
from edgewise.core.state import LearnerState
from edgewise.core.stopping import judge
from edgewise.core.targets.target import Finding, nothing_open

if TYPE_CHECKING:
    from edgewise.core.setting import Setting

_MIXTURE_COST = 3.0
"""Typical price of the mixture in log E: what a rival needs beyond the threshold itself."""

_MARGIN = 1e-6


@dataclass(frozen=True)
class BestPair:
    """Reached when the rule refutes every rival of the leading pair of each kind."""

    def is_due(self, setting: Setting, rounds: Indices) -> Mask:
        """When the rule says so."""
        return setting.rule.is_due(rounds)

    def look(
        self, setting: Setting, state: LearnerState, rounds: Indices, cumulative: CellStatistics
    ) -> Finding:
        """Compare the leaders with their rivals."""
        kept = _promising(setting, state, rounds, cumulative)
        noise = setting.noise_after(state.closed, cumulative[kept])
        evidence = gather(
            setting.problem,
            setting.plan.cells,
            rounds[kept],
            cumulative[kept],
            noise=noise,
            closed=state.closed,
            ridge=setting.plan.ridge,
        )
        strength = setting.rule(evidence, delta=setting.contrast_delta, epsilon=setting.tolerance)
        position, verdict = judge(evidence, setting.plan.cells, strength)
        if verdict.stop or not verdict.pairs:
            return Finding(int(kept[position]), verdict, nothing_open)
        everything = state.closed.followed_by_all(cumulative[kept][position])
        needs = partial(_needs, setting, everything, evidence, strength >= 1.0)
        return Finding(int(kept[position]), verdict, needs)


def _promising(
    setting: Setting, state: LearnerState, rounds: Indices, cumulative: CellStatistics
) -> Indices:
    """Positions of the looks at which the closest rival so far may be refuted, and of the last.

    At the others the rule cannot stop. The margin covers rounding differences.
    """
    everyone = np.arange(len(rounds))
    if len(rounds) == 1 or state.verdict.rival is None:
        return everyone
    evidence = watch(
        setting.problem,
        setting.plan.cells,
        state.verdict.rival,
        rounds,
        cumulative,
        noise=setting.noise_after(state.closed, cumulative),
        ridge=setting.plan.ridge,
    )
    strength = setting.rule(evidence, delta=setting.contrast_delta, epsilon=setting.tolerance)
    keep = strength[:, 0, 0] >= 1.0 - _MARGIN
    keep[-1] = True
    return everyone[keep]


def _needs(
    setting: Setting, everything: CellStatistics, evidence: Evidence, refuted: Mask
) -> Needs:
    """The rivals that are not refuted, at the one look that phases allow."""
    gaps, variances = _pooled(setting, everything, evidence)
    kinds, rivals = np.nonzero(~refuted[0] & (variances > 0))
    log_odds = math.log(max(evidence.n_rivals, 1) / setting.contrast_delta)
    seen = np.isfinite(evidence.gaps[0, kinds, rivals])
    return Needs(
        kinds=kinds,
        leaders=evidence.leaders[0, kinds],
        rivals=rivals,
        wanted=_information_wanted(
            gaps[kinds, rivals] + setting.tolerance,
            variances[kinds, rivals],
            float(evidence.noise[0]),
            log_odds,
        ),
        had=np.where(seen, 1.0 / evidence.variances[0, kinds, rivals], 0.0),
    )


def _information_wanted(gaps: Array, variances: Array, sigma: float, log_odds: float) -> Array:
    r"""(T,) :math:`2\sigma^2 (\log\text{odds} + 3)/\Delta^2`, the gap never below its deviation.

    Everything alike while sigma is unknown.
    """
    if not math.isfinite(sigma):
        return np.ones(len(gaps))
    gap = np.maximum(gaps, sigma * np.sqrt(variances))
    wanted: Array = 2.0 * sigma**2 * (log_odds + _MIXTURE_COST) / gap**2
    return wanted


def _pooled(
    setting: Setting, everything: CellStatistics, evidence: Evidence
) -> tuple[Array, Array]:
    """(q, P) gaps to the leaders, and variances, by least squares on all rounds together.

    Only for planning: pooled estimates use every reward, but are not valid evidence once designs
    depend on rewards.
    """
    cells = setting.plan.cells
    means = cells.means(evidence.theta[0])
    kinds = np.arange(len(means))
    leaders = evidence.leaders[0]
    contrasts = cells.features[kinds, leaders][:, None] - cells.features
    gram = cells.padded(cells.grams(everything.information))
    images = np.linalg.solve(gram, contrasts.transpose(0, 2, 1)).transpose(0, 2, 1)
    variances = np.maximum((images * contrasts).sum(axis=2), 0.0)
    gaps = means[kinds, leaders][:, None] - means
    return gaps, variances
