"""Whose report is it? A user's report belongs to the cell that the user's place had before.

Users change cell when tilts change. A report booked to the cell that serves its user at the time
moves from one number to another with every tilt, and numbers then say who went where, not who is
better off. Booked by place, numbers stay comparable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.integrations.cells.simulator import Reception


@dataclass(frozen=True, eq=False)
class Coverage:
    """What places had before anything was changed, from located reports."""

    shares: Array
    """(C,) of all users, by the cell that serves their place."""
    relations: Array
    """(C, C) of all users, by the cell received second best (rows) and the serving one."""
    overlap: Array
    """(C, C) mean share of what disturbs users at the places of a cell (columns) that comes from
    another (rows)."""

    def __post_init__(self) -> None:
        for name in ("shares", "relations", "overlap"):
            object.__setattr__(self, name, frozen(getattr(self, name), float))

    @classmethod
    def of(cls, reception: Reception) -> Coverage:
        """From what users received."""
        n_users, n_cells = reception.power.shape
        relations, overlap = np.zeros((2, n_cells, n_cells))
        np.add.at(relations, (reception.second, reception.cell), 1.0 / n_users)
        np.add.at(overlap.T, reception.cell, reception.interference / n_users)
        shares = relations.sum(axis=0)
        return cls(shares, relations, overlap / np.maximum(shares, 1e-300))


def booked(values: Array, owners: Indices, shares: Array) -> Array:
    """(B,) the mean of the reports of each owner, times its share of all users; NaN without any.

    Means and not sums: how many users there are changes from round to round, and says nothing.
    Reports with a negative owner belong to none.
    """
    known = owners >= 0
    counts = np.bincount(owners[known], minlength=len(shares))
    sums = np.bincount(owners[known], values[known], minlength=len(shares))
    return np.where(counts > 0, shares * sums / np.maximum(counts, 1), np.nan)
