"""What exploring has earned, against what every round would have been worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.instances import FOUR_ARMS as ARMS

import edgewise as ew
from edgewise.allocation.instance.objective import global_reward
from edgewise.core.earnings import NEXT, earnings_of
from edgewise.core.evidence.estimated import own_terms
from edgewise.core.evidence.least_squares import estimate
from edgewise.core.learner import initial_state, tell_round
from edgewise.core.reporting import compile_report
from edgewise.core.setting import Setting
from edgewise.errors import InvalidArgument
from edgewise.plots import earnings_data, figure_earnings

MATRIX = np.array([[0.6, 0.5], [0.5, -0.3]])
TODAY = np.array([0, 1, 0, 1, 0, 1])


def problem(**options: Any) -> ew.Problem:
    graph = ew.Graph.from_edges(
        [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)],
        weights=options.pop("weights", None),
        directed=options.pop("directed", False),
    )
    return ew.Problem(graph, ARMS, **{"noise": 0.3, "baseline": TODAY, **options})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weights": [1.0, 2.0, 0.5, 1.0, 1.0, 3.0]},
        {"directed": True, "node_term": True},
        {"measured": "link", "levels": True},
        {"measured": "node"},
        {"measured": "node", "average": True, "directed": True},
        {"measured": "total"},
        {"pooling": "partial"},
        {"pooling": "none"},
    ],
    ids=str,
)
def test_the_mean_of_the_rounds_is_the_mean_of_their_joint_arms(options: Any) -> None:
    """Against the slow way: the estimate's value of every joint arm that was deployed."""
    task = problem(**options)
    beta = [0.1, -0.2] if task.node_term else None
    setting = Setting.of(task, delta=1e-200, epsilon=0.0, strategy="adaptive", stopping=None)
    environment = ew.BilinearEnvironment(task, MATRIX, beta=beta, rng=0)
    state, deployed = initial_state(setting, 0), []
    for _ in range(30):
        arms = setting.plan.joint_arm(task, state)
        state = tell_round(setting, state, arms, environment(arms))
        deployed.append(arms)
    found = earnings_of(setting, state)
    assert found is not None
    assert found.baseline is not None
    report = compile_report(setting, state, ew.Ending.RUNNING)
    assert report.allocation is not None
    if report.edge_tables is not None:
        table = report.edge_tables
        graph = task.graph.edge_by_edge()
    else:
        table, graph = report.tables, task.classes.graph

    theta = estimate(setting.plan.cells, state.total)
    own = own_terms(task, setting.plan.cells, theta)
    today = global_reward(graph, table, TODAY, own)
    expected = np.mean([global_reward(graph, table, arms, own) - today for arms in deployed])
    assert_allclose(found.per_round - found.baseline, expected, rtol=1e-6, atol=1e-6)
    assert found.won == pytest.approx(30 * expected, rel=1e-6, abs=1e-5)
    assert found.lost == pytest.approx(30 * (found.recommended - found.per_round))
    assert 0.0 <= found.next_rounds <= found.shortfall + 1e-9


def test_the_expected_gain_falls_as_more_is_known() -> None:
    task = problem(noise=3.0)
    learner = ew.Learner(task, strategy="thompson", target="allocation", delta=1e-100, rng=0)
    environment = ew.BilinearEnvironment(task, MATRIX, rng=1)
    seen = []
    while learner.rounds < 80 and not learner.verdict.stop:
        learner.tell(learner.ask(), environment(learner.ask().arms))
        if learner.rounds in (8, 79):
            seen.append(learner.earnings())
    first, last = seen
    assert first is not None
    assert last is not None
    assert last.shortfall < first.shortfall
    assert last.next_rounds < first.next_rounds


def test_the_shortfall_is_what_the_answer_misses_on_average() -> None:
    """The means over 60 worlds, fixed seeds, agree within half."""
    graph = ew.Graph.matching(n_nodes=8)
    task = ew.Problem(graph, np.eye(2), noise=1.0)
    missed, expected = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        matrix = rng.normal(scale=2.0, size=(2, 2))
        matrix = matrix + matrix.T
        learner = ew.Learner(task, strategy="g-optimal", target="pair", delta=1e-100, rng=seed)
        environment = ew.BilinearEnvironment(task, matrix, rng=seed)
        while not learner.verdict.pairs or learner.rounds < 3:
            learner.tell(learner.ask(), environment(learner.ask().arms))
        now, allocation = learner.earnings(), learner.report().allocation
        assert now is not None
        assert allocation is not None
        best = ew.allocate(graph, np.eye(2), matrix).value
        missed.append(best - global_reward(graph, matrix, allocation.arms))
        expected.append(now.shortfall)
    assert np.mean(expected) == pytest.approx(np.mean(missed), rel=0.5)


def test_what_stops_a_run_must_be_a_function() -> None:
    task = problem()
    world = ew.BilinearEnvironment(task, MATRIX, rng=0)
    with pytest.raises(InvalidArgument, match="stop_when is 3; it must be a function"):
        ew.identify(task, world, stop_when=3)  # type: ignore[arg-type]


def test_a_run_can_end_when_it_is_good_enough() -> None:
    task = problem(noise=2.0)
    asked = []

    def enough(now: ew.Earnings) -> bool:
        asked.append(now)
        return now.next_rounds < 0.1

    report = ew.identify(
        task,
        ew.BilinearEnvironment(task, MATRIX, rng=0),
        strategy="thompson",
        target="allocation",
        delta=1e-100,
        stop_when=enough,
        max_rounds=500,
        rng=0,
    )
    assert report.ending is ew.Ending.CHOSEN
    assert not report.certified
    assert asked[-1].next_rounds < 0.1
    assert all(now.next_rounds >= 0.1 for now in asked[:-1])
    assert asked[-1].rounds == report.rounds
    assert "Chosen after" in str(report)
    assert "stopping now" in str(report)
    assert "against" in str(report)


def test_nothing_is_said_before_anything_is_known_or_without_a_baseline() -> None:
    task = problem()
    learner = ew.Learner(task, rng=0)
    assert learner.earnings() is None
    plain = ew.Problem(task.graph, ARMS, noise=0.3)
    report = ew.identify(plain, ew.BilinearEnvironment(plain, MATRIX, rng=0), max_rounds=20, rng=0)
    assert report.earnings is None
    assert "earned" not in str(report)


def test_a_study_says_it_in_status_history_and_report() -> None:
    task = problem()
    study = ew.Study.create("farm", task, strategy="thompson", delta=1e-100, rng=0)
    environment = ew.BilinearEnvironment(task, MATRIX, rng=0)
    for _ in range(12):
        ticket = study.ask()
        study.tell(ticket, environment(ticket.arms))
    status, history = study.status(), study.history()
    assert status.earnings == history.earnings == study.report().earnings
    assert "earned" in str(status)
    data = earnings_data(history.totals, history.earnings)
    assert status.earnings is not None
    assert status.earnings.won is not None
    assert data.won[-1] == pytest.approx(status.earnings.won, rel=1e-6, abs=1e-6)
    assert len(figure_earnings(data).axes) == 2
    with pytest.raises(ew.EdgewiseError, match="nothing to compare"):
        earnings_data(history.totals, None)
    assert NEXT == 10
