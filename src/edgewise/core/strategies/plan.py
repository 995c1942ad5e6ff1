"""Plans: what a strategy has decided about the rounds to come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices
from edgewise.core.design.g_optimal import Design
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.evidence.statistics import count_rounds
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.needs import Needs
from edgewise.core.state import Aim, LearnerState


class Plan(Protocol):
    """The model that is fitted, and how the next joint arm is chosen.

    Rounds come in phases. Inside a phase, joint arms may depend on the rewards of earlier phases
    only; that is what the proofs of the stopping rules ask for.
    """

    @property
    def cells(self) -> Cells:
        """The model."""

    @property
    def designs(self) -> tuple[Design, ...]:
        """Node designs, one per candidate set; empty if the plan does not use any."""

    @property
    def stopping(self) -> str:
        """The rule that belongs to the strategy when the user names none."""

    @property
    def ridge(self) -> float:
        """Rho in A_0 = rho I."""

    @property
    def has_phases(self) -> bool:
        """Whether joint arms ever depend on rewards."""

    def first_aim(self) -> Aim:
        """What the first phase is laid out for."""

    def next_aim(self, state: LearnerState, needs: Needs | None) -> Aim:
        """What the next phase is laid out for, given what is open when it starts.

        ``needs`` is None while some direction has not been observed.
        """

    def phase_over(self, problem: Problem, state: LearnerState) -> bool:
        """Whether the present phase ends here; must not depend on its rewards."""

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        """(n,) the joint arm of the next round."""

    def upcoming(
        self, problem: Problem, state: LearnerState, n_rounds: int
    ) -> tuple[NDArray[np.int64], Array]:
        """Observations and information (R, q, P) of the next rounds, for simulations.

        May return fewer rounds than asked for, at least one.
        """

    def memory(self) -> dict[str, Any]:
        """What must be saved because computing it again may round differently."""

    def recall(self, saved: Mapping[str, Any]) -> Self:
        """The plan with what :meth:`memory` saved."""


@dataclass(frozen=True, eq=False)
class IndependentNodes:
    """Every node draws from a law fixed in advance: one phase that never ends."""

    cells: Cells
    laws: NodeLaws
    designs: tuple[Design, ...]
    stopping: str
    ridge: float = 0.0
    has_phases: bool = False

    def first_aim(self) -> Aim:
        """Everything alike."""
        return Aim.everything(0)

    def next_aim(self, state: LearnerState, needs: Needs | None) -> Aim:  # noqa: ARG002
        """Never asked for."""
        return state.aim

    def phase_over(self, problem: Problem, state: LearnerState) -> bool:  # noqa: ARG002
        """Never."""
        return False

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:  # noqa: ARG002
        """A pure function of (seed, round, node)."""
        return self.laws.draw(seed=state.seed, round=state.rounds + 1)

    def upcoming(
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

    def memory(self) -> dict[str, Any]:
        """The laws: another machine may solve the design to other last digits."""
        return {"laws": self.laws.weights.copy()}

    def recall(self, saved: Mapping[str, Any]) -> IndependentNodes:
        """With the laws that were saved."""
        weights = np.asarray(saved["laws"], dtype=float)
        return replace(self, laws=NodeLaws.of(weights, self.laws.set_of))
