"""Strategies: how the joint arms of the coming rounds are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from edgewise.core.arrays import Array
from edgewise.core.cells import Cells
from edgewise.core.design.g_optimal import Design, g_optimal
from edgewise.core.problem import Problem
from edgewise.core.sampling import NodeLaws
from edgewise.errors import InvalidArgument


@dataclass(frozen=True, eq=False)
class Plan:
    """What a strategy decided: the model it fits and the law its nodes draw from."""

    cells: Cells
    laws: NodeLaws
    designs: tuple[Design, ...]
    """One per distinct candidate set; a single one when every node may have every arm."""
    stopping: str
    """The stopping rule that belongs to the strategy when the user names none."""
    ridge: float = 0.0
    """rho in A_0 = rho I."""


class Strategy(Protocol):
    """Makes the plan of a problem."""

    @property
    def name(self) -> str:
        """What users call it."""

    def __call__(self, problem: Problem, /) -> Plan:
        """Decide how the nodes draw their arms."""


@dataclass(frozen=True)
class GOptimal:
    r"""Nodes draw independently from the G-optimal design (Algorithm 2, symmetric form).

    The product of G-optimal node laws is G-optimal on the edges (Theorem 4.1). With candidate
    masks every node draws from the optimal design of its own candidates, in their span: together
    the laws reach every direction that some edge can show.
    """

    tolerance: float = 1e-6
    name: str = "g-optimal"

    def __call__(self, problem: Problem, /) -> Plan:
        """Solve one design per candidate set."""
        arms = _lifted(problem)
        sets, set_of = problem.candidate_sets
        designs = tuple(
            g_optimal(arms[mask], tolerance=self.tolerance, project=True) for mask in sets
        )
        weights = np.zeros(sets.shape)
        for row, mask, design in zip(weights, sets, designs, strict=True):
            row[mask] = design.weights
        return Plan(Cells.of(problem), NodeLaws.of(weights, set_of), designs, "mixture")


@dataclass(frozen=True)
class Paper:
    """Algorithm 2 exactly as printed: the baseline everything is compared with.

    Frank-Wolfe design, ordered edge-arms with :math:`d^2` parameters, :math:`A_0 = I`, condition
    (5) after every round. When M is symmetric and the best edge-arm has two different arms,
    (x, x') and (x', x) tie and condition (5) can never be met: set a round budget.
    """

    tolerance: float = 1e-3
    name: str = "paper"

    def __call__(self, problem: Problem, /) -> Plan:
        """Solve the node design by plain Frank-Wolfe."""
        if problem.graph.directed or problem.graph.n_kinds > 1 or problem.candidates is not None:
            raise InvalidArgument(
                "strategy 'paper' needs the paper's setting: undirected edges of one kind and all "
                "arms at every node; use strategy='g-optimal' here"
            )
        design = g_optimal(
            _lifted(problem), tolerance=self.tolerance, method="frank-wolfe", project=True
        )
        _, set_of = problem.candidate_sets
        laws = NodeLaws.of(design.weights, set_of)
        return Plan(Cells.as_printed(problem), laws, (design,), "paper", ridge=1.0)


STRATEGIES: dict[str, Strategy] = {strategy.name: strategy for strategy in (GOptimal(), Paper())}


def sampling_strategy(choice: str | Strategy) -> Strategy:
    """The strategy of that name, or the strategy itself."""
    if not isinstance(choice, str):
        return choice
    if choice not in STRATEGIES:
        raise InvalidArgument(
            f"no strategy is called {choice!r}; choose one of {', '.join(sorted(STRATEGIES))}, or "
            "pass a strategy of your own"
        )
    return STRATEGIES[choice]


def _lifted(problem: Problem) -> Array:
    """The arms a design is made for: with a node term, (x, 1)."""
    coordinates = problem.whitening.coordinates
    if not problem.node_term:
        return coordinates
    return np.column_stack([coordinates, np.ones(len(coordinates))])
