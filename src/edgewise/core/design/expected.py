r"""What independent nodes show on average, as a function of the laws they draw from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Mask
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem

_DENSE = 32
"""Up to so many candidate sets plain matrices are faster than sparse ones."""


@dataclass(frozen=True, eq=False)
class ExpectedCells:
    r"""Expected information of a round whose nodes draw independently.

    With :math:`\mu_s` the law of candidate set s and :math:`\Omega_q[s, s']` the sum of squared
    weights over the arcs of kind q from a node of set s to one of set s', the pair of arms (k, l)
    is expected to gather :math:`\sum_{ss'} \Omega_q[s, s']\, \mu_s(k)\, \mu_{s'}(l)`.
    """

    cells: Cells
    masks: Mask
    """(S, K) the candidate sets; laws are zero outside."""
    meetings: tuple[Any, ...]
    """Per kind, the (S, S) matrix Omega, sparse if large; symmetric unless edges are directed."""

    @classmethod
    def of(cls, problem: Problem, cells: Cells) -> ExpectedCells:
        """Count which sets meet on the edges of each kind."""
        masks, groups = problem.candidate_sets
        tables = problem.classes.graph.meetings(groups, len(masks))
        dense = len(masks) <= _DENSE
        return cls(cells, masks, tuple(one.toarray() if dense else one for one in tables))

    def information(self, laws: Array) -> Array:
        """(q, P) expected information of every cell under laws (S, K)."""
        index = self.cells.pair_index.ravel()
        n_pairs = len(self.cells.pairs)
        return np.array(
            [
                np.bincount(index, (laws.T @ (table @ laws)).ravel(), minlength=n_pairs)
                for table in self.meetings
            ]
        )

    def slopes(self, laws: Array, cell_slopes: Array) -> Array:
        """(S, K) derivative of ``(cell_slopes * information(laws)).sum()`` in every law."""
        total = np.zeros_like(laws)
        for table, slopes in zip(self.meetings, cell_slopes, strict=True):
            by_arms = slopes[self.cells.pair_index]
            total += (table @ laws) @ by_arms.T + (table.T @ laws) @ by_arms
        return total
