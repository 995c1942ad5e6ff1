r"""Do edges differ? Nested F tests, and a score test that speaks from the second round on.

All numbers are exact for Gaussian noise and joint arms chosen without looking at the rewards; the
tail of the score test is that of a gamma law with its first three moments.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, gammaincc, ndtr

from edgewise.base.arrays import Array, Indices
from edgewise.base.threads import single_threaded
from edgewise.core.local.channels import Channels
from edgewise.core.local.deviations import deviations_of, inverse_information
from edgewise.core.local.normal_equations import NormalEquations, Phase, normal_equations
from edgewise.core.local.passes import Components, Marginals, marginals


@dataclass(frozen=True)
class FTest:
    """Does the larger of two nested models explain more than noise would let it?"""

    statistic: float
    p_value: float
    degrees_of_freedom: tuple[int, int]


@dataclass(frozen=True)
class ScoreTest:
    r"""Of :math:`\Omega = 0`: are residuals of an edge more alike than noise makes them?

    .. math:: Q = \sum_e |L_e^\top Z_e^\top \hat\varepsilon|^2 / |\hat\varepsilon|^2, \quad
              L_e L_e^\top = (\text{mean } S_{ee})^{-1}

    with :math:`\hat\varepsilon` the residuals of one matrix per kind.
    """

    statistic: float
    expected: float
    """Mean of Q if all edges of a kind are equal."""
    p_value: float


@dataclass(frozen=True)
class Homogeneity:
    """How much of the variation each step from one matrix to one per edge explains."""

    shared: float
    """Share of the variation that one matrix per kind explains."""
    levels: float
    """Further share that a level per channel explains."""
    edges: float
    """Further share that parameters per edge explain."""
    levels_test: FTest | None
    """Are there levels per channel? None: too few rounds to tell."""
    edges_test: FTest | None
    """Do parameters differ beyond levels? None: fewer rounds than parameters."""
    score: ScoreTest | None
    """Do parameters differ beyond levels? None: fewer than two rounds in every phase."""


def homogeneity(phases: Phase | Iterable[Phase]) -> Homogeneity:
    """Fit one matrix per kind, then levels per channel, then parameters per edge, and compare."""
    each = [phases] if isinstance(phases, Phase) else list(phases)
    with single_threaded():
        raw, centred = normal_equations(each, "none"), normal_equations(each, "channel")
        n = int(raw.freedoms.sum())
        n_levels = n - int(centred.freedoms.sum())
        total = _residual_about_constant(each, raw)
        pooled = _pooled_residual(each, raw)
        with_levels = _shared_residual(centred)
        free = _free_residual(centred)
    fits = [pooled, (with_levels[0], with_levels[1] + n_levels), (free[0], free[1] + n_levels)]
    left = [squares / total if total > 0 else 0.0 for squares, _ in fits]
    return Homogeneity(
        1 - left[0],
        left[0] - left[1],
        left[1] - left[2],
        _f_test(fits[0], fits[1], n),
        _f_test(fits[1], fits[2], n),
        score_test(centred),
    )


def score_test(equations: NormalEquations) -> ScoreTest | None:
    """The score test on its own; None if nothing is left to test."""
    with single_threaded():
        null = _null(equations)
        A, b_moment = null.information, null.moment
        B, rank = _pseudo_inverse(A)
        freedom = float(equations.freedoms.sum()) - rank
        squares = null.quadratic - float(b_moment @ B @ b_moment)
        if freedom < 2 or not squares > 1e-12 * null.quadratic:
            return None
        Q, traces = _score_and_traces(equations, null, B, B @ b_moment)
    if not traces[1] > 0:
        return None
    mean, variance, skewness = _ratio_moments(traces, freedom)
    if not variance > 1e-10 * mean**2:  # what is left moves every edge alike: Q is a constant
        return None
    statistic = Q / squares
    return ScoreTest(statistic, mean, _gamma_tail(statistic, mean, variance, skewness))


def _null(equations: NormalEquations) -> Marginals:
    """Omega = 0, sigma = 1: then H = S, h = C, and T holds the products with fixed effects."""
    channels = equations.channels
    width = int(channels.dimensions.max())
    none = np.zeros((channels.n_kinds, width, width))
    flat = np.full((channels.n_kinds, channels.n_covariates), np.inf)
    variances = Components(np.arange(channels.n_kinds), none, flat, 1.0)
    return marginals(equations, channels.layout(equations.n_nuisances), variances)


def _score_and_traces(
    equations: NormalEquations, null: Marginals, B: Array, b: Array
) -> tuple[float, Array]:
    r"""Q, and tr Gamma, tr Gamma^2, tr Gamma^3 of its matrix.

    With :math:`\tilde S = S - T B T^\top` (block by block but for a low rank),
    :math:`\mathrm{tr}\,\Gamma^k = \mathrm{tr} (\Omega \tilde S)^k`; it takes the products
    :math:`A_k = T^\top (\Omega S)^{k-1} \Omega T`.
    """
    channels, layout = equations.channels, equations.channels.layout(equations.n_nuisances)
    sharing = deviations_of(equations)
    weights, groups = inverse_information(equations, sharing), sharing.groups
    f, t, Q, traces = len(B), 0, 0.0, np.zeros(3)
    products = np.zeros((3, f, f))
    for c in range(channels.n_channels):
        first, last = channels.starts[c : c + 2]
        columns = layout.columns[layout.column_starts[c] : layout.column_starts[c + 1]]
        w = int(last - first)
        T = null.T[t : t + w * len(columns)].reshape(w, -1)
        t += w * len(columns)
        omega = _block_diagonal(channels, c, weights, groups)
        rest = null.h[first:last] - T @ b[columns]
        Q += float(rest @ omega @ rest)
        OS, OT = omega @ equations.matrix(c), omega @ T
        power = np.eye(w)
        at = np.ix_(columns, columns)
        for k in range(3):
            products[k][at] += T.T @ power @ OT
            power = power @ OS if k else OS
            traces[k] += np.trace(power)
    return Q, _corrected(traces, products, B)


def _corrected(traces: Array, products: Array, B: Array) -> Array:
    """Take the fixed effects out: tr (X - Y)^k with X block by block and Y of low rank."""
    first, second, third = (B @ product for product in products)
    return np.array(
        [
            traces[0] - np.trace(first),
            traces[1] - 2 * np.trace(second) + np.vdot(first.T, first),
            traces[2]
            - 3 * np.trace(third)
            + 3 * np.vdot(first.T, second)
            - np.vdot(first.T, first @ first),
        ]
    )


def _block_diagonal(channels: Channels, c: int, weights: Array, groups: Indices) -> Array:
    first = channels.starts[c]
    result = np.zeros((int(channels.starts[c + 1] - first),) * 2)
    for b in range(channels.blocks[c], channels.blocks[c + 1]):
        own = slice(channels.block_starts[b] - first, channels.block_starts[b + 1] - first)
        p = own.stop - own.start
        result[own, own] = weights[groups[channels.kinds[b]], :p, :p]
    return result


def _ratio_moments(traces: Array, freedom: float) -> tuple[float, float, float]:
    """Mean, variance and skewness of Q over the residual squares: independent of their sum."""
    s1, s2, s3 = traces
    mean = s1 / freedom
    second = (s1**2 + 2 * s2) / (freedom * (freedom + 2))
    third = (s1**3 + 6 * s1 * s2 + 8 * s3) / (freedom * (freedom + 2) * (freedom + 4))
    variance = second - mean**2
    above = third - 3 * mean * variance - mean**3
    skewness = above / variance**1.5 if variance > 1e-10 * mean**2 else 0.0
    return float(mean), float(variance), float(skewness)


def _gamma_tail(value: float, mean: float, variance: float, skewness: float) -> float:
    """P(X > value) for a shifted gamma law with these moments; normal if it has no skewness."""
    z = (value - mean) / np.sqrt(variance)
    if skewness < 1e-4:
        return float(ndtr(-z))
    shape = 4.0 / skewness**2
    return float(gammaincc(shape, max(shape + z * np.sqrt(shape), 0.0)))


# -- nested models ---------------------------------------------------------------------------


def _f_test(small: tuple[float, int], large: tuple[float, int], n: int) -> FTest | None:
    """Residual squares and rank of two nested models, on n rewards."""
    more, rest = large[1] - small[1], n - large[1]
    if more < 1 or rest < 1 or not large[0] > 1e-14 * max(small[0], 0.0):  # nothing is left
        return None
    statistic = ((small[0] - large[0]) / more) / (large[0] / rest)
    return FTest(statistic, float(fdtrc(more, rest, max(statistic, 0.0))), (more, rest))


def _pseudo_inverse(A: Array) -> tuple[Array, int]:
    """Inverse on the range, and the rank."""
    if not len(A):
        return A, 0
    scale = 1.0 / np.sqrt(np.where(np.diag(A) > 0, np.diag(A), 1.0))
    values, vectors = np.linalg.eigh(A * np.outer(scale, scale))
    kept = values > 1e-10 * max(float(values.max()), 1e-300)
    root = scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    return root @ root.T, int(kept.sum())


def _shared_residual(equations: NormalEquations) -> tuple[float, int]:
    null = _null(equations)
    B, rank = _pseudo_inverse(null.information)
    return null.quadratic - float(null.moment @ B @ null.moment), rank


def _residual_about_constant(phases: list[Phase], raw: NormalEquations) -> float:
    n = max(float(raw.freedoms.sum()), 1.0)
    total = sum(float(p.counts @ p.reward_means) for p in phases)
    return float(raw.squares.sum()) - total**2 / n


def _pooled_residual(phases: list[Phase], raw: NormalEquations) -> tuple[float, int]:
    """One matrix per kind and one constant."""
    null, channels = _null(raw), raw.channels
    sums = np.zeros(channels.n_parameters)
    for phase in phases:
        sums += np.repeat(phase.counts, np.diff(channels.starts)) * phase.feature_means
    column = _times_covariates(channels, sums)
    total = sum(float(p.counts @ p.reward_means) for p in phases)
    n = float(raw.freedoms.sum())
    A = np.block([[null.information, column[:, None]], [column, np.array([[n]])]])
    moment = np.append(null.moment, total)
    B, rank = _pseudo_inverse(A)
    return null.quadratic - float(moment @ B @ moment), rank


def _times_covariates(channels: Channels, values: Array) -> Array:
    """(n_means,) F' values."""
    result = np.zeros(channels.n_means)
    for k, p in enumerate(channels.dimensions):
        own = channels.kinds == k
        at = channels.block_starts[:-1][own][:, None] + np.arange(p)
        part = channels.numbers[own].T @ values[at]
        result[channels.mean_starts[k] : channels.mean_starts[k + 1]] = part.ravel()
    return result


def _free_residual(equations: NormalEquations) -> tuple[float, int]:
    """Parameters per edge, channel by channel."""
    channels = equations.channels
    squares, ranks = float(equations.squares.sum()), 0
    for c in range(channels.n_channels):
        C = equations.moment[channels.starts[c] : channels.starts[c + 1]]
        inverse, rank = _pseudo_inverse(equations.matrix(c))
        squares -= float(C @ inverse @ C)
        ranks += rank
    return squares, ranks
