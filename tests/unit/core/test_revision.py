"""Corrections and extensions: what they do to the state, against telling the truth at once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from tests.instances import NAMED_SQUARE as GRAPH
from tests.instances import SMALL_PROBLEM as PROBLEM

from edgewise.base.arrays import Array, Indices
from edgewise.core import revision
from edgewise.core.ending import Ending
from edgewise.core.evidence.evidence import Evidence
from edgewise.core.evidence.measuring import ByPhase, Statistics
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.learner import initial_state, tell_round
from edgewise.core.looking import last_look
from edgewise.core.reporting import compile_report
from edgewise.core.revision import amend, go_on, reconsider, sum_rounds
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import Union
from edgewise.core.targets import Finding

Told = list[tuple[Indices, Array]]


def setting_for(strategy: str, **options: Any) -> Setting:
    chosen = {"delta": 1e-300, "epsilon": 0.0, "stopping": None} | options
    return Setting.of(PROBLEM, strategy=strategy, **chosen)


def fresh(setting: Setting) -> LearnerState:
    return initial_state(setting, seed=3)


def told(setting: Setting, rewards: Sequence[Array]) -> tuple[LearnerState, Told, list[int]]:
    """The state after rounds with these rewards, the rounds, and the phase of each."""
    state, rounds, phases = fresh(setting), [], []
    for values in rewards:
        arms = setting.plan.joint_arm(PROBLEM, state)
        phases.append(len(state.closed.information))
        rounds.append((arms, values))
        state = tell_round(setting, state, arms, values)
    return state, rounds, phases


def same(first: Statistics | ByPhase, second: Statistics | ByPhase) -> bool:
    mine, its = first.to_tree(), second.to_tree()
    return all(np.array_equal(mine[name], its[name]) for name in mine)


def rewards_of(seed: int, n_rounds: int) -> list[Array]:
    values = np.random.default_rng(seed).standard_normal((n_rounds, GRAPH.n_arcs))
    values[np.random.default_rng(seed + 1).random(values.shape) < 0.05] = np.nan
    return list(values)


cases = {
    "seed": st.integers(0, 10**6),
    "wrong": st.integers(0, 11),
    "error": st.floats(-1e60, 1e60),
}


@given(**cases)
def test_without_phases_a_correction_equals_having_told_the_right_value(
    seed: int, wrong: int, error: float
) -> None:
    setting = setting_for("g-optimal")
    right = rewards_of(seed, 12)
    mistaken = [values.copy() for values in right]
    mistaken[wrong][0] = error
    truth, rounds, _ = told(setting, right)
    state, _, _ = told(setting, mistaken)
    amended = amend(setting, state, 0, sum_rounds(setting, rounds))
    assert same(amended.statistics, truth.statistics)
    assert amended.verdict == truth.verdict


@given(**cases)
def test_with_phases_every_phase_has_the_statistics_of_the_corrected_log(
    seed: int, wrong: int, error: float
) -> None:
    setting = setting_for("adaptive")
    mistaken = rewards_of(seed, 12)
    mistaken[wrong][0] = error
    state, rounds, phases = told(setting, mistaken)
    rounds[wrong] = (rounds[wrong][0], np.where(np.arange(10) == 0, 0.25, rounds[wrong][1]))
    phase = phases[wrong]
    members = [one for one, its in zip(rounds, phases, strict=True) if its == phase]
    amended = amend(setting, state, phase, sum_rounds(setting, members))
    taken_back = state.verdict.stop and not amended.verdict.stop
    assert len(amended.closed.information) == len(state.closed.information) + taken_back
    every: list[Any] = [*(amended.closed[j] for j in range(len(amended.closed.information)))]
    every.append(amended.statistics)
    for number, statistics in enumerate(every):
        its = [one for one, phase in zip(rounds, phases, strict=True) if phase == number]
        assert same(statistics, sum_rounds(setting, its))
    assert taken_back or amended.aim is state.aim  # decisions taken since are not taken again


@given(seed=st.integers(0, 10**6))
def test_nothing_changes_when_nothing_was_wrong(seed: int) -> None:
    for strategy in ("g-optimal", "adaptive"):
        setting = setting_for(strategy)
        state, rounds, phases = told(setting, rewards_of(seed, 9))
        members = [one for one, phase in zip(rounds, phases, strict=True) if phase == phases[2]]
        amended = amend(setting, state, phases[2], sum_rounds(setting, members))
        assert amended.verdict == state.verdict
        assert same(amended.total, state.total)


def certain(strategy: str) -> tuple[Setting, LearnerState]:
    """A state in which the rule has stopped."""
    setting = setting_for(strategy, delta=0.05)
    table = np.array([[2.0, 0.0, 0.5], [0.0, 0.1, 0.0], [0.5, 0.0, 0.2]])
    state = fresh(setting)
    rng = np.random.default_rng(0)
    while not state.verdict.stop:
        arms = setting.plan.joint_arm(PROBLEM, state)
        means = table[arms[GRAPH.arcs[:, 0]], arms[GRAPH.arcs[:, 1]]]
        rewards = means + 0.1 * rng.standard_normal(GRAPH.n_arcs)
        state = tell_round(setting, state, arms, rewards)
    return setting, state


def test_a_smaller_delta_takes_the_stop_back_and_closes_the_phase() -> None:
    setting, state = certain("adaptive")
    stricter = replace(setting, delta=1e-200)
    after = reconsider(stricter, state)
    assert not after.verdict.stop
    assert len(after.closed.information) == len(state.closed.information) + 1
    assert (after.phase_rounds, after.rounds) == (0, state.rounds)
    assert reconsider(stricter, after).verdict == after.verdict  # judged from the closed phases


def test_going_on_closes_the_phase_once_and_keeps_the_verdict() -> None:
    setting, state = certain("adaptive")
    after = go_on(setting, state)
    assert after.verdict.stop
    assert len(after.closed.information) == len(state.closed.information) + 1
    assert go_on(setting, after) is after
    setting, state = certain("g-optimal")
    assert go_on(setting, state) is state  # one phase that never ends


def test_going_on_in_the_middle_of_a_phase_looks_at_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is asked after every round of an extended study, and a look goes through all phases."""
    setting = setting_for("adaptive")
    rng = np.random.default_rng(5)
    looks = 0

    def counted(setting: Setting, state: LearnerState) -> Finding | None:
        nonlocal looks
        looks += 1
        return last_look(setting, state)

    monkeypatch.setattr(revision, "last_look", counted)
    state = fresh(setting)
    for _ in range(40):
        arms = setting.plan.joint_arm(PROBLEM, state)
        state = go_on(setting, tell_round(setting, state, arms, rng.normal(size=PROBLEM.n_rewards)))
    assert looks == 0
    assert state.rounds == 40
    assert len(state.closed) > 2


def test_between_looks_the_verdict_stands() -> None:
    setting = setting_for("g-optimal", stopping=Union(growth=2.0))
    state, _, _ = told(setting, rewards_of(4, 12))
    assert 0 < state.verdict.round < state.rounds
    worse = replace(state, statistics=CellStatistics.zero(setting.plan.cells))
    assert reconsider(setting, worse) is worse


# -- looks that cost ---------------------------------------------------------------------------


LOOKS = 145
"""At 1, 1.1, 1.21, ... up to a million measurements of the same two pairs."""


def widths(setting: Setting, *, charged: bool) -> Array:
    """(LOOKS,) standard errors at which the rule stops, when round 1 is judged again and again."""
    evidence = Evidence(
        rounds=np.array([1]),
        theta=np.zeros((1, 1, 1)),
        leaders=np.zeros((1, 1), np.int64),
        gaps=np.ones((1, 1, 1)),
        variances=np.ones((1, 1, 1)),
        n_rivals=1,
        n_arcs=1,
        n_arms=2,
        noise=np.ones(1),
    )
    found = []
    for look in range(LOOKS):
        state = replace(fresh(setting), extra_looks=look if charged else 0)
        delta = setting.at_look(state, 1).delta
        found.append(setting.rule(evidence, delta=delta, epsilon=0.0)[0, 0, 0] ** -0.5)
    return np.array(found)


def wrong_stops(setting: Setting, runs: int, *, charged: bool) -> int:
    """How often the worse of two nearly equal pairs is certified.

    The round was closed almost empty, then its measurements arrived, a tenth more each time.
    """
    rng, sizes = np.random.default_rng(8), 1.1 ** np.arange(LOOKS)
    steps = np.sqrt(np.diff(sizes, prepend=0.0)) * rng.standard_normal((runs, LOOKS))
    standardised = steps.cumsum(axis=1) / np.sqrt(sizes)
    over = np.abs(standardised) >= widths(setting, charged=charged)
    first = over.argmax(axis=1)
    return int((over.any(axis=1) & (standardised[np.arange(runs), first] > 0)).sum())


def test_looks_after_corrections_are_paid_for() -> None:
    """Exact binomial tests with a false alarm of 1e-6; without the price, delta is exceeded."""
    setting, runs = setting_for("g-optimal", stopping=Union(), delta=0.05), 4000
    paid, free = (wrong_stops(setting, runs, charged=charged) for charged in (True, False))
    assert binom.sf(paid - 1, runs, 0.05) > 1e-6
    assert binom.sf(free - 1, runs, 0.05) < 1e-6


def test_extra_looks_are_counted_and_kept() -> None:
    setting = setting_for("g-optimal", stopping=Union(), delta=0.05)
    state, rounds, _ = told(setting, rewards_of(1, 3))
    again = amend(setting, state, 0, sum_rounds(setting, rounds))
    assert (state.extra_looks, again.extra_looks) == (0, 1)
    assert LearnerState.from_tree(again.to_tree()).extra_looks == 1
    assert again.verdict.progress < state.verdict.progress
    assert "charged for" in compile_report(setting, again, Ending.RUNNING).assumes
    assert "charged" not in compile_report(setting, state, Ending.RUNNING).assumes


def test_the_next_look_costs_as_the_one_after_all_extra_ones() -> None:
    for rounds, look in ((1, 1), (2, 2), (5, 5)):
        for extra in (0, 1, 7):
            later = look + extra
            expected = np.log(later * (later + 1)) - np.log(look * (look + 1))
            assert np.isclose(Union().surcharge(rounds, extra), expected)
