"""Figure 1, left: rounds against the number of edges m, at d = 5."""

from __future__ import annotations

from edgewise.plots.curves import rounds_against_edges
from edgewise.reproduction.experiments.fig1 import Panel

FIG1_EDGES = Panel(
    name="fig1-edges",
    title="Figure 1, left: rounds against the number of edges",
    size="n_edges",
    sizes=(6, 12, 20, 30, 42, 56, 72, 90, 110, 132, 156),  # n (n - 1): sizes of complete graphs
    quick_sizes=(56, 90, 156),
    fixed=5,
    axes=rounds_against_edges,
)
