"""First allocations on partitions: Algorithm 1 as printed, two arms, and a greedy pass."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.links import Links
from edgewise.allocation.starts.two_arm import pair_worth, sum_by_side
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.cluster.allocation.sweeps import Step, propose
from edgewise.cluster.engine import Engine
from edgewise.cluster.partitions.columns import Partition
from edgewise.cluster.partitions.graph import PartitionedGraph
from edgewise.cluster.partitions.ranges import NodeRange

_CLASSES = 8
"""Turns in which the nodes choose in the greedy pass."""


def greedy_cut(engine: Engine, graph: PartitionedGraph) -> Indices:
    """(n,) 1 for the nodes of V2, 0 for those of V1: Algorithm 1's cut, node by node.

    A node looks at the nodes before it, so ranges take their turns; each is sent the others' sides.
    """
    sides: list[Indices] = []
    for nodes in graph.ranges:
        sides.append(engine.submit(_sides, nodes, graph.n_nodes, *sides))
    found = np.concatenate([engine.result(one) for one in sides])
    return (found < 0).astype(np.uint8)


def _sides(nodes: NodeRange, n_nodes: int, *before: Indices) -> Indices:
    sides = np.zeros(n_nodes, np.int8)
    if before:
        sides[: nodes.first] = np.concatenate(before)
    _greedy_sides(nodes.links(), nodes.first, sides)
    return sides[nodes.first : nodes.last]


@compiled
def _greedy_sides(links: Links, first: int, sides: Indices) -> None:
    """+1 in V1, -1 in V2; 0 while unassigned, so that a plain sum sees only earlier nodes."""
    for i in range(len(links.starts) - 1):
        balance = 0.0
        for p in range(links.starts[i], links.starts[i + 1]):
            weight = links.weights[p] if len(links.weights) else 1.0
            balance += weight * sides[links.neighbours[p]]
        sides[first + i] = -1 if balance > 0.0 else 1


def best_two_arms(engine: Engine, graph: PartitionedGraph, tables: Array, cut: Indices) -> Indices:
    """(n,) the best ordered pair of arms for a cut (n,)."""
    sides = engine.broadcast(cut)
    parts = [engine.submit(_by_side, one, graph.n_kinds, sides) for one in graph.partitions]
    totals = np.zeros((graph.n_kinds, 2, 2))
    for part in parts:
        totals += engine.result(part)
    if not graph.directed:
        totals = totals + totals.transpose(0, 2, 1)
    worth = pair_worth(totals, tables)
    k, l = np.unravel_index(int(worth.argmax()), worth.shape)
    return np.where(cut, np.uint8(l), np.uint8(k))


def _by_side(partition: Partition, n_kinds: int, sides: Indices) -> Array:
    edges = partition.edges()
    return sum_by_side(edges.ends, edges.kinds, edges.weights, sides, n_kinds)


def greedy(engine: Engine, graph: PartitionedGraph, rows: Array, seed: int) -> Indices:
    """(n,) every node takes what is best for its expected reward, in a few turns of all.

    Those whose turn has not come are thought of as drawing from the law in the last row of
    ``rows`` (slots, K + 1, K).
    """
    undecided = rows.shape[2]
    arms: Indices = np.full(graph.n_nodes, undecided, np.uint8)
    shared = engine.share(rows)
    for part in range(_CLASSES):
        now = engine.broadcast(arms)
        step = Step(seed, 0, _CLASSES, part)
        tasks = [engine.submit(propose, one, shared, now, step) for one in graph.ranges]
        found = arms.copy()
        for nodes, task in zip(graph.ranges, tasks, strict=True):
            found[step.nodes(nodes)] = engine.result(task).arms
        arms = found
    return arms
