"""Strategies whose nodes draw independently, from laws fixed in advance: Algorithm 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices
from edgewise.base.border import border
from edgewise.core.design.g_optimal import Design, g_optimal
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.evidence.statistics import count_rounds
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.phases import OnePhase
from edgewise.errors import InvalidArgument

_EVEN_WITH_LEVELS = 0.25


@border
@dataclass(frozen=True)
class GOptimal:
    r"""Nodes draw independently from the G-optimal design (Algorithm 2, symmetric form).

    The product of G-optimal node laws is G-optimal on the edges (Theorem 4.1). With candidate
    masks every node draws from the optimal design of its own candidates, in their span: together
    the laws reach every direction that some edge can show.

    An optimal design needs few arms, and what it never shows cannot contradict the model: with a
    probability of ``even`` a node draws from all its candidates alike. Where every channel has a
    level, that probability is at least 1/4: fewer arms could not tell levels from matrices.
    """

    tolerance: float = 1e-6
    even: float = 0.0
    name: str = "g-optimal"

    def __post_init__(self) -> None:
        if not 0.0 <= self.even <= 1.0:
            raise InvalidArgument(f"even is {self.even}; it is a probability, between 0 and 1")

    def __call__(self, problem: Problem, /) -> IndependentNodes:
        """Solve one design per candidate set."""
        even = max(self.even, _EVEN_WITH_LEVELS if problem.has_channel_levels else 0.0)
        laws, designs = g_optimal_laws(problem, self.tolerance, even=even)
        return IndependentNodes(Cells.of(problem), laws, designs, "mixture")


@border
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
        graph, candidates = problem.graph, problem.candidates
        if graph.directed or graph.n_kinds > 1 or candidates is not None or not problem.is_plain:
            raise InvalidArgument(
                "strategy 'paper' needs the paper's setting: undirected edges of one kind and all "
                "arms at every node; use strategy='g-optimal' here"
            )
        design = g_optimal(
            _lifted(problem), tolerance=self.tolerance, method="frank-wolfe", project=True
        )
        laws = NodeLaws.of(design.weights, problem.candidate_sets.groups)
        return IndependentNodes(Cells.as_printed(problem), laws, (design,), "paper", ridge=1.0)


@dataclass(frozen=True, eq=False)
class IndependentNodes:
    """The plan of both: one phase that never ends."""

    cells: Cells
    laws: NodeLaws
    designs: tuple[Design, ...]
    stopping: str
    ridge: float = 0.0
    phasing: OnePhase = field(default_factory=OnePhase)

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:  # noqa: ARG002
        """A pure function of (seed, round, node)."""
        return self.laws.draw(seed=state.seed, round=state.rounds + 1)

    def count_ahead(
        self, problem: Problem, state: LearnerState, n_rounds: int
    ) -> tuple[NDArray[np.int64], Array]:
        """All rounds asked for, in one go."""
        return count_rounds(
            problem.graph,
            self.cells,
            self.laws,
            seed=state.seed,
            first_round=state.rounds + 1,
            n_rounds=n_rounds,
        )

    def to_tree(self) -> dict[str, Any]:
        """The laws: another machine may solve the design to other last digits."""
        return {"laws": self.laws.weights.copy()}

    def from_tree(self, tree: Mapping[str, Any]) -> IndependentNodes:
        """With the laws that were stored."""
        return replace(self, laws=self.laws.reweighted(tree["laws"]))


def g_optimal_laws(
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
    """The arms a design is made for: (x, 1) if a term of one end, or a level, adds to x'Mx.

    Otherwise a design may show so few arms that such terms cannot be told from M.
    """
    coordinates = problem.whitening.coordinates
    if not (problem.node_term or problem.own_term or problem.levels != "none"):
        return coordinates
    return np.column_stack([coordinates, np.ones(len(coordinates))])


def _design(arms: Array, tolerance: float) -> Design:
    """G-optimal in the span; nodes that can only have zero arms reveal nothing and draw evenly."""
    if not arms.any():
        return Design(np.full(len(arms), 1.0 / len(arms)), 0.0, 0, 0, "none")
    return g_optimal(arms, tolerance=tolerance, project=True)
