"""All triangles and pentagons of a graph: short odd cycles bind the most."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.bounds.cycles.cycles import Cycles
from edgewise.allocation.instance.edge_sums import Network
from edgewise.base.arrays import Indices
from edgewise.base.compiled import compiled
from edgewise.network.graph import Graph

_LONGEST = 5


def short_odd_cycles(graph: Graph, most: int) -> Cycles:
    """Simple cycles of three or five nodes, each once; the first ``most`` of them.

    >>> short_odd_cycles(Graph.complete(n_nodes=5), 100).lengths.tolist().count(5)
    12
    """
    starts, edges, nodes = _cycles(Network.of(graph), most)
    return Cycles(starts, edges, nodes)


@compiled
def _cycles(network: Network, most: int) -> tuple[Indices, Indices, Indices]:
    """Depth first from every root, over later nodes only: a cycle belongs to its first node.

    Of the two directions of a cycle the one whose second node comes before its last is taken.
    """
    starts = np.zeros(most + 1, np.int64)
    edges, nodes = np.empty(_LONGEST * most, np.int64), np.empty(_LONGEST * most, np.int64)
    path, by = np.empty(_LONGEST, np.int64), np.empty(_LONGEST, np.int64)
    place = np.empty(_LONGEST, np.int64)
    count, total = 0, 0
    for root in range(len(network.starts) - 1):
        depth = 0
        path[0], place[0] = root, network.starts[root]
        while depth >= 0:
            p = place[depth]
            if p == network.starts[path[depth] + 1]:
                depth -= 1
                continue
            place[depth] += 1
            j, length = network.neighbours[p], depth + 1
            by[depth] = network.edge_ids[p]
            if j == root and length >= 3 and length % 2 == 1 and path[1] < path[depth]:
                if count == most:
                    return starts, edges[:total].copy(), nodes[:total].copy()
                edges[total : total + length], nodes[total : total + length] = (
                    by[:length],
                    path[:length],
                )
                total += length
                count += 1
                starts[count] = total
            elif j > root and length < _LONGEST and not (path[:length] == j).any():
                depth += 1
                path[depth], place[depth] = j, network.starts[j]
    return starts[: count + 1], edges[:total].copy(), nodes[:total].copy()
