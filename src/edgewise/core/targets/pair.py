"""The paper's target: the best pair of arms of every edge kind."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.aim import Aim
from edgewise.core.evidence.evidence import Evidence, gather, gather_phases, watch
from edgewise.core.evidence.measuring import ByRound, Total, all_of, as_rounds, with_present
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Regret
from edgewise.core.state import LearnerState
from edgewise.core.stopping import Anytime, StoppingRule, judge
from edgewise.core.stopping.rule import knows_ratio
from edgewise.core.strategies import Plan
from edgewise.core.targets import elimination
from edgewise.core.targets.forecast import HORIZON, Forecast
from edgewise.core.targets.needs import information_wanted, pooled
from edgewise.core.targets.target import Finding, nothing_open
from edgewise.core.targets.truth import Truth

if TYPE_CHECKING:
    from edgewise.core.report import Report
    from edgewise.core.setting import Setting

_MIXTURE_COST = 3.0
"""Typical price of the mixture in log E: what a rival needs beyond the threshold itself."""

_MARGIN = 1e-6

_PROJECTED = 32
"""So many of the weakest comparisons are projected: the others end earlier."""

_STEPS = 400
"""Rounds ahead at which a forecast asks the rule, up to the horizon."""


@dataclass(frozen=True)
class BestPair:
    """Reached when the rule refutes every rival of the leading pair of each kind."""

    name: str = "pair"

    def check(self, problem: Problem, plan: Plan, rule: StoppingRule) -> None:
        """Every rule compares pairs."""

    def is_due(self, setting: Setting, rounds: Indices) -> Mask:
        """When the rule says so."""
        return setting.rule.is_due(rounds)

    def look(
        self, setting: Setting, state: LearnerState, rounds: Indices, cumulative: ByRound
    ) -> Finding:
        """Compare the leaders with their rivals, or refute for good, as the rule does."""
        if isinstance(setting.rule, Anytime):
            present = cumulative[-1]
            return elimination.look(setting, setting.rule, state, int(rounds[-1]), present)
        kept = _promising(setting, state, rounds, cumulative)
        evidence = _evidence(setting, state, rounds[kept], cumulative[kept])
        strength = _strength(setting, evidence)
        position, verdict = judge(evidence, setting.plan.cells, strength)
        if verdict.stop or not verdict.pairs:
            return Finding(int(kept[position]), verdict, nothing_open)
        everything = all_of(state.closed, cumulative[kept][position])
        still_open = partial(_open, setting, everything, evidence, strength >= 1.0)
        return Finding(int(kept[position]), verdict, still_open)

    def forecast(self, setting: Setting, state: LearnerState) -> Forecast | None:
        r"""When the rule would stop if information kept growing as it has.

        After t rounds a comparison has the gap :math:`\hat\Delta` and the deviation s. At a later
        round t' its deviation is projected to :math:`s\sqrt{t/t'}`, the gap stays, and the rule is
        asked; the range comes from the gaps :math:`\hat\Delta \pm 2s`. None while some comparison
        has not been seen.
        """
        if isinstance(setting.rule, Anytime):
            return elimination.forecast(setting, setting.rule, state)
        evidence = _evidence(setting, state, np.array([state.rounds]), as_rounds(state.statistics))
        compared = evidence.gaps[0] < np.inf
        known = np.isfinite(evidence.gaps[0][compared]).all() and np.isfinite(evidence.noise[0])
        if (evidence.leaders < 0).any() or not known:
            return None
        weakest = np.argsort(_strength(setting, evidence)[0][compared], kind="stable")[:_PROJECTED]
        gaps = evidence.gaps[0][compared][weakest]
        variances = evidence.variances[0][compared][weakest]
        deviations = evidence.noise[0] * np.sqrt(variances)
        ahead = np.ceil(state.rounds * np.geomspace(1.0, HORIZON, _STEPS)).astype(np.int64)

        def further(shift: float) -> int | None:
            later = _projected(evidence, ahead, gaps + shift * deviations, variances)
            stops = np.flatnonzero(_strength(setting, later).min(axis=(1, 2)) >= 1.0)
            return max(1, int(ahead[stops[0]]) - state.rounds) if len(stops) else None

        return Forecast.within(further)

    def tolerance(self, epsilon: float | None, found: Allocation | None) -> float:  # noqa: ARG002
        """Per arc; none unless asked for."""
        return epsilon or 0.0

    def regret(self, report: Report) -> Regret | None:
        """A certified pair on every edge says more than confidence in all contrasts at once."""
        if not (report.certified and report.shows_best_everywhere):
            return None
        return Regret(report.epsilon * report.total_weight, 0.0)

    def claims(self, report: Report) -> tuple[str, ...]:
        """The pair, and what it says about the allocation."""
        if report.verdict.contradicted:
            return (
                f"Not certified: by round {report.verdict.round} every pair of arms of some kind "
                "was refuted, which happens with probability at most delta if the rewards follow "
                "the model with the stated noise. Check both, and the measurements.",
                report.regret_text,
            )
        if not report.certified:
            return (
                f"Not certified: after round {report.verdict.round} the evidence against "
                f"{report.rival_text} was at {report.verdict.progress:.0%} of what is needed.",
                report.regret_text,
            )
        slack = f" by more than {report.epsilon:g}" if report.epsilon else ""
        each = "" if len(report.best_pairs) == 1 else " of its kind"
        best = (
            f"{report.confidence_text}, no pair of arms beats {report.pairs_text} on an "
            f"edge{each}{slack}."
        )
        if report.shows_best_everywhere:
            total = report.epsilon * report.total_weight
            more = f" by more than {total:g} in total" if report.epsilon else ""
            every = "Every edge of the allocation shows the best pair, so no joint arm is better"
            return best, f"{every}{more}."
        half = (
            "Algorithm 1 (method='bipartite') with this pair gets at least half-way from the "
            "worst to the best global reward."
        )
        return best, half if report.problem.has_paper_setting else "", report.regret_text

    def is_correct(self, setting: Setting, state: LearnerState, truth: Truth) -> bool:
        """Whether the leading pair of every kind is within the tolerance of the best."""
        if not state.verdict.pairs:
            return False
        cells = setting.plan.cells
        means = cells.averages(truth.by_class(setting.problem))
        leaders = [cells.pair_index[k, l] for k, l in state.verdict.pairs]
        allowed = np.where(cells.showable, means, -np.inf)
        reached = allowed[np.arange(len(leaders)), leaders]
        slack = self.tolerance(setting.epsilon, None) + 1e-9 * np.abs(means).max(axis=1)
        return bool((reached >= allowed.max(axis=1) - slack).all())


def _evidence(
    setting: Setting, state: LearnerState, rounds: Indices, cumulative: ByRound
) -> Evidence:
    """From the present phase alone while it is the first; else pooled phase by phase."""
    problem, cells = setting.problem, setting.plan.cells
    noise = setting.noise_after(state.closed, cumulative)
    if len(state.closed):
        phases = with_present(state.closed, cumulative[-1])
        return gather_phases(problem, cells, int(rounds[-1]), phases, noise=noise[-1:])
    return gather(problem, cells, rounds, cumulative, noise=noise, ridge=setting.plan.ridge)


def _strength(setting: Setting, evidence: Evidence) -> Array:
    """(R, q, P) what the rule says about every rival."""
    epsilon = setting.target.tolerance(setting.epsilon, None)
    return setting.rule(evidence, delta=setting.contrast_delta, epsilon=epsilon)


def _promising(
    setting: Setting, state: LearnerState, rounds: Indices, cumulative: ByRound
) -> Indices:
    """Positions of the looks at which the closest rival so far may be refuted, and of the last.

    At the others the rule cannot stop. The margin covers rounding differences.
    """
    everyone = np.arange(len(rounds))
    rival = state.verdict.rival
    if len(rounds) == 1 or rival is None or not isinstance(cumulative, CellStatistics):
        return everyone
    evidence = watch(
        setting.problem,
        setting.plan.cells,
        rival,
        rounds,
        cumulative,
        noise=setting.noise_after(state.closed, cumulative),
        ridge=setting.plan.ridge,
        needed=_needed(setting, rounds),
    )
    keep = _strength(setting, evidence)[:, 0, 0] >= 1.0 - _MARGIN
    keep[-1] = True
    return everyone[keep]


def _needed(setting: Setting, rounds: Indices) -> Array | None:
    """(R,) squared standardised gap without which the rule surely goes on, if it says so."""
    if not knows_ratio(setting.rule) or setting.target.tolerance(setting.epsilon, None):
        return None
    n_arcs, n_arms = setting.problem.graph.n_arcs, setting.problem.n_arms
    needed = setting.rule.needed(rounds, n_arcs, n_arms, delta=setting.contrast_delta)
    return (1.0 - _MARGIN) * needed


def _open(setting: Setting, everything: Total, evidence: Evidence, refuted: Mask) -> Aim:
    """The rivals that are not refuted, at the one look that phases allow."""
    gaps, variances = pooled(setting, everything, evidence)
    kinds, rivals = np.nonzero(~refuted[0] & (variances > 0))
    log_odds = math.log(max(evidence.n_rivals, 1) / setting.contrast_delta)
    seen = np.isfinite(evidence.gaps[0, kinds, rivals])
    epsilon = setting.target.tolerance(setting.epsilon, None)
    return Aim.lacking(
        kinds,
        evidence.leaders[0, kinds],
        rivals,
        wanted=information_wanted(
            gaps[kinds, rivals] + epsilon,
            variances[kinds, rivals],
            float(evidence.noise[0]),
            log_odds + _MIXTURE_COST,
        ),
        had=np.where(seen, 1.0 / evidence.variances[0, kinds, rivals], 0.0),
    )


def _projected(evidence: Evidence, ahead: Indices, gaps: Array, variances: Array) -> Evidence:
    """Evidence (R, 1, T) after the rounds ahead (R,), for gaps and variances (T,) of today."""
    shrink = evidence.rounds[-1] / ahead
    shape = (len(ahead), 1, len(gaps))
    return replace(
        evidence,
        rounds=ahead,
        theta=np.full((len(ahead), 1, 0), np.nan),
        leaders=np.zeros((len(ahead), 1), np.int64),
        gaps=np.broadcast_to(gaps, shape).copy(),
        variances=shrink[:, None, None] * variances,
        noise=np.full(len(ahead), evidence.noise[-1]),
    )
