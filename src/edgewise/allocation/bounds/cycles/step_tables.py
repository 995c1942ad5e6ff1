"""Compiled sums and maxima over tables split between nodes, edges and closed walks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.bounds.cycles.cycles import Cycles
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled


class Whole(NamedTuple):
    """An objective written out, edge by edge, and the walks that may hold parts of it."""

    tables: Array
    """(E, K, K) G: all that an edge earns, by the arms at its two ends."""
    unary: Array
    """(n, K)"""
    allowed: Mask
    """(n, K)"""
    edges: Indices
    """(E, 2)"""
    cycles: Cycles


class Split(NamedTuple):
    """Which part of the tables is held where; the rest stays with the edges."""

    steps: Array
    """(steps, K, K) the part of its edge's table that a step of a walk holds, in its direction."""
    ends: Array
    """(E, 2, K) the part that the two nodes of an edge hold."""


@compiled
def remainders(whole: Whole, split: Split) -> tuple[Array, Array]:
    """(E, K, K) what is left to the edges, and (n, K) what nodes hold, minus infinity if masked."""
    tables, unary, allowed, edges, cycles = whole
    n_arms = tables.shape[1]
    rest, held = np.empty(tables.shape), np.empty(unary.shape)
    for i in range(len(held)):
        for k in range(n_arms):
            held[i, k] = unary[i, k] if allowed[i, k] else -np.inf
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        for k in range(n_arms):
            held[i, k] += split.ends[e, 0, k]
            held[j, k] += split.ends[e, 1, k]
            for l in range(n_arms):
                left = tables[e, k, l] - split.ends[e, 0, k] - split.ends[e, 1, l]
                rest[e, k, l] = left if allowed[i, k] and allowed[j, l] else -np.inf
    for step in range(len(cycles.edges)):
        e = cycles.edges[step]
        forwards = edges[e, 0] == cycles.nodes[step]
        for k in range(n_arms):
            for l in range(n_arms):
                part = split.steps[step, k, l]
                if forwards:
                    rest[e, k, l] -= part
                else:
                    rest[e, l, k] -= part
    return rest, held


@compiled
def maxima(whole: Whole, split: Split) -> Array:
    """The most that every node, edge and walk can earn with what it holds."""
    rest, held = remainders(whole, split)
    n, n_edges, starts = len(held), len(rest), whole.cycles.starts
    most = np.full(n + n_edges + len(starts) - 1, -np.inf)
    for i in range(n):
        for k in range(held.shape[1]):
            most[i] = max(most[i], held[i, k])
    for e in range(n_edges):
        for k in range(held.shape[1]):
            for l in range(held.shape[1]):
                most[n + e] = max(most[n + e], rest[e, k, l])
    for c in range(len(starts) - 1):
        most[n + n_edges + c] = _best_walk(whole, split.steps, starts[c], starts[c + 1])
    return most


@compiled
def _best_walk(whole: Whole, steps: Array, first: int, end: int) -> float:
    """The most that one closed walk can earn: (max, +) products around it."""
    n_arms = steps.shape[1]
    best = -np.inf
    reach, following = np.empty(n_arms), np.empty(n_arms)
    for k in range(n_arms):
        if not whole.allowed[whole.cycles.nodes[first], k]:
            continue
        reach[:] = -np.inf
        reach[k] = 0.0
        for step in range(first, end):
            goal = whole.cycles.nodes[first if step + 1 == end else step + 1]
            following[:] = -np.inf
            for a in range(n_arms):
                for b in range(n_arms):
                    if whole.allowed[goal, b]:
                        following[b] = max(following[b], reach[a] + steps[step, a, b])
            reach, following = following, reach
        best = max(best, reach[k])
    return best
