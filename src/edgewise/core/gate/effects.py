r"""The richer models' effects, integrated out of the sums kept.

A form adds effects g ~ N(0, tau^2 I) with columns D. Integrating them out leaves

.. math:: A_\tau = Z^\top V^{-1} Z, \quad b_\tau = Z^\top V^{-1} y, \quad
          q_\tau = y^\top V^{-1} y, \quad \log\det V, \qquad V = I + \tau^2 D D^\top ,

which follow from the sums (:mod:`~edgewise.core.gate.sums`) by Woodbury's identity.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled
from edgewise.core.gate.rows import Sight
from edgewise.core.gate.solving import factor, forward, forward_all, inverse, subtract_squares
from edgewise.core.gate.sums import SPREADS, Sums
from edgewise.core.local.channels import Channels, Layout
from edgewise.core.local.normal_equations import NormalEquations
from edgewise.core.local.passes import Components, Marginals, marginals

EDGE_SPREAD = 0.5
"""tau of edges with matrices of their own: one, as looking at them takes longest."""


class Reduced(NamedTuple):
    """What a form leaves of the data once its effects are integrated out, for every tau."""

    gram: Array
    """(tau, p, p) A."""
    moment: Array
    """(tau, p) b."""
    squares: Array
    """(tau,) q."""
    determinant: Array
    """(tau,) log det V."""


class Best(NamedTuple):
    """The data as the model itself sees them."""

    gram: Array
    """(p, p)"""
    moment: Array
    """(p,)"""
    squares: float
    freedom: int
    """Numbers measured, less levels of rounds."""


class Kept(NamedTuple):
    """All that forms are made of."""

    sight: Sight
    sums: Sums
    by_edge: NormalEquations | None
    """What edges showed one by one, in units of the noise; None where it is not kept."""
    levels: tuple[Array, Array, Array] | None = None
    """Of every channel that has a level: count (C,), sum of features (P,), of rewards (C,)."""


# -- one effect per group ----------------------------------------------------------------------


def _grouped(sums: Sums, counts: Array, features: Array, rewards: Array) -> Reduced:
    """D has one column per group: D'D = counts (G,), D'Z = features (G, p), D'y = rewards (G,)."""
    gram, moment, squares, determinant = _integrate_groups(
        sums.gram, sums.moment, sums.squares, counts, features, rewards, SPREADS
    )
    return Reduced(gram, moment, squares, determinant)


@compiled
def _integrate_groups(
    A: Array, b: Array, q: float, counts: Array, features: Array, rewards: Array, spreads: Array
) -> tuple[Array, Array, Array, Array]:
    T, p = len(spreads), len(b)
    gram, moment = np.zeros((T, p, p)), np.zeros((T, p))
    squares, determinant = np.zeros(T), np.zeros(T)
    scaled = np.empty_like(features)
    for k in range(T):
        gram[k], moment[k], squares[k] = A, b, q
        for g in range(len(counts)):
            share = spreads[k] ** 2 / (1.0 + spreads[k] ** 2 * counts[g])
            root = np.sqrt(share)
            determinant[k] += np.log1p(spreads[k] ** 2 * counts[g])
            squares[k] -= share * rewards[g] * rewards[g]
            for i in range(p):
                scaled[g, i] = root * features[g, i]
                moment[k, i] -= share * rewards[g] * features[g, i]
        subtract_squares(scaled, gram[k])
    return gram, moment, squares, determinant


def levels(kept: Kept) -> Reduced:
    """One effect per measured number."""
    sums = kept.sums
    return _grouped(sums, sums.number_counts, sums.number_features, sums.number_rewards)


def cells(kept: Kept) -> Reduced:
    """One effect per cell."""
    sums, seen = kept.sums, kept.sums.cell_counts > 0
    counts = sums.cell_counts[seen]
    features = counts[:, None] * kept.sight.cell_features[seen]
    return _grouped(sums, counts, features, sums.cell_rewards[seen])


def rounds(kept: Kept) -> Reduced:
    """One effect per round: integrated out as rounds came."""
    sums, T = kept.sums, len(SPREADS)
    return Reduced(
        sums.gram - sums.matrices[4:],
        sums.moment - sums.vectors[5:],
        sums.squares - sums.numbers[3 : 3 + T],
        sums.numbers[3 + T :],
    )


def noise(kept: Kept) -> Reduced:
    """One effect per number: the noise is larger by a factor of sqrt(1 + tau^2)."""
    sums, shrink = kept.sums, 1.0 / (1.0 + SPREADS**2)
    return Reduced(
        shrink[:, None, None] * sums.gram,
        shrink[:, None] * sums.moment,
        shrink * sums.squares,
        sums.freedom * np.log1p(SPREADS**2),
    )


# -- a few effects for all ---------------------------------------------------------------------


def _dense(sums: Sums, cross: Array, inner: Array, moment: Array) -> Reduced:
    """D'Z = cross (k, p), D'D = inner (k, k), D'y = moment (k,)."""
    gram, by_rewards, squares, determinant = _integrate_columns(
        sums.gram, sums.moment, sums.squares, cross, inner, moment, SPREADS
    )
    return Reduced(gram, by_rewards, squares, determinant)


@compiled
def _integrate_columns(
    A: Array, b: Array, q: float, cross: Array, inner: Array, moment: Array, spreads: Array
) -> tuple[Array, Array, Array, Array]:
    T, p, n = len(spreads), len(b), len(inner)
    gram, moments = np.zeros((T, p, p)), np.zeros((T, p))
    squares, determinant = np.zeros(T), np.zeros(T)
    for k in range(T):
        W = inner.copy()
        least = 1.0 / spreads[k] ** 2
        for i in range(n):
            W[i, i] += least
        L, _ = factor(W, least)
        half, paid = forward_all(L, cross), forward(L, moment)
        gram[k], moments[k], squares[k] = A, b, q
        for m in range(n):
            squares[k] -= paid[m] * paid[m]
            determinant[k] += 2.0 * np.log(L[m, m] * spreads[k])
            for i in range(p):
                moments[k, i] -= half[m, i] * paid[m]
        subtract_squares(half, gram[k])
    return gram, moments, squares, determinant


def drift(kept: Kept) -> Reduced:
    """Columns: the time, and the time times the rows."""
    sums = kept.sums
    return _dense(sums, *_time_columns(sums.matrices, sums.vectors, sums.numbers))


@compiled
def _time_columns(matrices: Array, vectors: Array, numbers: Array) -> tuple[Array, Array, Array]:
    """D'Z, D'D and D'y of them."""
    p = len(vectors[0])
    cross, inner, moment = np.empty((p + 1, p)), np.empty((p + 1, p + 1)), np.empty(p + 1)
    cross[0], cross[1:] = vectors[2], matrices[1]
    inner[0, 0], inner[0, 1:], inner[1:, 0] = numbers[2], vectors[3], vectors[3]
    inner[1:, 1:] = matrices[2]
    moment[0], moment[1:] = numbers[1], vectors[1]
    return cross, inner, moment


def directions(kept: Kept) -> Reduced:
    """Columns: the rows, with the sign of the direction."""
    sums = kept.sums
    return _dense(sums, sums.matrices[3], sums.gram, sums.vectors[4])


# -- parameters of its own for every edge ------------------------------------------------------


@lru_cache(maxsize=8)
def _layout(channels: Channels) -> Layout:
    """Remembered for the networks in use, which are compared by identity."""
    return channels.layout()


def _of_edges(equations: NormalEquations, spread: float) -> Marginals:
    channels = equations.channels
    width = int(channels.dimensions.max())
    groups = np.zeros(channels.n_kinds, np.int64)
    flat = np.full((channels.n_kinds, channels.n_covariates), np.inf)
    roots = spread * np.eye(width)[None]
    return marginals(equations, _layout(channels), Components(groups, roots, flat, 1.0))


def edges(kept: Kept) -> Reduced | None:
    """A matrix of its own for every edge; None where edges are not kept one by one."""
    if kept.by_edge is None:
        return None
    if kept.levels is not None:
        return _edges_with_levels(kept.by_edge, kept.levels, EDGE_SPREAD)
    width = _width(kept.by_edge.channels)
    if width:
        return _integrated_edges(kept.by_edge, width)
    found = _of_edges(kept.by_edge, EDGE_SPREAD)
    return Reduced(
        found.information[None],
        found.moment[None],
        np.array([found.quadratic]),
        np.array([found.log_determinant]),
    )


def _integrated_edges(equations: NormalEquations, width: int) -> Reduced:
    """The same where all edges are of one kind, which is quicker."""
    gram, moment = equations.gram.reshape(-1, width, width), equations.moment.reshape(-1, width)
    A, b, paid, determinant = _integrate_edges(gram, moment, EDGE_SPREAD**2)
    squares = float(equations.squares.sum()) - paid
    return Reduced(A[None], b[None], np.array([squares]), np.array([determinant]))


@compiled
def _integrate_edges(
    grams: Array, moments: Array, variance: float
) -> tuple[Array, Array, float, float]:
    """Sums over edges of SW^-1, W^-1 b, tau^2 b'W^-1 b and log det W, with W = I + tau^2 S.

    As tau^2 S W^-1 = I - W^-1, the inverse of a triangle does for all of them.
    """
    w = grams.shape[1]
    A, b, paid, determinant = np.zeros((w, w)), np.zeros(w), 0.0, 0.0
    for e in range(len(grams)):
        W = variance * grams[e]
        for i in range(w):
            W[i, i] += 1.0
            A[i, i] += 1.0
        L, _ = factor(W, 1.0)
        H = inverse(L)
        subtract_squares(H, A)
        x = forward(L, moments[e])
        for m in range(w):
            determinant += 2.0 * np.log(L[m, m])
            paid += variance * x[m] * x[m]
            for i in range(m + 1):
                b[i] += H[m, i] * x[m]
    return A / variance, b, paid, determinant


def _edges_with_levels(
    equations: NormalEquations, levels: tuple[Array, Array, Array], spread: float
) -> Reduced:
    """The same where every channel has a level: one more parameter each, after those of kinds."""
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
    return Reduced(gram[None], moment[None], np.array([quadratic]), np.array([determinant]))


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


def _width(channels: Channels) -> int:
    """Parameters of an edge if all edges are of one kind, each a channel of its own; else 0."""
    alone = channels.n_blocks == channels.n_channels
    alike = channels.n_means == int(channels.dimensions[0])
    return channels.n_means if alone and alike else 0


def edges_alike(kept: Kept) -> Best | None:
    """What edges showed, as the model sees it; None where edges are not kept one by one."""
    if kept.by_edge is None:
        return None
    equations, freedom = kept.by_edge, int(kept.by_edge.freedoms.sum())
    if kept.levels is not None:
        raw = _edges_with_levels(equations, kept.levels, 0.0)
        return Best(raw.gram[0], raw.moment[0], float(raw.squares[0]), freedom)
    width = _width(equations.channels)
    if not width:
        found = _of_edges(equations, 0.0)
        return Best(found.information, found.moment, found.quadratic, freedom)
    gram = equations.gram.reshape(-1, width, width).sum(axis=0)
    moment = equations.moment.reshape(-1, width)
    return Best(gram, moment.sum(axis=0), float(equations.squares.sum()), freedom)


def numbers_alike(kept: Kept) -> Best:
    """All numbers, as the model sees them."""
    sums = kept.sums
    return Best(sums.gram, sums.moment, sums.squares, sums.freedom)
