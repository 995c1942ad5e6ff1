r"""Decentralised phases: nodes draw independently, from laws chosen for the open contrasts.

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
from edgewise.core.design.contrast_laws import contrast_laws
from edgewise.core.design.expected import ExpectedCells
from edgewise.core.design.g_optimal import Design
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.evidence.statistics import count_rounds
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.needs import Needs
from edgewise.core.state import Aim, LearnerState
from edgewise.core.strategies.phases import aim_at, is_phase_over


@dataclass(frozen=True, eq=False)
class DecentralisedPhases:
    """The plan of the contrast strategy."""

    cells: Cells
    expected: ExpectedCells
    everywhere: NodeLaws
    """What nodes draw from when every direction matters alike: at first, and always a little."""
    growth: float
    explore: float
    designs: tuple[Design, ...] = ()
    stopping: str = "anytime"
    ridge: float = 0.0
    has_phases: bool = True

    @classmethod
    def of(
        cls, problem: Problem, everywhere: NodeLaws, *, growth: float, explore: float
    ) -> DecentralisedPhases:
        """Prepare what does not change from phase to phase."""
        cells = Cells.of(problem)
        return cls(cells, ExpectedCells.of(problem, cells), everywhere, growth, explore)

    def first_aim(self) -> Aim:
        """Everything alike, until every direction has been seen."""
        return Aim.everything(1)

    def next_aim(self, state: LearnerState, needs: Needs | None) -> Aim:
        """The open contrasts that need most, each with the information it still needs."""
        return aim_at(state, needs, growth=self.growth)

    def phase_over(self, problem: Problem, state: LearnerState) -> bool:  # noqa: ARG002
        """After its length, once its contrasts (at first: all directions) can be estimated."""
        return is_phase_over(self.cells, state)

    def laws(self, aim: Aim) -> NodeLaws:
        """What nodes draw from in a phase with this aim: a function of the aim alone."""
        return _laws(self, aim)

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:  # noqa: ARG002
        """A pure function of (seed, round, node) and the laws of the phase."""
        return self.laws(state.aim).draw(seed=state.seed, round=state.rounds + 1)

    def upcoming(
        self,
        problem: Problem,
        state: LearnerState,
        n_rounds: int,  # noqa: ARG002
    ) -> tuple[NDArray[np.int64], Array]:
        """One round: the next one depends on whether this one ends the phase."""
        return count_rounds(
            problem.graph,
            self.cells,
            self.laws(state.aim),
            seed=state.seed,
            first_round=state.rounds + 1,
            n_rounds=1,
        )

    def memory(self) -> dict[str, Any]:
        """The laws of the first phase; those of later ones follow from the aim in the state."""
        return {"laws": self.everywhere.weights.copy()}

    def recall(self, saved: Mapping[str, Any]) -> DecentralisedPhases:
        """With the laws that were saved."""
        weights = np.asarray(saved["laws"], dtype=float)
        return replace(self, everywhere=NodeLaws.of(weights, self.everywhere.set_of))


@lru_cache(maxsize=8)
def _laws(plan: DecentralisedPhases, aim: Aim) -> NodeLaws:
    """Remembered for the aims in use, which are compared by identity: every round asks again."""
    if len(aim.kinds) == 0:
        return plan.everywhere
    found = contrast_laws(
        plan.expected,
        aim.contrasts(plan.cells),
        aim.kinds,
        aim.needs,
        everywhere=plan.everywhere.weights,
        explore=plan.explore,
    )
    return NodeLaws.of(found.weights, plan.everywhere.set_of)
