"""Every strategy keeps the contract, and strategies that do not are found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from edgewise.base.arrays import Indices
from edgewise.core.evidence.statistics import CellStatistics, count_joint_arm
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies import STRATEGIES
from edgewise.core.strategies.adaptive import AdaptivePhases
from edgewise.strategies import (
    Adaptive,
    Contrast,
    GOptimal,
    Limited,
    Optimistic,
    Paper,
    Safe,
    Strategy,
    Thompson,
)
from edgewise.testing.cases import INSTANCES, Case
from edgewise.testing.strategy import StrategyContract


class TestAdaptive(StrategyContract):
    def strategy(self) -> Strategy:
        return Adaptive()


class TestContrast(StrategyContract):
    def strategy(self) -> Strategy:
        return Contrast()


class TestGOptimal(StrategyContract):
    def strategy(self) -> Strategy:
        return GOptimal()


class TestPaper(StrategyContract):
    cases: ClassVar[Mapping[str, Case]] = {
        name: INSTANCES[name] for name in ("undirected", "weights", "node term")
    }

    def strategy(self) -> Strategy:
        return Paper()


class TestSafe(StrategyContract):
    def strategy(self) -> Strategy:
        return Safe([0] * 6, largest_loss=2.0, worst_loss=0.2)


class TestSafeAroundAdaptive(StrategyContract):
    def strategy(self) -> Strategy:
        return Safe([0] * 6, largest_loss=2.0, worst_loss=0.2, strategy=Adaptive())


class TestThompson(StrategyContract):
    def strategy(self) -> Strategy:
        return Thompson()


class TestOptimistic(StrategyContract):
    def strategy(self) -> Strategy:
        return Optimistic(growth=0.5)


class TestOptimisticWithTheProvedWidth(StrategyContract):
    cases: ClassVar[Mapping[str, Case]] = {"weights": INSTANCES["weights"]}

    def strategy(self) -> Strategy:
        return Optimistic(width=None)


FROM_TODAY = {
    name: replace(case, problem=replace(case.problem, baseline=np.zeros(6, int)))
    for name, case in INSTANCES.items()
}
"""The instances, with what is deployed before the first round."""


class TestLimited(StrategyContract):
    cases: ClassVar[Mapping[str, Case]] = FROM_TODAY

    def strategy(self) -> Strategy:
        return Limited(changed=3)


class TestLimitedAroundThompson(StrategyContract):
    cases: ClassVar[Mapping[str, Case]] = FROM_TODAY

    def strategy(self) -> Strategy:
        return Limited(Thompson(), steps=2, changed=4, switching_cost=0.1)


class TestLimitedToARegion(StrategyContract):
    cases: ClassVar[Mapping[str, Case]] = FROM_TODAY

    def strategy(self) -> Strategy:
        return Limited(GOptimal(), within=2)


class TestSafeAroundLimited(StrategyContract):
    cases: ClassVar[Mapping[str, Case]] = FROM_TODAY

    def strategy(self) -> Strategy:
        return Safe(largest_loss=2.0, worst_loss=0.2, strategy=Limited(steps=2, changed=4))


def test_every_strategy_has_a_suite() -> None:
    suites = StrategyContract.__subclasses__()
    tested = {suite().strategy().name for suite in suites if suite.__module__ == __name__}
    assert {*STRATEGIES, "limited", "safe"} <= tested


# -- negative controls: each breaks one promise ------------------------------------------------


@dataclass(frozen=True, eq=False)
class BrokenPhases(AdaptivePhases):
    fault: str = ""
    counter: list[int] = field(default_factory=list)

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        arms = super().joint_arm(problem, state)
        if self.fault == "forbidden":
            return np.full_like(arms, 1)
        if self.fault == "forgetful":
            self.counter.append(0)
            return np.full_like(arms, len(self.counter) % 2)
        if self.fault == "peeks":
            seen = state.statistics
            assert isinstance(seen, CellStatistics)
            return np.full_like(arms, seen.rewards.sum() > 0.0)
        if self.fault == "stubborn":
            return np.zeros_like(arms)
        return arms

    def from_tree(self, tree: Mapping[str, Any]) -> AdaptivePhases:  # noqa: ARG002
        return replace(self, fault="stubborn") if self.fault == "amnesia" else self


class Miscounting(BrokenPhases):
    def count_ahead(self, problem: Problem, state: LearnerState, n_rounds: int) -> Any:  # noqa: ARG002
        observations, information = count_joint_arm(
            problem.graph, self.cells, self.joint_arm(problem, state)
        )
        return observations[None] + 1, information[None]


@dataclass(frozen=True)
class Endless:
    """Phases that wait for measurements which never come."""

    is_endless: bool = False

    def first(self) -> Any:
        return Adaptive()(INSTANCES["undirected"].problem).phasing.first()

    def next(self, state: LearnerState, open: Any) -> Any:  # noqa: A002, ARG002
        return state.aim

    def is_over(self, cells: Any, state: LearnerState) -> bool:  # noqa: ARG002
        seen = state.statistics
        assert isinstance(seen, CellStatistics)
        return bool(seen.observations.any())


@dataclass(frozen=True)
class Broken:
    fault: str
    name: str = "broken"

    def __call__(self, problem: Problem, /) -> Any:
        kind = Miscounting if self.fault == "miscounts" else BrokenPhases
        plan: Any = kind.of(problem, growth=0.1, power=4.0)
        made: Any = replace(plan, fault=self.fault)
        return replace(made, phasing=Endless()) if self.fault == "waits" else made


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        ("forbidden", "test_every_node_gets_an_arm_it_may_have"),
        ("forgetful", "test_joint_arms_follow_from_the_state_alone"),
        ("peeks", "test_inside_a_phase_rewards_do_not_matter"),
        ("amnesia", "test_a_restored_learner_goes_on_bit_for_bit"),
        ("miscounts", "test_upcoming_rounds_are_those_that_are_asked_for"),
        ("waits", "test_missing_rewards_do_not_stall_a_phase"),
        ("stubborn", "test_everything_can_be_estimated_in_the_end"),
    ],
)
def test_broken_strategies_are_found_out(fault: str, test: str) -> None:
    class Suite(StrategyContract):
        def strategy(self) -> Strategy:
            return Broken(fault)

    with pytest.raises(AssertionError):
        getattr(Suite(), test)(INSTANCES["candidates"])


def test_a_suite_without_a_strategy_says_so() -> None:
    with pytest.raises(NotImplementedError, match="return the strategy"):
        StrategyContract().test_it_has_a_name()
