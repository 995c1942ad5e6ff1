"""Plans: what a strategy has decided about the rounds to come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array, Indices, Mask
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
    """A plan that can count many rounds at once, as their joint arms depend on no reward."""

    def count_ahead(
        self, problem: Problem, state: LearnerState, n_rounds: int
    ) -> tuple[NDArray[np.int64], Array]:
        """Observations and information (R, q, P) of the next rounds, none of a later phase."""


class Optimises(Plan, Protocol):
    """A plan that deploys the best joint arm of a world, so that limits can be weighed in it."""

    def world(self, problem: Problem, state: LearnerState) -> Objective | None:
        """What the next round maximises; None where it does not."""


def world_of(plan: Plan, problem: Problem, state: LearnerState) -> Objective | None:
    """What the plan's next round maximises; None where it does not."""
    return plan.world(problem, state) if _optimises(plan) else None


class Trusts(Plan, Protocol):
    """A plan that keeps to arms near what it recommends."""

    def trusted(self, problem: Problem, state: LearnerState) -> Mask | None:
        """(n, K) the arms of the trust region; None if there is none."""


def trusted_by(plan: Plan, problem: Problem, state: LearnerState) -> Mask | None:
    """(n, K) the arms that the plan keeps to; None for all candidates."""
    return plan.trusted(problem, state) if _trusts(plan) else None


class Upcoming(NamedTuple):
    """The next rounds, before their rewards."""

    observations: NDArray[np.int64]
    """(R, q, P)"""
    information: Array
    """(R, q, P)"""
    deployed: Indices | None
    """(n,) the joint arm of the last of them; None if they were counted ahead."""


def upcoming(plan: Plan, problem: Problem, state: LearnerState, n_rounds: int) -> Upcoming:
    """The next rounds, for simulations.

    One round, unless the plan can tell more: the next may belong to another phase.
    """
    if _counts_ahead(plan) and problem.is_plain:
        return Upcoming(*plan.count_ahead(problem, state, n_rounds), None)
    arms = plan.joint_arm(problem, state)
    observations, information = count_joint_arm(problem.graph, plan.cells, arms)
    return Upcoming(observations[None], information[None], arms)


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


def _trusts(plan: Plan) -> TypeGuard[Trusts]:
    return callable(getattr(plan, "trusted", None))


def _optimises(plan: Plan) -> TypeGuard[Optimises]:
    return callable(getattr(plan, "world", None))
