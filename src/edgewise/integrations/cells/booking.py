"""Whose report is it? A user's report belongs to the cell that the user's place had before.

Users change cell when tilts change. A report booked to the cell that serves its user at the time
moves from one number to another with every tilt, and numbers then say who went where, not who is
better off. Booked by place, numbers stay comparable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.integrations.cells.simulator import Reception


@dataclass(frozen=True, eq=False)
class Coverage:
    """What places had before anything was changed, from located reports."""

    shares: Array
    """(C,) of all users, by the cell that serves their place."""
    relations: Array
    """(C, C) of all users, by the cell received second best (rows) and the serving one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", frozen(self.shares, float))
        object.__setattr__(self, "relations", frozen(self.relations, float))

    @classmethod
    def of(cls, reception: Reception, n_cells: int) -> Coverage:
        """From what users received."""
        table = np.zeros((n_cells, n_cells))
        np.add.at(table, (reception.second, reception.cell), 1.0 / len(reception.cell))
        return cls(table.sum(axis=0), table)

    def neighbours(self, least: float) -> Mask:
        """(C, C) whether a cell is second best at a share of another's places, at least."""
        found: Mask = (self.relations > least * self.shares) & ~np.eye(len(self.shares), dtype=bool)
        return found


def booked(values: Array, owners: Indices, shares: Array) -> Array:
    """(B,) the mean of the reports of each owner, times its share of all users; NaN without any.

    Means and not sums: how many users there are changes from round to round, and says nothing.
    Reports with a negative owner belong to none.
    """
    known = owners >= 0
    counts = np.bincount(owners[known], minlength=len(shares))
    sums = np.bincount(owners[known], values[known], minlength=len(shares))
    return np.where(counts > 0, shares * sums / np.maximum(counts, 1), np.nan)
