"""Eliminate the nodes one by one: an order in which few neighbours are left to each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.instance.links import links_of
from edgewise.allocation.instance.per_graph import per_graph
from edgewise.allocation.optimum.min_fill import min_fill
from edgewise.base.arrays import Indices
from edgewise.base.compiled import compiled
from edgewise.network.graph import Graph


class Elimination(NamedTuple):
    """Nodes in the order of their elimination, each with the later nodes it is then joined to."""

    order: Indices
    """(n,)"""
    starts: Indices
    """(n + 1,) the scope of ``order[t]`` is ``scopes[starts[t]:starts[t + 1]]``."""
    scopes: Indices
    """Nodes, those eliminated first coming first."""

    @property
    def width(self) -> int:
        """Size of the largest scope: the treewidth is at most this."""
        return int(np.diff(self.starts).max())


def eliminate(graph: Graph, width: int, work: int) -> Elimination | None:
    """An elimination of at most this width by the min-fill rule, or None if none was found.

    Next goes the node whose neighbours lack fewest edges among each other; they are then joined.
    Remembered per graph. ``work`` limits the steps spent on the attempt.

    >>> eliminate(Graph.circle(n_nodes=9), 2, 10**6).width
    2
    >>> eliminate(Graph.complete(n_nodes=9), 2, 10**6) is None
    True
    """
    attempts = _attempts(graph)
    if (width, work) not in attempts:
        attempts[width, work] = _attempt(graph, width, work)
    return attempts[width, work]


@per_graph
def _attempts(graph: Graph) -> dict[tuple[int, int], Elimination | None]:  # noqa: ARG001
    """What has been tried on this graph, by width and work."""
    return {}


def _attempt(graph: Graph, width: int, work: int) -> Elimination | None:
    links = links_of(graph)
    # two nodes may be joined by two arcs, which count once for the width
    if _has_core(links.starts, links.neighbours, 2 * width if graph.directed else width):
        return None  # some subgraph has all degrees above the width
    done, order, starts, scopes = min_fill(links.starts, links.neighbours, width, work)
    return Elimination(order, starts, scopes) if done else None


@compiled
def _has_core(starts: Indices, neighbours: Indices, width: int) -> bool:
    """Whether nodes remain when those of degree ``width`` or less are removed again and again."""
    n = len(starts) - 1
    degrees = starts[1:] - starts[:-1]
    queue = np.empty(n, np.int32)
    gone = np.zeros(n, np.bool_)
    tail = 0
    for i in range(n):
        if degrees[i] <= width:
            gone[i], queue[tail] = True, i
            tail += 1
    head = 0
    while head < tail:
        i = queue[head]
        head += 1
        for p in range(starts[i], starts[i + 1]):
            j = neighbours[p]
            degrees[j] -= 1
            if not gone[j] and degrees[j] <= width:
                gone[j], queue[tail] = True, j
                tail += 1
    return tail < n
