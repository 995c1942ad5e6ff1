"""Rewards that are asked about before they are recorded."""

import numpy as np
import pytest
from tests.instances import THREE_ARMS

import edgewise as ew
from edgewise.core.gate.outliers import outliers
from edgewise.core.gate.watch import Told, Watch, nothing_watched, watch_round

GRAPH = ew.Graph.circle(n_nodes=10)
PROBLEM = ew.Problem(GRAPH, THREE_ARMS, noise=0.3)
MATRIX = [[2.0, 3.0], [-1.0, 0.5]]  # far from symmetric


def watched(problem: ew.Problem, n: int) -> tuple[Watch, ew.BilinearEnvironment]:
    environment = ew.BilinearEnvironment(problem, MATRIX, rng=1, noise=0.3)
    watch, rng = nothing_watched(problem, None), np.random.default_rng(2)
    for number in range(1, n + 1):
        arms = rng.integers(0, 3, 10).astype(np.int32)
        told = Told(number, 0, arms, environment(arms), None)
        watch = watch_round(problem, None, watch, told)
    assert watch is not None
    return watch, environment


ARMS = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0], np.int32)


@pytest.mark.parametrize("noise", [0.3, "estimate"])
def test_beyond_twelve_deviations_outside_the_prediction(noise: float | str) -> None:
    problem = ew.Problem(GRAPH, THREE_ARMS, noise=noise)  # type: ignore[arg-type]
    watch, environment = watched(problem, 12)
    rewards = environment(ARMS)
    assert outliers(problem, watch, ARMS, rewards) == ()
    expected = rewards[4]
    rewards[4] += 8 * 0.3
    assert outliers(problem, watch, ARMS, rewards) == ()
    rewards[4], rewards[9] = expected - 30 * 0.3, np.nan
    (found,) = outliers(problem, watch, ARMS, rewards)
    assert found.position == 4
    assert found.expected == pytest.approx(expected, abs=1.5)
    assert "arc 4 (2 -> 3)" in found.in_words(problem)


def test_first_rounds_are_compared_with_each_other() -> None:
    watch, environment = watched(PROBLEM, 0)
    rewards = environment(ARMS)
    assert outliers(PROBLEM, watch, ARMS, rewards) == ()
    rewards[3] = 150000.0
    (found,) = outliers(PROBLEM, watch, ARMS, rewards)
    assert (found.position, found.expected) == (3, None)
    assert "times the median size of the round's others" in found.in_words(PROBLEM)


def test_nothing_to_compare_with_is_not_asked_about() -> None:
    total = ew.Problem(GRAPH, THREE_ARMS, measured="total", noise=0.3)
    watch = nothing_watched(total, None)
    assert outliers(total, watch, ARMS, np.array([1e9])) == ()
    assert outliers(PROBLEM, None, ARMS, np.full(20, 1e9)) == ()
    assert outliers(PROBLEM, watch, ARMS, np.full(20, np.nan)) == ()


def test_rewards_that_are_all_large_are_fine_at_first() -> None:
    watch, _ = watched(PROBLEM, 0)
    assert outliers(PROBLEM, watch, ARMS, np.full(20, 1e6)) == ()
