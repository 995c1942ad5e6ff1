"""Graphs whose nodes split into two sides with every edge across."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.edge_sums import Network
from edgewise.allocation.instance.per_graph import per_graph
from edgewise.base.arrays import Indices, Mask, frozen
from edgewise.base.compiled import compiled
from edgewise.network.graph import Graph


@per_graph
def two_colouring(graph: Graph) -> Mask | None:
    """(n,) side of every node such that all edges cross, or None: there is an odd cycle.

    Showing the best pair of arms across is then optimal (one kind, undirected, weights >= 0).
    ``O(n + m)``.

    >>> two_colouring(Graph.star(n_nodes=4)).tolist()
    [False, True, True, True]
    >>> two_colouring(Graph.circle(n_nodes=5)) is None
    True
    """
    sides, consistent = _colour(Network.of(graph))
    return frozen(sides < 0, np.bool_) if consistent else None


@compiled
def _colour(network: Network) -> tuple[Indices, bool]:
    """Breadth first, +1 and -1 alternating; 0 while unreached."""
    n = len(network.starts) - 1
    sides = np.zeros(n, np.int8)
    queue = np.empty(n, np.int32)
    for root in range(n):
        if sides[root] != 0:
            continue
        sides[root], queue[0] = 1, root
        head, tail = 0, 1
        while head < tail:
            i = queue[head]
            head += 1
            for p in range(network.starts[i], network.starts[i + 1]):
                j = network.neighbours[p]
                if sides[j] == sides[i]:
                    return sides, False
                if sides[j] == 0:
                    sides[j], queue[tail] = -sides[i], j
                    tail += 1
    return sides, True
