r"""Safe exploration: joint arms whose predicted reward stays close to that of a baseline.

A strategy proposes a joint arm; nodes are then sent back to the baseline, those with the worst
predicted loss first, until the prediction is good enough. Predictions rest on closed phases only,
so joint arms of a phase depend on earlier phases only, as the rule ``anytime`` asks for.

Around a strategy whose changes are limited, nodes go back as far as those limits allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from edgewise.base.arrays import Indices, Mask
from edgewise.base.border import border
from edgewise.core.design.g_optimal import Design
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells
from edgewise.core.model.options import checked_baseline
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.independent import GOptimal
from edgewise.core.strategies.limits.chance import lots
from edgewise.core.strategies.limits.prediction import Change, Prediction
from edgewise.core.strategies.limits.reach import HasReach
from edgewise.core.strategies.phases import ShortPhases
from edgewise.core.strategies.plan import Plan, trusted_by
from edgewise.core.strategies.strategy import Strategy
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph


@border
@dataclass(frozen=True)
class Safe:
    r"""Explores without losing more than ``largest_loss`` against a baseline, by prediction.

    Every joint arm deployed satisfies

    .. math:: \hat\Delta - \text{margin}\cdot s - \text{worst\_loss}\cdot u \ge
              -\text{largest\_loss},

    with :math:`\hat\Delta` the predicted difference in global reward to the baseline, s its
    standard error, and u the number of arcs (by weight) whose change cannot be predicted from the
    phases closed so far. At first nothing can be predicted and few nodes leave the baseline;
    the more is known, the more move.

    Parameters
    ----------
    baseline
        The arm of every node in safe operation; by default the problem's, which is today's.
    largest_loss
        Largest predicted loss of a round against the baseline, in units of global reward.
    worst_loss
        What an arc of unit weight may lose when its arms change in a way never tried, on average
        over such arcs of a round: an assumption of yours, on which the first rounds rest.
    margin
        Standard errors to subtract from predictions.
    strategy
        Proposes joint arms.
    phase
        Rounds after which predictions are renewed.
    """

    baseline: Sequence[int] | None = None
    largest_loss: float = field(kw_only=True)
    worst_loss: float = field(kw_only=True)
    margin: float = 2.0
    strategy: Strategy = field(default_factory=GOptimal)
    phase: int = 5
    name: str = "safe"

    def __post_init__(self) -> None:
        if self.baseline is not None:
            object.__setattr__(self, "baseline", tuple(int(arm) for arm in self.baseline))
        if not (self.largest_loss >= 0 and self.worst_loss > 0 and self.margin >= 0):
            raise InvalidArgument(
                f"largest_loss is {self.largest_loss}, worst_loss {self.worst_loss} and margin "
                f"{self.margin}; worst_loss must be above 0, the others at least 0"
            )
        if self.phase < 1:
            raise InvalidArgument(f"phase is {self.phase}; it must be at least 1 round")

    def __call__(self, problem: Problem, /) -> SafePhases:
        """Check the baseline and prepare the strategy."""
        if problem.noise == "estimate":
            raise InvalidArgument(
                "the problem says noise='estimate', and predictions need its size; state the "
                "noise, e.g. dataclasses.replace(problem, noise=1.0)",
                argument="noise",
            )
        if not problem.is_plain:
            raise InvalidArgument(
                "Safe predicts from rewards per arc, with one matrix per kind and no levels; use "
                "another strategy for this problem"
            )
        inner = self.strategy(problem)
        if inner.ridge > 0:
            raise InvalidArgument(
                f"strategy {self.strategy.name!r} starts from A_0 = I, which biases predictions; "
                "use GOptimal() or Adaptive() inside Safe"
            )
        return SafePhases(_baseline_of(problem, self.baseline), self, inner)


@dataclass(frozen=True, eq=False)
class SafePhases:
    """The plan of :class:`Safe`: the inner plan's proposals, brought back as far as needed."""

    baseline: Indices
    """(n,)"""
    limits: Safe
    inner: Plan
    stopping: str = "anytime"
    ridge: float = 0.0

    @property
    def phasing(self) -> ShortPhases:
        """Those of the inner plan, short enough for predictions to be renewed often."""
        return ShortPhases(self.inner.phasing, self.limits.phase)

    @property
    def cells(self) -> Cells:
        """Those of the inner plan."""
        return self.inner.cells

    @property
    def designs(self) -> tuple[Design, ...]:
        """None: what is deployed is not drawn from a design."""
        return ()

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        """The inner plan's proposal, with nodes sent back until it is safe."""
        proposed = self.inner.joint_arm(problem, state)
        home, late = self._home(problem, state, proposed)
        prediction = Prediction.of(problem, self.cells, self.baseline, _closed(self.cells, state))
        change = prediction.change(proposed)
        order = _return_order(problem.graph, change, proposed != home, late, state)
        arms = self._brought_back(prediction, proposed, home, order)
        arms.setflags(write=False)
        return arms

    def trusted(self, problem: Problem, state: LearnerState) -> Mask | None:
        """The inner plan's."""
        return trusted_by(self.inner, problem, state)

    def _home(
        self, problem: Problem, state: LearnerState, proposed: Indices
    ) -> tuple[Indices, Mask]:
        """Where nodes return to (n,): the baseline, or as near as limits on change allow.

        And who must return last (n,), lest too many nodes change: those that only do to return.
        """
        if not isinstance(self.inner, HasReach):
            return self.baseline, np.zeros(len(self.baseline), np.bool_)
        reach = self.inner.reach(problem, state)
        return reach.back(self.baseline), proposed == reach.deployed

    def _brought_back(
        self, prediction: Prediction, proposed: Indices, home: Indices, order: Indices
    ) -> Indices:
        """Bisection over how many of ``order`` return: all of them if no fewer are safe."""
        too_few, enough = -1, len(order)
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self._is_safe(prediction, _returned(proposed, home, order[:middle])):
                enough = middle
            else:
                too_few = middle
        return _returned(proposed, home, order[:enough])

    def _is_safe(self, prediction: Prediction, arms: Indices) -> bool:
        limits = self.limits
        worst = prediction.change(arms).at_worst(margin=limits.margin, worst_loss=limits.worst_loss)
        return worst >= -limits.largest_loss

    def to_tree(self) -> dict[str, Any]:
        """The inner plan's."""
        return self.inner.to_tree()

    def from_tree(self, tree: Mapping[str, Any]) -> SafePhases:
        """With what the inner plan stored."""
        return replace(self, inner=self.inner.from_tree(tree))


def _returned(proposed: Indices, home: Indices, nodes: Indices) -> Indices:
    arms = proposed.copy()
    arms[nodes] = home[nodes]
    return arms


def _return_order(
    graph: Graph, change: Change, moved: Mask, late: Mask, state: LearnerState
) -> Indices:
    """Nodes in the order in which they return: known losses, then the unknown, then known gains.

    What is known to be bad teaches least. Among the unknown chance decides, lest the same nodes
    explore for ever.
    """
    nodes = np.flatnonzero(moved)
    unknown = change.unknown_by_node[nodes] > 0.0
    effect = np.where(unknown, 0.0, change.by_node[nodes])
    group = np.where(unknown, 1, np.where(effect < 0.0, 0, 2))
    return nodes[np.lexsort((-lots(graph, state)[nodes], effect, group, late[nodes]))]


def _closed(cells: Cells, state: LearnerState) -> CellStatistics:
    """(q, P) statistics of all phases that are over."""
    assert isinstance(state.closed, CellStatistics)  # __call__ has seen to it
    return state.closed.followed_by_all(CellStatistics.zero(cells))


def _baseline_of(problem: Problem, baseline: Sequence[int] | None) -> Indices:
    """The strategy's own, or the problem's."""
    own = checked_baseline(baseline, problem.candidate_sets)
    found = problem.baseline if own is None else own
    if found is None:
        raise InvalidArgument(
            "neither Safe nor the problem has a baseline to stay close to; pass "
            "Problem(..., baseline=...), the arm of every node today",
            argument="baseline",
        )
    return found
