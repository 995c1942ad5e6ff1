"""Rounds of one phase, until they have residuals to spare: what formula (b) looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.gate.rows import Rows
from edgewise.core.gate.size import Residuals, is_enough, residuals


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
        none, nothing = np.zeros(0, np.int64), np.zeros(0)
        return cls(phase, np.zeros((0, n_parameters)), none, nothing, nothing, nothing, none, none)

    def with_round(self, rows: Rows, number: int, *, centred: bool) -> Block:
        """With one more round."""
        n = len(rows.numbers)
        lost, rounds = np.full(n, 1.0 / n if centred and n else 0.0), np.full(n, number)
        new = (rows.weights, rows.numbers, lost, rows.positions, rounds)
        if not len(self.numbers):
            return Block(self.phase, rows.features, rows.which, *new)
        old = (self.weights, self.numbers, self.lost, self.positions, self.rounds)
        return Block(
            self.phase,
            np.vstack([self.features, rows.features]),
            np.append(self.which, rows.which + len(self.features)),
            *(np.append(*both) for both in zip(old, new, strict=True)),
        )

    @property
    def is_full(self) -> bool:
        """Whether it has residuals to spare."""
        return is_enough(len(self.numbers), self.features.shape[1])

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
