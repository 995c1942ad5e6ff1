"""Networks for the tests of this folder; workers import the functions by name."""

from functools import partial
from pathlib import Path

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.cluster import PartitionedGraph, Share, SimulatedRewards

N_NODES = 20_000
TABLES: Array = np.array([[[0.0, 0.9, 0.1], [0.9, 0.3, 0.2], [0.1, 0.2, 0.5]]])


def some_edges(number: int, n_nodes: int = N_NODES, size: int = 25_000) -> Indices:
    """Distinct pairs, others in every partition: no border falls on a block."""
    rng = np.random.default_rng(number)
    keys = np.unique(rng.integers(n_nodes * n_nodes // 16, size=size)) * 16 + number
    i, j = np.divmod(rng.permutation(keys), n_nodes)
    return np.column_stack([i, j])[i < j]


def weighted(number: int) -> tuple[Indices, Indices, Indices, Array]:
    """With kinds and weights."""
    ends = some_edges(number, size=3000)
    rng = np.random.default_rng(100 + number)
    kinds, weights = rng.integers(2, size=len(ends)), rng.uniform(0.5, 2.0, len(ends))
    return ends[:, 0], ends[:, 1], kinds, weights


def network(folder: Path, *, size: int = 25_000) -> PartitionedGraph:
    """Sixteen partitions, about 8 ``size`` edges: 200,000."""
    made = partial(some_edges, size=size)
    return PartitionedGraph.from_function(made, folder, n_partitions=16, n_nodes=N_NODES)


def rewards(share: Share) -> Array:
    """Of very different sizes, so that every order of summation shows; some are missing."""
    found = SimulatedRewards(TABLES, 1.0)(share)
    found *= 10.0 ** share.rng.integers(-6, 1, len(found))
    found[share.rng.random(len(found)) < 0.01] = np.nan
    return found
