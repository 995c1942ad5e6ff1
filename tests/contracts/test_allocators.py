"""Every allocation method keeps the contract, and methods that do not are found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from edgewise.allocation.allocate import METHODS
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.instance.search import Allocator, Search
from edgewise.testing.allocator import OBJECTIVES, AllocatorContract

Cases = Mapping[str, tuple[Objective, ...]]


class TestAuto(AllocatorContract):
    def allocator(self) -> Allocator:
        return METHODS["auto"]


class TestLocalSearch(AllocatorContract):
    def allocator(self) -> Allocator:
        return METHODS["local-search"]


class TestAnneal(AllocatorContract):
    def allocator(self) -> Allocator:
        return METHODS["anneal"]


class TestExact(AllocatorContract):
    def allocator(self) -> Allocator:
        return METHODS["exact"]


class TestGreedy(AllocatorContract):
    uses_start = False

    def allocator(self) -> Allocator:
        return METHODS["greedy"]


class TestBruteForce(AllocatorContract):
    uses_start = False

    def allocator(self) -> Allocator:
        return METHODS["brute-force"]


class TestBipartite(AllocatorContract):
    cases: ClassVar[Cases] = {name: OBJECTIVES[name] for name in ("plain", "one arm", "weights")}
    uses_start = False

    def allocator(self) -> Allocator:
        return METHODS["bipartite"]


class TestTwoArm(AllocatorContract):
    cases: ClassVar[Cases] = {
        name: some for name, some in OBJECTIVES.items() if some[0].candidates is None
    }
    uses_start = False

    def allocator(self) -> Allocator:
        return METHODS["two-arm"]


def test_every_method_has_a_suite() -> None:
    suites = AllocatorContract.__subclasses__()
    tested = [suite().allocator() for suite in suites if suite.__module__ == __name__]
    assert all(method in tested for method in METHODS.values())


# -- negative controls -----------------------------------------------------------------------


@dataclass(frozen=True)
class Broken:
    fault: str

    def __call__(self, objective: Objective, search: Search, /) -> Allocation:
        found = METHODS["greedy"](objective, search)
        if self.fault == "forbidden":
            return replace(found, arms=np.full_like(found.arms, 2))
        if self.fault == "boastful":
            return replace(found, value=found.value + 1.0, upper_bound=found.upper_bound + 1.0)
        if self.fault == "its own value as the bound":
            return replace(found, upper_bound=found.value)
        if self.fault == "sure":
            return replace(found, proved_optimal=True)
        if self.fault == "moody":
            arms = np.random.default_rng().integers(objective.n_arms, size=len(found.arms))
            return objective.certify(arms, method="moody")
        return found


@pytest.mark.parametrize(
    ("fault", "sort", "test"),
    [
        ("forbidden", "candidates", "test_every_node_gets_an_arm_it_may_have"),
        ("boastful", "plain", "test_the_value_is_what_the_arms_are_worth"),
        ("its own value as the bound", "unary", "test_bounds_hold"),
        ("sure", "unary", "test_what_is_proved_optimal_is"),
        ("moody", "plain", "test_the_same_random_numbers_give_the_same_answer"),
        ("none", "unary", "test_it_is_never_worse_than_its_start"),
        ("its own value as the bound", "unary", "test_it_works_as_a_method_of_allocate"),
    ],
)
def test_broken_methods_are_found_out(fault: str, sort: str, test: str) -> None:
    class Suite(AllocatorContract):
        def allocator(self) -> Allocator:
            return Broken(fault)

    with pytest.raises(AssertionError):
        getattr(Suite(), test)(OBJECTIVES[sort])


def test_a_suite_without_a_method_says_so() -> None:
    with pytest.raises(NotImplementedError, match="return the allocation method"):
        AllocatorContract().test_bounds_hold(OBJECTIVES["plain"])
