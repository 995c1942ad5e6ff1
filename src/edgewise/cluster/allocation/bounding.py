r"""What no allocation of a partitioned graph can exceed.

The global reward is a sum over the partitions' edges, so

.. math:: F_{\max} = \max_a \sum_p F_p(a) \le \sum_p \max_a F_p(a) \le \sum_p U_p

for any upper bounds :math:`U_p` of the partitions, each on its own: edge by edge, or with odd
cycles packed inside it. Cycles of different partitions share no edge.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from edgewise.allocation.bounds.best import best_upper_bound
from edgewise.allocation.bounds.bound import Bound
from edgewise.allocation.bounds.edge_by_edge import edge_by_edge_bound
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array
from edgewise.cluster.engine import Engine
from edgewise.cluster.partitions.columns import Partition
from edgewise.cluster.partitions.graph import PartitionedGraph
from edgewise.errors import IsolatedNodes
from edgewise.network.graph import Graph


def bound_all(
    engine: Engine, graph: PartitionedGraph, tables: Array, *, cycles: bool
) -> tuple[float, Bound]:
    """What no allocation is below, and the sum of the partitions' upper bounds."""
    shared = engine.share(tables)
    tasks = [
        engine.submit(_bounds, one, graph.n_kinds, shared, cycles)
        for one in graph.partitions
        if one.size
    ]
    parts: list[tuple[float, Bound]] = [engine.result(task) for task in tasks]
    names = sorted({bound.name for _, bound in parts})
    upper = math.fsum(bound.value for _, bound in parts)
    upper += abs(upper) * np.finfo(float).eps  # the sum is rounded once
    name = names[0] if len(names) == 1 else "odd-cycle"
    return math.fsum(lower for lower, _ in parts), Bound(upper, f"{name}, partition by partition")


def _bounds(partition: Partition, n_kinds: int, tables: Array, cycles: bool) -> tuple[float, Bound]:
    objective = Objective.of(*_alone(partition, n_kinds, tables))
    bound = best_upper_bound(objective) if cycles else edge_by_edge_bound(objective)
    return objective.bounds[0], Bound(bound.value, bound.name)


def _alone(partition: Partition, n_kinds: int, tables: Array) -> tuple[Graph, Array]:
    """A partition as a graph of its own: its nodes and kinds, numbered anew."""
    edges = partition.edges()
    nodes, ends = np.unique(np.asarray(edges.ends), return_inverse=True)
    kinds = None
    if n_kinds > 1:
        there, kinds = np.unique(edges.kinds, return_inverse=True)
        tables = tables[there]
    weights = np.array(edges.weights) if partition.has_weights else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsolatedNodes)
        graph = Graph(
            len(nodes),
            ends.reshape(-1, 2).astype(np.int32),
            directed=partition.directed,
            kinds=kinds,
            weights=weights,
        )
    return graph, tables
