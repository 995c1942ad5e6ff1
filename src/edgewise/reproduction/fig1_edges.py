"""Figure 1, left: rounds against the number of edges m, at d = 5."""

from __future__ import annotations

from dataclasses import dataclass

from edgewise.plots.curves import rounds_against_edges
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

EDGES = (6, 12, 20, 30, 42, 56, 72, 90, 110, 132, 156)
"""n (n - 1): the sizes of complete graphs."""
QUICK_EDGES = (56, 90, 156)
DIMENSION = 5


@dataclass(frozen=True)
class Fig1Edges:
    """Rounds against m for four graphs."""

    name: str = "fig1-edges"

    def cells(self, settings: Settings) -> list[Cell]:
        """Every angle, graph, size and method."""
        points = (
            RoundsPoint(omega, graph, n_edges, DIMENSION, method, settings.delta)
            for omega in settings.omegas
            for graph in settings.graphs
            for n_edges in (QUICK_EDGES if settings.quick else EDGES)
            for method in settings.chosen_methods
        )
        return [cell for point in points for cell in split(point, settings.runs, settings.seed)]

    def analyse(self, settings: Settings, results: dict[str, list[Row]]) -> Finding:
        """Curves above, graphs relative to the matching below."""
        rows = table_of(self.cells(settings), results)
        size = "n_edges"
        by_omega = {omega: select(rows, omega=omega) for omega in settings.omegas}
        panels = [
            rounds_against_edges(
                rounds_curves(runs, size, settings),
                references=[bound_curve(runs, size, omega, settings.delta)],
                title=rf"$\omega$ = {omega:.4g}, $d$ = {DIMENSION}",
            )
            for omega, runs in by_omega.items()
        ]
        shown = "paper" if "paper" in settings.chosen_methods else settings.chosen_methods[0]
        panels += [relative_curves(runs, size, settings, shown) for runs in by_omega.values()]
        return Finding(
            self.name,
            "Figure 1, left: rounds against the number of edges",
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
