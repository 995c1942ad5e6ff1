r"""What the gate keeps of the rewards: sums per number, per cell and over rounds.

With rows z (what multiplies the parameters) and numbers y, both in units of the noise, richer
models add columns D: a constant per number, per cell, per round, the time, the time times z, or
z with the sign of the direction. All that they need are :math:`Z^\top Z, Z^\top y, Z^\top D,
D^\top D, D^\top y`, and that does not grow with the number of rounds: about C(p + 2) numbers for
C numbers measured per round, and some p x p matrices. They are kept in stacks, so that a round is
a few additions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.core.gate.rows import Rows, Sight

SPREADS = np.array([0.25, 1.0])
"""tau: how large the effects of a richer model are, in units of the noise."""
TIME = 16.0
"""Rounds in which a drift of size 1 moves by one deviation."""
_T = len(SPREADS)


@dataclass(frozen=True, eq=False)
class Sums:
    """Over all rounds watched so far; t is the time of a round, kappa its tau^2/(1 + tau^2 n)."""

    count: int
    """N, numbers measured."""
    freedom: int
    """The same, less one per round if a round's level is unknown."""
    matrices: Array
    """(4 + tau, p, p): of every round G = Z'Z, tG, t^2 G; signed G; kappa ss', s = Z'1."""
    vectors: Array
    """(5 + tau, p): of every round b = Z'y, tb; ts, t^2 s; signed b; kappa s 1'y."""
    numbers: Array
    """(3 + 2 tau,): y'y; t 1'y, t^2 n; kappa (1'y)^2; log(1 + tau^2 n)."""
    number_counts: Array
    """(C,) how often each number was measured."""
    number_features: Array
    """(C, p) sums of its rows."""
    number_rewards: Array
    """(C,)"""
    cell_counts: Array
    """(G,) sums of squared weights."""
    cell_rewards: Array
    """(G,)"""

    @classmethod
    def nothing(cls, sight: Sight) -> Sums:
        """Before the first round."""
        p, C, G = sight.n_parameters, sight.n_numbers, sight.n_cells
        return cls(
            0,
            0,
            np.zeros((4 + _T, p, p)),
            np.zeros((5 + _T, p)),
            np.zeros(3 + 2 * _T),
            np.zeros(C),
            np.zeros((C, p)),
            np.zeros(C),
            np.zeros(G),
            np.zeros(G),
        )

    @property
    def gram(self) -> Array:
        """(p, p) Z'Z."""
        return np.asarray(self.matrices[0])

    @property
    def moment(self) -> Array:
        """(p,) Z'y."""
        return np.asarray(self.vectors[0])

    @property
    def squares(self) -> float:
        """Y'y."""
        return float(self.numbers[0])

    def after(self, rows: Rows, number: int, *, centred: bool) -> Sums:
        """With one more round, the ``number``-th."""
        n = len(rows.numbers)
        if not n:
            return self
        kept = (
            self.matrices.copy(),
            self.vectors.copy(),
            self.numbers.copy(),
            self.number_counts.copy(),
            self.number_features.copy(),
            self.number_rewards.copy(),
            self.cell_counts.copy(),
            self.cell_rewards.copy(),
        )
        _add_round(
            rows.features,
            rows.which,
            rows.weights,
            rows.numbers,
            rows.positions,
            rows.signs,
            rows.shows_cells,
            number / TIME,
            SPREADS,
            *kept,
        )
        return Sums(self.count + n, self.freedom + n - centred, *kept)

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Sums:
        """The inverse of :meth:`to_tree`; lists instead of arrays are fine."""
        counts = int(tree["count"]), int(tree["freedom"])
        return cls(*counts, *(np.array(tree[name], float) for name in _ARRAYS))


_ARRAYS = tuple(one.name for one in fields(Sums))[2:]


@compiled
def _add_round(
    X: Array,
    which: Indices,
    weights: Array,
    y: Array,
    positions: Indices,
    signs: Array,
    by_cell: bool,
    t: float,
    spreads: Array,
    matrices: Array,
    vectors: Array,
    numbers: Array,
    number_counts: Array,
    number_features: Array,
    number_rewards: Array,
    cell_counts: Array,
    cell_rewards: Array,
) -> None:
    """Add one round to the sums, in place: loops, as BLAS on such small matrices wakes threads."""
    p, n, T = X.shape[1], len(y), len(spreads)
    by_row = np.zeros((len(X), 5))  # sums over the numbers of a row: w^2, wy, w, signed w^2, wy
    level = 0.0
    for i in range(n):
        g, w, sign = which[i], weights[i], signs[i] if len(signs) else 0.0
        by_row[g, 0] += w * w
        by_row[g, 1] += w * y[i]
        by_row[g, 2] += w
        by_row[g, 3] += sign * w * w
        by_row[g, 4] += sign * w * y[i]
        level += y[i]
        numbers[0] += y[i] * y[i]
        number_counts[positions[i]] += 1.0
        number_rewards[positions[i]] += y[i]
        for a in range(p):
            number_features[positions[i], a] += w * X[g, a]
    gram, signed = np.zeros((p, p)), np.zeros((p, p))
    total = np.zeros(p)
    for g in range(len(X)):
        if by_row[g, 0] == 0.0:
            continue
        for a in range(p):
            x = X[g, a]
            total[a] += by_row[g, 2] * x
            vectors[0, a] += by_row[g, 1] * x
            vectors[1, a] += t * by_row[g, 1] * x
            vectors[4, a] += by_row[g, 4] * x
            shown, turned = by_row[g, 0] * x, by_row[g, 3] * x
            for b in range(a + 1):
                gram[a, b] += shown * X[g, b]
                signed[a, b] += turned * X[g, b]
        if by_cell:
            cell_counts[g] += by_row[g, 0]
            cell_rewards[g] += by_row[g, 1]
    numbers[1] += t * level
    numbers[2] += t * t * n
    for k in range(T):
        share = spreads[k] ** 2 / (1.0 + spreads[k] ** 2 * n)
        numbers[3 + k] += share * level * level
        numbers[3 + T + k] += np.log1p(spreads[k] ** 2 * n)
        for a in range(p):
            vectors[5 + k, a] += share * level * total[a]
            for b in range(p):
                matrices[4 + k, a, b] += share * total[a] * total[b]
    for a in range(p):
        vectors[2, a] += t * total[a]
        vectors[3, a] += t * t * total[a]
        for b in range(p):
            value = gram[a, b] if b <= a else gram[b, a]
            matrices[0, a, b] += value
            matrices[1, a, b] += t * value
            matrices[2, a, b] += t * t * value
            matrices[3, a, b] += signed[a, b] if b <= a else signed[b, a]
