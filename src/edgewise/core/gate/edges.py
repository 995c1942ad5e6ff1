r"""Edges with matrices of their own, integrated out of what edges showed one by one.

With S and b the normal equations of an edge and :math:`W = I + \tau^2 S`, integrating out its
deviation from its kind leaves

.. math:: A_\tau = \sum_e W_e^{-1} S_e, \quad b_\tau = \sum_e W_e^{-1} b_e, \quad
          q_\tau = q - \tau^2 \sum_e b_e^\top W_e^{-1} b_e, \quad \sum_e \log\det W_e .
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.base.scales import binary_unit
from edgewise.core.gate.effects import Best, Kept, Reduced
from edgewise.core.gate.rows import Sight
from edgewise.core.gate.solving import factor, forward, inverse, subtract_squares
from edgewise.core.local.channels import Channels, Layout
from edgewise.core.local.normal_equations import NormalEquations, Phase, normal_equations
from edgewise.core.local.passes import Components, Marginals, marginals

EDGE_SPREAD = 0.5
"""tau of edges with matrices of their own: one, as looking at them takes longest."""


def see_edges(kept: Kept, _: Indices) -> tuple[Best, Reduced] | None:
    """What edges showed, as the model sees it, and with a matrix of its own for every edge.

    None where edges are not kept one by one.
    """
    phase, sight = kept.by_edge, kept.sight
    if phase is None:
        return None
    if sight.problem.has_channel_levels:
        return _with_levels(equations_of(sight, phase), level_sums(sight, phase))
    width = _width(phase.channels)
    return _alone(sight, phase, width) if width else _together(equations_of(sight, phase))


def equations_of(sight: Sight, phase: Phase) -> NormalEquations:
    """What edges showed one by one, in the units of :class:`~edgewise.core.gate.rows.Rows`."""
    plain, unit = normal_equations(phase, "none", noise=sight.edge_noise), sight.unit
    if unit == 1.0:
        return plain
    return replace(plain, gram=plain.gram / unit**2, moment=plain.moment / unit)


def level_sums(sight: Sight, phase: Phase) -> tuple[Array, Array, Array]:
    """Of every channel's level: count (C,), sum of features (P,), of rewards (C,)."""
    noise, unit = sight.edge_noise, sight.unit
    counts = (binary_unit(noise) / noise) ** 2 * phase.counts
    level = counts / binary_unit(noise)
    wide = np.repeat(level / unit, np.diff(phase.channels.starts))
    return counts, wide * phase.feature_means, level * phase.reward_means


# -- every edge a channel of its own, all of one kind ------------------------------------------


def _alone(sight: Sight, phase: Phase, width: int) -> tuple[Best, Reduced]:
    """Straight from what is kept: one pass over the edges, and nothing as large is made."""
    gram, moment, squares, A, b, q, determinant = _integrate_edges(
        phase.counts,
        phase.feature_means.reshape(-1, width),
        phase.reward_means,
        phase.gram.reshape(-1, width, width),
        phase.moment.reshape(-1, width),
        phase.squares,
        sight.edge_noise,
        sight.unit,
        EDGE_SPREAD**2,
    )
    best = Best(gram, moment, squares, int(phase.counts.sum()))
    return best, _one(A, b, q, determinant)


def _one(gram: Array, moment: Array, squares: float, determinant: float) -> Reduced:
    """Of the only form, and the only tau."""
    return Reduced(
        gram[None, None], moment[None, None], np.array([[squares]]), np.array([[determinant]])
    )


@compiled
def _integrate_edges(
    counts: Array,
    feature_means: Array,
    reward_means: Array,
    grams: Array,
    moments: Array,
    squares: Array,
    noise: Array,
    unit: float,
    variance: float,
) -> tuple[Array, Array, float, Array, Array, float, float]:
    """Sums over edges of S, b and q; of SW^-1, W^-1 b, q - tau^2 b'W^-1 b and log det W.

    As tau^2 S W^-1 = I - W^-1, the inverse of a triangle does for all of them. What an edge has
    not shown is 0 in S, and is left out.
    """
    w = grams.shape[1]
    gram, moment, total = np.zeros((w, w)), np.zeros(w), 0.0
    A, b, paid, determinant = np.zeros((w, w)), np.zeros(w), 0.0, 0.0
    for e in range(len(grams)):
        T, means, precision = counts[e], feature_means[e], 1.0 / noise[e] ** 2
        total += (squares[e] + T * reward_means[e] ** 2) * precision
        shown = np.empty(w, np.int64)
        n = 0
        for i in range(w):
            if grams[e, i, i] != 0.0 or means[i] != 0.0:
                shown[n] = i
                n += 1
        W, own, away = np.zeros((n, n)), np.zeros(n), np.zeros((n, n))
        for i in range(n):
            g = shown[i]
            own[i] = (moments[e, g] + T * reward_means[e] * means[g]) * precision / unit
            moment[g] += own[i]
            for j in range(i + 1):
                h = shown[j]
                S = (grams[e, g, h] + T * means[g] * means[h]) * precision / unit**2
                gram[g, h] += S
                W[i, j] = variance * S
            W[i, i] += 1.0
            away[i, i] = 1.0
        L, _ = factor(W, 1.0)
        H, x = inverse(L), forward(L, own)
        subtract_squares(H, away)
        for m in range(n):
            determinant += 2.0 * np.log(L[m, m])
            paid += variance * x[m] * x[m]
            for i in range(m + 1):
                b[shown[i]] += H[m, i] * x[m]
                A[shown[m], shown[i]] += away[m, i] / variance
    for i in range(w):
        for j in range(i):
            gram[j, i], A[j, i] = gram[i, j], A[i, j]
    return gram, moment, total, A, b, total - paid, determinant


def _width(channels: Channels) -> int:
    """Parameters of an edge if all edges are of one kind, each a channel of its own; else 0."""
    alone = channels.n_blocks == channels.n_channels
    alike = channels.n_means == int(channels.dimensions[0])
    return channels.n_means if alone and alike else 0


# -- several kinds, or several edges in a channel ----------------------------------------------


@lru_cache(maxsize=8)
def _layout(channels: Channels) -> Layout:
    """Remembered for the networks in use, which are compared by identity."""
    return channels.layout()


def _together(equations: NormalEquations) -> tuple[Best, Reduced]:
    own = _of_edges(equations, EDGE_SPREAD)
    reduced = _one(own.information, own.moment, own.quadratic, own.log_determinant)
    return alike(equations), reduced


def alike(equations: NormalEquations) -> Best:
    """What edges showed if those of a kind have the same matrix."""
    found = _of_edges(equations, 0.0)
    freedom = int(equations.freedoms.sum())
    return Best(found.information, found.moment, found.quadratic, freedom)


def _of_edges(equations: NormalEquations, spread: float) -> Marginals:
    channels = equations.channels
    width = int(channels.dimensions.max())
    groups = np.zeros(channels.n_kinds, np.int64)
    flat = np.full((channels.n_kinds, channels.n_covariates), np.inf)
    roots = spread * np.eye(width)[None]
    return marginals(equations, _layout(channels), Components(groups, roots, flat, 1.0))


# -- levels: one more parameter for every channel ----------------------------------------------


def _with_levels(
    equations: NormalEquations, levels: tuple[Array, Array, Array]
) -> tuple[Best, Reduced]:
    gram, moment, squares, _ = _integrated_with_levels(equations, levels, 0.0)
    best = Best(gram, moment, squares, int(equations.freedoms.sum()))
    return best, _one(*_integrated_with_levels(equations, levels, EDGE_SPREAD))


def _integrated_with_levels(
    equations: NormalEquations, levels: tuple[Array, Array, Array], spread: float
) -> tuple[Array, Array, float, float]:
    """A, b, q and log det V; levels are parameters after those of kinds."""
    channels, (counts, features, rewards) = equations.channels, levels
    f, C, tau2 = channels.n_means, channels.n_channels, spread**2
    gram, moment = np.zeros((f + C, f + C)), np.zeros(f + C)
    quadratic, determinant = float(equations.squares.sum()), 0.0
    for c in range(C):
        own = slice(*channels.starts[c : c + 2])
        S, b, s, F = equations.matrix(c), equations.moment[own], features[own], _means(channels, c)
        W = np.eye(len(S)) + tau2 * S
        solved = np.linalg.solve(W, np.column_stack([S @ F, s, b]))
        gram[:f, :f] += F.T @ solved[:, :f]
        gram[:f, f + c] = gram[f + c, :f] = F.T @ solved[:, f]
        gram[f + c, f + c] = counts[c] - tau2 * float(s @ solved[:, f])
        moment[:f] += F.T @ solved[:, f + 1]
        moment[f + c] = rewards[c] - tau2 * float(s @ solved[:, f + 1])
        quadratic -= tau2 * float(b @ solved[:, f + 1])
        determinant += float(np.linalg.slogdet(W)[1])
    return gram, moment, quadratic, determinant


def _means(channels: Channels, c: int) -> Array:
    """(w, f) F: from what kinds have in common to the parameters of a channel."""
    first = channels.starts[c]
    F = np.zeros((int(channels.starts[c + 1] - first), channels.n_means))
    for block in range(*channels.blocks[c : c + 2]):
        at = np.arange(*channels.block_starts[block : block + 2])
        start = channels.mean_starts[channels.kinds[block]]
        for m, number in enumerate(channels.numbers[block]):
            F[at - first, start + m * len(at) + np.arange(len(at))] = number
    return F
