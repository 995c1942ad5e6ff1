"""Compressed neighbour lists, for whatever walks the graph node by node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Indices
from edgewise.base.compiled import compiled


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Row ``i`` is ``starts[i]:starts[i + 1]``: its neighbours, and the edges to them.

    Directed edges appear in the rows of both their nodes; ``graph.edges[edge, 0]`` tells which
    end a node is.
    """

    starts: Indices
    """(n + 1,)"""
    neighbours: Indices
    """(2E,) in the order in which the edges are listed."""
    edge_ids: Indices
    """(2E,)"""

    @classmethod
    def of(cls, edges: Indices, degrees: Indices) -> Adjacency:
        """Counting sort of the edge list (E, 2), given the degrees (n,): O(n + E)."""
        starts = np.zeros(len(degrees) + 1, np.int64)
        np.cumsum(degrees, out=starts[1:])
        neighbours, edge_ids = _fill_rows(starts, edges)
        for array in (starts, neighbours, edge_ids):
            array.setflags(write=False)
        return cls(starts, neighbours, edge_ids)


@compiled
def _fill_rows(starts: Indices, edges: Indices) -> tuple[Indices, Indices]:
    position = starts[:-1].copy()
    neighbours = np.empty(2 * len(edges), np.int32)
    edge_ids = np.empty(2 * len(edges), np.int32)
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        neighbours[position[i]], edge_ids[position[i]] = j, e
        neighbours[position[j]], edge_ids[position[j]] = i, e
        position[i] += 1
        position[j] += 1
    return neighbours, edge_ids
