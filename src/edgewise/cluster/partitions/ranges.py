"""Neighbour lists by ranges of nodes: the other order of the edges, for what walks node by node."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from edgewise.allocation.instance.links import Links
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.cluster.partitions.columns import Partition, column_path, load, save
from edgewise.errors import InvalidGraph


@dataclass(frozen=True)
class NodeRange:
    """The nodes first .. last - 1 with all their neighbours, wherever these are."""

    folder: str
    number: int
    first: int
    last: int
    n_slots: int
    shift: int
    """Slots by which the two ends of an edge differ: q if directed, else 0."""
    has_weights: bool

    def links(self) -> Links:
        """Row i is node first + i; neighbours are numbered as in the whole graph. Mapped."""
        slots: Indices = np.empty(0, np.int16)
        weights: Array = np.empty(0)
        if self.n_slots > 1:
            slots = load(column_path(self.folder, self.number, "slots"))
        if self.has_weights:
            weights = load(column_path(self.folder, self.number, "heavy"))
        twins = (np.arange(self.n_slots) + self.shift) % self.n_slots
        starts = load(column_path(self.folder, self.number, "starts"))
        neighbours = load(column_path(self.folder, self.number, "neighbours"))
        for array in (slots, weights, twins):
            array.setflags(write=False)
        return Links(starts, neighbours, slots, weights, twins)


class Ends(NamedTuple):
    """Edge ends, each with the node it belongs to."""

    nodes: Indices
    neighbours: Indices
    slots: Indices
    """Empty if there is one."""
    weights: Array
    """Empty if there are none."""

    def some(self, which: slice | Indices) -> Ends:
        """Some of them, or all in another order."""
        columns: list[Any] = [column[which] if len(column) else column for column in self]
        return Ends(*columns)


class RangeFacts(NamedTuple):
    """What storing the neighbour lists of a range has told."""

    squares: int
    """Sum of the squared degrees."""
    largest: int
    """The largest degree."""
    isolated: int
    """Nodes without neighbour."""


def sort_ends(partition: Partition, n_kinds: int, width: int, n_ranges: int) -> None:
    """Store the edge ends of a partition by the range that their node lies in."""
    edges = partition.edges()
    ends, shift = np.asarray(edges.ends), n_kinds if partition.directed else 0
    slots: Indices = np.empty(0, np.int16)
    if n_kinds + shift > 1:
        slots = np.concatenate([edges.kinds, edges.kinds + shift]).astype(np.int16)
    weights = np.tile(edges.weights, 2) if partition.has_weights else np.empty(0)
    both = Ends(ends.T.ravel(), ends[:, ::-1].T.ravel(), slots, weights)
    home = (both.nodes // width).astype(np.uint16)
    both = both.some(np.argsort(home, kind="stable"))
    for name, column in zip(Ends._fields, both, strict=True):
        save(column_path(partition.folder, partition.number, f"by-range-{name}"), column)
    counts = np.bincount(home, minlength=n_ranges)
    borders = np.concatenate([[0], np.cumsum(counts)])
    save(column_path(partition.folder, partition.number, "by-range-borders"), borders)


def store_range(nodes: NodeRange, partitions: list[Partition], directed: bool) -> RangeFacts:
    """Collect the edge ends of a range from all partitions; InvalidGraph if an edge is twice."""
    parts = [_ends_in(partition, nodes.number) for partition in partitions]
    columns: Any = [np.concatenate(one) for one in zip(*parts, strict=True)]
    ends = Ends(*columns)
    starts, order = _by_node(ends.nodes - nodes.first, nodes.last - nodes.first)
    links = ends.some(order)
    twice = _first_duplicate(starts, links.neighbours, links.slots, nodes.shift)
    if twice >= 0:
        sizes = np.cumsum([len(part.nodes) for part in parts])
        _refuse_duplicate(links, order, sizes, partitions, twice, directed)
    stored: dict[str, Any] = {"starts": starts, "neighbours": links.neighbours}
    stored |= {"slots": links.slots, "heavy": links.weights}
    for name, column in stored.items():
        save(column_path(nodes.folder, nodes.number, name), column)
    degrees = np.diff(starts)
    largest, isolated = int(degrees.max(initial=0)), int((degrees == 0).sum())
    return RangeFacts(int((degrees**2).sum()), largest, isolated)


def forget_ends(partition: Partition) -> None:
    """Remove what :func:`sort_ends` stored."""
    for one in Path(partition.folder).glob(f"by-range-*-{partition.number:05d}.npy"):
        one.unlink()


def _ends_in(partition: Partition, number: int) -> Ends:
    def column(name: str) -> Any:
        return load(column_path(partition.folder, partition.number, f"by-range-{name}"))

    borders = column("borders")
    some = slice(int(borders[number]), int(borders[number + 1]))
    return Ends(*(column(name) for name in Ends._fields)).some(some)


def _refuse_duplicate(
    links: Ends,
    order: Indices,
    sizes: Indices,
    partitions: list[Partition],
    place: int,
    directed: bool,
) -> None:
    i, j = int(links.nodes[place]), int(links.neighbours[place])
    same = np.flatnonzero((links.nodes == i) & (links.neighbours == j))
    found = np.searchsorted(sizes, order[same], side="right")
    names = sorted({partitions[int(one)].name for one in found})
    remedy = "list each arc once" if directed else "list each undirected pair once"
    raise InvalidGraph(
        f"{' and '.join(names)}: the edge between nodes {i} and {j} is there more than once; "
        f"{remedy}, or pass directed=True"
    )


@compiled
def _by_node(nodes: Indices, n_nodes: int) -> tuple[Indices, Indices]:
    """Counting sort: row starts (n + 1,), and the order that sorts by node."""
    starts = np.zeros(n_nodes + 1, np.int64)
    for p in range(len(nodes)):
        starts[nodes[p] + 1] += 1
    for i in range(n_nodes):
        starts[i + 1] += starts[i]
    position, order = starts[:-1].copy(), np.empty(len(nodes), np.int64)
    for p in range(len(nodes)):
        order[position[nodes[p]]] = p
        position[nodes[p]] += 1
    return starts, order


@compiled
def _first_duplicate(starts: Indices, neighbours: Indices, slots: Indices, shift: int) -> int:
    """Where a neighbour stands that was in the row before, on the same side; -1 if nowhere."""
    for i in range(len(starts) - 1):
        row = neighbours[starts[i] : starts[i + 1]].astype(np.int64)
        if shift:
            for p in range(len(row)):
                row[p] = 2 * row[p] + (slots[starts[i] + p] >= shift)
        row.sort()
        for p in range(1, len(row)):
            if row[p] == row[p - 1]:
                wanted = row[p] // 2 if shift else row[p]
                for q in range(starts[i], starts[i + 1]):
                    if neighbours[q] == wanted:
                        return q
    return -1
