r"""Sweeps over the nodes of a partitioned graph: all ranges at once, and never a worse result.

A sweep has a few steps. In a step every range visits a part of its nodes, one after the other: a
node sees the nodes of its own range as they are by now, all others as they were before the step,
and chooses. Ranges are given by the data, so nothing depends on who works.

With :math:`g_r` what the moves of range r gain, made one by one while the other ranges stay, and
for neighbours i, j of *different* ranges that both move the interaction

.. math:: I_{ij} = W[a'_i, a'_j] - W[a'_i, a_j] - W[a_i, a'_j] + W[a_i, a_j],

all moves together change F by exactly :math:`\sum_r g_r + \sum_{ij} I_{ij}`: the first sum counts
each edge between ranges as if the other end stayed, and the second is what that leaves out. Movers
that would gain alone and whose rank (a hash) is above that of all their moving neighbours are no
neighbours of each other, so that *their* moves change F by a sum of positive gains. A step of best
response takes whichever of the two is worth more: it never lowers F.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.improve.gibbs import draw_arm
from edgewise.allocation.improve.soft import soften
from edgewise.allocation.instance.links import Links, write_field
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.cluster.partitions.ranges import NodeRange
from edgewise.core.design.node_laws import philox

_NONE = np.empty((0, 0))
_EPS = np.finfo(float).eps


class Step(NamedTuple):
    """Which nodes move."""

    seed: int
    number: int
    """Random numbers of another step are others."""
    n_parts: int
    """Into how many parts of successive nodes a range is cut."""
    part: int
    """Which of them."""

    def nodes(self, some: NodeRange) -> slice:
        """Where this step's nodes stand in the joint arm."""
        size = some.last - some.first
        first, last = (size * one // self.n_parts for one in (self.part, self.part + 1))
        return slice(some.first + first, some.first + last)


class Moved(NamedTuple):
    """What the nodes of a step want in one range."""

    arms: Indices
    """(nodes,) what each would have."""
    gain: float
    """What all of it gains if the other ranges stay."""
    moves: int


class Settled(NamedTuple):
    """What becomes of it when others move too."""

    conflict: float
    """What interactions with other ranges add to the gain, this range's half of them."""
    kept: Indices
    """(nodes,) if only those of highest rank move."""
    gain: float
    """What these gain."""


def propose(nodes: NodeRange, rows: Array, arms: Indices, step: Step) -> Moved:
    """The moves of best response in a range; ``arms`` (n,), ``rows`` (slots, K + 1, K).

    An arm K stands for a node that has not chosen: it is met as the last row says, and chooses.
    """
    some, own = step.nodes(nodes), arms[nodes.first : nodes.last].copy()
    first, last = some.start - nodes.first, some.stop - nodes.first
    gain, moves = _propose(nodes.links(), rows, arms, own, nodes.first, first, last)
    return Moved(own[first:last], gain, moves)


def stir(
    nodes: NodeRange, rows: Array, arms: Indices, noise: Array, step: Step, temperature: float
) -> Indices:
    r"""(nodes,) an arm for each, drawn with odds :math:`e^{H_i[k]/T}` for its reward H.

    ``noise`` are Gumbel numbers, of which a hash of (seed, step, node) picks those of a node.
    """
    some, own = step.nodes(nodes), arms[nodes.first : nodes.last].copy()
    first, last = some.start - nodes.first, some.stop - nodes.first
    words = np.uint64(step.seed), np.uint64(step.number)
    links = nodes.links()
    _stir(links, rows, arms, own, nodes.first, first, last, *words, noise, temperature)
    return own[first:last]


def relax(nodes: NodeRange, rows: Array, laws: Indices, step: Step, temperature: float) -> Indices:
    """(nodes, K) laws after a soft visit to each, given those of all (n, K)."""
    some, own = step.nodes(nodes), laws[nodes.first : nodes.last].copy()
    first, last = some.start - nodes.first, some.stop - nodes.first
    links = nodes.links()
    soften(links, rows[:, :-1], _NONE, laws, own, nodes.first, first, last, temperature)
    return own[first:last]


def settle(nodes: NodeRange, rows: Array, arms: Indices, wanted: Indices, step: Step) -> Settled:
    """Conflicts between moves from ``arms`` (n,) to ``wanted`` (n,), seen from a range."""
    some = step.nodes(nodes)
    kept, words = arms[some].copy(), (np.uint64(step.seed), np.uint64(step.number))
    borders = nodes.first, nodes.last, some.start - nodes.first
    conflict, gain = _settle(nodes.links(), rows, arms, wanted, *borders, *words, kept)
    return Settled(conflict, kept, gain)


def worth(nodes: NodeRange, rows: Array, arms: Indices) -> float:
    """A range's half of F: every edge is seen from both its nodes."""
    return 0.5 * _worth(nodes.links(), rows, arms, nodes.first)


@compiled
def _word(seed: np.uint64, step: np.uint64, node: int, stream: int) -> int:
    """A random 32-bit number that belongs to a node and a step."""
    first, _, _, _ = philox(np.uint64(node), np.uint64(stream), step, np.uint64(1), seed)
    return np.int64(first)  # type: ignore[return-value]


@compiled
def _write_field(
    links: Links, rows: Array, arms: Indices, own: Indices, start: int, i: int, field: Array
) -> None:
    """What a node would earn by each arm; its range as in ``own``, all others as in ``arms``."""
    field[:] = 0.0
    for p in range(links.starts[i], links.starts[i + 1]):
        j = links.neighbours[p]
        arm = own[j - start] if start <= j < start + len(own) else arms[j]
        row = rows[links.slots[p] if len(links.slots) else 0, arm]
        if len(links.weights):
            for k in range(len(field)):
                field[k] += links.weights[p] * row[k]
        else:
            for k in range(len(field)):
                field[k] += row[k]


@compiled
def _propose(
    links: Links, rows: Array, arms: Indices, own: Indices, start: int, first: int, last: int
) -> tuple[float, int]:
    n_arms = rows.shape[2]
    field, gain, moves = np.empty(n_arms), 0.0, 0
    size = np.abs(rows).max()
    for i in range(first, last):
        _write_field(links, rows, arms, own, start, i, field)
        present, best = own[i], np.argmax(field)
        if present == n_arms:
            own[i] = best
        elif field[best] - field[present] > _margin(links, i, size):
            gain += field[best] - field[present]
            own[i] = best
            moves += 1
    return gain, moves


@compiled
def _stir(
    links: Links,
    rows: Array,
    arms: Indices,
    own: Indices,
    start: int,
    first: int,
    last: int,
    seed: np.uint64,
    step: np.uint64,
    noise: Array,
    temperature: float,
) -> None:
    field = np.empty(rows.shape[2])
    for i in range(first, last):
        _write_field(links, rows, arms, own, start, i, field)
        own[i] = draw_arm(field, temperature, noise, _word(seed, step, start + i, 2))


@compiled
def _margin(links: Links, i: int, size: float) -> float:
    """What rounding can fake: two sums of the node's edges, each of this size at most."""
    degree, weight = links.starts[i + 1] - links.starts[i], 0.0
    if len(links.weights):
        for p in range(links.starts[i], links.starts[i + 1]):
            weight += abs(links.weights[p])
    else:
        weight = float(degree)
    margin: float = 4.0 * (degree + 2) * _EPS * weight * size
    return margin


@compiled
def _settle(
    links: Links,
    rows: Array,
    arms: Indices,
    wanted: Indices,
    start: int,
    stop: int,
    first: int,
    seed: np.uint64,
    step: np.uint64,
    kept: Indices,
) -> tuple[float, float]:
    field, conflict, gain = np.empty(rows.shape[2]), 0.0, 0.0
    size = np.abs(rows).max()
    for s in range(len(kept)):
        i = first + s
        old, new = arms[start + i], wanted[start + i]
        if new == old:
            continue
        rank, highest = _word(seed, step, start + i, 4), True
        for p in range(links.starts[i], links.starts[i + 1]):
            j = links.neighbours[p]
            if wanted[j] == arms[j]:
                continue
            other = _word(seed, step, j, 4)
            if other > rank or (other == rank and j > start + i):
                highest = False
            if start <= j < stop:  # this range's gain knows of it
                continue
            row = rows[links.slots[p] if len(links.slots) else 0]
            weight = links.weights[p] if len(links.weights) else 1.0
            change = row[wanted[j], new] - row[arms[j], new] - row[wanted[j], old]
            conflict += 0.5 * weight * (change + row[arms[j], old])
        if highest:
            write_field(links, rows, _NONE, arms, i, field)
            if field[new] - field[old] > _margin(links, i, size):
                gain += field[new] - field[old]
                kept[s] = new
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
