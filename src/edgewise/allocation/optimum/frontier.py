"""Decide the nodes one by one: an order that keeps few decided nodes next to undecided ones."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.links import links_of
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled
from edgewise.network.graph import Graph

_STARTS = 64
"""First nodes that are tried."""
MOST = 2.0**62
"""Joint arms of a frontier that can be numbered."""


def frontier_order(graph: Graph, choices: Indices) -> Indices | None:
    r"""(n,) an order of the nodes, or None if its frontiers are too wide to be numbered.

    The *frontier* is the decided nodes with undecided neighbours; it has
    :math:`\prod_{i \in \mathrm{frontier}} |C_i|` joint arms. Next comes the node next to the
    frontier that leaves it the fewest. Of several first nodes, the one with the fewest joint
    arms of all frontiers together wins.

    Parameters
    ----------
    graph
        Its edges.
    choices
        (n,) number of arms that each node may take.

    Examples
    --------
    >>> frontier_order(Graph.circle(n_nodes=5), np.full(5, 3)).tolist()
    [0, 1, 2, 3, 4]
    >>> frontier_order(Graph.complete(n_nodes=60), np.full(60, 3)) is None
    True
    """
    links, n = links_of(graph), graph.n_nodes
    roots = np.unique(np.linspace(0, n - 1, min(n, _STARTS)).astype(np.int64))
    orders, totals = _orders(links.starts, links.neighbours, np.log(choices), roots)
    best = int(totals.argmin())
    return orders[best] if totals[best] < MOST else None


@compiled
def _orders(
    starts: Indices, neighbours: Indices, sizes: Array, roots: Indices
) -> tuple[Indices, Array]:
    orders, totals = np.empty((len(roots), len(sizes)), np.int64), np.empty(len(roots))
    for r in range(len(roots)):
        totals[r] = _order_from(starts, neighbours, sizes, roots[r], orders[r])
    return orders, totals


@compiled
def _order_from(
    starts: Indices, neighbours: Indices, sizes: Array, root: int, order: Indices
) -> float:
    """Write the order from one node on; return its joint arms, given up at ``MOST``."""
    n = len(sizes)
    left = starts[1:] - starts[:-1]  # links to undecided nodes
    decided, near = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    size, total = 0.0, 0.0
    node = root
    for t in range(n):
        size += _growth(starts, neighbours, sizes, decided, left, node)
        order[t], decided[node] = node, True
        for p in range(starts[node], starts[node + 1]):
            left[neighbours[p]] -= 1
            near[neighbours[p]] = True
        total += np.exp(size)
        if total >= MOST:
            break
        node = _next(starts, neighbours, sizes, decided, near, left)
    return total


@compiled
def _next(
    starts: Indices, neighbours: Indices, sizes: Array, decided: Mask, near: Mask, left: Indices
) -> int:
    """The undecided node to decide now: next to decided ones if there are any.

    Of those that widen the frontier least, one with most links into it: what is earned there is
    then known early, and states are told apart by it.
    """
    best, least, most = -1, np.inf, -1
    for i in range(len(sizes)):
        if decided[i] or (best >= 0 and near[best] and not near[i]):
            continue
        change = _growth(starts, neighbours, sizes, decided, left, i)
        known = starts[i + 1] - starts[i] - left[i]
        if (
            best < 0
            or (near[i] and not near[best])
            or change < least - 1e-9
            or (change < least + 1e-9 and known > most)
        ):
            best, least, most = i, change, known
    return best


@compiled
def _growth(
    starts: Indices, neighbours: Indices, sizes: Array, decided: Mask, left: Indices, i: int
) -> float:
    """By how much deciding node ``i`` changes the logarithm of the size of the frontier."""
    change = sizes[i] if left[i] else 0.0
    for p in range(starts[i], starts[i + 1]):
        j = neighbours[p]
        left[j] -= 1
        if decided[j] and left[j] == 0:
            change -= sizes[j]
    for p in range(starts[i], starts[i + 1]):
        left[neighbours[p]] += 1
    return change
