"""What the undecided part of an allocation can still earn, given the arms at its frontier."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.bounds.cycles.step_tables import Split, Whole, remainders
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled


class Rewards(NamedTuple):
    """F as nodes, edges and closed walks hold it; nodes that may not take an arm hold -inf."""

    whole: Whole
    nodes: Array
    """(n, K) what the nodes hold."""
    edges: Array
    """(E, K, K) what the edges hold themselves."""
    shared: Array
    """(E, K, K) what the edges and the walks through them hold together."""
    steps: Array
    """(steps, K, K) what the steps of walks hold, -inf where their first node may not be."""

    @classmethod
    def of(cls, whole: Whole, split: Split) -> Rewards:
        """As a split has it: ``F = sum(nodes) + sum(shared)`` for every allocation."""
        edges, nodes = remainders(whole, split)
        first, second = split.ends[:, 0, :, None], split.ends[:, 1, None, :]
        allowed = whole.allowed[whole.cycles.nodes]
        steps = np.where(allowed[:, :, None], split.steps, -np.inf)
        return cls(whole, nodes, edges, whole.tables - first - second, steps)


class Completion(NamedTuple):
    r"""An upper bound on what is not decided, as a function of the frontier's arms b.

    .. math:: h(b) = c + \sum_i A_i[b_i] + \sum_{i > j} B_{ij}[b_i, b_j]
    """

    constant: float
    nodes: Array
    """(f, K) A."""
    pairs: Array
    """(f, f, K, K) B; only ``i > j`` is used."""


@compiled
def completion(rewards: Rewards, place: Indices, decided: Mask, n_frontier: int) -> Completion:
    r"""Every undecided node and edge, and every undecided stretch of a walk, at its best.

    An edge with one decided node, and a stretch of a walk between two decided nodes, depend on
    the arms there; a stretch by its (max, +) product. Deciding all nodes leaves 0, deciding none
    the bound of the split.

    Parameters
    ----------
    rewards
        Who holds what.
    place
        (n,) place of a node in the frontier; anything elsewhere.
    decided
        (n,) bool.
    n_frontier
        f.
    """
    whole = rewards.whole
    n_arms = rewards.nodes.shape[1]
    nodes = np.zeros((n_frontier, n_arms))
    pairs = np.zeros((n_frontier, n_frontier, n_arms, n_arms))
    constant = 0.0
    for i in range(len(decided)):
        if not decided[i]:
            constant += rewards.nodes[i].max()
    for e in range(len(whole.edges)):
        i, j = whole.edges[e, 0], whole.edges[e, 1]
        if decided[i] and decided[j]:
            continue
        if not (decided[i] or decided[j]):
            constant += rewards.edges[e].max()
            continue
        for k in range(n_arms):
            if decided[i]:
                nodes[place[i], k] += rewards.edges[e, k].max()
            else:
                nodes[place[j], k] += rewards.edges[e, :, k].max()
    starts = whole.cycles.starts
    for c in range(len(starts) - 1):
        constant += _add_walk(rewards, place, decided, starts[c], starts[c + 1], nodes, pairs)
    return Completion(constant, nodes, pairs)


@compiled
def _add_walk(
    rewards: Rewards,
    place: Indices,
    decided: Mask,
    first: int,
    end: int,
    nodes: Array,
    pairs: Array,
) -> float:
    """Add the stretches of one walk between decided nodes; return its best if there are none."""
    walk, length = rewards.whole.cycles.nodes, end - first
    met = -1
    for s in range(first, end):
        if decided[walk[s]]:
            met = s
            break
    if met < 0:
        return float(np.diag(_stretch(rewards, first, end, first, length)).max())
    s = met
    while s < met + length:
        steps = 1
        while not decided[walk[first + (s - first + steps) % length]]:
            steps += 1
        i, j = walk[first + (s - first) % length], walk[first + (s - first + steps) % length]
        if steps > 1:  # a single step between decided nodes is decided
            _add_stretch(_stretch(rewards, first, end, s, steps), place[i], place[j], nodes, pairs)
        s += steps
    return 0.0


@compiled
def _add_stretch(table: Array, i: int, j: int, nodes: Array, pairs: Array) -> None:
    for k in range(len(table)):
        if i == j:
            nodes[i, k] += table[k, k]
            continue
        for l in range(len(table)):
            if i > j:
                pairs[i, j, k, l] += table[k, l]
            else:
                pairs[j, i, l, k] += table[k, l]


@compiled
def _stretch(rewards: Rewards, first: int, end: int, s: int, steps: int) -> Array:
    """(K, K) best of ``steps`` steps from step ``s`` on, by the arms at both ends."""
    length = end - first
    table: Array = rewards.steps[first + (s - first) % length].copy()
    longer = np.empty_like(table)
    for t in range(1, steps):
        step = rewards.steps[first + (s - first + t) % length]
        longer[:] = -np.inf
        for k in range(len(table)):
            for middle in range(len(table)):
                for l in range(len(table)):
                    longer[k, l] = max(longer[k, l], table[k, middle] + step[middle, l])
        table, longer = longer, table
    return table
