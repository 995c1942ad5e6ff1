"""The best of two allocations, region by region."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.links import Links
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled


def take_better_regions(objective: Objective, arms: Indices, other: Indices) -> bool:
    r"""Move ``arms`` to ``other``, in place, wherever that does not lower F; whether it moved.

    The nodes at which the two differ fall into connected regions. No edge joins two of them, so
    F changes by the sum of what the regions change, and each is decided by itself: r regions
    stand for the best of :math:`2^r` allocations, in ``O(n + m)``. Regions that change nothing
    are taken, which lets a search drift along plateaus.

    This is what makes annealing work on large sparse graphs: a reheated allocation is better in
    some regions and worse in others, hardly ever better as a whole.
    """
    return bool(_merge(objective.links, objective.rows, objective.node_rewards, arms, other))


@compiled
def _change(
    links: Links, rows: Array, unary: Array, arms: Indices, other: Indices, i: int
) -> float:
    """Part of node ``i`` in the change of F, edges inside a region shared by their nodes."""
    old, new = arms[i], other[i]
    change = unary[i, new] - unary[i, old] if len(unary) else 0.0
    for p in range(links.starts[i], links.starts[i + 1]):
        j = links.neighbours[p]
        table = rows[links.slots[p] if len(links.slots) else 0]
        share = 1.0 if arms[j] == other[j] else 0.5
        w = links.weights[p] if len(links.weights) else 1.0
        change += share * w * (table[other[j], new] - table[arms[j], old])
    return change


@compiled
def _merge(links: Links, rows: Array, unary: Array, arms: Indices, other: Indices) -> bool:
    n = len(arms)
    seen = np.zeros(n, np.bool_)
    region = np.empty(n, np.int32)
    moved = False
    for root in range(n):
        if seen[root] or arms[root] == other[root]:
            continue
        seen[root], region[0] = True, root
        head, tail, change = 0, 1, 0.0
        while head < tail:
            i = region[head]
            head += 1
            change += _change(links, rows, unary, arms, other, i)
            for p in range(links.starts[i], links.starts[i + 1]):
                j = links.neighbours[p]
                if not seen[j] and arms[j] != other[j]:
                    seen[j], region[tail] = True, j
                    tail += 1
        if change >= 0.0:
            moved = True
            for r in range(tail):
                arms[region[r]] = other[region[r]]
    return moved
