"""Every target keeps the contract, and targets that do not are found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

import edgewise as ew
from edgewise.core.learner import initial_state
from edgewise.core.model.options import PoolingChoice
from edgewise.core.targets import TARGETS, BestEstimate, Decided
from edgewise.targets import BestAllocation, BestPair, Finding, Forecast, Target
from edgewise.testing.cases import INSTANCES, Case, after_round
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


def local_cases(pooling: PoolingChoice, *names: str) -> dict[str, Case]:
    """The usual cases, except that edges may differ."""
    return {
        name: replace(INSTANCES[name], problem=replace(INSTANCES[name].problem, pooling=pooling))
        for name in names
    }


class TestBestEstimate(TargetContract):
    """It certifies nothing: what is said of certificates is turned around."""

    cases = local_cases("partial", "undirected", "directed kinds", "weights", "candidates")

    def target(self) -> Target:
        return BestEstimate()

    def test_the_answer_is_certified_and_correct(self, case: Case) -> None:
        report = self._identified(case, 60)
        assert report.ending is ew.Ending.SETTLED
        assert not report.certified
        assert report.allocation is not None
        quiet = ew.BilinearEnvironment(case.problem, case.matrix, noise=1e-12, rng=0)
        best = ew.allocate(
            case.problem.graph, case.problem.arms, case.matrix, candidates=case.problem.candidates
        )
        lost = best.value - quiet(report.allocation.arms).sum()
        assert lost <= 0.1 * (best.upper_bound - best.lower_bound)

    def test_an_answer_can_be_wrong(self, case: Case) -> None:
        """Nothing is claimed, so nothing is wrong."""
        setting = self._setting(case)
        state = initial_state(setting, 5)
        assert setting.target.is_correct(setting, state, case.environment(0).truth)

    def test_progress_reaches_one_when_it_stops(self, case: Case) -> None:
        setting = self._setting(case)
        state = initial_state(setting, 5)
        for _ in range(30):
            state = after_round(setting, state, case)
            assert not state.verdict.stop
            assert 0.0 <= state.verdict.progress <= 1.0
            assert not state.verdict.settled or state.verdict.progress == 1.0

    # the local model is told one round at a time
    test_many_rounds_at_once_are_like_one_at_a_time = None  # type: ignore[assignment]

    def test_a_report_says_what_is_certified_and_what_it_rests_on(self, case: Case) -> None:
        report = self._identified(case, 60)
        assert all(claim in report.guarantee for claim in self.target().claims(report))
        assert report.assumes in report.guarantee
        assert report.guarantee in str(report)

    def test_wrong_certificates_stay_within_delta(self) -> None:
        """There are none, also where it cannot be known what is best."""
        problem = replace(self.near_tie.problem, pooling="partial")
        report = self._identified(replace(self.near_tie, problem=problem), 60)
        assert not report.certified


class TestDecided(TestBestEstimate):
    """These edges are equal; what it comes to once that is found is the allocation's suite."""

    cases = local_cases("auto", "undirected", "directed kinds", "weights", "candidates")
    epsilon = 1.0

    def target(self) -> Target:
        return Decided()

    # it needs phases; wrong answers are tested with the right ones, wrong decisions elsewhere
    test_when_to_look_depends_on_the_round_alone = None  # type: ignore[assignment]
    test_an_answer_can_be_wrong = None  # type: ignore[assignment]
    test_wrong_certificates_stay_within_delta = None  # type: ignore[assignment]

    def test_the_answer_is_certified_and_correct(self, case: Case) -> None:
        setting = self._setting(case, delta=1e-6)
        state = initial_state(setting, 5)
        while not state.verdict.stop and state.rounds < self.rounds:
            state = after_round(setting, state, case)
        assert state.pooling == "shared"
        assert state.verdict.stop
        truth = case.environment(0).truth
        assert setting.target.is_correct(setting, state, truth)
        assert not setting.target.is_correct(setting, state, -truth)

    def test_progress_reaches_one_when_it_stops(self, case: Case) -> None:
        """An estimate may be settled, which does not stop it before it is decided."""
        setting = self._setting(case)
        state = initial_state(setting, 5)
        while not state.verdict.stop and state.rounds < 100:
            state = after_round(setting, state, case)
            assert state.verdict.progress >= 0.0
            if state.pooling == "shared" and state.closed:
                assert state.verdict.stop == (state.verdict.progress >= 1.0)


def test_every_target_of_edgewise_has_a_suite() -> None:
    suites = [found for found in globals().values()
              if isinstance(found, type) and issubclass(found, TargetContract)]  # fmt: skip
    tested = {suite().target().name for suite in suites if suite is not TargetContract}
    assert tested == set(TARGETS)


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
