"""What Table 1 and Figure 2 share: variances of random unit arms, with a Monte Carlo check."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array
from edgewise.reproduction.inference import exponents
from edgewise.reproduction.settings import Settings
from edgewise.reproduction.sweep.cell import Cell, Row, split
from edgewise.reproduction.sweep.frame import column, select
from edgewise.reproduction.sweep.points import VariancePoint

EDGES = (6, 12, 20, 30, 42, 56, 72, 90, 110, 132, 156, 240, 380, 600, 992)
QUICK_EDGES = (6, 20, 56, 156, 380, 992)
ASYMPTOTIC = 156
"""Orders in m are fitted from here on; below, the term of order m still shows."""
N_ARMS, DIMENSION = 100, 5
ORDERS = {"star": 2.0, "complete": 1.5, "circle": 1.0, "matching": 1.0}
"""Table 1: growth of ||Var(A_1)|| in m."""


def variance_cells(settings: Settings) -> list[Cell]:
    """Both experiments use the same cells, so `all` computes them once."""
    edges, draws = (QUICK_EDGES, 100) if settings.quick else (EDGES, 200)
    points = (VariancePoint(graph, edges, DIMENSION, N_ARMS, draws) for graph in settings.graphs)
    return [cell for point in points for cell in split(point, settings.runs, settings.seed)]


def by_repetition(rows: list[Row], graph: str, name: str, smallest: int) -> tuple[Array, Array]:
    """Sizes (S,) from ``smallest`` on, and one value per set of arms and size (R, S)."""
    chosen = select(rows, graph=graph)
    sizes = sorted({int(row["n_edges"]) for row in chosen if int(row["n_edges"]) >= smallest})
    values = [column(select(chosen, n_edges=size), name) for size in sizes]
    return np.array(sizes, float), np.array(values).T


def samples_by_size(rows: list[Row], graph: str, name: str) -> dict[float, Array]:
    """Size -> (R,) one value per set of arms."""
    sizes, values = by_repetition(rows, graph, name, 0)
    return dict(zip(sizes.tolist(), values.T, strict=True))


def orders_text(orders: dict[str, float], settings: Settings) -> str:
    """Which graph grows how, in words."""
    return ", ".join(f"m^{orders[graph]:g} ({graph})" for graph in settings.graphs)


def growth(rows: list[Row], graph: str, name: str, smallest: int) -> Array:
    """(R,) fitted exponent of every set of arms."""
    return exponents(*by_repetition(rows, graph, name, smallest))
