"""Beyond the paper: rounds of every strategy and rule, on its instances and on random ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array
from edgewise.plots.curves import Curve, CurvesData, curve_of
from edgewise.plots.figures import figure_curves
from edgewise.reproduction.experiments.beyond_claims import claims_of
from edgewise.reproduction.experiments.beyond_data import (
    SIZE,
    design_cells,
    graph_bound,
    instance_means,
    n_instances,
    n_runs,
    paper_cells,
    random_cells,
)
from edgewise.reproduction.experiments.fig1 import mean_text, paper_bound
from edgewise.reproduction.experiments.fig1_dimension import N_EDGES
from edgewise.reproduction.outcome import Outcome, ReportTable
from edgewise.reproduction.settings import Settings
from edgewise.reproduction.sweep.cell import Cell, Row
from edgewise.reproduction.sweep.frame import column, select, table_of
from edgewise.reproduction.sweep.random_points import LOWER_BOUND

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Beyond:
    """The ladder from Algorithm 2 to coordinated adaptive phases."""

    name: str = "beyond"

    def cells(self, settings: Settings) -> list[Cell]:
        """The paper's instances, random ones, and what designs need there."""
        return [*paper_cells(settings), *random_cells(settings), *design_cells(settings)]

    def analyse(self, settings: Settings, results: dict[str, list[Row]]) -> Outcome:
        """Means by method, and the tests of who needs fewer rounds."""
        paper = table_of(paper_cells(settings), results)
        random = table_of(random_cells(settings), results)
        designs = table_of(design_cells(settings), results)
        return Outcome(
            self.name,
            "Beyond the paper: rounds of every strategy and rule",
            {self.name: paper, f"{self.name}-random": random, f"{self.name}-designs": designs},
            claims_of(paper, random, settings),
            {
                self.name: figure_curves(*_panels(paper, settings), columns=len(settings.graphs)),
                f"{self.name}-random": _random_figure(random, settings),
            },
            {
                self.name: f"The paper's instances at m = {N_EDGES}: mean of {settings.runs} runs "
                "with 95 % confidence intervals, and the fewest expected rounds of any method.",
                f"{self.name}-random": f"{n_instances(settings)} random instances (K = {SIZE[0]}, "
                f"d = {SIZE[1]}, m = {SIZE[3]}), M scaled so that the lower bound, as printed, "
                f"is {LOWER_BOUND:g} rounds, from the easiest for the mixture rule to the hardest; "
                f"mean of {n_runs(settings)} runs each.",
            },
            (_paper_table(paper, settings), _random_table(random, settings), _ratios(designs)),
        )


# -- figures -----------------------------------------------------------------------------------


def _panels(rows: list[Row], settings: Settings) -> list[CurvesData]:
    """A panel per angle and graph: rounds against d, one curve per method."""
    panels = []
    for omega in settings.omegas:
        for graph in settings.graphs:
            here = select(rows, omega=omega, graph=graph)
            panels.append(
                CurvesData(
                    "dimension of the arms, $d$",
                    "rounds",
                    tuple(
                        curve_of(method, _by_dimension(select(here, method=method)))
                        for method in settings.chosen_methods
                    ),
                    (_bound_curve(here, omega, graph, settings.delta),),
                    title=rf"{graph}, $\omega$ = {omega:.4g}",
                )
            )
    return panels


def _by_dimension(rows: list[Row]) -> dict[float, Array]:
    dimensions = sorted({int(row["dimension"]) for row in rows})
    return {float(d): column(select(rows, dimension=d), "rounds") for d in dimensions}


def _bound_curve(rows: list[Row], omega: float, graph: str, delta: float) -> Curve:
    dimensions = sorted({int(row["dimension"]) for row in rows})
    bounds = [graph_bound(omega, graph, d, delta) for d in dimensions]
    return Curve.exact("lower bound (any method)", [float(d) for d in dimensions], bounds)


def _random_figure(rows: list[Row], settings: Settings) -> Figure:
    means = {method: instance_means(rows, method) for method in settings.chosen_methods}
    reference = "mixture" if "mixture" in means else settings.chosen_methods[-1]
    order = np.argsort(means[reference], kind="stable")
    rank = np.arange(1.0, len(order) + 1.0)
    curves = tuple(Curve.exact(method, rank, mean[order]) for method, mean in means.items())
    bound = Curve.exact("lower bound (any method)", rank, np.full(len(order), LOWER_BOUND))
    return figure_curves(
        CurvesData("random instance, by rank", "mean rounds", curves, (bound,), log_x=False)
    )


# -- tables ------------------------------------------------------------------------------------


def _paper_table(rows: list[Row], settings: Settings) -> ReportTable:
    body = []
    for omega in settings.omegas:
        for graph in settings.graphs:
            for d in sorted({int(row["dimension"]) for row in rows}):
                here = select(rows, omega=omega, graph=graph, dimension=d)
                means = [
                    mean_text(column(select(here, method=name), "rounds"))
                    for name in settings.chosen_methods
                ]
                printed = f"{paper_bound(omega, N_EDGES, d, settings.delta):.2g}"
                sharp = f"{graph_bound(omega, graph, d, settings.delta):.2g}"
                body.append((f"{omega:.4g}", graph, str(d), *means, printed, sharp))
    bounds = ("lower bound as printed", "lower bound for the graph")
    header = ("omega", "graph", "d", *settings.chosen_methods, *bounds)
    return ReportTable("Mean rounds on the paper's instances (standard error)", header, tuple(body))


def _random_table(rows: list[Row], settings: Settings) -> ReportTable:
    means = {method: instance_means(rows, method) for method in settings.chosen_methods}
    body = []
    for method, mean in means.items():
        entry = [method, f"{_geometric(mean):.4g}"]
        if "mixture" in means:
            ratio = means["mixture"] / mean
            entry.append(f"{_geometric(ratio):.3g} ({ratio.min():.2g} to {ratio.max():.2g})")
        cut = sum(not row["certified"] for row in select(rows, method=method))
        body.append((*entry, str(cut)))
    header = ["method", "rounds, geometric mean", "runs cut off"]
    if "mixture" in means:
        header.insert(2, "rounds of mixture over these (range)")
    return ReportTable("Random instances", tuple(header), tuple(body))


def _ratios(rows: list[Row]) -> ReportTable:
    body = []
    for name, label in (("g_optimal", "product of G-optimal laws"), ("independent", "best law")):
        ratio = column(rows, name)
        spread = f"{ratio.min():.3g} to {ratio.max():.3g}"
        body.append((label, f"{_geometric(ratio):.3g}", spread))
    title = "What designs need on the random instances, relative to the best design"
    return ReportTable(title, ("design", "geometric mean", "range"), tuple(body))


def _geometric(values: Array) -> float:
    return float(np.exp(np.log(values).mean()))
