from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom
from tests.unit.core.local.dense import arcs, condition, draw_world, mixed_channels, rows

from edgewise.core.local.channels import Channels
from edgewise.core.local.normal_equations import Phase, normal_equations
from edgewise.core.local.posterior import Posterior, of_kind, tables
from edgewise.core.local.reml import fit
from edgewise.errors import InvalidArgument


def posterior_of(levels: str, pooling: str = "partial") -> tuple[Posterior, np.ndarray, np.ndarray]:
    """A posterior, and mean and covariance by Gaussian conditioning with the same variances."""
    world = draw_world(mixed_channels(10, 2), 8, missing=0.1, rng=np.random.default_rng(0))
    fitted = fit(world.equations(levels), pooling)
    mean, covariance = condition(rows(world, levels), world.channels, fitted.components)
    return Posterior(fitted), mean, covariance


@pytest.mark.parametrize("levels", ["none", "channel", "round", "both"])
def test_gains_are_gaussian_conditioning(levels: str) -> None:
    posterior, mean, covariance = posterior_of(levels)
    g = np.random.default_rng(1).standard_normal((5, len(mean)))
    gains = posterior.gains(g)
    assert_allclose(gains.mean, g @ mean, atol=1e-7)
    assert_allclose(gains.deviation**2, np.diag(g @ covariance @ g.T), rtol=1e-6)


@pytest.mark.parametrize("pooling", ["shared", "partial"])
def test_covariances_of_channels_and_blocks(pooling: str) -> None:
    posterior, _, covariance = posterior_of("channel", pooling)
    channels = posterior.channels
    for c in (0, 3, channels.n_channels - 1):
        own = slice(channels.starts[c], channels.starts[c + 1])
        assert_allclose(posterior.channel_covariance(c), covariance[own, own], atol=1e-8)
    blocks = list(posterior.covariances())
    assert len(blocks) == channels.n_blocks
    for e, block in enumerate(blocks):
        own = slice(channels.block_starts[e], channels.block_starts[e + 1])
        assert_allclose(block, covariance[own, own], atol=1e-8)


def test_none_has_the_covariance_of_least_squares() -> None:
    world = draw_world(arcs(10, 3), 9, rng=np.random.default_rng(2))
    fitted = fit(world.equations(), "none")
    expected = fitted.sigma**2 * np.linalg.inv(fitted.equations.matrix(4))
    assert_allclose(Posterior(fitted).channel_covariance(4), expected, rtol=1e-3, atol=1e-6)


def test_draws_have_the_posterior_s_moments() -> None:
    posterior, mean, covariance = posterior_of("both")
    rng = np.random.default_rng(3)
    draws = np.array([posterior.draw(rng) for _ in range(20_000)])
    scale = np.sqrt(np.diag(covariance))
    assert np.abs((draws.mean(axis=0) - mean) / scale).max() < 5 / np.sqrt(20_000)
    errors = (np.cov(draws.T) - covariance) / np.outer(scale, scale)
    assert np.abs(errors).max() < 6 / np.sqrt(20_000)


def test_scaled_draws_stray_further_along_the_same_line() -> None:
    posterior, mean, _ = posterior_of("channel")
    assert_allclose(posterior.draw(7, scale=2) - mean, 2 * (posterior.draw(7) - mean), atol=1e-12)


def test_forgetting_what_channels_share_understates_the_gain() -> None:
    """All edges move together with the mean of their kind."""
    world = draw_world(arcs(50, 2), 4, deviation=0.05, rng=np.random.default_rng(4))
    posterior = Posterior(fit(world.equations()))
    g = np.tile([1.0, 0.5], 50)
    alone = sum(g[:2] @ posterior.channel_covariance(c) @ g[:2] for c in range(50))
    assert posterior.gains(g).deviation[0] ** 2 > 2 * alone


def coverage(n_edges: int, n_runs: int, *, shrink: float = 1.0) -> float:
    """How often a 90 % interval holds the gain of the best of 50 joint arms over another."""
    rng, covered = np.random.default_rng(5), 0
    channels = arcs(n_edges, 3)
    for _ in range(n_runs):
        world = draw_world(channels, 8, deviation=0.3, noise=1.0, rng=rng)
        posterior = Posterior(fit(world.equations()))
        arms = rng.standard_normal((50, channels.n_parameters))
        best = int(np.argmax(arms @ posterior.mean))
        g = arms[best] - arms[best - 1]
        low, high = posterior.gains(g).interval(shrink * 1.645)
        covered += bool(low[0] <= g @ world.theta <= high[0])
    return covered / n_runs


def test_ninety_percent_intervals_of_a_gain_cover_about_ninety_percent() -> None:
    assert 0.85 <= coverage(200, 300) <= 0.95
    # negative control: half the deviation would cover 59 %
    assert coverage(200, 60, shrink=0.5) < binom.ppf(1 - 1e-3, 60, 0.59) / 60


def test_with_few_edges_intervals_are_too_narrow() -> None:
    """A known limit, kept in sight: variances are plugged in as if they were known.

    With 40 edges, 84 to 89 % were counted, with 20 edges 83 %; mending it makes this test fail.
    """
    assert 0.78 <= coverage(40, 300) <= 0.88


def test_parameters_and_tables_per_edge() -> None:
    channels = Channels.of_arcs([1, 0, 1], [2, 3])
    theta = np.arange(8.0)
    assert of_kind(channels, theta, 1).tolist() == [[0, 1, 2], [5, 6, 7]]
    features = np.random.default_rng(6).standard_normal((4, 5, 3))
    result = tables(of_kind(channels, theta, 1), features, [1.0, 2.0])
    assert result.shape == (2, 4, 5)
    assert result[1, 2, 3] == pytest.approx(2 * features[2, 3] @ [5, 6, 7])


def test_a_direction_of_the_wrong_length_is_refused() -> None:
    posterior, mean, _ = posterior_of("channel")
    with pytest.raises(InvalidArgument, match=f"{len(mean)} parameters"):
        posterior.gains(np.zeros(3))


def test_an_edge_never_measured_is_as_uncertain_as_its_kind() -> None:
    world = draw_world(arcs(30, 2), 20, rng=np.random.default_rng(7))
    rewards = world.rewards.copy()
    rewards[:, 3] = np.nan
    phase = Phase.empty(world.channels).add(world.features, rewards)
    fitted = fit(normal_equations(phase))
    posterior = Posterior(fitted)
    assert_allclose(fitted.theta.reshape(30, 2)[3], fitted.means(0)[0])
    own = posterior.channel_covariance(3) - fitted.omega(0)
    assert_allclose(own, fitted.final.fixed_covariance, atol=1e-10)
