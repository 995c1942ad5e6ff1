"""What ``beyond`` computes, and means of it."""

from __future__ import annotations

from functools import cache

import numpy as np

from edgewise.base.arrays import Array
from edgewise.network.families import graph_of
from edgewise.reproduction.experiments.fig1_dimension import N_EDGES
from edgewise.reproduction.settings import Settings
from edgewise.reproduction.sweep.cell import Cell, Row, split
from edgewise.reproduction.sweep.frame import column, select
from edgewise.reproduction.sweep.points import RoundsPoint
from edgewise.reproduction.sweep.random_points import RandomDesignPoint, RandomPoint
from edgewise.simulation import paper_instance
from edgewise.theory import lower_bound

DIMENSIONS = (2, 3, 5, 7)
QUICK_DIMENSIONS = (2, 5)
"""All of them are points of Figure 1: nothing is computed twice."""
SIZE = (8, 3, 26, 130)
"""Arms, dimension, nodes and edges of the random instances."""
_CHUNK = 2


def n_instances(settings: Settings) -> int:
    """Random instances: 50, quick 8."""
    return max(2, settings.runs // 2)


def n_runs(settings: Settings) -> int:
    """Runs on each of them: 12, quick 2."""
    return max(2, settings.runs // 8)


def paper_cells(settings: Settings) -> list[Cell]:
    """Every angle, graph, dimension and method at m = 156."""
    points = (
        RoundsPoint(omega, graph, N_EDGES, dimension, method, settings.delta)
        for omega in settings.omegas
        for graph in settings.graphs
        for dimension in (QUICK_DIMENSIONS if settings.quick else DIMENSIONS)
        for method in settings.chosen_methods
    )
    return [cell for point in points for cell in split(point, settings.runs, settings.seed)]


def random_cells(settings: Settings) -> list[Cell]:
    """Every method on every random instance."""
    points = (
        RandomPoint(*SIZE, method, settings.delta, n_runs(settings))
        for method in settings.chosen_methods
    )
    return [
        cell
        for point in points
        for cell in split(point, n_instances(settings), settings.seed, chunk=_CHUNK)
    ]


def design_cells(settings: Settings) -> list[Cell]:
    """What designs need on the random instances."""
    point = RandomDesignPoint(*SIZE, settings.delta)
    return list(split(point, n_instances(settings), settings.seed))


def instance_means(rows: list[Row], method: str) -> Array:
    """(R,) mean rounds on every instance."""
    chosen = select(rows, method=method)
    instances = sorted({int(row["repetition"]) for row in chosen})
    return np.array([column(select(chosen, repetition=i), "rounds").mean() for i in instances])


@cache
def graph_bound(omega: float, graph: str, dimension: int, delta: float) -> float:
    """Fewest expected rounds of any method on the paper's instance with this graph."""
    arms, matrix = paper_instance(dimension, omega)
    network = graph_of(graph, N_EDGES)
    return lower_bound(network, arms, matrix, delta=delta, designs="realisable").rounds
