r"""Optimism: the joint arm that may be worth most, until enough has been learnt to choose anew.

Every cell counts with its upper confidence value; the joint arm with the largest sum is deployed
until the information has grown by a factor (rare switching, Abbasi-Yadkori, Pal and Szepesvari,
2011). Nothing is drawn at random, and the number of different joint arms grows with the logarithm
of the rounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Indices
from edgewise.core.design.g_optimal import Design
from edgewise.core.evidence.optimism import upper_local_world, upper_world
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.adaptive import Adaptive
from edgewise.core.strategies.phases import InformationPhases
from edgewise.core.strategies.plan import Plan
from edgewise.core.strategies.worlds import best_of, local_evidence, shows_everything
from edgewise.errors import InvalidArgument


@dataclass(frozen=True)
class Optimistic:
    """Earns by optimism, and changes its joint arm rarely.

    Parameters
    ----------
    growth
        A new joint arm is chosen when the determinant of the information has grown by more than
        this share.
    width
        Standard errors added to estimates. None for as many as the regret bound needs: proved, and
        slower to earn. Where edges have matrices of their own, deviations of the posterior.
    delta
        Probability with which the regret bound may fail, if the width is None.
    """

    growth: float = 1.0
    width: float | None = 2.0
    delta: float = 0.05
    name: str = "optimistic"

    def __post_init__(self) -> None:
        if not (self.growth > 0 and (self.width is None or self.width >= 0)):
            raise InvalidArgument(
                f"growth is {self.growth} and width {self.width}; growth must be above 0, width at "
                "least 0, or None"
            )
        if not 0.0 < self.delta < 1.0:
            raise InvalidArgument(
                f"delta is {self.delta}; it is a probability, between 0 and 1", argument="delta"
            )

    def __call__(self, problem: Problem, /) -> OptimisticPhases:
        """Prepare the first phase, which shows everything."""
        if self.width is None and problem.pooling in ("partial", "auto"):
            raise InvalidArgument(
                "width=None asks for the width of the regret bound, and nothing is proved where "
                "edges have matrices of their own; pass a number, such as width=2",
                argument="width",
            )
        first = Adaptive()(problem)
        phasing = InformationPhases(first.phasing, math.log1p(self.growth))
        return OptimisticPhases(first, phasing, self)


@dataclass(frozen=True, eq=False)
class OptimisticPhases:
    """The plan of :class:`Optimistic`."""

    first: Plan
    """Lays out the rounds until everything has been seen."""
    phasing: InformationPhases
    options: Optimistic
    designs: tuple[Design, ...] = ()
    stopping: str = "anytime"
    ridge: float = 0.0

    @property
    def cells(self) -> Cells:
        """Those of the first phase's plan."""
        return self.first.cells

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        """Laid out in the first phase; then the same joint arm until the phase is over."""
        if self.world(problem, state) is None:
            return self.first.joint_arm(problem, state)
        return _chosen(self, problem, state.closed, local_evidence(state))

    def world(self, problem: Problem, state: LearnerState) -> Objective | None:
        """Upper confidence values; None until everything has been seen."""
        return _upper(self, problem, state.closed, local_evidence(state))

    def to_tree(self) -> dict[str, Any]:
        """What the first phase's plan stores."""
        return self.first.to_tree()

    def from_tree(self, tree: Mapping[str, Any]) -> OptimisticPhases:
        """With what was stored."""
        return replace(self, first=self.first.from_tree(tree))


@lru_cache(maxsize=4)
def _upper(plan: OptimisticPhases, problem: Problem, closed: Any, local: Any) -> Objective | None:
    """Once per phase: all are compared by identity."""
    width, delta = plan.options.width, plan.options.delta
    if local is not None:
        assert width is not None  # __call__ has seen to it
        return upper_local_world(problem, local, width=width)
    if not shows_everything(plan.cells, closed):
        return None
    return upper_world(problem, plan.cells, closed, width=width, delta=delta)


@lru_cache(maxsize=4)
def _chosen(plan: OptimisticPhases, problem: Problem, closed: Any, local: Any) -> Indices:
    world = _upper(plan, problem, closed, local)
    assert world is not None
    return best_of(world)
