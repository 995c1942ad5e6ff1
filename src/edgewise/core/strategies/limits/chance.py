"""Who goes first when not all can: drawn by edge."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.state import LearnerState
from edgewise.network.graph import Graph


def lots(graph: Graph, state: LearnerState) -> Array:
    """(n,) a node's smallest lot among its edges: a function of (seed, round).

    Two ends of an edge share it, because only two ends that both move show how their arms act
    together.
    """
    chance = np.random.default_rng((state.seed, state.rounds)).random(len(graph.edges))
    earliest = np.ones(graph.n_nodes)
    np.minimum.at(earliest, graph.edges, chance[:, None])
    return earliest


def by_chance(graph: Graph, state: LearnerState) -> Indices:
    """(n,) nodes by their lots."""
    order: Indices = np.argsort(lots(graph, state), kind="stable")
    return order
