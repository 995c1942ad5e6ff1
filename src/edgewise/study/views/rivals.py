r"""How far rivals of the leading pair of arms are behind, as phase after phase came in.

.. math:: z = \frac{W}{\sigma\sqrt{I}}, \qquad W = \sum_j D_j / s_j^2, \quad I = \sum_j 1 / s_j^2

over the phases up to a round: the difference to a rival in standard errors. Phases are kept in the
state, so that nothing is read again, however many rounds there were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.wording import harmless
from edgewise.core.evidence.duels import meet
from edgewise.core.evidence.measuring import as_rounds, with_present
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.study.log.fold import StudyState

MOST = 5
"""Rivals that are shown, the closest."""


@dataclass(frozen=True, eq=False)
class Rivals:
    """The rivals that are closest now, at the end of every phase and now."""

    leader: str
    names: tuple[str, ...]
    rounds: Indices
    """(T,)"""
    behind: Array
    """(T, R) standard errors behind the pair that leads now; NaN while it cannot be estimated."""


def rivals_of(setting: Setting, state: StudyState) -> Rivals | None:
    """Of the kind of edges with the closest rival; None while no pair leads, or none is a rival."""
    cells, learner = setting.plan.cells, state.learner
    verdict = learner.verdict
    if not verdict.pairs or not learner.rounds:
        return None
    kind = 0 if verdict.rival is None else verdict.rival[0]
    leader = cells.pair_index[verdict.pairs[kind]]
    others = np.flatnonzero(cells.showable[kind])
    others = others[others != leader]
    phases = with_present(learner.closed, learner.statistics)
    sigma = float(setting.noise_after(learner.closed, as_rounds(learner.statistics))[-1])
    contrasts = cells.features[kind][leader] - cells.features[kind][others]
    normal = phases.normal(cells, kind)
    ends = [*state.phase_ends, learner.rounds][: len(normal)]
    behind = np.array([_behind(contrasts, normal[: j + 1], sigma) for j in range(len(ends))])
    if not np.isfinite(behind[-1]).any():
        return None
    chosen = np.argsort(behind[-1], kind="stable")[:MOST]  # NaN comes last
    return Rivals(
        _named(setting.problem, cells.pairs[leader]),
        tuple(_named(setting.problem, cells.pairs[others[one]]) for one in chosen),
        np.array(ends),
        behind[:, chosen],
    )


def _behind(contrasts: Array, phases: list[tuple[Array, Array]], sigma: float) -> Array:
    """(R,) in standard errors, NaN where nothing is known."""
    met = meet(contrasts, phases)
    seen = (met.information > 0) & np.isfinite(sigma)
    return np.where(seen, met.score / np.sqrt(np.where(seen, met.information, 1.0)) / sigma, np.nan)


def _named(problem: Problem, pair: Indices) -> str:
    names = problem.arm_labels or tuple(range(problem.n_arms))
    return harmless(f"({names[pair[0]]}, {names[pair[1]]})")
