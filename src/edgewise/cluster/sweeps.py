r"""Sweeps over the nodes of a partitioned graph: all ranges at once, and never a worse result.

In a step a part of the nodes, drawn by a hash of (seed, step, node), look at the arms of all as
they were before the step, and choose. With :math:`g_i` what a move of node i alone gains, and for
neighbours i, j that both move the interaction

.. math:: I_{ij} = W[a'_i, a'_j] - W[a'_i, a_j] - W[a_i, a'_j] + W[a_i, a_j],

all moves together change F by exactly :math:`\sum_i g_i + \sum_{ij} I_{ij}`: the first sum counts
each edge between two moving nodes as if the other end stayed, and the second is what that leaves
out. Movers whose rank (another hash) is above that of all their moving neighbours are no neighbours
of each other, so that *their* moves change F by :math:`\sum_i g_i > 0`. A step takes whichever of
the two is worth more: it never lowers F. Nothing of it depends on the ranges or on who works.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.instance.links import Links, write_field
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.cluster.ranges import NodeRange
from edgewise.core.design.node_laws import philox

_NONE = np.empty((0, 0))
_EPS = np.finfo(float).eps
_WHOLE = 2.0**32


class Step(NamedTuple):
    """Which nodes move, and how."""

    seed: int
    number: int
    n_parts: int
    """One node in so many looks; 1 for all."""
    part: int
    """Which of them."""
    temperature: float = 0.0
    """Above 0: an arm drawn with weight exp(reward / temperature); 0: the best arm."""


class Moved(NamedTuple):
    """What the nodes of a range want."""

    arms: Indices
    """(nodes,) what each would have."""
    gain: float
    """Sum of what each would gain alone."""
    moves: int


class Settled(NamedTuple):
    """What becomes of it when others move too."""

    conflict: float
    """What interactions add to the gains, this range's half of them."""
    kept: Indices
    """(nodes,) if only those of highest rank move."""
    gain: float
    """What these gain."""


def propose(nodes: NodeRange, rows: Array, arms: Indices, step: Step) -> Moved:
    """The moves of a range, others as they are; ``arms`` (n,), ``rows`` (slots, K + 1, K).

    An arm K stands for a node that has not chosen: it is met as the last row says, and chooses.
    """
    links, chosen = nodes.links(), arms[nodes.first : nodes.last].copy()
    gain, moves = _propose(links, rows, arms, nodes.first, *_words(step), step.temperature, chosen)
    return Moved(chosen, gain, moves)


def settle(nodes: NodeRange, rows: Array, arms: Indices, wanted: Indices, step: Step) -> Settled:
    """Conflicts between moves from ``arms`` (n,) to ``wanted`` (n,), seen from a range."""
    kept = arms[nodes.first : nodes.last].copy()
    seed, number, _, _ = _words(step)
    conflict, gain = _settle(nodes.links(), rows, arms, wanted, nodes.first, seed, number, kept)
    return Settled(conflict, kept, gain)


def worth(nodes: NodeRange, rows: Array, arms: Indices) -> float:
    """A range's half of F: every edge is seen from both its nodes."""
    return 0.5 * _worth(nodes.links(), rows, arms, nodes.first)


def _words(step: Step) -> tuple[np.uint64, np.uint64, int, int]:
    return np.uint64(step.seed), np.uint64(step.number), step.n_parts, step.part


@compiled
def _word(seed: np.uint64, step: np.uint64, node: int, stream: int) -> int:
    """A random 32-bit number that belongs to a node and a step."""
    first, _, _, _ = philox(np.uint64(node), np.uint64(stream), step, np.uint64(1), seed)
    return np.int64(first)  # type: ignore[return-value]


@compiled
def _propose(
    links: Links,
    rows: Array,
    arms: Indices,
    first: int,
    seed: np.uint64,
    step: np.uint64,
    n_parts: int,
    part: int,
    temperature: float,
    chosen: Indices,
) -> tuple[float, int]:
    n_arms = rows.shape[2]
    field, gain, moves = np.empty(n_arms), 0.0, 0
    size = np.abs(rows).max()
    for i in range(len(chosen)):
        if n_parts > 1 and _word(seed, np.uint64(0), first + i, 1) % n_parts != part:
            continue
        write_field(links, rows, _NONE, arms, i, field)
        present = chosen[i]
        if present == n_arms:
            chosen[i] = np.argmax(field)
            continue
        if temperature > 0.0:
            chance = (_word(seed, step, first + i, 2) + 0.5) / _WHOLE
            best = _drawn(field, temperature, chance)
            moving = best != present
        else:
            best = np.argmax(field)  # type: ignore[assignment]
            moving = field[best] - field[present] > _margin(links, i, size)
        if moving:
            gain += field[best] - field[present]
            chosen[i] = best
            moves += 1
    return gain, moves


@compiled
def _drawn(field: Array, temperature: float, chance: float) -> int:
    """An arm from the law proportional to exp(field / temperature)."""
    highest, total = field.max(), 0.0
    for k in range(len(field)):
        total += np.exp((field[k] - highest) / temperature)
    left = chance * total
    for k in range(len(field)):
        left -= np.exp((field[k] - highest) / temperature)
        if left <= 0.0:
            return k
    return len(field) - 1


@compiled
def _margin(links: Links, i: int, size: float) -> float:
    """What rounding can fake: two sums of the node's edges, each of this size at most."""
    degree, weight = links.starts[i + 1] - links.starts[i], 0.0
    for p in range(links.starts[i], links.starts[i + 1]):
        weight += abs(links.weights[p]) if len(links.weights) else 1.0
    margin: float = 4.0 * (degree + 2) * _EPS * weight * size
    return margin


@compiled
def _settle(
    links: Links,
    rows: Array,
    arms: Indices,
    wanted: Indices,
    first: int,
    seed: np.uint64,
    step: np.uint64,
    kept: Indices,
) -> tuple[float, float]:
    field, conflict, gain = np.empty(rows.shape[2]), 0.0, 0.0
    for i in range(len(kept)):
        old, new = arms[first + i], wanted[first + i]
        if new == old:
            continue
        rank, highest = _word(seed, step, first + i, 4), True
        for p in range(links.starts[i], links.starts[i + 1]):
            j = links.neighbours[p]
            if wanted[j] == arms[j]:
                continue
            other = _word(seed, step, j, 4)
            if other > rank or (other == rank and j > first + i):
                highest = False
            row = rows[links.slots[p] if len(links.slots) else 0]
            weight = links.weights[p] if len(links.weights) else 1.0
            change = row[wanted[j], new] - row[arms[j], new] - row[wanted[j], old]
            conflict += 0.5 * weight * (change + row[arms[j], old])
        if highest:
            write_field(links, rows, _NONE, arms, i, field)
            gain += field[new] - field[old]
            kept[i] = new
    return conflict, gain


@compiled
def _worth(links: Links, rows: Array, arms: Indices, first: int) -> float:
    total = 0.0
    for i in range(len(links.starts) - 1):
        own = 0.0
        for p in range(links.starts[i], links.starts[i + 1]):
            slot = links.slots[p] if len(links.slots) else 0
            weight = links.weights[p] if len(links.weights) else 1.0
            own += weight * rows[slot, arms[links.neighbours[p]], arms[first + i]]
        total += own
    return total
