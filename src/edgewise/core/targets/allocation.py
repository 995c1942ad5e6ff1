"""The target beyond the paper: a joint arm whose global reward is nearly the best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.request import Request
from edgewise.base.arrays import Indices, Mask
from edgewise.base.border import border
from edgewise.core.aim import Aim
from edgewise.core.evidence.estimated import estimated_objective
from edgewise.core.evidence.evidence import gather
from edgewise.core.evidence.measuring import (
    ByPhase,
    ByRound,
    Total,
    all_of,
    as_rounds,
    with_present,
)
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Answer, Regret
from edgewise.core.state import LearnerState
from edgewise.core.stopping import StoppingRule, Verdict, knows_widths
from edgewise.core.strategies import Plan
from edgewise.core.targets.forecast import HORIZON, Forecast
from edgewise.core.targets.levels import confidence, n_events
from edgewise.core.targets.regret_bound import (
    Comparison,
    bound_regret,
    compare,
    upper_bound,
)
from edgewise.core.targets.target import Finding, nothing_open
from edgewise.core.targets.truth import Truth
from edgewise.errors import InvalidArgument

if TYPE_CHECKING:
    from edgewise.core.report import Report
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


@border
@dataclass(frozen=True)
class BestAllocation:
    """Reached when the recommended joint arm is within epsilon of the best global reward.

    Without an epsilon, within ``share`` of the range of global rewards, as estimated.
    """

    share: float = 0.01
    name: str = "allocation"

    def check(self, problem: Problem, plan: Plan, rule: StoppingRule) -> None:  # noqa: ARG002
        """Only a rule with confidence widths can bound a regret."""
        if not bounds_regret(plan, rule):
            raise InvalidArgument(
                f"rule {rule.name!r} gives no confidence widths, so the global reward of an "
                "allocation cannot be certified with it; use stopping='anytime' or 'mixture', or "
                "target='pair'"
            )

    def is_due(self, setting: Setting, rounds: Indices) -> Mask:
        """When the rule says so; if that is always, on a geometric grid."""
        due = setting.rule.is_due(rounds)
        if not setting.rule.is_due(np.arange(1, _ALWAYS)).all():
            return due
        return on_grid(rounds) & due

    def look(
        self, setting: Setting, state: LearnerState, rounds: Indices, cumulative: ByRound
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
        cumulative: ByRound,
    ) -> Finding:
        number = int(rounds[position])
        present = cumulative[position]
        guess = recommend(
            setting,
            all_of(state.closed, present),
            with_present(state.closed, present),
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
        still_open = nothing_open if guess.reached else lambda: guess.open
        return Finding(position, verdict, still_open, Answer(guess.found.arms, guess.regret))

    def forecast(self, setting: Setting, state: LearnerState) -> Forecast | None:
        r"""When widths will have shrunk enough: to a share f at round :math:`t/f^2`.

        The range comes from two standard errors of the worst case's loss.
        """
        if not state.verdict.pairs or state.verdict.stalled:
            return None
        if state.verdict.progress >= NEARLY:  # the bound is too loose, not the estimate
            return Forecast(None, None, None)
        assert knows_widths(setting.rule)  # check has seen to it
        log_odds = math.log(n_events(setting.problem, setting.plan.cells) / setting.contrast_delta)
        one = setting.rule.contrast_width(np.ones(1), rounds=state.rounds, log_odds=log_odds)
        share, per_deviation = math.sqrt(state.verdict.progress), float(one[0])

        def further(shift: float) -> int | None:
            needed = share + shift / per_deviation
            if needed <= HORIZON**-0.5:
                return None
            return max(1, math.ceil(state.verdict.round / needed**2) - state.rounds)

        return Forecast.within(further)

    def tolerance(self, epsilon: float | None, found: Allocation | None) -> float:
        """In units of the global reward."""
        return tolerated(epsilon, self.share, found)

    def regret(self, report: Report) -> Regret | None:  # noqa: ARG002
        """Nothing beyond the widths."""
        return None

    def claims(self, report: Report) -> tuple[str, ...]:
        """What is certified is the regret."""
        short = f"Not certified: a regret of {report.epsilon:.4g} was asked for."
        return "" if report.certified else short, report.regret_text

    def is_correct(self, setting: Setting, state: LearnerState, truth: Truth) -> bool:
        """Whether the regret is within its bound, as far as the best joint arm is known."""
        if state.answer is None:
            return False
        objective = truth.objective(setting.problem)
        best = solve(objective, Request(bound=None)).value
        reached = objective.value(state.answer.arms)
        return reached >= best - state.answer.regret.bound - 1e-9 * abs(best)


@dataclass(frozen=True, eq=False)
class Proposal:
    """A joint arm, what its regret may be, and what would reduce it."""

    found: Allocation
    regret: Regret
    tolerance: float
    pairs: tuple[tuple[int, int], ...]
    """The leading pair of arms of each kind."""
    share: float
    """By how much all widths would have to shrink: at 1 the tolerance is met."""
    open: Aim
    """The contrasts that the worst case is made of."""

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


def recommend(setting: Setting, everything: Total, phases: ByPhase, number: int) -> Proposal | None:
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
    sigma = math.inf
    if len(phases):
        sigma = float(setting.noise_after(phases[:-1], as_rounds(phases[-1]))[0])
    evidence = gather(problem, cells, np.array([number]), everything[None], noise=np.array([sigma]))
    leaders = evidence.leaders[0]
    if (leaders < 0).any():
        return None
    objective = estimated_objective(problem, cells, evidence.theta[0])
    found = solve(objective, Request())
    sure = confidence(setting, phases, number, sigma)
    comparison = compare(problem, cells, phases, leaders, found.arms, sure)
    tolerance = setting.target.tolerance(setting.epsilon, found)
    regret, worst = bound_regret(problem, cells, comparison, found, effort="fast")
    loose = worst.value <= tolerance or _is_optimisation(regret)
    if loose and regret.bound > tolerance:  # perhaps only the bound is too loose
        most = upper_bound(objective, "tight")
        found = replace(found, upper_bound=max(found.value, min(found.upper_bound, most)))
        regret, worst = bound_regret(problem, cells, comparison, found, effort="tight")
    share, still_open = _open(setting, comparison, found.arms, worst.arms, tolerance)
    pairs = tuple((int(k), int(l)) for k, l in cells.pairs[leaders])
    return Proposal(found, regret, tolerance, pairs, share, still_open)


def _open(
    setting: Setting, comparison: Comparison, ours: Indices, worst: Indices, tolerance: float
) -> tuple[float, Aim]:
    """By how much widths must shrink, and the contrasts that the worst case is made of.

    They must shrink together until its loss, by the estimate, and the tolerance cover them. Other
    contrasts matter only if they make a worse case, and then the next look will say so.
    """
    problem, cells = setting.problem, setting.plan.cells
    graph, rows = problem.classes.graph, comparison.edges
    pairs = cells.pair_index[worst[graph.edges[:, 0]], worst[graph.edges[:, 1]]]
    weights, directions = graph.weight_of_edge, float(graph.n_directions)
    loss = -directions * float((weights * comparison.gaps[rows, pairs]).sum())
    width = directions * float((np.abs(weights) * comparison.above[rows, pairs]).sum())
    if cells.own is not None:
        changed = (problem.kind_of_node, ours, worst)
        loss -= float(comparison.own_gaps[changed].sum())
        width += float(comparison.own_above[changed].sum())
    share = _share(loss + tolerance, width) if comparison.is_known else 0.0
    critical = np.zeros(comparison.variances.shape, np.bool_)
    critical[rows, pairs] = comparison.variances[rows, pairs] > 0
    shown, rivals = np.nonzero(critical)
    had = 1.0 / comparison.variances[shown, rivals]
    return share, Aim.lacking(
        comparison.kinds[shown],
        comparison.shown[shown],
        rivals,
        wanted=had / min(max(share, _LEAST_SHARE), 1.0) ** 2,
        had=had,
    )


def _share(room: float, width: float) -> float:
    """Which part of the width of the worst case there is room for; all of none."""
    if width == 0.0:
        return 1.0 if room >= 0.0 else 0.0
    return max(room / width, 0.0)


def on_grid(rounds: Indices) -> Mask:
    """(R,) whether each round is on a geometric grid: for looks that cost a search."""
    steps = math.ceil(math.log(int(rounds[-1]) + 1.0) / math.log(_GROWTH))
    grid = np.ceil(_GROWTH ** np.arange(steps + 1)).astype(np.int64)
    return np.isin(rounds, grid)


def tolerated(epsilon: float | None, share: float, found: Allocation | None) -> float:
    """Epsilon, or else a share of the range of global rewards, as estimated."""
    if epsilon is not None or found is None:
        return epsilon or 0.0
    return share * (found.upper_bound - found.lower_bound)


def bounds_regret(plan: Plan, rule: StoppingRule) -> bool:
    """Whether what an allocation may miss can be bounded: widths, around an unbiased estimate."""
    return knows_widths(rule) and plan.ridge == 0
