"""Figure 1, right: rounds against the dimension d^2 of the edge-arms, at m = 156."""

from __future__ import annotations

from dataclasses import dataclass

from edgewise.plots.curves import rounds_against_dimension
from edgewise.plots.figures import figure_curves
from edgewise.reproduction.cell import Cell, Row, split
from edgewise.reproduction.fig1 import (
    bound_curve,
    claims_of,
    means_table,
    relative_curves,
    rounds_curves,
)
from edgewise.reproduction.finding import Finding
from edgewise.reproduction.frame import select, table_of
from edgewise.reproduction.points import RoundsPoint
from edgewise.reproduction.settings import Settings

DIMENSIONS = (2, 3, 4, 5, 6, 7)
QUICK_DIMENSIONS = (2, 4, 5)
N_EDGES = 156
"""Star of 79 nodes, complete graph of 13, circle of 78, matching of 156."""


@dataclass(frozen=True)
class Fig1Dimension:
    """Rounds against d^2 for four graphs."""

    name: str = "fig1-dimension"

    def cells(self, settings: Settings) -> list[Cell]:
        """Every angle, graph, size and method."""
        points = (
            RoundsPoint(omega, graph, N_EDGES, dimension, method, settings.delta)
            for omega in settings.omegas
            for graph in settings.graphs
            for dimension in (QUICK_DIMENSIONS if settings.quick else DIMENSIONS)
            for method in settings.chosen_methods
        )
        return [cell for point in points for cell in split(point, settings.runs, settings.seed)]

    def analyse(self, settings: Settings, results: dict[str, list[Row]]) -> Finding:
        """Curves above, graphs relative to the matching below."""
        rows = table_of(self.cells(settings), results)
        size = "dimension"
        by_omega = {omega: select(rows, omega=omega) for omega in settings.omegas}
        panels = [
            rounds_against_dimension(
                rounds_curves(runs, size, settings),
                references=[bound_curve(runs, size, omega, settings.delta)],
                title=rf"$\omega$ = {omega:.4g}, $m$ = {N_EDGES}",
            )
            for omega, runs in by_omega.items()
        ]
        shown = "paper" if "paper" in settings.chosen_methods else settings.chosen_methods[0]
        panels += [relative_curves(runs, size, settings, shown) for runs in by_omega.values()]
        return Finding(
            self.name,
            "Figure 1, right: rounds against the dimension",
            {self.name: rows},
            claims_of(rows, size, settings),
            {self.name: figure_curves(*panels, columns=len(settings.omegas))},
            {
                self.name: f"Mean of {settings.runs} runs with 95 % confidence intervals. Below: "
                "mean rounds relative to the reference graph; the band is the margin of the "
                "equivalence tests."
            },
            (means_table(rows, size, settings),),
        )
