"""Neighbour lists that carry all a walk needs, so that it never looks an edge up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.instance.per_graph import per_graph
from edgewise.base.arrays import Array, Indices, frozen
from edgewise.base.compiled import compiled
from edgewise.network.graph import Graph


class Links(NamedTuple):
    """Row ``i`` is ``starts[i]:starts[i + 1]``; a *link* is an edge seen from one of its nodes."""

    starts: Indices
    """(n + 1,)"""
    neighbours: Indices
    """(2E,)"""
    slots: Indices
    """(2E,) which response table a link has, ``side * q + kind``; empty when there is only one."""
    weights: Array
    """(2E,); empty when all are 1."""
    twins: Indices
    """(s * q,) the slot of the same edge seen from its other node."""


@per_graph
def links_of(graph: Graph) -> Links:
    """The links of a graph, nothing copied that the graph has already.

    A node's response table is ``objective.responses.reshape(-1, K, K)[slot]``.
    """
    rows, (edges, kinds, weights) = graph.adjacency, graph.columns
    n_slots = graph.n_kinds * (2 if graph.directed else 1)
    shift = graph.n_kinds if graph.directed else 0
    twins = frozen((np.arange(n_slots) + shift) % n_slots, np.int64)
    slots: Indices = np.empty(0, np.int16)
    if n_slots > 1:
        slots = _slots(rows.starts, rows.edge_ids, edges, kinds, shift)
    heavy = weights[rows.edge_ids] if len(weights) else weights
    for array in (slots, heavy):  # kernels are compiled once, for read-only arrays
        array.setflags(write=False)
    return Links(rows.starts, rows.neighbours, slots, heavy, twins)


@compiled
def _slots(
    starts: Indices, edge_ids: Indices, edges: Indices, kinds: Indices, shift: int
) -> Indices:
    slots = np.zeros(len(edge_ids), np.int16)
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            e = edge_ids[p]
            kind = kinds[e] if len(kinds) else 0
            slots[p] = kind if edges[e, 0] == i else kind + shift
    return slots


@compiled
def write_field(
    links: Links, responses: Array, unary: Array, arms: Indices, i: int, field: Array
) -> None:
    """Write into ``field`` what node ``i`` would earn by each arm, the others as they are."""
    if len(unary):
        field[:] = unary[i]
    else:
        field[:] = 0.0
    for p in range(links.starts[i], links.starts[i + 1]):
        slot = links.slots[p] if len(links.slots) else 0
        row = responses[slot, arms[links.neighbours[p]]]
        if len(links.weights):
            for k in range(len(field)):
                field[k] += links.weights[p] * row[k]
        else:
            for k in range(len(field)):
                field[k] += row[k]
