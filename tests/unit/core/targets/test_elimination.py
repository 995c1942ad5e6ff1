"""Cells are refuted for good: along a run, when it is stored, and when its past is revised."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.core.ending import Ending, ending_of
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.learner import initial_state, tell_round
from edgewise.core.reporting import compile_report
from edgewise.core.revision import amend, reconsider
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import Anytime
from edgewise.core.targets.elimination import refuted_by
from edgewise.testing.cases import INSTANCES, Case, after_round, setting_of


def states_of(setting: Setting, case: Case, most: int = 60) -> list[LearnerState]:
    state = initial_state(setting, 5)
    states = [state]
    while not state.verdict.stop and state.rounds < most:
        state = after_round(setting, state, case)
        states.append(state)
    return states


@pytest.mark.parametrize("name", INSTANCES)
def test_what_is_refuted_stays_refuted_and_one_pair_is_left(name: str) -> None:
    case = INSTANCES[name]
    setting = setting_of(case, delta=1e-3)
    states = states_of(setting, case)
    masks = [state.refuted for state in states if state.refuted is not None]
    for before, after in pairwise(masks):
        assert (after >= before).all()
    assert states[-1].verdict.stop
    leaders = [setting.plan.cells.pair_index[k, l] for k, l in states[-1].verdict.pairs]
    assert [np.flatnonzero(~row).tolist() for row in masks[-1]] == [[one] for one in leaders]


def test_phases_are_laid_out_for_what_is_left() -> None:
    case = INSTANCES["undirected"]
    setting = setting_of(case, delta=1e-6)
    for state in states_of(setting, case)[3:-1]:
        assert state.refuted is not None
        if state.phase_rounds == 0:
            assert not state.refuted[state.aim.kinds, state.aim.rivals].any()
            assert not state.refuted[state.aim.kinds, state.aim.leaders].any()


def test_a_stored_state_knows_what_is_refuted() -> None:
    case = INSTANCES["directed kinds"]
    state = states_of(setting_of(case), case)[4]
    again = LearnerState.from_tree(state.to_tree())
    assert state.refuted is not None
    assert again.refuted is not None
    assert np.array_equal(again.refuted, state.refuted)
    before = {key: value for key, value in state.to_tree().items() if key != "refuted"}
    assert LearnerState.from_tree(before).refuted is None


def test_what_the_phases_refute_can_be_computed_again() -> None:
    case = INSTANCES["candidates"]
    setting = setting_of(case, delta=1e-4)
    assert isinstance(setting.rule, Anytime)
    for state in states_of(setting, case)[:-1]:
        if state.phase_rounds == 0 and state.rounds:
            again = refuted_by(setting, setting.rule, state.closed)
            assert again is not None
            assert state.refuted is not None
            assert np.array_equal(again, state.refuted)


def test_a_correction_takes_refutations_back() -> None:
    """Rewards that refuted a pair turn out to be wrong: what the phases say now is what counts."""
    case = INSTANCES["undirected"]
    setting = setting_of(case)
    state = states_of(setting, case)[-1]
    revised = state
    assert isinstance(state.closed, CellStatistics)
    assert isinstance(state.statistics, CellStatistics)
    phases = [*(state.closed[j] for j in range(len(state.closed))), state.statistics]
    for phase, told in enumerate(phases):
        revised = amend(setting, revised, phase, replace(told, rewards=0.0 * told.rewards))
    assert not revised.verdict.stop
    assert revised.refuted is not None
    assert state.refuted is not None
    assert revised.refuted.sum() < state.refuted.sum()


def test_more_confidence_takes_refutations_back() -> None:
    case = INSTANCES["undirected"]
    setting = setting_of(case, delta=0.1)
    state = states_of(setting, case)[-1]
    stricter = reconsider(replace(setting, delta=1e-12), state)
    assert state.verdict.stop
    assert not stricter.verdict.stop
    assert stricter.refuted is not None
    assert not stricter.refuted[setting.plan.cells.showable].all()


def test_rewards_that_fit_nothing_refute_everything() -> None:
    """The order of the pairs is turned round again and again: an ending, and no certificate."""
    case = INSTANCES["undirected"]
    setting = setting_of(case, delta=1e-9, trust_model=True)
    state, sign = initial_state(setting, 5), 1.0
    while ending_of(state.verdict, state.rounds, max_rounds=100) is Ending.RUNNING:
        arms = setting.plan.joint_arm(case.problem, state)
        phase = len(state.closed)
        state = tell_round(setting, state, arms, sign * case.environment(3)(arms))
        sign = -2.0 * sign if len(state.closed) > phase else sign
    ending = ending_of(state.verdict, state.rounds)
    assert ending is Ending.CONTRADICTED
    assert not state.verdict.stop
    assert "every pair of arms" in str(compile_report(setting, state, ending))


def test_a_tolerance_ends_a_tie() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=10), np.eye(2), noise=0.3)
    options: dict[str, Any] = {"repetitions": 10, "max_rounds": 40, "rng": 1, "target": "pair"}
    for matrix in (np.eye(2), np.diag([1.0, 0.9])):
        runs = ew.simulation.replicate(problem, matrix, epsilon=0.2, **options)
        assert runs.certified.all()
        assert runs.errors == 0
    assert ew.simulation.replicate(problem, np.eye(2), **options).certified.sum() < 5


def test_unknown_noise_is_bounded_first() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=20), np.eye(2), noise="estimate")
    runs = ew.simulation.replicate(
        problem, np.diag([1.0, 0.5]), noise=0.3, repetitions=10, rng=1, target="pair"
    )
    assert runs.certified.all()
    assert runs.errors == 0


def test_twins_are_one_answer() -> None:
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    problem = ew.Problem(ew.Graph.circle(n_nodes=10), arms, noise=0.3)
    runs = ew.simulation.replicate(problem, np.diag([2.0, 0.1]), repetitions=5, rng=1)
    assert runs.certified.all()
    assert runs.errors == 0


def test_many_cells_are_followed_sparsely() -> None:
    """More cells than claimants are followed: the best is among them."""
    rng = np.random.default_rng(2)
    problem = ew.Problem(ew.Graph.circle(n_nodes=100), rng.standard_normal((40, 3)), noise=0.3)
    runs = ew.simulation.replicate(problem, rng.standard_normal((3, 3)), repetitions=1, rng=1)
    assert runs.certified.all()
    assert runs.errors == 0


def test_rounds_left_are_forecast() -> None:
    case = INSTANCES["undirected"]
    setting = setting_of(case, delta=1e-6)
    states = states_of(setting, case)
    total = states[-1].rounds
    for state in states[2:-1]:
        forecast = setting.forecast(state)
        assert forecast is not None
        assert forecast.rounds is not None
        assert 1 <= forecast.rounds <= 50 * total
