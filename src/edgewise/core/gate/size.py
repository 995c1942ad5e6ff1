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
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.core.gate.solving import factor, forward, log_mean

TILTS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45])
"""lambda."""
_PRICE = 0.5 * np.log1p(-2.0 * TILTS)
_LEAST = 4
"""A block goes on until it has so many residuals to spare, or the phase ends."""


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


def is_enough(n_rows: int, n_parameters: int) -> bool:
    """Whether a block of so many rows has residuals to spare."""
    return n_rows >= n_parameters + _LEAST


def residuals(
    features: Array, which: Indices, weights: Array, numbers: Array, lost: Array
) -> Residuals:
    """Of numbers (N,) with the rows ``weights * features[which]``.

    Each has ``lost`` so much variance already: levels of rounds take 1/n of each of n numbers.
    """
    X = np.ascontiguousarray(features)
    squares, rank, largest, position, fitted = _residuals(X, which, weights, numbers, lost)
    left = len(numbers) - rank - round(float(lost.sum()))
    return Residuals(squares, max(left, 0), largest, position, fitted)


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
    if others <= 0.0:
        return -math.inf
    ratio = found.largest * math.sqrt((found.rank - 1) / others)
    tail = float(stdtr(found.rank - 1, -ratio))
    return min(price + math.log(max(tail, np.finfo(float).tiny)), 0.0)


@compiled
def _residuals(
    X: Array, which: Indices, weights: Array, y: Array, lost: Array
) -> tuple[float, int, float, int, float]:
    """|Qy|^2, the rank of the rows, and the largest residual over its deviation."""
    p = X.shape[1]
    shown, paid = np.zeros(len(X)), np.zeros(len(X))
    for i in range(len(y)):
        shown[which[i]] += weights[i] * weights[i]
        paid[which[i]] += weights[i] * y[i]
    A, moment = np.zeros((p, p)), np.zeros(p)
    for g in range(len(X)):
        for a in range(p):
            moment[a] += paid[g] * X[g, a]
            for b in range(p):
                A[a, b] += shown[g] * X[g, a] * X[g, b]
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
    squares, largest, position, fitted = 0.0, 0.0, -1, 0.0
    for i in range(len(y)):
        left = y[i] - weights[i] * means[which[i]]
        share = 1.0 - lost[i] - weights[i] * weights[i] * levers[which[i]]
        squares += left * left
        if share > 1e-6:
            ratio = abs(left) / np.sqrt(share)
            if ratio > largest:
                largest, position, fitted = ratio, i, y[i] - left / share
    return squares, rank, largest, position, fitted
