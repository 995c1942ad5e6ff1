r"""Limits on change: how many nodes, how far, how near the answer so far, and what a change costs.

Where a strategy maximises something, limits are part of what it maximises over; any other strategy
proposes, and nodes go as far towards the proposal as limits allow. What is deployed now, and where
the trust region stands, do not know the rewards of the present phase, so joint arms of a phase
depend on earlier phases only, as the rule ``anytime`` asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from edgewise.base.arrays import Indices, Mask
from edgewise.base.border import border
from edgewise.core.design.g_optimal import Design
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies.adaptive import Adaptive
from edgewise.core.strategies.limits.chance import by_chance
from edgewise.core.strategies.limits.feasible import region, require_joint_arms
from edgewise.core.strategies.limits.reach import Reach, near
from edgewise.core.strategies.limits.safe import Safe
from edgewise.core.strategies.phases import Phasing, ShortPhases
from edgewise.core.strategies.plan import Plan, world_of
from edgewise.core.strategies.strategy import Strategy
from edgewise.errors import InvalidArgument

_REVIEW = 8
"""Rounds after which the trust region moves, if the strategy has no phases of its own."""


@border
@dataclass(frozen=True)
class Limited:
    """Any strategy, within limits on what changes from round to round.

    The problem's ``baseline`` is what is deployed before the first round. Steps are counted in the
    order of the arms, so number the arms in the order of what they set.

    Parameters
    ----------
    strategy
        Proposes joint arms. To limit the predicted loss as well, put ``Safe`` around:
        ``Safe(strategy=Limited(...), ...)``.
    changed
        Nodes that change at most in a round.
    steps
        Steps that a node takes at most in a round, from what is deployed now.
    within
        Only arms within so many steps of the present recommendation, at first the baseline. It
        is renewed when a phase ends, as the best of what was allowed in the phase: so it goes by
        at most so many steps a phase, and never by extrapolation.
    switching_cost
        What the change of a node costs, in units of global reward. Strategies that earn weigh it;
        others do not earn and deploy what they would have.
    """

    strategy: Strategy = field(default_factory=Adaptive)
    changed: int | None = None
    steps: int | None = None
    within: int | None = None
    switching_cost: float = 0.0
    name: str = "limited"

    def __post_init__(self) -> None:
        for name in ("changed", "steps", "within"):
            value = getattr(self, name)
            if value is not None and value < 1:
                what = "node may change" if name == "changed" else "step must be allowed"
                raise InvalidArgument(
                    f"{name} is {value}, which leaves no joint arm but one; at least 1 {what}, or "
                    "None for no limit",
                    argument=name,
                )
        if not (np.isfinite(self.switching_cost) and self.switching_cost >= 0):
            raise InvalidArgument(
                f"switching_cost is {self.switching_cost}; what the change of a node costs must be "
                "a finite number, at least 0",
                argument="switching_cost",
            )

    def __call__(self, problem: Problem, /) -> LimitedPhases:
        """Check that limits leave something to deploy, and prepare the strategy."""
        if isinstance(self.strategy, Safe | Limited):
            raise InvalidArgument(
                f"{self.strategy.name!r} inside 'limited': what it proposes would not be kept to; "
                "put Safe outside, Safe(strategy=Limited(...)), and all other limits in one Limited"
            )
        require_joint_arms(problem, steps=self.steps, within=self.within)
        return LimitedPhases(self, self.strategy(problem), _travel(problem, self))


@dataclass(frozen=True, eq=False)
class LimitedPhases:
    """The plan of :class:`Limited`."""

    limits: Limited
    inner: Plan
    travel: int
    """Rounds for which a proposal is held, so that every node can get there."""

    @property
    def phasing(self) -> Phasing:
        """Those of the inner plan; a trust region that never moved would never let it learn."""
        inner = self.inner.phasing
        moves = self.limits.within is not None and inner.is_endless
        return ShortPhases(inner, _REVIEW) if moves else inner

    @property
    def cells(self) -> Cells:
        """Those of the inner plan."""
        return self.inner.cells

    @property
    def designs(self) -> tuple[Design, ...]:
        """None: what is deployed is not drawn from a design."""
        return ()

    @property
    def stopping(self) -> str:
        """That of the inner plan, if its phases are."""
        return self.inner.stopping if self.phasing is self.inner.phasing else "anytime"

    @property
    def ridge(self) -> float:
        """That of the inner plan."""
        return self.inner.ridge

    def reach(self, problem: Problem, state: LearnerState) -> Reach:
        """What can follow what is deployed now."""
        deployed = problem.baseline if state.deployed is None else state.deployed
        assert deployed is not None  # __call__ has seen to it
        limits, (masks, groups) = self.limits, problem.candidate_sets
        candidates, trusted = masks[groups], self.trusted(problem, state)
        region = candidates if trusted is None else trusted
        return Reach(deployed, candidates, region, limits.steps, limits.changed)

    def trusted(self, problem: Problem, state: LearnerState) -> Mask | None:
        """(n, K) the arms near what closed phases recommend; None without a trust region."""
        if self.limits.within is None:
            return None
        masks, groups = problem.candidate_sets
        return near(masks[groups], _centre(problem, state), self.limits.within)

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        """On the way to the best of what the inner plan maximises, or to its proposal."""
        reach = self.reach(problem, state)
        held = replace(state, rounds=state.rounds - state.rounds % self.travel)
        world = world_of(self.inner, problem, held)
        if world is not None:
            return reach.best(world, self.limits.switching_cost)
        return reach.follow(self._proposal(problem, held), by_chance(problem.graph, held))

    def _proposal(self, problem: Problem, state: LearnerState) -> Indices:
        """(n,) of the strategy, made for the trust region if there is one."""
        if self.limits.within is not None:
            problem, plan = _inside(self, problem, _centre(problem, state).tobytes())
            return plan.joint_arm(problem, state)
        return self.inner.joint_arm(problem, state)

    def to_tree(self) -> dict[str, Any]:
        """The inner plan's."""
        return self.inner.to_tree()

    def from_tree(self, tree: Mapping[str, Any]) -> LimitedPhases:
        """With what the inner plan stored."""
        return replace(self, inner=self.inner.from_tree(tree))


def _centre(problem: Problem, state: LearnerState) -> Indices:
    """(n,) of the trust region; at first the baseline."""
    centre = problem.baseline if state.centre is None else state.centre
    assert centre is not None
    return np.asarray(centre, np.int32)


@lru_cache(maxsize=4)
def _inside(plan: LimitedPhases, problem: Problem, centre: bytes) -> tuple[Problem, Plan]:
    """The problem of the trust region and the strategy's plan for it; all if that is too small.

    Remembered for the regions in use, whose plans and problems are compared by identity.
    """
    limits = plan.limits
    assert limits.within is not None
    smaller = region(problem, np.frombuffer(centre, np.int32), limits.within)
    return (problem, plan.inner) if smaller is None else (smaller, limits.strategy(smaller))


def _travel(problem: Problem, limits: Limited) -> int:
    """Rounds that the longest way of a node takes.

    A proposal drawn anew every round would pull nodes to the middle of their arms for ever.
    """
    if limits.steps is None:
        return 1
    masks = problem.candidate_sets.masks
    last = masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
    longest = int((last - masks.argmax(axis=1)).max())
    if limits.within is not None:
        longest = min(longest, 2 * limits.within)
    return max(1, -(-longest // limits.steps))
