r"""Pairs of arms: their numbers, their features, and the parameter that multiplies these.

*Ordered* pairs (k, l) have the features :math:`\mathrm{vec}(x_k x_l^\top)`, row by row, and the
parameter :math:`\mathrm{vec}(M)`. *Unordered* pairs {k, l} have
:math:`\mathrm{svec}((x_k x_l^\top + x_l x_k^\top)/2)` and :math:`\mathrm{svec}((M + M^\top)/2)`,
where svec is the upper triangle with off-diagonals times :math:`\sqrt 2`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of K arms, numbered."""

    ordered: bool
    arms: Indices
    """(P, 2) the arms of each pair; k <= l when unordered."""
    index: Indices
    """(K, K) the number of the pair that arms k and l show."""

    def features(self, arms: Array) -> Array:
        """(P, d^2) or (P, d(d + 1)/2) from the arms (K, d)."""
        first, second = arms[self.arms[:, 0]], arms[self.arms[:, 1]]
        if self.ordered:
            return (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
        row, column = np.triu_indices(arms.shape[1])
        scale = np.where(row == column, 0.5, math.sqrt(0.5))
        return (first[:, row] * second[:, column] + second[:, row] * first[:, column]) * scale

    def parameter(self, matrix: Array) -> Array:
        """What the features multiply, from M (d, d)."""
        if self.ordered:
            return matrix.ravel()
        row, column = np.triu_indices(len(matrix))
        symmetric = (matrix + matrix.T) / 2.0
        parameter: Array = symmetric[row, column] * np.where(row == column, 1.0, math.sqrt(2.0))
        return parameter


def ordered_pairs(n_arms: int) -> Pairs:
    """Pair (k, l) has number k K + l."""
    index = np.arange(n_arms * n_arms).reshape(n_arms, n_arms)
    first, second = np.divmod(index.ravel(), n_arms)
    return Pairs(True, np.column_stack([first, second]), index)


def unordered_pairs(n_arms: int) -> Pairs:
    """Pair {k, l}, k <= l, has number l (l + 1)/2 + k: the kernels compute it on the fly."""
    high, low = np.tril_indices(n_arms)
    return _unordered(n_arms, low, high)


def unordered_pairs_by_row(n_arms: int) -> Pairs:
    """Pairs {k, l}, k <= l, as in the upper triangle read row by row: the order of theory."""
    return _unordered(n_arms, *np.triu_indices(n_arms))


def matrices_of(parameters: Array, dimension: int, *, ordered: bool) -> Array:
    """(q, d, d) what parameters (q, d^2 or d(d + 1)/2) stand for: M if ordered, else S."""
    matrices = np.empty((len(parameters), dimension, dimension))
    if ordered:
        matrices[:] = parameters.reshape(-1, dimension, dimension)
        return matrices
    row, column = np.triu_indices(dimension)
    scale = np.where(row == column, 1.0, math.sqrt(0.5))
    matrices[:, row, column] = matrices[:, column, row] = parameters * scale
    return matrices


def _unordered(n_arms: int, low: Indices, high: Indices) -> Pairs:
    index = np.empty((n_arms, n_arms), np.int64)
    index[low, high] = index[high, low] = np.arange(len(low))
    return Pairs(False, np.column_stack([low, high]), index)
