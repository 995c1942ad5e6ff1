"""Which closed odd walks would improve a packing: the shortest ones under its prices."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.bounds.cycles.cycles import Cycles
from edgewise.allocation.instance.edge_sums import Network
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled


def cheap_walks(network: Network, prices: Array, worth: Array, most_steps: int) -> Cycles:
    r"""Closed odd walks that cost less than they are worth, the best of each root and length.

    A walk c of length l improves the packing when :math:`\sum_{e \in c} z_e < \delta_l`. Since
    :math:`\delta_l` may rise and fall with l, the cheapest walk of *every* odd length is looked
    for: l rounds of Bellman and Ford from each root, over the nodes from the root on (every
    closed walk has a first node). ``O(n E l)``.

    Parameters
    ----------
    network
        The graph's arrays.
    prices
        (E,) z >= 0, the dual of the packing.
    worth
        (longest + 1,) what a walk of each length is worth; 0 for lengths not wanted.
    most_steps
        Stop at about this many steps in all.
    """
    return Cycles(*_cheap_walks(network, prices, worth, most_steps))


@compiled
def _cheap_walks(
    network: Network, prices: Array, worth: Array, most_steps: int
) -> tuple[Indices, Indices, Indices]:
    n, longest = len(network.starts) - 1, len(worth) - 1
    cost = np.empty((longest + 1, n))
    came_by = np.empty((longest + 1, n), np.int64)
    edges, nodes = (
        np.empty(most_steps + longest, np.int64),
        np.empty(most_steps + longest, np.int64),
    )
    starts = np.zeros(1 + most_steps, np.int64)
    count, total = 0, 0
    for root in range(n):
        cost[:] = np.inf
        cost[0, root] = 0.0
        for l in range(1, longest + 1):
            _relax(network, prices, root, cost[l - 1], cost[l], came_by[l])
            if l % 2 == 0 or total >= most_steps or not _improves(cost[:, root], worth, l):
                continue
            node = root
            for t in range(l, 0, -1):
                f = came_by[t, node]
                node = network.edges[f, 0] + network.edges[f, 1] - node
                edges[total + t - 1], nodes[total + t - 1] = f, node
            total += l
            count += 1
            starts[count] = total
    return starts[: count + 1], edges[:total].copy(), nodes[:total].copy()


@compiled
def _improves(costs: Array, worth: Array, l: int) -> bool:
    """Whether the closed walk of length l pays, and no shorter one pays as much for as little."""
    # walks cheaper by rounding error alone are no improvement
    if costs[l] >= worth[l] * (1.0 - 1e-9):
        return False
    for shorter in range(1, l, 2):
        if costs[shorter] <= costs[l] and worth[shorter] >= worth[l]:
            return False
    return True


@compiled
def _relax(
    network: Network, prices: Array, root: int, cost: Array, following: Array, came_by: Indices
) -> None:
    for i in range(root, len(cost)):
        if cost[i] == np.inf:
            continue
        for p in range(network.starts[i], network.starts[i + 1]):
            j, f = network.neighbours[p], network.edge_ids[p]
            if j >= root and cost[i] + prices[f] < following[j]:
                following[j] = cost[i] + prices[f]
                came_by[j] = f
