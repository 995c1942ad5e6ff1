"""Figure 1, right: rounds against the dimension d^2 of the edge-arms, at m = 156."""

from __future__ import annotations

from edgewise.plots.curves import rounds_against_dimension
from edgewise.reproduction.experiments.fig1 import Panel

N_EDGES = 156
"""Star of 79 nodes, complete graph of 13, circle of 78, matching of 156."""

FIG1_DIMENSION = Panel(
    name="fig1-dimension",
    title="Figure 1, right: rounds against the dimension",
    size="dimension",
    sizes=(2, 3, 4, 5, 6, 7),
    quick_sizes=(2, 4, 5),
    fixed=N_EDGES,
    axes=rounds_against_dimension,
)
