"""What the local model recommends, and how sure it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.core.evidence.by_edge import by_edge_after, local_network, nothing_by_edge
from edgewise.core.local.estimate import LocalEstimate, estimate_locally, objective_of

ARMS = np.array([[1.0, 0.1], [0.2, 1.0], [0.6, -0.7]])
PROBLEM = ew.Problem(
    ew.Graph.circle(n_nodes=5), ARMS, noise=0.4, measured="node", pooling="partial"
)
NETWORK = local_network(PROBLEM)


def truth(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.standard_normal(NETWORK.channels.n_parameters))


def estimate(rounds: int, *, noise: float = 0.4, pooling: str = "partial") -> LocalEstimate | None:
    rng, theta = np.random.default_rng(1), truth()
    problem = replace(PROBLEM, noise=noise)
    seen, starts = nothing_by_edge(problem), NETWORK.channels.starts
    for _ in range(rounds):
        arms = rng.integers(3, size=5)
        rewards = np.add.reduceat(NETWORK.features(arms) * theta, starts[:-1])
        seen = by_edge_after(problem, seen, arms, rewards + noise * rng.standard_normal(5))
    assert seen is not None
    return estimate_locally(local_network(problem), seen, pooling=pooling)


@pytest.fixture(scope="module")
def found() -> LocalEstimate:
    result = estimate(30)
    assert result is not None
    return result


def test_before_the_first_round_nothing_is_known() -> None:
    assert estimate(0) is None


def test_the_recommendation_is_the_best_joint_arm_of_the_posterior_mean(
    found: LocalEstimate,
) -> None:
    every = [np.array(arms) for arms in product(range(3), repeat=5)]
    values = [NETWORK.total(arms) @ found.theta for arms in every]
    assert found.allocation.arms.tolist() == every[int(np.argmax(values))].tolist()
    assert found.allocation.value == pytest.approx(max(values))
    assert found.allocation.proved_optimal


def test_the_gain_over_a_baseline_is_linear_in_the_parameters(found: LocalEstimate) -> None:
    baseline = np.zeros(5, np.int64)
    gain, deviation = found.gain(baseline)
    assert gain == pytest.approx(found.allocation.value - found.objective.value(baseline))
    draws = [
        (NETWORK.total(found.allocation.arms) - NETWORK.total(baseline)) @ found.posterior.draw(i)
        for i in range(2000)
    ]
    assert np.mean(draws) == pytest.approx(gain, abs=5 * deviation / np.sqrt(2000))
    assert np.std(draws) == pytest.approx(deviation, rel=5 / np.sqrt(4000))
    low, high = found.interval(baseline)
    assert 0.5 * (low + high) == pytest.approx(gain)
    assert 0.5 * (high - low) > 1.6 * deviation  # wider than if the variances were known


def test_over_itself_it_gains_nothing(found: LocalEstimate) -> None:
    assert found.gain(found.allocation.arms) == (0.0, 0.0)


def test_the_worth_of_knowing_is_a_function_of_the_seed(found: LocalEstimate) -> None:
    first, again, other = (found.worth_of_knowing(seed) for seed in (3, 3, 4))
    assert first == again != other
    assert first >= 0.0


def test_the_worth_of_knowing_is_what_draws_lack_at_the_recommendation(
    found: LocalEstimate,
) -> None:
    lacking = []
    for stream in np.random.default_rng(3).spawn(12):
        world = objective_of(NETWORK, found.posterior.draw(stream))
        values = [world.value(np.array(arms)) for arms in product(range(3), repeat=5)]
        lacking.append(max(values) - world.value(found.allocation.arms))
    assert found.worth_of_knowing(3) == pytest.approx(np.mean(lacking))


def test_more_rounds_leave_less_to_be_known() -> None:
    few, many = estimate(6), estimate(200, noise=0.05)
    assert few is not None
    assert many is not None
    assert many.worth_of_knowing(0) < 0.2 * few.worth_of_knowing(0)


def test_the_spread_is_that_of_edges_around_their_kind() -> None:
    """Standard normal parameters on features of length |x_k| |x_l| (after whitening)."""
    many, shared = estimate(300, noise=0.05), estimate(300, pooling="shared")
    assert many is not None
    features = NETWORK.measurement.features.reshape(-1, 4)
    expected = np.sqrt((features**2).sum(axis=1).mean())
    assert many.spread == pytest.approx(expected, rel=0.5)  # ten arcs only
    assert shared is not None
    assert shared.spread == 0.0


def test_with_next_to_no_noise_the_estimate_is_the_truth() -> None:
    found = estimate(200, noise=1e-4)
    assert found is not None
    assert_allclose(found.theta, truth(), atol=1e-3)
