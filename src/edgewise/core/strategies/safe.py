r"""Safe exploration: joint arms whose predicted reward stays close to that of a baseline.

A strategy proposes a joint arm; nodes are then sent back to the baseline, those with the worst
predicted loss first, until the prediction is good enough. Predictions rest on closed phases only,
so joint arms of a phase depend on earlier phases only, as the rule ``anytime`` asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from edgewise.base.arrays import Indices, Mask, frozen
from edgewise.core.design.g_optimal import Design
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.independent import GOptimal
from edgewise.core.strategies.phases import ShortPhases
from edgewise.core.strategies.plan import Plan
from edgewise.core.strategies.prediction import Change, Prediction
from edgewise.core.strategies.strategy import Strategy
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph


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
        The arm of every node in safe operation, such as the present one.
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

    baseline: Sequence[int]
    largest_loss: float
    worst_loss: float
    margin: float = 2.0
    strategy: Strategy = field(default_factory=GOptimal)
    phase: int = 5
    name: str = "safe"

    def __post_init__(self) -> None:
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
        return SafePhases(_checked_baseline(problem, self.baseline), self, inner)


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
        prediction = Prediction.of(problem, self.cells, self.baseline, _closed(self.cells, state))
        order = _return_order(
            problem.graph, prediction.change(proposed), proposed != self.baseline, state
        )
        arms = self._brought_back(prediction, proposed, order)
        arms.setflags(write=False)
        return arms

    def _brought_back(self, prediction: Prediction, proposed: Indices, order: Indices) -> Indices:
        """Bisection over how many of ``order`` return; all of them is always safe."""
        too_few, enough = -1, len(order)
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self._is_safe(prediction, self._returned(proposed, order[:middle])):
                enough = middle
            else:
                too_few = middle
        return self._returned(proposed, order[:enough])

    def _returned(self, proposed: Indices, nodes: Indices) -> Indices:
        arms = proposed.copy()
        arms[nodes] = self.baseline[nodes]
        return arms

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


def _return_order(graph: Graph, change: Change, moved: Mask, state: LearnerState) -> Indices:
    """Nodes in the order in which they return: known losses, then the unknown, then known gains.

    What is known to be bad teaches least. Among the unknown chance decides, lest the same nodes
    explore for ever; it is drawn by edge, because only two ends that both move show how their
    arms act together.
    """
    nodes = np.flatnonzero(moved)
    unknown = change.unknown_by_node[nodes] > 0.0
    effect = np.where(unknown, 0.0, change.by_node[nodes])
    group = np.where(unknown, 1, np.where(effect < 0.0, 0, 2))
    chance = np.random.default_rng((state.seed, state.rounds)).random(len(graph.edges))
    earliest = np.ones(graph.n_nodes)
    np.minimum.at(earliest, graph.edges, chance[:, None])
    return nodes[np.lexsort((-earliest[nodes], effect, group))]


def _closed(cells: Cells, state: LearnerState) -> CellStatistics:
    """(q, P) statistics of all phases that are over."""
    assert isinstance(state.closed, CellStatistics)  # __call__ has seen to it
    return state.closed.followed_by_all(CellStatistics.zero(cells))


def _checked_baseline(problem: Problem, baseline: Sequence[int]) -> Indices:
    arms = np.asarray(baseline, np.int32)
    n_nodes, n_arms = problem.graph.n_nodes, problem.n_arms
    if arms.shape != (n_nodes,) or not ((arms >= 0) & (arms < n_arms)).all():
        raise InvalidArgument(
            f"the baseline has shape {arms.shape}; give every one of the {n_nodes} nodes an arm "
            f"from 0 to {n_arms - 1}",
            argument="baseline",
        )
    masks, groups = problem.candidate_sets
    forbidden = np.flatnonzero(~masks[groups, arms])
    if len(forbidden):
        raise InvalidArgument(
            f"{len(forbidden)} node(s) may not have their baseline arm, the first is node "
            f"{forbidden[0]}; choose a baseline among the candidates",
            argument="baseline",
        )
    return frozen(arms, np.int32)
