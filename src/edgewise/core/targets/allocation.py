"""The target beyond the paper: a joint arm whose global reward is nearly the best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.request import Request
from edgewise.base.arrays import Indices, Mask
from edgewise.core.evidence.evidence import gather
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.problem import Problem
from edgewise.core.needs import Needs
from edgewise.core.state import Answer, LearnerState, Regret
from edgewise.core.stopping import ConfidenceRule, Verdict
from edgewise.core.targets.regret import Comparison, bound_regret, compare, n_events, upper_bound
from edgewise.core.targets.target import Finding, nothing_open

if TYPE_CHECKING:
    from edgewise.core.setting import Setting

NEARLY = 0.999
"""Progress when the worst case met is within the tolerance, and only a proof is missing."""
_GROWTH = 1.1
"""Ratio of successive looks where the rule would look after every round: looks cost a search."""
_ALWAYS = 33
"""A rule that looks after each of the first rounds looks after all."""
_LEAST_SHARE = 0.1
"""No contrast is asked for more than the square of 1/this times what is known."""
_STALLED = 0.1
"""Once so little of the regret is estimation, more rounds do not help."""


@dataclass(frozen=True)
class BestAllocation:
    """Reached when the recommended joint arm is within epsilon of the best global reward."""

    def is_due(self, setting: Setting, rounds: Indices) -> Mask:
        """When the rule says so; if that is always, on a geometric grid."""
        due = setting.rule.is_due(rounds)
        if not setting.rule.is_due(np.arange(1, _ALWAYS)).all():
            return due
        steps = math.ceil(math.log(int(rounds[-1]) + 1.0) / math.log(_GROWTH))
        grid = np.ceil(_GROWTH ** np.arange(steps + 1)).astype(np.int64)
        return np.isin(rounds, grid) & due

    def look(
        self, setting: Setting, state: LearnerState, rounds: Indices, cumulative: CellStatistics
    ) -> Finding:
        """Recommend a joint arm after each round and bound its regret."""
        for position in range(len(rounds)):
            found = self._one_look(setting, state, position, rounds, cumulative)
            if found.verdict.stop:
                return found
        return found

    def _one_look(
        self,
        setting: Setting,
        state: LearnerState,
        position: int,
        rounds: Indices,
        cumulative: CellStatistics,
    ) -> Finding:
        number = int(rounds[position])
        present = cumulative[position]
        guess = recommend(
            setting,
            state.closed.followed_by_all(present),
            state.closed.with_another(present),
            number,
        )
        if guess is None:
            return Finding(position, Verdict(False, number, (), None, 0.0), nothing_open)
        verdict = Verdict(
            stop=guess.reached,
            round=number,
            pairs=guess.pairs,
            rival=None,
            progress=1.0 if guess.reached else min(guess.share**2, NEARLY),
            stalled=guess.stalled,
        )
        needs = nothing_open if guess.reached else lambda: guess.needs
        return Finding(position, verdict, needs, Answer(guess.found.arms, guess.regret))


@dataclass(frozen=True, eq=False)
class Recommendation:
    """A joint arm, what its regret may be, and what would reduce it."""

    found: Allocation
    regret: Regret
    tolerance: float
    pairs: tuple[tuple[int, int], ...]
    """The leading pair of arms of each kind."""
    share: float
    """By how much all widths would have to shrink: at 1 the tolerance is met."""
    needs: Needs

    @property
    def reached(self) -> bool:
        """Whether the regret is within the tolerance."""
        return self.regret.bound <= self.tolerance

    @property
    def stalled(self) -> bool:
        """Whether what is left is optimisation, which no round can reduce."""
        return not self.reached and _is_optimisation(self.regret)


def _is_optimisation(regret: Regret) -> bool:
    """Whether next to nothing of the regret is estimation; unknown while the noise has no bound."""
    return math.isfinite(regret.bound) and regret.estimation <= _STALLED * regret.bound


def recommend(
    setting: Setting, everything: CellStatistics, phases: CellStatistics, number: int
) -> Recommendation | None:
    """The best allocation for the estimate, with its regret; None if not estimable yet.

    Parameters
    ----------
    setting
        With a rule that knows confidence widths.
    everything
        (q, P) statistics of all rounds: what is estimated from.
    phases
        (J, q, P) statistics phase by phase, as far as the rule may look at them.
    number
        The last round.
    """
    problem, cells = setting.problem, setting.plan.cells
    assert isinstance(setting.rule, ConfidenceRule)  # Setting.of has seen to it
    rule = setting.rule
    known = len(phases.information) > 0
    sigma = float(setting.noise_after(phases[:-1], phases[-1:])[0]) if known else math.inf
    evidence = gather(problem, cells, np.array([number]), everything[None], noise=np.array([sigma]))
    leaders = evidence.leaders[0]
    if (leaders < 0).any():
        return None
    tables = cells.tables(evidence.theta[0])
    found = solve(Objective.of(problem.graph, tables, problem.candidates), Request())
    log_odds = math.log(n_events(problem, cells) / setting.contrast_delta)
    comparison = compare(
        problem,
        cells,
        phases,
        leaders,
        found.arms,
        lambda variances: sigma * rule.width(variances, rounds=number, log_odds=log_odds),
    )
    tolerance = setting.tolerance_for(found)
    regret, worst = bound_regret(problem, cells, comparison, found, effort="fast")
    loose = worst.value <= tolerance or _is_optimisation(regret)
    if loose and regret.bound > tolerance:  # perhaps only the bound is too loose
        most = upper_bound(Objective.of(problem.graph, tables, problem.candidates), "tight")
        found = replace(found, upper_bound=max(found.value, min(found.upper_bound, most)))
        regret, worst = bound_regret(problem, cells, comparison, found, effort="tight")
    share, needs = _needs(problem, cells.pair_index, comparison, worst.arms, tolerance)
    pairs = tuple((int(k), int(l)) for k, l in cells.pairs[leaders])
    return Recommendation(found, regret, tolerance, pairs, share, needs)


def _needs(
    problem: Problem,
    pair_index: Indices,
    comparison: Comparison,
    worst: Indices,
    tolerance: float,
) -> tuple[float, Needs]:
    """By how much widths must shrink, and the contrasts that the worst case is made of.

    They must shrink together until its loss, by the estimate, and the tolerance cover them. Other
    contrasts matter only if they make a worse case, and then the next look will say so.
    """
    graph, rows = problem.graph, comparison.edges
    pairs = pair_index[worst[graph.edges[:, 0]], worst[graph.edges[:, 1]]]
    weights = np.ones(len(pairs)) if graph.weights is None else graph.weights
    directions = 1.0 if graph.directed else 2.0
    loss = -directions * float((weights * comparison.gaps[rows, pairs]).sum())
    width = directions * float((np.abs(weights) * comparison.widths[rows, pairs]).sum())
    share = _share(loss + tolerance, width) if np.isfinite(comparison.widths).all() else 0.0
    critical = np.zeros(comparison.variances.shape, np.bool_)
    critical[rows, pairs] = comparison.variances[rows, pairs] > 0
    shown, rivals = np.nonzero(critical)
    had = 1.0 / comparison.variances[shown, rivals]
    return share, Needs(
        kinds=comparison.kinds[shown],
        leaders=comparison.shown[shown],
        rivals=rivals,
        wanted=had / min(max(share, _LEAST_SHARE), 1.0) ** 2,
        had=had,
    )


def _share(room: float, width: float) -> float:
    """Which part of the width of the worst case there is room for; all of none."""
    if width == 0.0:
        return 1.0 if room >= 0.0 else 0.0
    return max(room / width, 0.0)
