from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom
from tests.unit.core.local.dense import (
    World,
    arcs,
    covariate_matrix,
    draw_world,
    mixed_channels,
    rows,
)

from edgewise.base.arrays import Array
from edgewise.core.local.channels import Channels
from edgewise.core.local.homogeneity import homogeneity, score_test
from edgewise.core.local.pooling import Pooling, decide

FALSE_ALARM = 1e-6


def residual(X: Array, y: Array) -> tuple[float, int]:
    beta, _, rank, _ = np.linalg.lstsq(X, y, rcond=None)
    return float(((y - X @ beta) ** 2).sum()), int(rank)


def test_f_tests_and_shares_are_those_of_least_squares() -> None:
    world = draw_world(mixed_channels(8), 30, missing=0.1, rng=np.random.default_rng(0))
    data, F = rows(world, "none"), covariate_matrix(world.channels)
    _, c = np.nonzero(~np.isnan(world.rewards))
    levels = (c[:, None] == np.arange(8)).astype(float)
    one = np.ones((len(c), 1))
    models = [one, np.hstack([one, data.Z @ F]), np.hstack([levels, data.Z @ F])]
    fits = [residual(X, data.y) for X in [*models, np.hstack([levels, data.Z])]]
    found = homogeneity(world.phase())
    shares = -np.diff([squares for squares, _ in fits]) / fits[0][0]
    assert [found.shared, found.levels, found.edges] == pytest.approx(shares.tolist())
    for test, (small, large) in zip(
        (found.levels_test, found.edges_test), pairwise(fits[1:]), strict=True
    ):
        assert test is not None
        more, rest = large[1] - small[1], len(c) - large[1]
        assert test.degrees_of_freedom == (more, rest)
        assert test.statistic == pytest.approx((small[0] - large[0]) / more / (large[0] / rest))


@pytest.mark.parametrize("levels", ["channel", "both"])
def test_moments_of_the_score_are_those_of_its_matrix(levels: str) -> None:
    """Mean of Q written out; its spread against draws from the null."""
    channels = mixed_channels(10)
    rng = np.random.default_rng(1)
    world = draw_world(channels, 5, deviation=0.0, rng=rng)
    found = score_test(world.equations(levels))
    assert found is not None
    statistics = []
    for _ in range(200):
        noise = World(channels, world.theta, world.features, rng.standard_normal((5, 10)))
        test = score_test(noise.equations(levels))
        assert test is not None
        assert test.expected == pytest.approx(found.expected)
        statistics.append(test.statistic)
    spread = float(np.std(statistics))
    assert np.mean(statistics) == pytest.approx(found.expected, abs=4 * spread / 14)


@pytest.mark.parametrize(
    ("channels", "n_rounds"), [(arcs(40, 3, 2), 2), (arcs(40, 3), 12), (mixed_channels(12), 4)]
)
def test_edges_that_are_equal_raise_the_alarm_in_five_percent(
    channels: Channels, n_rounds: int
) -> None:
    rng, n_runs = np.random.default_rng(2), 400
    alarms = 0
    for _ in range(n_runs):
        world = draw_world(channels, n_rounds, deviation=0.0, rng=rng)
        test = score_test(world.equations())
        assert test is not None
        alarms += test.p_value < 0.05
    assert binom.ppf(1e-3, n_runs, 0.05) <= alarms <= binom.ppf(1 - 1e-3, n_runs, 0.05)


def test_edges_that_differ_are_found_before_least_squares_can() -> None:
    """Also the negative control of the size: these runs raise the alarm nearly always."""
    rng, alarms = np.random.default_rng(3), 0
    for _ in range(50):
        world = draw_world(arcs(60, 4), 4, deviation=0.5, rng=rng)
        found = homogeneity(world.phase())
        assert found.edges_test is None  # three free rounds, four parameters
        assert found.score is not None
        alarms += found.score.p_value < 0.05
    assert alarms > 45


def test_levels_alone_are_no_difference_of_matrices() -> None:
    rng, alarms, levels = np.random.default_rng(4), 0, 0
    for _ in range(100):
        found = homogeneity(draw_world(arcs(30, 2), 8, deviation=0.0, levels=5.0, rng=rng).phase())
        assert found.levels_test is not None
        assert found.edges_test is not None
        levels += found.levels_test.p_value < 0.001
        alarms += found.edges_test.p_value < 0.05
    assert levels == 100
    assert alarms <= binom.ppf(1 - FALSE_ALARM, 100, 0.05)


def test_auto_is_partial_where_edges_differ_and_shared_where_they_do_not() -> None:
    rng = np.random.default_rng(5)
    same = draw_world(arcs(50, 3), 10, deviation=0.0, rng=rng)
    different = draw_world(arcs(50, 3), 10, deviation=0.5, rng=rng)
    assert decide(different.equations()).pooling is Pooling.PARTIAL
    decision = decide(same.equations())
    assert decision.p_value is not None
    assert decision.pooling is (Pooling.SHARED if decision.p_value >= 0.05 else Pooling.PARTIAL)
    assert decide(same.equations(), level=1.0).pooling is Pooling.PARTIAL


def test_one_round_cannot_tell() -> None:
    world = draw_world(arcs(10, 2), 1, rng=np.random.default_rng(6))
    found = homogeneity(world.phase())
    assert found.score is None
    assert found.edges_test is None
    assert decide(world.equations()).pooling is Pooling.SHARED
    assert decide(world.equations()).p_value is None


def test_the_unit_of_rewards_does_not_matter() -> None:
    world = draw_world(mixed_channels(8), 6, rng=np.random.default_rng(7))
    larger = World(world.channels, world.theta, world.features, 1e3 * world.rewards)
    one, other = score_test(world.equations()), score_test(larger.equations())
    assert one is not None
    assert other is not None
    assert one.p_value == pytest.approx(other.p_value)


def test_a_score_that_cannot_vary_is_no_test() -> None:
    """Edges that all saw the same two rounds: Q is the residual squares, whatever the rewards."""
    features, rng = np.array([[1.0] * 3, [-1.0] * 3]), np.random.default_rng(0)
    for _ in range(5):
        rewards = rng.standard_normal((2, 3))
        assert score_test(World(arcs(3, 1), np.zeros(3), features, rewards).equations()) is None
