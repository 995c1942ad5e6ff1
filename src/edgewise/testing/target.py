"""What a target must keep to."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from edgewise.core.evidence.statistics import ByRound, CellStatistics
from edgewise.core.learner import Learner, advance, initial_state
from edgewise.core.report import Report
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.strategies.plan import upcoming
from edgewise.core.targets import Target
from edgewise.identification import identify
from edgewise.simulation.replicate import replicate
from edgewise.testing.cases import (
    INSTANCES,
    NEAR_TIE,
    Case,
    OnCases,
    after_round,
    setting_of,
    too_many,
)

_SURE = 1e-6
"""A delta at which a wrong answer is no accident."""


class TargetContract(OnCases):
    """Subclass it as ``class TestMine(TargetContract)`` and return yours from ``target``.

    On each of ``cases`` it must be reachable within ``rounds`` rounds.
    """

    cases: ClassVar[Mapping[str, Case]] = INSTANCES
    near_tie: ClassVar[Case] = NEAR_TIE
    """Where a target that certifies too easily is often wrong."""
    epsilon: ClassVar[float | None] = None
    """Given to every run."""
    rounds: ClassVar[int] = 2000
    delta: ClassVar[float] = 0.05
    """The error rate tested."""
    runs: ClassVar[int] = 60
    """How many runs errors are counted in."""

    def target(self) -> Target:
        """Override: the target."""
        raise NotImplementedError("return the target to be tested")

    def _setting(self, case: Case, **options: Any) -> Setting:
        return setting_of(case, target=self.target(), epsilon=self.epsilon, **options)

    def _identified(self, case: Case, rounds: int) -> Report:
        return identify(
            case.problem,
            case.environment(3),
            target=self.target(),
            epsilon=self.epsilon,
            delta=_SURE,
            max_rounds=rounds,
            rng=1,
        )

    def test_it_has_a_name(self) -> None:
        """Reports and errors use it."""
        assert isinstance(self.target().name, str)
        assert self.target().name

    def test_the_tolerance_is_a_number(self) -> None:
        """At least 0, and no smaller when more is tolerated."""
        target = self.target()
        given = [target.tolerance(epsilon, None) for epsilon in (None, 0.0, 0.1, 10.0)]
        assert all(np.isfinite(value) and value >= 0.0 for value in given)
        assert given[1:] == sorted(given[1:])

    def test_when_to_look_depends_on_the_round_alone(self, case: Case) -> None:
        """(R,) truth values, whichever rounds are asked about together."""
        setting = self._setting(case, strategy="g-optimal")
        rounds = np.arange(1, 200)
        due = setting.target.is_due(setting, rounds)
        assert due.shape == rounds.shape
        assert due.dtype == np.bool_
        for some in (rounds[:1], rounds[50:60], rounds[-1:]):
            assert np.array_equal(setting.target.is_due(setting, some), due[some - 1])

    def test_the_answer_is_certified_and_correct(self, case: Case) -> None:
        """A handful of simulated runs, each wrong with probability 1e-6."""
        runs = replicate(
            case.problem,
            case.matrix,
            beta=case.beta,
            repetitions=5,
            target=self.target(),
            epsilon=self.epsilon,
            delta=_SURE,
            max_rounds=self.rounds,
            rng=4,
        )
        assert runs.certified.all()
        assert runs.errors == 0

    def test_an_answer_can_be_wrong(self, case: Case) -> None:
        """``is_correct`` tells the truth from its opposite."""
        setting = self._setting(case, delta=_SURE)
        state = initial_state(setting, 5)
        truth = case.environment(0).truth
        assert not setting.target.is_correct(setting, state, truth)
        while not state.verdict.stop and state.rounds < self.rounds:
            state = after_round(setting, state, case)
        assert setting.target.is_correct(setting, state, truth)
        assert not setting.target.is_correct(setting, state, -truth)

    def test_progress_reaches_one_when_it_stops(self, case: Case) -> None:
        """Not before; 0 at least."""
        setting = self._setting(case)
        state = initial_state(setting, 5)
        while not state.verdict.stop and state.rounds < 30:
            state = after_round(setting, state, case)
            assert state.verdict.progress >= 0.0
            assert state.verdict.stop == (state.verdict.progress >= 1.0)

    def test_many_rounds_at_once_are_like_one_at_a_time(self, case: Case) -> None:
        """Both are found to stop at the same round, with the same verdict."""
        setting = self._setting(case, strategy="g-optimal")
        start = initial_state(setting, 5)
        rounds = _simulated(setting, start, case, 40)
        one, many = start, start
        for position in range(40):
            if not one.verdict.stop:
                one = advance(setting, one, rounds[position : position + 1])
        for position in range(0, 40, 8):
            if not many.verdict.stop:
                many = advance(setting, many, rounds[position : position + 8])
        assert (one.rounds, one.verdict) == (many.rounds, many.verdict)

    def test_a_forecast_is_a_range_of_rounds(self, case: Case) -> None:
        """Or None when there is nothing to tell."""
        setting = self._setting(case, delta=_SURE)
        state = initial_state(setting, 5)
        while not state.verdict.stop and state.rounds < 15:
            state = after_round(setting, state, case)
            forecast = setting.forecast(state)
            if forecast is None or forecast.rounds is None:
                continue
            assert forecast.rounds >= 1
            assert forecast.low is not None
            assert forecast.low <= forecast.rounds
            assert forecast.high is None or forecast.high >= forecast.rounds

    def test_a_report_says_what_is_certified_and_what_it_rests_on(self, case: Case) -> None:
        """Also when the budget ends the run."""
        report = self._identified(case, self.rounds)
        assert report.certified
        claims = [claim for claim in self.target().claims(report) if claim]
        assert claims
        assert all(claim in report.guarantee for claim in claims)
        assert report.assumes in report.guarantee
        assert report.guarantee in str(report)
        noisy = replace(case.problem, noise=100.0 * case.problem.stated_noise)
        short = self._identified(replace(case, problem=noisy), 12)
        assert not short.certified
        assert short.guarantee in str(short)
        assert short.guarantee != report.guarantee

    def test_a_restored_learner_goes_on_bit_for_bit(self, case: Case) -> None:
        """Saved after any round; the target is recognised by its ``repr``."""
        options: dict[str, Any] = {"epsilon": self.epsilon, "delta": _SURE, "rng": 1}
        learner = Learner(case.problem, target=self.target(), **options)
        measured = case.environment(3)
        while not learner.verdict.stop and learner.rounds < 15:
            saved = deepcopy(learner.save())
            again = Learner.restore(case.problem, saved, target=self.target())
            rewards = measured(learner.ask().arms)
            again.tell(again.ask(), rewards)
            learner.tell(learner.ask(), rewards)
            assert again.verdict == learner.verdict
            assert str(again.report()) == str(learner.report())

    def test_wrong_certificates_stay_within_delta(self) -> None:
        """Counted at a near tie; false alarm 1e-6."""
        runs = replicate(
            self.near_tie.problem,
            self.near_tie.matrix,
            beta=self.near_tie.beta,
            repetitions=self.runs,
            max_rounds=30,
            target=self.target(),
            epsilon=self.epsilon,
            delta=self.delta,
            rng=20,
        )
        assert not too_many(runs.errors, self.runs, self.delta)


def _simulated(setting: Setting, state: LearnerState, case: Case, count: int) -> ByRound:
    """Statistics (R, q, P) of rounds whose joint arms depend on nothing."""
    observations, information, _ = upcoming(setting.plan, case.problem, state, count)
    means = setting.plan.cells.averages(case.environment(0).truth.tables)
    noise = np.random.default_rng(6).standard_normal(information.shape)
    rewards = information * means + case.problem.stated_noise * np.sqrt(information) * noise
    unrecorded = np.broadcast_to(np.nan, information.shape)
    return CellStatistics(observations, information, rewards, unrecorded)
