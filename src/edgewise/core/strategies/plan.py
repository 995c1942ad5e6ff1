"""Plans: what a strategy has decided about the rounds to come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices
from edgewise.core.design.g_optimal import Design
from edgewise.core.evidence.statistics import count_joint_arm
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.phases import Phasing


class Plan(Protocol):
    """The model that is fitted, and how the next joint arm is chosen."""

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
    def phasing(self) -> Phasing:
        """How rounds are divided into phases."""

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        """(n,) the joint arm of the next round."""

    def upcoming(
        self, problem: Problem, state: LearnerState, n_rounds: int
    ) -> tuple[NDArray[np.int64], Array]:
        """Observations and information (R, q, P) of the next rounds, for simulations.

        May return fewer rounds than asked for, at least one.
        """

    def to_tree(self) -> dict[str, Any]:
        """What must be stored because computing it again may round differently."""

    def from_tree(self, tree: Mapping[str, Any]) -> Self:
        """The plan with what :meth:`to_tree` stored."""


def next_round(
    plan: Plan, problem: Problem, state: LearnerState
) -> tuple[NDArray[np.int64], Array]:
    """``upcoming`` of a plan whose next round may belong to another phase: one round."""
    arms = plan.joint_arm(problem, state)
    observations, information = count_joint_arm(problem.graph, plan.cells, arms)
    return observations[None], information[None]
