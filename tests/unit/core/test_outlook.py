"""What-if and why: predictions with intervals, and which links decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.study.farm import PROBLEM

import edgewise as ew
from edgewise.errors import InvalidArgument

MATRIX = np.array([[1.0, 0.3], [-0.1, 0.2]])


def learnt(problem: ew.Problem, rounds: int, seed: int = 0) -> ew.Learner:
    world = ew.BilinearEnvironment(problem, MATRIX, rng=seed)
    learner = ew.Learner(problem, delta=1e-300, strategy="g-optimal", rng=seed)
    for _ in range(rounds):
        ticket = learner.ask()
        learner.tell(ticket, world(ticket.arms))
    return learner


def true_value(problem: ew.Problem, arms: Any) -> float:
    return float(ew.BilinearEnvironment(problem, MATRIX, rng=0, noise=0.0)(np.array(arms)).sum())


def test_the_prediction_of_the_recommended_is_what_the_report_says() -> None:
    learner = learnt(PROBLEM, 40)
    report = learner.report()
    assert report.allocation is not None
    found = learner.predict(report.allocation.arms)
    assert found.value == pytest.approx(report.allocation.value)
    difference = learner.predict(report.allocation.arms, against=2)
    assert difference.value == pytest.approx(found.value - learner.predict(2).value)
    assert difference.deviation < found.deviation + learner.predict(2).deviation


@pytest.mark.parametrize("noise", [0.5, "estimate"])
def test_intervals_cover(noise: Any) -> None:
    """Of 120 runs 95 % in expectation: fewer than 103, or all, with probability below 0.3 %."""
    problem = ew.Problem(PROBLEM.graph, PROBLEM.arms, noise=noise)
    arms, truth = [0, 1, 2, 0], true_value(PROBLEM, [0, 1, 2, 0])
    held = 0
    for seed in range(120):
        world = ew.BilinearEnvironment(problem, MATRIX, rng=seed, noise=0.5)
        learner = ew.Learner(
            problem, delta=1e-300, strategy="g-optimal", trust_model=True, rng=seed
        )
        for _ in range(12):
            ticket = learner.ask()
            learner.tell(ticket, world(ticket.arms))
        low, high = learner.predict(arms).interval
        held += low <= truth <= high
    assert 103 <= held < 120


def test_the_deviation_is_that_of_repeated_runs() -> None:
    """Weights, kinds and directions: against the spread of estimates over 100 runs, within 25 %."""
    graph = ew.Graph.from_edges(
        [(0, 1), (1, 2), (2, 0), (2, 3)],
        kinds=["near", "near", "far", "far"],
        weights=[1.0, 2.0, 0.5, 1.5],
        directed=True,
    )
    problem = ew.Problem(graph, PROBLEM.arms, noise=0.5)
    laid_out = np.random.default_rng(0).integers(0, 3, (12, 4))
    study = ew.Study.create("s", problem, strategy="g-optimal", trust_model=True, rng=0)
    values = []
    for seed in range(100):
        world = ew.BilinearEnvironment(problem, np.stack([MATRIX, MATRIX.T]), rng=seed)
        again = ew.Study.create("s", problem, strategy="g-optimal", trust_model=True, rng=0)
        again.add(laid_out, np.array([world(arms) for arms in laid_out]), accept_outliers=True)
        values.append(again.predict([0, 1, 2, 2], against=1).value)
        study = again if seed == 0 else study
    expected = study.predict([0, 1, 2, 2], against=1).deviation
    assert np.std(values) == pytest.approx(expected, rel=0.25)


@pytest.mark.parametrize("options", [{}, {"pooling": "partial"}, {"measured": "node"}])
def test_an_explanation_adds_up(options: dict[str, Any]) -> None:
    problem = ew.Problem(
        PROBLEM.graph, PROBLEM.arms, noise=0.5, arm_labels=["low", "high", "mixed"], **options
    )
    world = ew.BilinearEnvironment(problem, MATRIX, rng=1)
    study = ew.Study.create("farm", problem, delta=1e-9, max_rounds=40, rng=0)
    while not study.stopped:
        ticket = study.ask()
        study.tell(ticket, world(ticket.arms))
    best = {row["node"]: row["arm"] for row in study.recommend().table()}
    found = study.explain("a")
    assert found.arm == best["a"]
    assert {one.arm for one in found.alternatives} == {"low", "high", "mixed"} - {best["a"]}
    first = found.alternatives[0]
    changed = study.predict(best | {"a": first.arm}, against=best)
    assert first.change == pytest.approx(changed.value)
    assert (first.low, first.high) == pytest.approx(changed.interval)
    assert sum(one.advantage for one in found.links) + found.own == pytest.approx(-first.change)
    assert {one.neighbour for one in found.links} == {"b", "c", "d"}
    assert "link" in str(found)
    assert "<table" in found._repr_html_()


def test_before_anything_is_known_and_for_unknown_names() -> None:
    study = ew.Study.create("farm", PROBLEM, rng=0)
    with pytest.raises(InvalidArgument, match="nothing can be estimated after 0 rounds"):
        study.predict(0)
    with pytest.raises(InvalidArgument, match="no node is called 'z'"):
        study.explain("z")
    with pytest.raises(InvalidArgument, match="the arms"):
        study.predict([0, 1])
