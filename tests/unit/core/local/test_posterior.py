from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.unit.core.local.dense import (
    Rows,
    arcs,
    condition,
    draw_world,
    mixed_channels,
    prior_covariance,
    rows,
)

from edgewise.core.local.calibration import VarianceErrors
from edgewise.core.local.channels import Channels
from edgewise.core.local.normal_equations import Phase, normal_equations
from edgewise.core.local.passes import Components
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
    assert_allclose(gains.conditional**2, np.diag(g @ covariance @ g.T), rtol=1e-6)


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
    assert posterior.gains(g).conditional[0] ** 2 > 2 * alone


def node_channels(n_edges: int) -> Channels:
    """One to three arcs (p = 3) into every node, and its own term (p = 2)."""
    rng, kinds, blocks = np.random.default_rng(0), [], [0]
    while n_edges > 0:
        size = min(int(rng.integers(1, 4)), n_edges)
        kinds += [0] * size + [1]
        blocks.append(len(kinds))
        n_edges -= size
    return Channels(np.array(kinds), np.array([3, 2]), np.array(blocks))


def coverage(channels: Channels, n_rounds: int, n_runs: int) -> tuple[float, float]:
    """How often a 90 % interval holds the gain of the best of 50 joint arms over another.

    With the variances estimated, as they are; and as REML alone, without a prior, would have it, if
    its variances were known.
    """
    rng, covered = np.random.default_rng(5), np.zeros(2)
    for _ in range(n_runs):
        world = draw_world(channels, n_rounds, deviation=0.3, noise=1.0, rng=rng)
        posterior = Posterior(fit(world.equations()))
        arms = rng.standard_normal((50, channels.n_parameters))
        best = int(np.argmax(arms @ posterior.mean))
        g = arms[best] - arms[best - 1]
        gains, truth = posterior.gains(g), g @ world.theta
        low, high = gains.interval(0.9)
        covered[0] += low[0] <= truth <= high[0]
        if channels.n_blocks <= 30:  # the negative control
            bare = Posterior(fit(world.equations(), prior=0.0)).gains(g)
            covered[1] += abs(truth - bare.mean[0]) <= 1.645 * bare.conditional[0]
    return float(covered[0] / n_runs), float(covered[1] / n_runs)


@pytest.mark.parametrize("n_edges", [20, 40, 200])
@pytest.mark.parametrize("channel", ["arc", "node"])
def test_ninety_percent_intervals_of_a_gain_cover_about_ninety_percent(
    channel: str, n_edges: int
) -> None:
    channels = arcs(n_edges, 3) if channel == "arc" else node_channels(n_edges)
    covered, as_if_known = coverage(
        channels, 8 if channel == "arc" else 16, min(300, 30_000 // n_edges)
    )
    assert 0.85 <= covered <= 0.95
    if n_edges == 20:  # negative control
        assert as_if_known < 0.85


@pytest.mark.parametrize("levels", ["none", "channel", "both"])
def test_calibration_is_what_differences_of_the_dense_model_say(levels: str) -> None:
    r"""v + 2 tr Psi E(dm dm') and 2 (.)^2 / dv'Psi dv, with all derivatives by differences."""
    world = draw_world(mixed_channels(14), 9, rng=np.random.default_rng(8))
    fitted = fit(world.equations(levels))
    g = np.random.default_rng(9).standard_normal(world.channels.n_parameters)
    dense = Dense(world.channels, rows(world, levels), fitted.components, g)
    steps = [(k, a, b) for k, p in enumerate((3, 3, 2)) for a in range(p) for b in range(a + 1)]
    pieces = [dense.slopes(step) for step in [*steps, None]]
    gain_slopes, slopes = (np.array(part) for part in zip(*pieces, strict=True))
    psi = covariance_of(VarianceErrors.of(fitted), steps)
    gains = Posterior(fitted).gains(g)
    gamma = np.vdot(psi, gain_slopes @ dense.at()[2] @ gain_slopes.T)
    widened = gains.conditional[0] ** 2 + 2 * gamma
    assert gains.deviation[0] ** 2 == pytest.approx(widened, rel=5e-4)
    assert gains.freedom[0] == pytest.approx(2 * widened**2 / (slopes @ psi @ slopes), rel=1e-3)
    assert widened > 1.02 * gains.conditional[0] ** 2


@dataclass(frozen=True)
class Dense:
    """m = gain'y and v of one direction, as functions of the variances."""

    channels: Channels
    data: Rows
    components: Components
    g: np.ndarray

    def at(
        self, step: tuple[int, int, int] | None = None, size: float = 0.0, more_noise: float = 0.0
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """Gain, v and covariance of the rewards once an entry of Omega, or sigma^2, has moved."""
        _, prior = prior_covariance(self.channels, self.components)
        if step is not None:
            k, a, b = step
            for e in np.flatnonzero(self.channels.kinds == k):
                i, j = self.channels.block_starts[e] + np.array([a, b])
                prior[i, j] += size
                prior[j, i] += size if a != b else 0.0
        Z = self.data.free.T @ self.data.Z
        V = Z @ prior @ Z.T + (self.components.variance + more_noise) * np.eye(len(Z))
        gain = np.linalg.solve(V, Z @ prior @ self.g)
        return gain, float(self.g @ prior @ self.g - gain @ Z @ prior @ self.g), V

    def slopes(self, step: tuple[int, int, int] | None) -> tuple[np.ndarray, float]:
        """Of gain and v; ``None``: in sigma^2."""
        size = 1e-5
        noise = size if step is None else 0.0
        high, low = self.at(step, size, noise), self.at(step, -size, -noise)
        return (high[0] - low[0]) / (2 * size), (high[1] - low[1]) / (2 * size)


def covariance_of(errors: VarianceErrors, steps: list[tuple[int, int, int]]) -> np.ndarray:
    """Of the listed entries of Omega, and of sigma^2 last."""
    n = len(steps)
    result = np.zeros((n + 1, n + 1))
    for i, (k, a, b) in enumerate(steps):
        result[i, n] = result[n, i] = errors.crossed[k, a, b]
        for j, (m, c, d) in enumerate(steps):
            result[i, j] = errors.omegas[k, m, a, b, c, d]
    result[n, n] = errors.variance
    return result


def test_known_variances_leave_the_deviation_alone() -> None:
    world = draw_world(arcs(10, 2), 9, rng=np.random.default_rng(10))
    gains = Posterior(fit(world.equations(), "shared", noise=0.5)).gains(np.ones(20))
    assert np.isinf(gains.freedom[0])
    assert gains.deviation[0] == gains.conditional[0]
    low, high = gains.interval(0.95)
    assert (high - low)[0] == pytest.approx(2 * 1.959964 * gains.deviation[0])


def test_estimated_noise_alone_has_the_degrees_of_freedom_of_its_residuals() -> None:
    """One matrix for all: the interval is that of ordinary least squares."""
    world = draw_world(arcs(10, 2), 9, deviation=0.0, rng=np.random.default_rng(11))
    gains = Posterior(fit(world.equations(), "shared", flat=True)).gains(np.ones(20))
    assert gains.freedom[0] == pytest.approx(10 * 8 - 2, rel=1e-6)


def test_a_level_that_is_no_probability_is_refused() -> None:
    posterior, mean, _ = posterior_of("channel")
    with pytest.raises(InvalidArgument, match="between 0 and 1"):
        posterior.gains(np.zeros(len(mean))).interval(1.645)


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
