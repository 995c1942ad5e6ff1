"""Joint arms drawn evenly: what shows every edge in many ways, for models with unequal edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from edgewise.base.arrays import Indices
from edgewise.core.design.g_optimal import Design
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.phases import GrowingPhases
from edgewise.core.strategies.plan import Plan

_FIRST = 8
"""Rounds of a phase at least: enough to tell whether edges differ."""


@dataclass(frozen=True, eq=False)
class SpreadPhases:
    """Draws evenly until edges have turned out to be alike; from then on as another plan."""

    inner: Plan
    laws: NodeLaws
    phasing: GrowingPhases
    designs: tuple[Design, ...] = ()

    @classmethod
    def of(cls, problem: Problem, inner: Plan, growth: float) -> SpreadPhases:
        """All candidates alike, around the plan for edges that are alike."""
        masks, groups = problem.candidate_sets
        laws = NodeLaws.of(masks / masks.sum(axis=1, keepdims=True), groups)
        return cls(inner, laws, GrowingPhases(growth, _FIRST))

    @property
    def cells(self) -> Cells:
        """Those of the inner plan."""
        return self.inner.cells

    @property
    def stopping(self) -> str:
        """That of the inner plan."""
        return self.inner.stopping

    @property
    def ridge(self) -> float:
        """That of the inner plan."""
        return self.inner.ridge

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        """A pure function of (seed, round, node) while edges differ, or may."""
        if state.pooling == "shared":
            return self.inner.joint_arm(problem, state)
        return self.laws.draw(seed=state.seed, round=state.rounds + 1)

    def to_tree(self) -> dict[str, Any]:
        """The inner plan's."""
        return self.inner.to_tree()

    def from_tree(self, tree: Mapping[str, Any]) -> SpreadPhases:
        """With what the inner plan stored."""
        return replace(self, inner=self.inner.from_tree(tree))
