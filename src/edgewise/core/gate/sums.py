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

from edgewise.base.arrays import Array
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
        y, w, n, t = rows.numbers, rows.weights, len(rows.numbers), number / TIME
        if not n:
            return self
        X, shown, paid = rows.features, rows.summed(w * w), rows.summed(w * y)
        gram, moment = (X.T * shown) @ X, paid @ X
        total, level = rows.summed(w) @ X, float(y.sum())
        matrices, vectors = np.empty_like(self.matrices), np.empty_like(self.vectors)
        np.multiply(np.array([1.0, t, t * t])[:, None, None], gram, out=matrices[:3])
        np.multiply(np.array([1.0, t])[:, None], moment, out=vectors[:2])
        np.multiply(np.array([t, t * t])[:, None], total, out=vectors[2:4])
        matrices[3], vectors[4] = _signed(rows)
        shares = SPREADS**2 / (1.0 + SPREADS**2 * n)
        np.multiply(shares[:, None, None], np.outer(total, total), out=matrices[4:])
        np.multiply(shares[:, None], level * total, out=vectors[5:])
        sizes = (y @ y, t * level, t * t * n, *(shares * level**2), *np.log1p(SPREADS**2 * n))
        return Sums(
            self.count + n,
            self.freedom + n - centred,
            self.matrices + matrices,
            self.vectors + vectors,
            self.numbers + np.array(sizes),
            *self._by_number(rows),
            *self._by_cell(rows, shown, paid),
        )

    def _by_number(self, rows: Rows) -> tuple[Array, Array, Array]:
        at = rows.positions
        if len(at) == len(self.number_counts):  # nothing is missing
            features = self.number_features + rows.full
            return self.number_counts + 1.0, features, self.number_rewards + rows.numbers
        counts, features = self.number_counts.copy(), self.number_features.copy()
        rewards = self.number_rewards.copy()
        counts[at] += 1.0
        features[at] += rows.full
        rewards[at] += rows.numbers
        return counts, features, rewards

    def _by_cell(self, rows: Rows, shown: Array, paid: Array) -> tuple[Array, Array]:
        if not rows.shows_cells:
            return self.cell_counts, self.cell_rewards
        return self.cell_counts + shown, self.cell_rewards + paid

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Sums:
        """The inverse of :meth:`to_tree`; lists instead of arrays are fine."""
        counts = int(tree["count"]), int(tree["freedom"])
        arrays = [np.array(tree[one.name], float) for one in fields(cls)[2:]]
        return cls(*counts, *arrays)


def _signed(rows: Rows) -> tuple[Array | float, Array | float]:
    """Z'SZ and Z'Sy with the signs of the directions; 0 if they cannot be told apart."""
    if not len(rows.signs):
        return 0.0, 0.0
    X, signed = rows.features, rows.signs * rows.weights
    gram = (X.T * rows.summed(signed * rows.weights)) @ X
    return gram, rows.summed(signed * rows.numbers) @ X
