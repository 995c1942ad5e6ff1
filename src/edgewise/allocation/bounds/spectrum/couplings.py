"""A symmetric sparse matrix without diagonal, and products with it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled


class Couplings(NamedTuple):
    """Row ``i`` is ``starts[i]:starts[i + 1]``: its columns and values."""

    starts: Indices
    neighbours: Indices
    values: Array

    @property
    def size(self) -> int:
        """N."""
        return len(self.starts) - 1

    @property
    def most_in_row(self) -> int:
        """Entries of the fullest row."""
        return int(np.diff(self.starts).max(initial=0))

    @property
    def row_sums(self) -> Array:
        """(N,) sums of the absolute values; their largest bounds the norm of |C|."""
        return _row_sums(self)

    def scaled(self, factors: Array) -> Couplings:
        """``Diag(factors) C Diag(factors)``; every entry is rounded twice."""
        return Couplings(self.starts, self.neighbours, _scale(self, factors))

    def dense(self) -> Array:
        """As an (N, N) array."""
        full = np.zeros((self.size, self.size))
        rows = np.repeat(np.arange(self.size), np.diff(self.starts))
        full[rows, self.neighbours] = self.values
        return full


@compiled
def multiply(couplings: Couplings, vector: Array, product: Array) -> None:
    """``product = C vector``."""
    for i in range(len(vector)):
        total = 0.0
        for p in range(couplings.starts[i], couplings.starts[i + 1]):
            total += couplings.values[p] * vector[couplings.neighbours[p]]
        product[i] = total


@compiled
def _row_sums(couplings: Couplings) -> Array:
    sums = np.zeros(len(couplings.starts) - 1)
    for i in range(len(sums)):
        for p in range(couplings.starts[i], couplings.starts[i + 1]):
            sums[i] += abs(couplings.values[p])
    return sums


@compiled
def _scale(couplings: Couplings, factors: Array) -> Array:
    values = np.empty(len(couplings.values))
    for i in range(len(factors)):
        for p in range(couplings.starts[i], couplings.starts[i + 1]):
            values[p] = couplings.values[p] * factors[i] * factors[couplings.neighbours[p]]
    return values
