"""Every target keeps the contract, and targets that do not are found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from edgewise.core.targets import TARGETS
from edgewise.targets import BestAllocation, BestPair, Finding, Forecast, Target
from edgewise.testing.cases import INSTANCES, Case
from edgewise.testing.target import TargetContract


class TestBestPair(TargetContract):
    def target(self) -> Target:
        return BestPair()


class TestBestPairWithTolerance(TargetContract):
    cases: ClassVar[Mapping[str, Case]] = {"undirected": INSTANCES["undirected"]}
    epsilon = 0.1

    def target(self) -> Target:
        return BestPair()


class TestBestAllocation(TargetContract):
    epsilon = 1.0
    runs = 30

    def target(self) -> Target:
        return BestAllocation()


def test_every_target_has_a_suite() -> None:
    suites = TargetContract.__subclasses__()
    tested = {suite().target().name for suite in suites if suite.__module__ == __name__}
    assert set(TARGETS) <= tested


# -- negative controls -----------------------------------------------------------------------


@dataclass(frozen=True)
class Broken(BestPair):
    fault: str = ""

    def tolerance(self, epsilon: float | None, found: Any) -> float:
        return super().tolerance(epsilon, found) - (1.0 if self.fault == "negative" else 0.0)

    def is_due(self, setting: Any, rounds: Any) -> Any:
        if self.fault == "counts its looks":
            return np.arange(len(rounds)) == 0
        return super().is_due(setting, rounds)

    def look(self, setting: Any, state: Any, rounds: Any, cumulative: Any) -> Finding:
        found = super().look(setting, state, rounds, cumulative)
        verdict = found.verdict
        if self.fault == "hasty":
            return replace(found, verdict=replace(verdict, stop=bool(verdict.pairs)))
        if self.fault == "never":
            return replace(found, verdict=replace(verdict, stop=False))
        if self.fault == "last look only":
            return replace(found, position=len(rounds) - 1)
        if self.fault == "random":
            return replace(found, verdict=replace(verdict, progress=0.5 * np.random.rand()))  # noqa: NPY002
        return found

    def forecast(self, setting: Any, state: Any) -> Forecast | None:
        if self.fault == "backwards":
            return Forecast(5, 10, 1)
        return super().forecast(setting, state)

    def claims(self, report: Any) -> tuple[str, ...]:
        return () if self.fault == "silent" else super().claims(report)

    def is_correct(self, setting: Any, state: Any, truth: Any) -> bool:
        return self.fault == "always right" or super().is_correct(setting, state, truth)


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        ("negative", "test_the_tolerance_is_a_number"),
        ("counts its looks", "test_when_to_look_depends_on_the_round_alone"),
        ("never", "test_the_answer_is_certified_and_correct"),
        ("always right", "test_an_answer_can_be_wrong"),
        ("hasty", "test_progress_reaches_one_when_it_stops"),
        ("last look only", "test_many_rounds_at_once_are_like_one_at_a_time"),
        ("backwards", "test_a_forecast_is_a_range_of_rounds"),
        ("silent", "test_a_report_says_what_is_certified_and_what_it_rests_on"),
        ("random", "test_a_restored_learner_goes_on_bit_for_bit"),
        ("hasty", "test_wrong_certificates_stay_within_delta"),
    ],
)
def test_broken_targets_are_found_out(fault: str, test: str) -> None:
    class Suite(TargetContract):
        rounds = 100

        def target(self) -> Target:
            return Broken(fault=fault)

    cases = [INSTANCES["undirected"]] if "case" in _arguments(test) else []
    with pytest.raises(AssertionError):
        getattr(Suite(), test)(*cases)


def _arguments(test: str) -> tuple[str, ...]:
    arguments: tuple[str, ...] = getattr(TargetContract, test).__code__.co_varnames
    return arguments


def test_a_suite_without_a_target_says_so() -> None:
    with pytest.raises(NotImplementedError, match="return the target"):
        TargetContract().test_it_has_a_name()
