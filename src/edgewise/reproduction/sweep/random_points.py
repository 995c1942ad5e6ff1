"""Rounds on random instances, and what designs need there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from edgewise.base.arrays import Array
from edgewise.core.design.g_optimal import g_optimal
from edgewise.core.model.problem import Problem
from edgewise.network.graph import Graph
from edgewise.reproduction.sweep.cell import Row, as_plain, generator_from, point_key
from edgewise.reproduction.sweep.points import methods, rows_of
from edgewise.simulation import replicate
from edgewise.theory import lower_bound, rho_independent, worst_ratio
from edgewise.theory.edge_arms import edge_arm_model, edge_arms
from edgewise.theory.rho import rivals_of_best

LOWER_BOUND = 3.0
"""M is scaled so that no method needs fewer rounds: instances differ in shape, not in size."""
MAX_ROUNDS = 20_000
"""Where ordered pairs nearly tie, the paper's rule needs hundreds of thousands."""


class Instance(NamedTuple):
    """Unit Gaussian arms, a Gaussian matrix up to scale, a graph with its edges at random."""

    arms: Array
    matrix: Array
    graph: Graph


Size: TypeAlias = tuple[int, int, int, int]
"""Arms, dimension, nodes, edges."""


def random_instances(seed: int, size: Size, delta: float, first: int, count: int) -> list[Instance]:
    """Instances ``first .. first + count - 1``, each a function of (seed, size, delta, number)."""
    streams = generator_from(seed, f"instance {size}", first=first).spawn(count)
    return [_instance(rng, size, delta) for rng in streams]


def _instance(rng: np.random.Generator, size: Size, delta: float) -> Instance:
    """Every set of n_edges/2 edges that leaves no node alone is as likely."""
    n_arms, dimension, n_nodes, n_edges = size
    arms = rng.standard_normal((n_arms, dimension))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    matrix = rng.standard_normal((dimension, dimension))
    pairs = np.column_stack(np.triu_indices(n_nodes, 1))
    edges = pairs[:0]
    while len(np.unique(edges)) < n_nodes:
        edges = rng.permutation(pairs)[: n_edges // 2]
    graph = Graph.from_edges(edges, n_nodes=n_nodes)
    natural = lower_bound(graph, arms, matrix, delta=delta, nats="printed").rounds
    return Instance(arms, matrix * math.sqrt(natural / LOWER_BOUND), graph)


@dataclass(frozen=True)
class RandomPoint:
    """Rounds until the rule stops; repetition i is instance i, the same whatever the method."""

    n_arms: int
    dimension: int
    n_nodes: int
    n_edges: int
    method: str
    delta: float
    runs: int
    """Runs on every instance."""

    @property
    def cost(self) -> float:
        """Methods that change their mind cost more per round, the paper's has more rounds."""
        return self.runs * (20.0 if self.method in {"paper", "contrast", "adaptive"} else 2.0)

    def run(self, seed: int, first: int, count: int) -> list[Row]:
        """One row per instance and run."""
        streams = generator_from(seed, point_key(self), first=first).spawn(count)
        strategy, stopping = methods()[self.method]
        rows: list[Row] = []
        size = (self.n_arms, self.dimension, self.n_nodes, self.n_edges)
        for i, instance in enumerate(random_instances(seed, size, self.delta, first, count)):
            runs = replicate(
                Problem(instance.graph, instance.arms, noise=1.0),
                instance.matrix,
                repetitions=self.runs,
                strategy=strategy,
                stopping=stopping,
                delta=self.delta,
                max_rounds=MAX_ROUNDS,
                rng=streams[i],
                progress=False,
            )
            rows += [{"repetition": first + i, **row} for row in rows_of(runs, "run")]
        return rows


@dataclass(frozen=True)
class RandomDesignPoint:
    """What designs need on the same instances, relative to the best one."""

    n_arms: int
    dimension: int
    n_nodes: int
    n_edges: int
    delta: float

    @property
    def cost(self) -> float:
        """Two interior points."""
        return 1.0

    def run(self, seed: int, first: int, count: int) -> list[Row]:
        """One row per instance."""
        size = (self.n_arms, self.dimension, self.n_nodes, self.n_edges)
        rows: list[Row] = []
        for i, instance in enumerate(random_instances(seed, size, self.delta, first, count)):
            arms, matrix, graph = instance
            best = lower_bound(graph, arms, matrix, delta=self.delta).rho
            rows.append(
                {
                    "repetition": first + i,
                    "g_optimal": as_plain(_needs(arms, matrix, g_optimal(arms).weights) / best),
                    "independent": rho_independent(arms, matrix).value / best,
                }
            )
        return rows


def _needs(arms: Array, matrix: Array, law: Array) -> float:
    """The worst ratio when every node draws from the law."""
    features, theta = edge_arm_model(arms, matrix, "symmetric")
    best, rivals, gaps = rivals_of_best(features, features @ theta)
    index = edge_arms(len(arms), "symmetric").index
    cells = np.bincount(index.ravel(), np.outer(law, law).ravel())
    return worst_ratio(features, features[best] - features[rivals], gaps, cells)
