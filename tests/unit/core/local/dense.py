"""The local model written out in full: every reward a row, every matrix dense."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, null_space

from edgewise.base.arrays import Array, Indices
from edgewise.core.local.channels import Channels
from edgewise.core.local.normal_equations import NormalEquations, Phase, normal_equations
from edgewise.core.local.passes import Components


@dataclass(frozen=True)
class World:
    """Channels, true parameters and rounds drawn from the hierarchical model."""

    channels: Channels
    theta: Array
    features: Array
    rewards: Array

    def equations(self, levels: str = "channel") -> NormalEquations:
        return normal_equations(self.phase(levels), levels)

    def phase(self, levels: str = "channel") -> Phase:
        empty = Phase.empty(self.channels, keep_rounds=levels in ("round", "both"))
        return empty.add(self.features, self.rewards)


def mixed_channels(n_channels: int = 6, n_covariates: int = 1, seed: int = 0) -> Channels:
    """Node channels: one to three arcs of two kinds (p = 3), then an own term (p = 2)."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, n_channels)
    kinds = np.concatenate([[*rng.integers(0, 2, size), 2] for size in sizes])
    covariates = np.ones((len(kinds), n_covariates))
    covariates[:, 1:] = rng.standard_normal((len(kinds), n_covariates - 1))
    blocks = np.concatenate([[0], np.cumsum(sizes + 1)])
    return Channels(kinds, np.array([3, 3, 2]), blocks, covariates)


def arcs(n_arcs: int, dimension: int, n_kinds: int = 1) -> Channels:
    return Channels.of_arcs(np.arange(n_arcs) % n_kinds, np.full(n_kinds, dimension))


def draw_world(
    channels: Channels,
    n_rounds: int,
    *,
    deviation: float = 0.3,
    noise: float = 0.5,
    levels: float = 3.0,
    missing: float = 0.0,
    rng: np.random.Generator,
) -> World:
    """theta = F b + deviation, rewards = levels + z'theta + noise, some of them missing."""
    b = rng.standard_normal(channels.n_means)
    theta = covariate_matrix(channels) @ b
    theta = theta + deviation * rng.standard_normal(channels.n_parameters)
    z = rng.standard_normal((n_rounds, channels.n_parameters))
    owner = np.repeat(np.arange(channels.n_channels), np.diff(channels.starts))
    r = (z * theta) @ (owner[:, None] == np.arange(channels.n_channels))
    r = r + levels * rng.standard_normal(channels.n_channels)
    r = r + noise * rng.standard_normal(r.shape)
    r[rng.random(r.shape) < missing] = np.nan
    return World(channels, theta, z, r)


def covariate_matrix(channels: Channels) -> Array:
    """(P, n_means) F."""
    F = np.zeros((channels.n_parameters, channels.n_means))
    for e, k in enumerate(channels.kinds):
        p = channels.dimensions[k]
        own = slice(channels.block_starts[e], channels.block_starts[e + 1])
        columns = slice(channels.mean_starts[k], channels.mean_starts[k + 1])
        F[own, columns] = np.kron(channels.numbers[e], np.eye(p))
    return F


@dataclass(frozen=True)
class Rows:
    """(n, P) design, (n,) rewards and an orthonormal (n, n - levels) basis free of levels."""

    Z: Array
    y: Array
    free: Array


def rows(world: World, levels: str, noise: Array | None = None) -> Rows:
    channels = world.channels
    t, c = np.nonzero(~np.isnan(world.rewards))
    owner = np.repeat(np.arange(channels.n_channels), np.diff(channels.starts))
    scale = 1.0 if noise is None else 1.0 / noise[c]
    Z = (world.features[t] * (owner == c[:, None])) * np.reshape(scale, (-1, 1))
    y = world.rewards[t, c] * scale
    parts = []
    if levels in ("channel", "both"):
        parts.append((c[:, None] == np.arange(channels.n_channels)).astype(float))
    if levels in ("round", "both"):
        parts.append((t[:, None] == np.arange(len(world.rewards))).astype(float))
    nuisances = np.hstack(parts) if parts else np.zeros((len(y), 0))
    nuisances = nuisances * np.reshape(scale, (-1, 1))
    free = null_space(nuisances.T) if nuisances.shape[1] else np.eye(len(y))
    return Rows(Z, y, free)


def prior_covariance(channels: Channels, components: Components) -> tuple[Array, Array]:
    """(P, P) D, and (P, P) the covariance of theta when the means have their prior."""
    omegas = [components.omega(int(k), int(channels.dimensions[k])) for k in channels.kinds]
    D = block_diag(*omegas)
    F = covariate_matrix(channels)
    precisions = components.precisions(channels, 0)
    return D, D + F @ np.diag(1.0 / precisions) @ F.T


def criterion(data: Rows, channels: Channels, components: Components) -> float:
    """-2 log density of the rewards freed of levels, without n log 2 pi."""
    _, prior = prior_covariance(channels, components)
    Z, y = data.free.T @ data.Z, data.free.T @ data.y
    V = Z @ prior @ Z.T + components.variance * np.eye(len(y))
    return float(np.linalg.slogdet(V)[1] + y @ np.linalg.solve(V, y))


def condition(data: Rows, channels: Channels, components: Components) -> tuple[Array, Array]:
    """Mean and covariance of theta given the rewards: Gaussian conditioning in full."""
    _, prior = prior_covariance(channels, components)
    Z, y = data.free.T @ data.Z, data.free.T @ data.y
    V = Z @ prior @ Z.T + components.variance * np.eye(len(y))
    gain = np.linalg.solve(V, Z @ prior).T
    return gain @ y, prior - gain @ Z @ prior


def some_components(channels: Channels, seed: int = 1) -> Components:
    """Arbitrary variances, every kind its own deviation."""
    rng = np.random.default_rng(seed)
    width = int(channels.dimensions.max())
    roots = np.zeros((channels.n_kinds, width, width))
    for k, p in enumerate(channels.dimensions):
        roots[k, :p, :p] = 0.5 * rng.standard_normal((p, p))
    groups: Indices = np.arange(channels.n_kinds)
    spreads = rng.uniform(0.5, 2.0, (channels.n_kinds, channels.n_covariates))
    return Components(groups, roots, spreads, 0.3)
