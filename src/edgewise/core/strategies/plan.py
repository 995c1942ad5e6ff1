"""Plans: what a strategy has decided about the rounds to come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeGuard

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

    def to_tree(self) -> dict[str, Any]:
        """What must be stored because computing it again may round differently."""

    def from_tree(self, tree: Mapping[str, Any]) -> Self:
        """The plan with what :meth:`to_tree` stored."""


class CountsAhead(Plan, Protocol):
    """A plan that can count many rounds at once, as their joint arms depend on nothing."""

    def count_ahead(
        self, problem: Problem, state: LearnerState, n_rounds: int
    ) -> tuple[NDArray[np.int64], Array]:
        """Observations and information (R, q, P) of the next rounds."""


def upcoming(
    plan: Plan, problem: Problem, state: LearnerState, n_rounds: int
) -> tuple[NDArray[np.int64], Array]:
    """Observations and information (R, q, P) of the next rounds, for simulations.

    One round, unless the plan can tell more: the next may belong to another phase.
    """
    if _counts_ahead(plan) and problem.is_plain:
        return plan.count_ahead(problem, state, n_rounds)
    arms = plan.joint_arm(problem, state)
    observations, information = count_joint_arm(problem.graph, plan.cells, arms)
    return observations[None], information[None]


def _counts_ahead(plan: Plan) -> TypeGuard[CountsAhead]:
    """Whether the plan counts the joint arms that it chooses itself.

    A subclass that chooses others inherits a count of what it does not deploy.
    """
    for kind in type(plan).__mro__:
        if "count_ahead" in vars(kind):
            return True
        if "joint_arm" in vars(kind):
            return False
    return False
