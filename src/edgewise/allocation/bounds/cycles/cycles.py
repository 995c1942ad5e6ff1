"""Closed walks in a graph, in flat arrays, and how much of each is used."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from edgewise.allocation.bounds.rounding import gamma
from edgewise.base.arrays import Array, Indices
from edgewise.network.graph import Graph


class Cycles(NamedTuple):
    """Walk ``c`` takes steps ``starts[c]:starts[c + 1]`` and ends where it began."""

    starts: Indices
    """(C + 1,)"""
    edges: Indices
    """(steps,) the edge of every step."""
    nodes: Indices
    """(steps,) the node every step leaves."""

    @property
    def lengths(self) -> Indices:
        """(C,) number of steps of every walk."""
        lengths: Indices = np.diff(self.starts)
        return lengths

    def subset(self, chosen: Indices) -> Cycles:
        """The walks at these indices."""
        lengths = self.lengths[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        offsets = np.repeat(self.starts[:-1][chosen] - starts[:-1], lengths)
        steps = np.arange(starts[-1]) + offsets
        return Cycles(starts, self.edges[steps], self.nodes[steps])

    def joined(self, other: Cycles) -> Cycles:
        """These walks followed by others, none that uses the same edges as one before it."""
        starts = np.concatenate([self.starts, self.starts[-1] + other.starts[1:]])
        both = Cycles(
            starts,
            np.concatenate([self.edges, other.edges]),
            np.concatenate([self.nodes, other.nodes]),
        )
        ends = both.starts.tolist()
        first: dict[bytes, int] = {}
        for c, (a, b) in enumerate(itertools.pairwise(ends)):
            first.setdefault(np.sort(both.edges[a:b]).tobytes(), c)
        if len(first) == len(ends) - 1:
            return both
        return both.subset(np.fromiter(first.values(), np.int64, len(first)))


class Packing(NamedTuple):
    """Closed odd walks and how much of each: no edge is used beyond its weight."""

    cycles: Cycles
    amounts: Array
    """(C,) y >= 0; sum over the steps along an edge of y <= its weight."""


def edge_weights(graph: Graph) -> Array:
    """(E,) the capacities of a packing: absolute weights."""
    return np.abs(graph.weight_of_edge)


def repaired(cycles: Cycles, amounts: Array, capacities: Array) -> Packing:
    r"""The amounts cut down until they are a packing, whatever they were.

    With loads :math:`L_e = \sum_{c \ni e} y_c` (with multiplicity) the amounts

    .. math:: y'_c = y_c \min(1, \min_{e \in c} w_e / L_e)

    obey :math:`\sum_{c \ni e} y'_c \le L_e \min(1, w_e / L_e) \le w_e`. A load of t terms is
    computed within :math:`\gamma_t`, relative since all terms are >= 0, and a final factor
    :math:`1 - 2 \gamma_{t+8}` makes up for it. Solver output enters bounds only through here.
    """
    if len(amounts) == 0:
        return Packing(cycles, amounts)
    positive = np.maximum(amounts, 0.0)
    steps = np.repeat(positive, cycles.lengths)
    loads = np.bincount(cycles.edges, steps, len(capacities))
    room = np.where(loads > capacities, capacities / np.maximum(loads, capacities), 1.0)
    least = np.minimum.reduceat(room[cycles.edges], cycles.starts[:-1])
    most_terms = int(np.bincount(cycles.edges).max())
    return Packing(cycles, positive * least * (1.0 - 2.0 * gamma(most_terms + 8)))
