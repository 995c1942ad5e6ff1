"""Rounds whose phases are given, because the strategy has not chosen their joint arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from edgewise.base.arrays import Indices
from edgewise.core.aim import Aim
from edgewise.core.design.g_optimal import Design
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies import Plan
from edgewise.core.strategies.phases import Phasing

Phases: TypeAlias = tuple[tuple[int, int], ...]
"""The first and the last round of each."""


@dataclass(frozen=True)
class GivenPhases:
    """Some phases are given; elsewhere those of a strategy."""

    inner: Phasing
    given: Phases
    is_endless: bool = False

    def first(self) -> Aim:
        """The strategy's."""
        return self.inner.first()

    def next(self, state: LearnerState, open: Aim | None) -> Aim:  # noqa: A002
        """The strategy's."""
        return self.inner.next(state, open)

    def is_over(self, cells: Cells, state: LearnerState) -> bool:
        """A given phase at its last round, the strategy's when it says so."""
        for first, last in self.given:
            if first <= state.rounds <= last:
                return state.rounds == last
        return self.inner.is_over(cells, state)


@dataclass(frozen=True, eq=False)
class PlanWithPhases:
    """A plan that takes over outside of the given phases."""

    inner: Plan
    given: Phases

    @property
    def cells(self) -> Cells:
        """The plan's."""
        return self.inner.cells

    @property
    def designs(self) -> tuple[Design, ...]:
        """The plan's."""
        return self.inner.designs

    @property
    def stopping(self) -> str:
        """The plan's."""
        return self.inner.stopping

    @property
    def ridge(self) -> float:
        """The plan's."""
        return self.inner.ridge

    @property
    def phasing(self) -> GivenPhases:
        """The given phases, and the plan's."""
        return GivenPhases(self.inner.phasing, self.given)

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        """The plan's."""
        return self.inner.joint_arm(problem, state)

    def to_tree(self) -> dict[str, Any]:
        """The plan's: what is given is stored elsewhere."""
        return self.inner.to_tree()

    def from_tree(self, tree: Mapping[str, Any]) -> PlanWithPhases:
        """With the plan's."""
        return replace(self, inner=self.inner.from_tree(tree))
