r"""The richer models' effects, integrated out of the sums kept.

A form adds effects g ~ N(0, tau^2 I) with columns D. Integrating them out leaves

.. math:: A_\tau = Z^\top V^{-1} Z, \quad b_\tau = Z^\top V^{-1} y, \quad
          q_\tau = y^\top V^{-1} y, \quad \log\det V, \qquad V = I + \tau^2 D D^\top ,

which follow from the sums (:mod:`~edgewise.core.gate.sums`) by Woodbury's identity.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.core.gate.rows import Sight
from edgewise.core.gate.solving import factor, forward, forward_all, subtract_squares
from edgewise.core.gate.sums import SPREADS, Sums
from edgewise.core.local.normal_equations import Phase


class Effect(IntEnum):
    """What a richer model adds to the mean of a reward."""

    LEVEL = 0
    """One effect per measured number."""
    ROUND = 1
    """One effect per round: integrated out as rounds came."""
    DRIFT = 2
    """The time, and the time times the rows."""
    CELL = 3
    """One effect per cell."""
    DIRECTION = 4
    """The rows, with the sign of the direction."""
    NOISE = 5
    """One effect per reward: the noise is larger by a factor of sqrt(1 + tau^2)."""
    EDGE = 6
    """A matrix of its own for every edge: :mod:`~edgewise.core.gate.edges`."""


class Reduced(NamedTuple):
    """What F forms leave of the data once their effects are integrated out, for every tau."""

    gram: Array
    """(F, tau, p, p) A."""
    moment: Array
    """(F, tau, p) b."""
    squares: Array
    """(F, tau) q."""
    determinant: Array
    """(F, tau) log det V."""


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
    by_edge: Phase | None
    """What edges showed one by one; None where it is not kept."""


def see_numbers(kept: Kept, effects: Indices) -> tuple[Best, Reduced]:
    """All numbers, as the model sees them, and as it does with each of some effects (F,)."""
    sums = kept.sums
    reduced = _integrate(
        effects,
        sums.matrices,
        sums.vectors,
        sums.numbers,
        sums.number_counts,
        sums.number_features,
        sums.number_rewards,
        sums.cell_counts,
        kept.sight.shown_features,
        sums.cell_rewards,
        sums.freedom,
        SPREADS,
    )
    return Best(sums.gram, sums.moment, sums.squares, sums.freedom), Reduced(*reduced)


@compiled
def _integrate(
    effects: Indices,
    matrices: Array,
    vectors: Array,
    numbers: Array,
    counts: Array,
    features: Array,
    rewards: Array,
    cell_counts: Array,
    cell_features: Array,
    cell_rewards: Array,
    freedom: int,
    spreads: Array,
) -> tuple[Array, Array, Array, Array]:
    """All forms in one call: each begins with the data as they are, and takes its effects out."""
    F, T, p = len(effects), len(spreads), vectors.shape[1]
    gram, moment = np.empty((F, T, p, p)), np.empty((F, T, p))
    squares, determinant = np.empty((F, T)), np.zeros((F, T))
    for f in range(F):
        gram[f], moment[f], squares[f] = matrices[0], vectors[0], numbers[0]
        A, b, q, d = gram[f], moment[f], squares[f], determinant[f]
        if effects[f] == _LEVEL:
            _take_groups(counts, features, rewards, spreads, A, b, q, d)
        elif effects[f] == _CELL:
            shown = cell_features * cell_counts.reshape(-1, 1)
            _take_groups(cell_counts, shown, cell_rewards, spreads, A, b, q, d)
        elif effects[f] == _DRIFT:
            cross, inner, paid = _time_columns(matrices, vectors, numbers)
            _take_columns(cross, inner, paid, spreads, A, b, q, d)
        elif effects[f] == _DIRECTION:
            _take_columns(matrices[3], matrices[0], vectors[4], spreads, A, b, q, d)
        elif effects[f] == _ROUND:
            _take_rounds(matrices, vectors, numbers, A, b, q, d)
        else:
            _take_noise(freedom, spreads, A, b, q, d)
    return gram, moment, squares, determinant


_LEVEL, _ROUND, _DRIFT = int(Effect.LEVEL), int(Effect.ROUND), int(Effect.DRIFT)
_CELL, _DIRECTION = int(Effect.CELL), int(Effect.DIRECTION)


@compiled
def _take_groups(
    counts: Array,
    features: Array,
    rewards: Array,
    spreads: Array,
    gram: Array,
    moment: Array,
    squares: Array,
    determinant: Array,
) -> None:
    """D has one column per group: D'D = counts (G,), D'Z = features (G, p), D'y = rewards (G,)."""
    p = features.shape[1]
    scaled = np.zeros(features.shape)
    for k in range(len(spreads)):
        for g in range(len(counts)):
            if counts[g] == 0.0:
                continue
            share = spreads[k] ** 2 / (1.0 + spreads[k] ** 2 * counts[g])
            root = np.sqrt(share)
            determinant[k] += np.log1p(spreads[k] ** 2 * counts[g])
            squares[k] -= share * rewards[g] * rewards[g]
            for i in range(p):
                scaled[g, i] = root * features[g, i]
                moment[k, i] -= share * rewards[g] * features[g, i]
        subtract_squares(scaled, gram[k])


@compiled
def _take_columns(
    cross: Array,
    inner: Array,
    paid: Array,
    spreads: Array,
    gram: Array,
    moment: Array,
    squares: Array,
    determinant: Array,
) -> None:
    """A few effects for all: D'Z = cross (n, p), D'D = inner (n, n), D'y = paid (n,)."""
    for k in range(len(spreads)):
        W, least = inner.copy(), 1.0 / spreads[k] ** 2
        for i in range(len(W)):
            W[i, i] += least
        L, _ = factor(W, least)
        half, x = forward_all(L, cross), forward(L, paid)
        for m in range(len(W)):
            squares[k] -= x[m] * x[m]
            determinant[k] += 2.0 * np.log(L[m, m] * spreads[k])
            for i in range(moment.shape[1]):
                moment[k, i] -= half[m, i] * x[m]
        subtract_squares(half, gram[k])


@compiled
def _time_columns(matrices: Array, vectors: Array, numbers: Array) -> tuple[Array, Array, Array]:
    """D'Z, D'D and D'y of the time, and the time times the rows."""
    p = len(vectors[0])
    cross, inner, moment = np.empty((p + 1, p)), np.empty((p + 1, p + 1)), np.empty(p + 1)
    cross[0], cross[1:] = vectors[2], matrices[1]
    inner[0, 0], inner[0, 1:], inner[1:, 0] = numbers[2], vectors[3], vectors[3]
    inner[1:, 1:] = matrices[2]
    moment[0], moment[1:] = numbers[1], vectors[1]
    return cross, inner, moment


@compiled
def _take_rounds(
    matrices: Array,
    vectors: Array,
    numbers: Array,
    gram: Array,
    moment: Array,
    squares: Array,
    determinant: Array,
) -> None:
    """What every round leaves once its level is integrated out was summed as rounds came."""
    T = len(squares)
    for k in range(T):
        gram[k] -= matrices[4 + k]
        moment[k] -= vectors[5 + k]
        squares[k] -= numbers[3 + k]
        determinant[k] = numbers[3 + T + k]


@compiled
def _take_noise(
    freedom: int, spreads: Array, gram: Array, moment: Array, squares: Array, determinant: Array
) -> None:
    """D = I: all shrinks by 1 + tau^2."""
    for k in range(len(spreads)):
        shrink = 1.0 / (1.0 + spreads[k] ** 2)
        gram[k] *= shrink
        moment[k] *= shrink
        squares[k] *= shrink
        determinant[k] = freedom * np.log1p(spreads[k] ** 2)
