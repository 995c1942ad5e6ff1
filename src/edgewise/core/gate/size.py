r"""Formula (b): quadratic forms and the largest residual, where joint arms were fixed beforehand.

A *block* is some rounds of one phase. With Q the projection on the residuals of the block, of rank
r,

.. math:: E \exp(\lambda |Q\eta|^2) \le (1 - 2\lambda)^{-r/2}, \qquad 0 < \lambda < 1/2 ,

for sub-Gaussian noise; blocks multiply. A residual over its deviation is sub-Gaussian as well, so
the largest of N exceeds :math:`\sqrt{2\log(2N/\alpha)}` with probability at most alpha; block c
gets :math:`\alpha/(c(c+1))`. If the noise is not known, a residual is compared with the deviation
of the others: Student's t, for Gaussian noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.core.gate.rows import Rows
from edgewise.core.gate.solving import ROUNDING, factor, forward, log_mean

TILTS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45])
"""lambda."""
_PRICE = 0.5 * np.log1p(-2.0 * TILTS)
_LEAST = 4
"""A block goes on until it has so many residuals to spare, or the phase ends."""


_NO_INDEX, _NOTHING = np.zeros(0, np.int64), np.zeros(0)


class Residuals(NamedTuple):
    """What a block shows once the model is fitted to it."""

    squares: float
    """|Qy|^2."""
    rank: int
    """r."""
    largest: float
    """Of the residuals over their deviations, in absolute value; 0 if there are none."""
    position: int
    """Which row that is."""
    fitted: float
    """What the model fitted to the others says there."""


def residuals(
    features: Array, which: Indices, weights: Array, numbers: Array, lost: Array
) -> Residuals:
    """Of numbers (N,) with the rows ``weights * features[which]``.

    Each has ``lost`` so much variance already: levels of rounds take 1/n of each of n numbers.
    """
    X = np.ascontiguousarray(features)
    return Residuals(*_residuals(X, which, weights, numbers, lost))


def log_growth(found: Residuals) -> Array:
    """(lambda,) the log of what a block multiplies the bets by."""
    return np.asarray(found.rank * _PRICE + TILTS * found.squares)


def log_e_value(growth: Array) -> float:
    """Log E, the mean over lambda."""
    return log_mean(growth)


def log_p_value(found: Residuals, n_rows: int, block: int, *, known: bool) -> float:
    """An upper bound on the log of the p-value of the largest residual, all blocks paid for."""
    if found.rank < 1 or found.largest <= 0.0:
        return 0.0
    price = math.log(2.0 * n_rows * block * (block + 1))
    if known:
        return min(price - 0.5 * found.largest**2, 0.0)
    others = found.squares - found.largest**2
    if found.rank < 2:
        return 0.0
    ratio = found.largest * math.sqrt((found.rank - 1) / others) if others > 0.0 else math.inf
    tail = float(stdtr(found.rank - 1, -ratio))
    return min(price + math.log(max(tail, np.finfo(float).tiny)), 0.0)


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of successive rounds, inside which joint arms do not follow rewards."""

    phase: int
    features: Array
    """(g, p) rows, as in :class:`~edgewise.core.gate.rows.Rows`."""
    which: Indices
    """(N,)"""
    weights: Array
    """(N,)"""
    numbers: Array
    """(N,)"""
    lost: Array
    """(N,) variance that an unknown level of the round takes."""
    positions: Indices
    """(N,)"""
    rounds: Indices
    """(N,)"""

    @classmethod
    def empty(cls, phase: int, n_parameters: int) -> Block:
        """Nothing yet."""
        nothing = np.zeros((0, n_parameters))
        return cls(phase, nothing, _NO_INDEX, _NOTHING, _NOTHING, _NOTHING, _NO_INDEX, _NO_INDEX)

    def emptied(self) -> Block:
        """Nothing yet of the same phase."""
        return Block.empty(self.phase, self.features.shape[1])

    def with_round(self, rows: Rows, phase: int, number: int, *, centred: bool) -> Block:
        """With one more round of the same phase; of any, if nothing was there."""
        n = len(rows.numbers)
        lost, rounds = np.zeros(n), np.zeros(n, np.int64)
        rounds += number
        if centred and n:
            lost += 1.0 / n
        new = (rows.weights, rows.numbers, lost, rows.positions, rounds)
        if not len(self.numbers):
            return Block(phase, rows.features, rows.which, *new)
        old = (self.weights, self.numbers, self.lost, self.positions, self.rounds)
        return Block(
            phase,
            np.vstack([self.features, rows.features]),
            np.append(self.which, rows.which + len(self.features)),
            *(np.append(*both) for both in zip(old, new, strict=True)),
        )

    @property
    def is_full(self) -> bool:
        """Whether it has residuals to spare."""
        return len(self.numbers) >= int(self.features.shape[1]) + _LEAST

    def residuals(self) -> Residuals:
        """Of the model fitted to the block alone."""
        return residuals(self.features, self.which, self.weights, self.numbers, self.lost)

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any], n_parameters: int) -> Block:
        """The inverse of :meth:`to_tree`; lists instead of arrays are fine."""
        return cls(
            int(tree["phase"]),
            np.array(tree["features"], float).reshape(-1, n_parameters),
            np.array(tree["which"], np.int64),
            np.array(tree["weights"], float),
            np.array(tree["numbers"], float),
            np.array(tree["lost"], float),
            np.array(tree["positions"], np.int64),
            np.array(tree["rounds"], np.int64),
        )


@compiled
def _residuals(
    X: Array, which: Indices, weights: Array, y: Array, lost: Array
) -> tuple[float, int, float, int, float]:
    """|Qy|^2, the residuals to spare, and the largest residual over its deviation."""
    p = X.shape[1]
    shown, paid = np.zeros(len(X)), np.zeros(len(X))
    for i in range(len(y)):
        shown[which[i]] += weights[i] * weights[i]
        paid[which[i]] += weights[i] * y[i]
    A, moment = np.zeros((p, p)), np.zeros(p)
    for g in range(len(X)):
        if shown[g] == 0.0:
            continue
        for a in range(p):
            moment[a] += paid[g] * X[g, a]
            scale = shown[g] * X[g, a]
            for b in range(a + 1):
                A[a, b] += scale * X[g, b]
    L, rank = factor(A)
    x = forward(L, moment)
    levers, means = np.zeros(len(X)), np.zeros(len(X))
    for g in range(len(X)):
        if shown[g] == 0.0:
            continue
        row = forward(L, X[g])
        for j in range(len(row)):
            levers[g] += row[j] * row[j]
            means[g] += row[j] * x[j]
    squares, largest, position, fitted, size = 0.0, 0.0, -1, 0.0, 0.0
    for i in range(len(y)):
        size = max(size, abs(y[i]))
    for i in range(len(y)):
        left = y[i] - weights[i] * means[which[i]]
        if abs(left) <= ROUNDING * size:
            continue
        share = 1.0 - lost[i] - weights[i] * weights[i] * levers[which[i]]
        squares += left * left
        if share > 1e-6:
            ratio = abs(left) / np.sqrt(share)
            alike = abs(ratio - largest) <= 1e-9 * largest  # two of a cell: the larger is odder
            if abs(y[i]) > abs(y[position]) if alike and position >= 0 else ratio > largest:
                largest, position, fitted = ratio, i, y[i] - left / share
    left = len(y) - rank - int(np.rint(lost.sum()))
    return squares, max(left, 0), largest, position, fitted
