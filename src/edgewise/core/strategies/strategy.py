"""Strategies: how the joint arms of the coming rounds are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.choice import pick
from edgewise.core.design.g_optimal import Design, g_optimal
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.strategies.adaptive import AdaptivePhases
from edgewise.core.strategies.contrast import DecentralisedPhases
from edgewise.core.strategies.plan import IndependentNodes, Plan
from edgewise.errors import InvalidArgument


class Strategy(Protocol):
    """Makes the plan of a problem."""

    @property
    def name(self) -> str:
        """What users call it."""

    def __call__(self, problem: Problem, /) -> Plan:
        """Decide how the joint arms are chosen."""


@dataclass(frozen=True)
class Adaptive:
    """Phases laid out, as joint arms, for the rivals that are still open.

    The first phase sees every direction; each later one lasts ``growth`` times the rounds so far
    (at least one) and serves the contrasts between the leader and its open rivals, the
    worst-served most (``power``). Works on every graph. Nothing is
    drawn at random, except when missing rewards keep a phase from ending.
    """

    growth: float = 0.1
    power: float = 4.0
    name: str = "adaptive"

    def __post_init__(self) -> None:
        if not (self.growth > 0 and self.power > 0):
            raise InvalidArgument(
                f"growth is {self.growth} and power {self.power}; both must be above 0"
            )

    def __call__(self, problem: Problem, /) -> AdaptivePhases:
        """Prepare the layout."""
        return AdaptivePhases.of(problem, growth=self.growth, power=self.power)


@dataclass(frozen=True)
class Contrast:
    """Independent nodes whose laws serve the rivals that are still open.

    Phases as in :class:`Adaptive`, but nobody coordinates the nodes: in a phase each draws from
    the law of its candidate set, the best laws there are for the open contrasts, mixed with a
    share ``explore`` of the G-optimal ones. Nodes need a common seed, and the laws once a phase.
    """

    growth: float = 0.1
    explore: float = 0.05
    name: str = "contrast"

    def __post_init__(self) -> None:
        if not (self.growth > 0 and 0 < self.explore < 1):
            raise InvalidArgument(
                f"growth is {self.growth} and explore {self.explore}; growth must be above 0, "
                "explore between 0 and 1"
            )

    def __call__(self, problem: Problem, /) -> DecentralisedPhases:
        """Solve the designs of the first phase."""
        laws, _ = _g_optimal_laws(problem, tolerance=1e-6)
        return DecentralisedPhases.of(problem, laws, growth=self.growth, explore=self.explore)


@dataclass(frozen=True)
class GOptimal:
    r"""Nodes draw independently from the G-optimal design (Algorithm 2, symmetric form).

    The product of G-optimal node laws is G-optimal on the edges (Theorem 4.1). With candidate
    masks every node draws from the optimal design of its own candidates, in their span: together
    the laws reach every direction that some edge can show.

    An optimal design needs few arms, and what it never shows cannot contradict the model: with a
    probability of ``even`` a node draws from all its candidates alike.
    """

    tolerance: float = 1e-6
    even: float = 0.0
    name: str = "g-optimal"

    def __post_init__(self) -> None:
        if not 0.0 <= self.even <= 1.0:
            raise InvalidArgument(f"even is {self.even}; it is a probability, between 0 and 1")

    def __call__(self, problem: Problem, /) -> IndependentNodes:
        """Solve one design per candidate set."""
        laws, designs = _g_optimal_laws(problem, self.tolerance, even=self.even)
        return IndependentNodes(Cells.of(problem), laws, designs, "mixture")


@dataclass(frozen=True)
class Paper:
    """Algorithm 2 exactly as printed: the baseline everything is compared with.

    Frank-Wolfe design, ordered edge-arms with :math:`d^2` parameters, :math:`A_0 = I`, condition
    (5) after every round. When M is symmetric and the best edge-arm has two different arms,
    (x, x') and (x', x) tie and condition (5) can never be met: set a round budget.
    """

    tolerance: float = 1e-3
    name: str = "paper"

    def __call__(self, problem: Problem, /) -> IndependentNodes:
        """Solve the node design by plain Frank-Wolfe."""
        if problem.graph.directed or problem.graph.n_kinds > 1 or problem.candidates is not None:
            raise InvalidArgument(
                "strategy 'paper' needs the paper's setting: undirected edges of one kind and all "
                "arms at every node; use strategy='g-optimal' here"
            )
        design = g_optimal(
            _lifted(problem), tolerance=self.tolerance, method="frank-wolfe", project=True
        )
        laws = NodeLaws.of(design.weights, problem.candidate_sets.groups)
        return IndependentNodes(Cells.as_printed(problem), laws, (design,), "paper", ridge=1.0)


STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy for strategy in (Adaptive(), Contrast(), GOptimal(), Paper())
}


def sampling_strategy(choice: str | Strategy) -> Strategy:
    """The strategy of that name, or the strategy itself."""
    if callable(choice):
        return choice
    return pick(
        "strategy",
        choice,
        STRATEGIES,
        own="a strategy such as Safe(...) or of your own",
        argument="strategy",
    )


def _g_optimal_laws(
    problem: Problem, tolerance: float, *, even: float = 0.0
) -> tuple[NodeLaws, tuple[Design, ...]]:
    """One design per candidate set, and the nodes' laws: a share ``even`` goes to all arms."""
    arms = _lifted(problem)
    masks, groups = problem.candidate_sets
    designs = tuple(_design(arms[mask], tolerance) for mask in masks)
    weights = np.zeros(masks.shape)
    for row, mask, design in zip(weights, masks, designs, strict=True):
        row[mask] = (1.0 - even) * design.weights + even / mask.sum()
    return NodeLaws.of(weights, groups), designs


def _lifted(problem: Problem) -> Array:
    """The arms a design is made for: with a node term, (x, 1)."""
    coordinates = problem.whitening.coordinates
    if not problem.node_term:
        return coordinates
    return np.column_stack([coordinates, np.ones(len(coordinates))])


def _design(arms: Array, tolerance: float) -> Design:
    """G-optimal in the span; nodes that can only have zero arms reveal nothing and draw evenly."""
    if not arms.any():
        return Design(np.full(len(arms), 1.0 / len(arms)), 0.0, 0, 0, "none")
    return g_optimal(arms, tolerance=tolerance, project=True)
