r"""Independent nodes whose laws serve the open contrasts.

Nobody tells a node its arm. Nodes share a seed and, once a phase, hear the laws; each then draws
its own arms until the next phase. The best such laws are those of
:mod:`edgewise.core.design.contrast_laws`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices
from edgewise.base.border import border
from edgewise.core.aim import Aim
from edgewise.core.design.contrast_laws import contrast_laws
from edgewise.core.design.expected import ExpectedCells
from edgewise.core.design.g_optimal import Design
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.evidence.statistics import count_rounds
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.independent import g_optimal_laws
from edgewise.core.strategies.phases import GrowingPhases, shortest_phase
from edgewise.errors import InvalidArgument


@border
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

    def __call__(self, problem: Problem, /) -> ContrastPhases:
        """Solve the designs of the first phase."""
        laws, _ = g_optimal_laws(problem, tolerance=1e-6)
        return ContrastPhases.of(problem, laws, growth=self.growth, explore=self.explore)


@dataclass(frozen=True, eq=False)
class ContrastPhases:
    """The plan of the contrast strategy."""

    cells: Cells
    expected: ExpectedCells
    everywhere: NodeLaws
    """What nodes draw from when every direction matters alike: at first, and always a little."""
    phasing: GrowingPhases
    explore: float
    designs: tuple[Design, ...] = ()
    stopping: str = "anytime"
    ridge: float = 0.0

    @classmethod
    def of(
        cls, problem: Problem, everywhere: NodeLaws, *, growth: float, explore: float
    ) -> ContrastPhases:
        """Prepare what does not change from phase to phase."""
        by_kind = Cells.by_kind(problem)  # laws serve classes as if every arc were measured
        return cls(
            by_kind if problem.is_plain else Cells.of(problem),
            ExpectedCells.of(problem, by_kind),
            everywhere,
            GrowingPhases(growth, shortest_phase(problem)),
            explore,
        )

    def laws(self, aim: Aim) -> NodeLaws:
        """What nodes draw from in a phase with this aim: a function of the aim alone."""
        return _laws(self, aim)

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:  # noqa: ARG002
        """A pure function of (seed, round, node) and the laws of the phase."""
        return self.laws(state.aim).draw(seed=state.seed, round=state.rounds + 1)

    def count_ahead(
        self, problem: Problem, state: LearnerState, n_rounds: int
    ) -> tuple[NDArray[np.int64], Array]:
        """As many of the rounds asked for as surely belong to the present phase."""
        return count_rounds(
            problem.graph,
            self.cells,
            self.laws(state.aim),
            seed=state.seed,
            first_round=state.rounds + 1,
            n_rounds=min(n_rounds, self.phasing.surely_left(state)),
        )

    def to_tree(self) -> dict[str, Any]:
        """The laws of the first phase; those of later ones follow from the aim in the state."""
        return {"laws": self.everywhere.weights.copy()}

    def from_tree(self, tree: Mapping[str, Any]) -> ContrastPhases:
        """With the laws that were stored."""
        return replace(self, everywhere=self.everywhere.reweighted(tree["laws"]))


@lru_cache(maxsize=8)
def _laws(plan: ContrastPhases, aim: Aim) -> NodeLaws:
    """Remembered for the aims in use, which are compared by identity: every round asks again."""
    if len(aim.kinds) == 0:
        return plan.everywhere
    found = contrast_laws(
        plan.expected,
        aim.contrasts(plan.expected.cells),
        aim.kinds,
        aim.needs,
        everywhere=plan.everywhere.weights,
        explore=plan.explore,
    )
    return NodeLaws.of(found.weights, plan.everywhere.set_of)
