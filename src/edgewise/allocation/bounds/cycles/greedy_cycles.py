"""Short odd cycles, packed greedily: the quick packing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgewise.allocation.bounds.cycles.cycles import Cycles, Packing, edge_weights, repaired
from edgewise.allocation.instance.edge_sums import Network
from edgewise.allocation.instance.per_graph import per_graph
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.network.graph import Graph

_LARGE = 20_000
"""Edges from which on only triangles are looked for."""
_VISITS = 10**6
"""States that all searches of one depth may visit together."""
_TRIED = 100_000
"""Edges after which a search is given up that found less than one triangle in a thousand."""
_SCANNED = 64
"""Neighbours of a node that are scanned for triangles: hubs must not cost their degree squared."""


@per_graph
def greedy_packing(graph: Graph) -> Packing:
    """Odd cycles packed one after the other, the shortest first.

    For every edge that has weight left, the shortest odd cycle through it over such edges is
    packed as far as it goes. Each packed cycle exhausts an edge. On large graphs only triangles,
    in ``O(n + E)``, and only if there are some.
    """
    weights = edge_weights(graph)
    n, n_edges = graph.n_nodes, len(graph.edges)
    left, network = weights.copy(), Network.of(graph)
    if n_edges >= _LARGE:
        found = _pack_triangles(network, left)
    else:
        depths = np.array([2, 4, 6, 8, 2 * n])
        found = _pack(network, left, depths, min(2 * n, _VISITS // n_edges))
    starts, edges, nodes, amounts = found
    return repaired(Cycles(starts, edges, nodes), amounts, weights)


@compiled
def _pack_triangles(network: Network, left: Array) -> tuple[Indices, Indices, Indices, Array]:
    n, n_edges = len(network.starts) - 1, len(network.edges)
    room = n_edges // 16 + 16
    edges, nodes = np.empty(3 * room, np.int64), np.empty(3 * room, np.int64)
    amounts = np.empty(room)
    spent = left * 1e-9
    link = np.full(n, -1, np.int64)  # the edge from the present node to each other
    count, tried = 0, 0
    for i in range(n):
        if tried > _TRIED and 1000 * count < tried:
            break
        row = range(network.starts[i], network.starts[i + 1])
        for p in row:
            link[network.neighbours[p]] = network.edge_ids[p]
        for p in row:
            j, e = network.neighbours[p], network.edge_ids[p]
            if j < i:
                continue
            tried += 1
            end = min(network.starts[j + 1], network.starts[j] + _SCANNED)
            for r in range(network.starts[j], end):
                f, g = network.edge_ids[r], link[network.neighbours[r]]
                if left[e] <= spent[e]:
                    break
                if g < 0 or g == e or f == e or left[f] <= spent[f] or left[g] <= spent[g]:
                    continue
                amount = min(left[e], left[f], left[g])
                if count == len(amounts):
                    edges, nodes = _longer(edges, 0), _longer(nodes, 0)
                    amounts = _longer(amounts, 0)
                at = 3 * count
                edges[at], edges[at + 1], edges[at + 2] = e, f, g
                nodes[at], nodes[at + 1], nodes[at + 2] = i, j, network.neighbours[r]
                left[e], left[f], left[g] = left[e] - amount, left[f] - amount, left[g] - amount
                amounts[count] = amount
                count += 1
        for p in row:
            link[network.neighbours[p]] = -1
    used = 3 * count
    return 3 * np.arange(count + 1), edges[:used].copy(), nodes[:used].copy(), amounts[:count]


@compiled
def _pack(
    network: Network, left: Array, depths: Indices, visits: int
) -> tuple[Indices, Indices, Indices, Array]:
    n, n_edges = len(network.starts) - 1, len(network.edges)
    used, nodes_used = np.empty(4 * n_edges, np.int64), np.empty(4 * n_edges, np.int64)
    starts, amounts = np.zeros(n_edges + 1, np.int64), np.empty(n_edges)
    seen = np.full(2 * n, -1, np.int64)
    came_by = np.empty(2 * n, np.int64)
    queue = np.empty(2 * n, np.int64)
    spent = left * 1e-9  # an edge with less than this left counts as exhausted
    count, search = 0, 0
    for depth in depths:
        for e in range(n_edges):
            if left[e] <= spent[e] or count == n_edges:
                continue
            found = _even_path(network, left, spent, e, depth, visits, seen, came_by, queue, search)
            search += 1
            if found < 0:
                continue
            first = starts[count]
            if first + found + 1 > len(used):
                used = np.concatenate((used, np.empty(len(used) + found, np.int64)))
                nodes_used = np.concatenate(
                    (nodes_used, np.empty(len(nodes_used) + found, np.int64))
                )
            _write_cycle(network, e, found, came_by, used[first:], nodes_used[first:])
            length = found + 1
            amounts[count] = _take(left, used[first : first + length])
            count += 1
            starts[count] = first + length
    total = starts[count]
    return starts[: count + 1], used[:total], nodes_used[:total], amounts[:count]


@compiled
def _longer(array: NDArray[Any], by: int) -> NDArray[Any]:
    """A copy with room for as much again, and ``by`` more."""
    copy = np.empty(2 * len(array) + by, array.dtype)
    copy[: len(array)] = array
    return copy


@compiled
def _even_path(
    network: Network,
    left: Array,
    spent: Array,
    e: int,
    depth: int,
    visits: int,
    seen: Indices,
    came_by: Indices,
    queue: Indices,
    search: int,
) -> int:
    """Even number of steps from one end of edge e to the other, or -1.

    Breadth first in the double cover, where a state is ``2 * node + parity``.
    """
    source, goal = 2 * network.edges[e, 0], 2 * network.edges[e, 1]
    seen[source] = search
    queue[0] = source
    head, tail, level_end, steps = 0, 1, 1, 0
    while head < tail and steps < depth:
        state = queue[head]
        head += 1
        i, parity = state // 2, state % 2
        for p in range(network.starts[i], network.starts[i + 1]):
            f = network.edge_ids[p]
            following = 2 * network.neighbours[p] + 1 - parity
            if left[f] <= spent[f] or seen[following] == search:
                continue
            seen[following] = search
            came_by[following] = 2 * p + parity
            if following == goal:
                return steps + 1
            if tail < visits:
                queue[tail] = following
                tail += 1
        if head == level_end:
            level_end = tail
            steps += 1
    return -1


@compiled
def _write_cycle(
    network: Network, e: int, steps: int, came_by: Indices, edges: Indices, nodes: Indices
) -> None:
    """The path backwards from its goal, then edge e from its first end to the goal."""
    node, parity = network.edges[e, 1], 0
    for t in range(steps):
        p = came_by[2 * node + parity] // 2
        edges[t], nodes[t] = network.edge_ids[p], node
        f = network.edge_ids[p]
        node = network.edges[f, 0] + network.edges[f, 1] - node
        parity = 1 - parity
    edges[steps], nodes[steps] = e, node


@compiled
def _take(left: Array, cycle: Indices) -> float:
    """Use the cycle as far as its edges allow; an edge met twice allows half."""
    amount = np.inf
    for t in range(len(cycle)):
        times = 0
        for f in cycle:
            times += f == cycle[t]
        amount = min(amount, left[cycle[t]] / times)
    for f in cycle:
        left[f] = max(0.0, left[f] - amount)
    return amount
