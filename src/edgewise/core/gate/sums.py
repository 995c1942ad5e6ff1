r"""What the gate keeps of the rewards: sums per number, per cell and over rounds.

With rows z (what multiplies the parameters) and numbers y, both in units of the noise, richer
models add columns D: a constant per number, per cell, per round, the time, the time times z, or
z with the sign of the direction. All that they need are :math:`Z^\top Z, Z^\top y, Z^\top D,
D^\top D, D^\top y`, and that does not grow with the number of rounds: about C(p + 2) numbers for
C numbers measured per round, and some p x p matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from edgewise.base.arrays import Array
from edgewise.core.gate.rows import Rows, Sight

SPREADS = np.array([0.25, 1.0])
"""tau: how large the effects of a richer model are, in units of the noise."""
_TIME = 16.0
"""Rounds in which a drift of size 1 moves by one deviation."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Over all rounds watched so far."""

    count: int
    """N, numbers measured."""
    freedom: int
    """The same, less one per round if a round's level is unknown."""
    gram: Array
    """(p, p) Z'Z."""
    moment: Array
    """(p,) Z'y."""
    squares: float
    """y'y."""
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
    round_gram: Array
    """(tau, p, p) what levels per round explain of Z'Z."""
    round_moment: Array
    """(tau, p)"""
    round_squares: Array
    """(tau,)"""
    round_determinant: Array
    """(tau,)"""
    drift_cross: Array
    """(p, 1 + p) of rows with time and time times rows."""
    drift_gram: Array
    """(1 + p, 1 + p)"""
    drift_moment: Array
    """(1 + p,)"""
    sign_cross: Array
    """(p, p) of rows with rows times the sign of the direction."""
    sign_moment: Array
    """(p,)"""

    @classmethod
    def nothing(cls, sight: Sight) -> Sums:
        """Before the first round."""
        p, C, G, T = sight.n_parameters, sight.n_numbers, sight.n_cells, len(SPREADS)
        signed = p if sight.has_directions else 0
        return cls(
            0,
            0,
            np.zeros((p, p)),
            np.zeros(p),
            0.0,
            np.zeros(C),
            np.zeros((C, p)),
            np.zeros(C),
            np.zeros(G),
            np.zeros(G),
            np.zeros((T, p, p)),
            np.zeros((T, p)),
            np.zeros(T),
            np.zeros(T),
            np.zeros((p, 1 + p)),
            np.zeros((1 + p, 1 + p)),
            np.zeros(1 + p),
            np.zeros((signed, signed)),
            np.zeros(signed),
        )

    def after(self, rows: Rows, number: int, *, centred: bool) -> Sums:
        """With one more round, the ``number``-th."""
        y, w, n = rows.numbers, rows.weights, len(rows.numbers)
        if not n:
            return self
        X, shown, paid = rows.features, rows.summed(w * w), rows.summed(w * y)
        gram, moment = (X.T * shown) @ X, paid @ X
        total, level = rows.summed(w) @ X, float(y.sum())
        return replace(
            self,
            count=self.count + n,
            freedom=self.freedom + n - centred,
            gram=self.gram + gram,
            moment=self.moment + moment,
            squares=self.squares + float(y @ y),
            **self._by_number(rows),
            **self._by_cell(rows, shown, paid),
            **self._by_round(n, total, level),
            **self._drift(n, total, level, gram, moment, number / _TIME),
            **self._signed(rows),
        )

    def _by_number(self, rows: Rows) -> dict[str, Array]:
        counts, features = self.number_counts.copy(), self.number_features.copy()
        rewards = self.number_rewards.copy()
        counts[rows.positions] += 1.0
        features[rows.positions] += rows.full
        rewards[rows.positions] += rows.numbers
        return {"number_counts": counts, "number_features": features, "number_rewards": rewards}

    def _by_cell(self, rows: Rows, shown: Array, paid: Array) -> dict[str, Array]:
        if not len(rows.cells):
            return {}
        counts, rewards = self.cell_counts.copy(), self.cell_rewards.copy()
        counts[rows.cells] += shown
        rewards[rows.cells] += paid
        return {"cell_counts": counts, "cell_rewards": rewards}

    def _by_round(self, n: int, total: Array, level: float) -> dict[str, Array]:
        shares = SPREADS**2 / (1.0 + SPREADS**2 * n)
        return {
            "round_gram": self.round_gram + shares[:, None, None] * np.outer(total, total),
            "round_moment": self.round_moment + np.outer(shares, level * total),
            "round_squares": self.round_squares + shares * level**2,
            "round_determinant": self.round_determinant + np.log1p(SPREADS**2 * n),
        }

    def _drift(
        self, n: int, total: Array, level: float, gram: Array, moment: Array, time: float
    ) -> dict[str, Array]:
        cross = np.column_stack([total, gram])
        inner = np.vstack([np.append(n, total), cross])
        return {
            "drift_cross": self.drift_cross + time * cross,
            "drift_gram": self.drift_gram + time**2 * inner,
            "drift_moment": self.drift_moment + time * np.append(level, moment),
        }

    def _signed(self, rows: Rows) -> dict[str, Array]:
        if not len(rows.signs):
            return {}
        X, signed = rows.features, rows.signs * rows.weights
        return {
            "sign_cross": self.sign_cross + (X.T * rows.summed(signed * rows.weights)) @ X,
            "sign_moment": self.sign_moment + rows.summed(signed * rows.numbers) @ X,
        }

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Sums:
        """The inverse of :meth:`to_tree`; lists instead of arrays are fine."""
        values = {one.name: tree[one.name] for one in fields(cls)}
        for name, value in values.items():
            if name in ("count", "freedom"):
                values[name] = int(value)
            else:
                values[name] = float(value) if name == "squares" else np.array(value, float)
        return cls(**values)
