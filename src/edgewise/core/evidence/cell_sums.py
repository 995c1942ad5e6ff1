r"""The kernels that turn arcs into sums per cell: counts, information, rewards and squares.

Edges are read in groups that stay in the cache: first what cells they show, then their rewards.
Where kinds or weights are absent they are read all the same, from one number that stands for all
(:attr:`Graph.kind_of_edge`), so the loops have no branch for them; arms take one byte. Sums are
formed per block of :data:`BLOCK` edges and the blocks added in their order, so that neither the
number of threads nor partitions of the edge list change a bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.base.threads import share
from edgewise.core.design.node_laws import NodeLaws, draw_nodes
from edgewise.core.model.cells import Cells
from edgewise.network.graph import Graph

BLOCK = 1 << 16
"""Edges summed in one go."""
_GROUP = 1 << 12
"""Edges whose cells are looked up in one go: 32 kB of cell numbers."""
_KEPT = 1 << 16
"""Cells whose sums a thread keeps, block by block, before it hands them over."""
_NARROW = 1 << 8
"""Arms that a byte can number: the joint arm of a million nodes then fits the cache."""


class Edges(NamedTuple):
    """Some edges, as the kernels read them."""

    ends: Indices
    """(E, 2)"""
    kinds: Indices
    """(E,) also when there is one kind."""
    weights: Array
    """(E,) also when all are 1."""
    directed: bool

    @classmethod
    def of(cls, graph: Graph) -> Edges:
        """All edges of a graph."""
        return cls(graph.edges, graph.kind_of_edge, graph.weight_of_edge, graph.directed)

    @property
    def n_blocks(self) -> int:
        """How many blocks they fill, the last one in part."""
        return -(-len(self.ends) // BLOCK)


class CellSums(NamedTuple):
    """Sums by cell over some edges."""

    observations: NDArray[np.int64]
    """(C,) C = q P, kind by kind."""
    sums: Array
    """(C, 3) information, rewards, squares."""
    within: bool = True
    """Whether every reward was of reasonable size."""

    @classmethod
    def zero(cls, cells: Cells) -> CellSums:
        """Of no edge."""
        n_cells = cells.showable.size
        return cls(np.zeros(n_cells, np.int64), np.zeros((n_cells, 3)))

    def with_edges(
        self, edges: Edges, cells: Cells, arms: Indices, rewards: Array, *, limit: float
    ) -> CellSums:
        """With the edges added one after the other: the rest of a block that is begun."""
        later = CellSums(self.observations.copy(), self.sums.copy())
        given = *edges, _averages(edges, cells), *_numbering(cells), narrow(arms, cells), rewards
        within = _add(*given, limit, later.observations, later.sums)
        return later._replace(within=self.within and within)

    def with_blocks(self, blocks: CellSums) -> CellSums:
        """With the sums of blocks (B, C, 3) added, one block after the other."""
        sums = self.sums.copy()
        for block in blocks.sums:
            sums += block
        observations = self.observations + blocks.observations
        return CellSums(observations, sums, self.within and blocks.within)


def sum_by_cell(
    edges: Edges, cells: Cells, arms: Indices, rewards: Array, *, limit: float = np.inf
) -> CellSums:
    """The sums of one round: joint arm (n,), rewards (m,) arc by arc, NaN where missing.

    ``limit`` is the largest size of a reward that is reasonable.
    """
    arms, total = narrow(arms, cells), CellSums.zero(cells)
    at_once = max(1, _KEPT // cells.showable.size)

    def work(first: int, last: int) -> CellSums:
        return sum_blocks(edges, cells, arms, rewards, first, last, limit=limit)

    for blocks in share(work, edges.n_blocks, at_once=at_once):
        total = total.with_blocks(blocks)
    return total


def sum_blocks(
    edges: Edges,
    cells: Cells,
    arms: Indices,
    rewards: Array,
    first: int,
    last: int,
    *,
    limit: float,
) -> CellSums:
    """The sums (B, C, 3) of the blocks first .. last - 1, each on its own."""
    n_cells = cells.showable.size
    observations, sums = np.zeros(n_cells, np.int64), np.zeros((last - first, n_cells, 3))
    given = *edges, _averages(edges, cells), *_numbering(cells), narrow(arms, cells), rewards
    within = _add_blocks(*given, limit, first, observations, sums)
    return CellSums(observations, sums, within)


def count_drawn(
    edges: Edges, cells: Cells, laws: NodeLaws, *, seed: int, first_round: int, n_rounds: int
) -> tuple[NDArray[np.int64], Array]:
    """(R, C) observations and information that the joint arms of successive rounds give."""
    averages, weighted = _averages(edges, cells), edges.weights.strides[0] != 0
    observations = np.zeros((n_rounds, cells.showable.size), np.int64)
    information: Array = np.zeros(observations.shape if weighted else (n_rounds, 0))

    def work(first: int, last: int) -> None:
        _draw_and_count(
            np.uint64(seed),
            np.uint64(first_round + first),
            laws.set_of,
            laws.support,
            laws.thresholds,
            *edges,
            averages,
            *_numbering(cells),
            narrow(np.empty(len(laws.set_of), np.int32), cells),
            observations[first:last],
            information[first:last],
        )

    list(share(work, n_rounds, at_once=max(1, BLOCK // max(len(edges.ends), 1))))
    if not weighted:  # whole numbers: their sums have no order
        information = observations.astype(float) * (2.0 if averages else 1.0)
    return observations, information


def narrow(arms: Indices, cells: Cells) -> Indices:
    """The joint arm in as few bytes as the kernels can use."""
    fits = len(cells.pair_index) <= _NARROW
    return arms.astype(np.uint8 if fits else np.int32, copy=False)


def _averages(edges: Edges, cells: Cells) -> bool:
    """Whether the two directions of an edge are one observation."""
    return not (edges.directed or cells.ordered)


def _numbering(cells: Cells) -> tuple[Indices, int]:
    """Number of a pair, and how many there are for a kind."""
    return cells.pair_index, cells.showable.shape[1]


# -- kernels: one signature for all, edge by edge in the order given ---------------------------


@compiled
def _add_blocks(
    ends: Indices,
    kinds: Indices,
    weights: Array,
    directed: bool,
    averages: bool,
    index: Indices,
    n_pairs: int,
    arms: Indices,
    rewards: Array,
    limit: float,
    first: int,
    observations: NDArray[np.int64],
    sums: Array,
) -> bool:
    """Fill ``sums`` (B, C, 3) with those of the blocks from ``first`` on."""
    within = True
    arcs = 1 if directed else 2
    for block in range(len(sums)):
        start = (first + block) * BLOCK
        stop = min(start + BLOCK, len(ends))
        within &= _add(
            ends[start:stop],
            kinds[start:stop],
            weights[start:stop],
            directed,
            averages,
            index,
            n_pairs,
            arms,
            rewards[arcs * start : arcs * stop],
            limit,
            observations,
            sums[block],
        )
    return within


@compiled
def _add(
    ends: Indices,
    kinds: Indices,
    weights: Array,
    directed: bool,
    averages: bool,
    index: Indices,
    n_pairs: int,
    arms: Indices,
    rewards: Array,
    limit: float,
    observations: NDArray[np.int64],
    sums: Array,
) -> bool:
    """Add edges to ``sums`` (C, 3); False if a reward is larger than the limit."""
    within = True
    shown = np.empty(2 * _GROUP, np.int64)
    arcs = 1 if directed else 2
    for first in range(0, len(ends), _GROUP):
        last = min(first + _GROUP, len(ends))
        told = rewards[arcs * first : arcs * last]
        if averages:
            _show(ends[first:last], kinds[first:last], index, n_pairs, arms, shown)
            within &= _add_averages(
                ends[first:last], weights[first:last], arms, shown, told, limit, observations, sums
            )
        else:
            _show_arcs(ends[first:last], kinds[first:last], directed, index, n_pairs, arms, shown)
            within &= _add_arcs(
                weights[first:last], arcs - 1, shown, told, limit, observations, sums
            )
    return within


@compiled
def _show(
    ends: Indices, kinds: Indices, index: Indices, n_pairs: int, arms: Indices, shown: Indices
) -> None:
    """The cell of every edge."""
    for e in range(len(ends)):
        shown[e] = kinds[e] * n_pairs + index[arms[ends[e, 0]], arms[ends[e, 1]]]


@compiled
def _show_arcs(
    ends: Indices,
    kinds: Indices,
    directed: bool,
    index: Indices,
    n_pairs: int,
    arms: Indices,
    shown: Indices,
) -> None:
    """The cell of every arc."""
    if directed:
        _show(ends, kinds, index, n_pairs, arms, shown)
        return
    for e in range(len(ends)):
        k, l = arms[ends[e, 0]], arms[ends[e, 1]]
        shown[2 * e] = kinds[e] * n_pairs + index[k, l]
        shown[2 * e + 1] = kinds[e] * n_pairs + index[l, k]


@compiled
def _add_averages(
    ends: Indices,
    weights: Array,
    arms: Indices,
    shown: Indices,
    rewards: Array,
    limit: float,
    observations: NDArray[np.int64],
    sums: Array,
) -> bool:
    """Both directions as one observation of double weight; a lone one between equal arms."""
    absurd = False
    for e in range(len(weights)):
        there, back = rewards[2 * e], rewards[2 * e + 1]
        absurd |= (abs(there) > limit) | (abs(back) > limit)
        mean = 0.5 * (there + back)
        cell, weight, copies = shown[e], weights[e], 2.0
        if np.isnan(mean):
            mean, copies = back if np.isnan(there) else there, 1.0
            if np.isnan(mean) or arms[ends[e, 0]] != arms[ends[e, 1]]:
                continue
        observations[cell] += 1
        sums[cell, 0] += copies * weight * weight
        sums[cell, 1] += copies * weight * mean
        sums[cell, 2] += copies * mean * mean
    return not absurd


@compiled
def _add_arcs(
    weights: Array,
    both: int,
    shown: Indices,
    rewards: Array,
    limit: float,
    observations: NDArray[np.int64],
    sums: Array,
) -> bool:
    """Every arc on its own; ``both`` is 1 if an edge has two, else 0."""
    absurd = False
    for arc in range(len(rewards)):
        reward, cell, weight = rewards[arc], shown[arc], weights[arc >> both]
        absurd |= abs(reward) > limit
        if np.isnan(reward):
            continue
        observations[cell] += 1
        sums[cell, 0] += weight * weight
        sums[cell, 1] += weight * reward
        sums[cell, 2] += reward * reward
    return not absurd


@compiled
def _draw_and_count(
    seed: np.uint64,
    first_round: np.uint64,
    set_of: Indices,
    support: Indices,
    thresholds: NDArray[np.uint64],
    ends: Indices,
    kinds: Indices,
    weights: Array,
    directed: bool,
    averages: bool,
    index: Indices,
    n_pairs: int,
    arms: Indices,
    observations: NDArray[np.int64],
    information: Array,
) -> None:
    """Observations (R, C) of successive rounds, and information unless it has no cells."""
    shown = np.empty(2 * _GROUP, np.int64)
    for r in range(len(observations)):
        draw_nodes(seed, first_round + np.uint64(r), 0, set_of, support, thresholds, arms)
        for first in range(0, len(ends), _GROUP):
            last = min(first + _GROUP, len(ends))
            lone = directed or averages
            _show_arcs(ends[first:last], kinds[first:last], lone, index, n_pairs, arms, shown)
            for a in range((last - first) * (1 if lone else 2)):
                observations[r, shown[a]] += 1
            if information.shape[1]:
                _add_information(weights[first:last], directed, averages, shown, information[r])


@compiled
def _add_information(
    weights: Array, directed: bool, averages: bool, shown: Indices, information: Array
) -> None:
    for e in range(len(weights)):
        squared = weights[e] * weights[e]
        there = e if directed or averages else 2 * e
        information[shown[there]] += squared
        if not directed:
            information[shown[there if averages else there + 1]] += squared
