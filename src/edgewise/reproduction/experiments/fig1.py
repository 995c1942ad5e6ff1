"""Figure 1: one panel against m, one against d; runs, curves, claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Literal

import numpy as np

from edgewise.base.arrays import Array
from edgewise.network.families import graph_of
from edgewise.plots.curves import Curve, CurvesData, curve_of
from edgewise.plots.figures import figure_curves
from edgewise.reproduction.inference import (
    HypothesisTest,
    agreement,
    at_least,
    larger,
    rate_at_most,
)
from edgewise.reproduction.outcome import Outcome, PaperClaim, ReportTable
from edgewise.reproduction.settings import EASY, HARD, Settings
from edgewise.reproduction.sweep.cell import Cell, Row, split
from edgewise.reproduction.sweep.frame import column, select, table_of
from edgewise.reproduction.sweep.points import RoundsPoint
from edgewise.simulation import paper_instance
from edgewise.theory import lower_bound

MARGIN = 0.10
"""Graphs agree when mean rounds differ by less than a tenth, either way."""


@dataclass(frozen=True)
class Panel:
    """Rounds of four graphs against one size, the other fixed."""

    name: str
    title: str
    size: Literal["n_edges", "dimension"]
    sizes: tuple[int, ...]
    quick_sizes: tuple[int, ...]
    fixed: int
    """The other size."""
    axes: Callable[..., CurvesData]

    def cells(self, settings: Settings) -> list[Cell]:
        """Every angle, graph, size and method."""
        points = (
            RoundsPoint(omega, graph, n_edges, dimension, method, settings.delta)
            for omega in settings.omegas
            for graph in settings.graphs
            for n_edges, dimension in self._places(settings)
            for method in settings.chosen_methods
        )
        return [cell for point in points for cell in split(point, settings.runs, settings.seed)]

    def analyse(self, settings: Settings, results: dict[str, list[Row]]) -> Outcome:
        """Curves above, graphs relative to the matching below."""
        rows = table_of(self.cells(settings), results)
        by_omega = {omega: select(rows, omega=omega) for omega in settings.omegas}
        panels = [self._curves(runs, omega, settings) for omega, runs in by_omega.items()]
        shown = "paper" if "paper" in settings.chosen_methods else settings.chosen_methods[0]
        panels += [relative_curves(runs, self.size, settings, shown) for runs in by_omega.values()]
        return Outcome(
            self.name,
            self.title,
            {self.name: rows},
            claims_of(rows, self.size, settings),
            {self.name: figure_curves(*panels, columns=len(settings.omegas))},
            {
                self.name: f"Mean of {settings.runs} runs with 95 % confidence intervals. Below: "
                "mean rounds relative to the reference graph; the band is the margin of the "
                "equivalence tests."
            },
            (means_table(rows, self.size, settings),),
        )

    def _places(self, settings: Settings) -> list[tuple[int, int]]:
        sizes = self.quick_sizes if settings.quick else self.sizes
        if self.size == "n_edges":
            return [(n_edges, self.fixed) for n_edges in sizes]
        return [(self.fixed, dimension) for dimension in sizes]

    def _curves(self, rows: list[Row], omega: float, settings: Settings) -> CurvesData:
        fixed = {"n_edges": "d", "dimension": "m"}[self.size]
        return self.axes(
            rounds_curves(rows, self.size, settings),
            references=[bound_curve(rows, self.size, omega, settings.delta)],
            title=rf"$\omega$ = {omega:.4g}, ${fixed}$ = {self.fixed}",
        )


def rounds_curves(rows: list[Row], size: str, settings: Settings) -> list[Curve]:
    """Mean rounds against n_edges, or against dimension squared, by graph and method."""
    return [
        curve_of(graph, _samples(rows, size, graph=graph, method=method), group=method)
        for method in settings.chosen_methods
        for graph in settings.graphs
    ]


def bound_curve(rows: list[Row], size: str, omega: float, delta: float) -> Curve:
    """The lower bound on the expected rounds of any method, at every size measured."""
    places = sorted({(int(row["n_edges"]), int(row["dimension"])) for row in rows})
    x = [_size(size, n_edges, dimension) for n_edges, dimension in places]
    y = [paper_bound(omega, n_edges, dimension, delta) for n_edges, dimension in places]
    return Curve.exact("lower bound (any method)", x, y)


def relative_curves(rows: list[Row], size: str, settings: Settings, method: str) -> CurvesData:
    """Mean rounds of every graph relative to a reference graph, with intervals."""
    reference = "matching" if "matching" in settings.graphs else settings.graphs[-1]
    base = _samples(rows, size, graph=reference, method=method)
    curves = []
    for graph in settings.graphs:
        runs = _samples(rows, size, graph=graph, method=method)
        if graph == reference:
            curves.append(Curve.exact(graph, sorted(runs), [1.0] * len(runs), method))
            continue
        ratios = [agreement(graph, [(runs[x], base[x])], margin=MARGIN) for x in sorted(runs)]
        mean, low, high = np.array([(r.estimate, r.low, r.high) for r in ratios]).T
        curves.append(Curve(graph, _array(sorted(runs)), mean, low, high, method))
    labels = {"n_edges": "edges per round, $m$", "dimension": "dimension of the edge-arms, $d^2$"}
    return CurvesData(
        labels[size],
        f"mean rounds / {reference} ({method})",
        tuple(curves),
        log_y=False,
        band=(1 / (1 + MARGIN), 1 + MARGIN),
    )


def claims_of(rows: list[Row], size: str, settings: Settings) -> tuple[PaperClaim, ...]:
    """What Section 6 says about this panel, with tests; only what was measured is claimed."""
    claims = []
    hard, easy = _near(rows, HARD, "paper"), _near(rows, EASY, "paper")
    pairs = list(combinations(settings.graphs, 2))
    if hard and pairs:
        evidence = [test for pair in pairs for test in _agreements(hard, size, *pair)]
        statement = "At omega = 0.1 the graph does not change the number of rounds."
        claims.append(PaperClaim(statement, "Section 6, Figure 1", tuple(evidence)))
    slower = [graph for graph in ("circle", "matching") if graph in settings.graphs]
    if easy and "star" in settings.graphs and slower:
        tests = tuple(_slower(easy, size, "star", graph) for graph in slower)
        at = "edges" if size == "n_edges" else "dimensions"
        statement = f"At omega = pi/2 and many {at}, the star needs more rounds."
        claims.append(PaperClaim(statement, "Section 6, Figure 1", tests))
    if easy and len(slower) == 2:
        evidence = _agreements(easy, size, "circle", "matching")
        statement = "At omega = pi/2, circle and matching need the same number of rounds."
        claims.append(PaperClaim(statement, "Section 6, Figure 1", tuple(evidence)))
    return (*claims, *_guarantees(rows, settings))


def _guarantees(rows: list[Row], settings: Settings) -> list[PaperClaim]:
    by_method = {method: select(rows, method=method) for method in settings.chosen_methods}
    errors = [
        rate_at_most(method, n_errors(runs), len(runs), settings.delta)
        for method, runs in by_method.items()
    ]
    closest = [closest_to_bound(method, runs) for method, runs in by_method.items()]
    return [
        PaperClaim(
            f"A certified answer is wrong with probability at most delta = {settings.delta:g}.",
            "Section 4.1",
            tuple(errors),
            "Runs of all points of the panel together.",
        ),
        PaperClaim(
            "No method needs fewer rounds, on average, than the lower bound.",
            "Section 4.3 (symmetric form)",
            tuple(closest),
            "Mean rounds over the bound, at the point where it is smallest.",
        ),
    ]


def means_table(rows: list[Row], size: str, settings: Settings) -> ReportTable:
    """Mean rounds and half-widths of their intervals at the largest size."""
    largest = max(int(row[size]) for row in rows)
    at_largest = select(rows, **{size: largest})
    body = []
    for omega in sorted({float(row["omega"]) for row in rows}):
        for graph in settings.graphs:
            runs = [
                column(select(at_largest, omega=omega, graph=graph, method=method), "rounds")
                for method in settings.chosen_methods
            ]
            body.append((f"{omega:.4g}", graph, *(mean_text(sample) for sample in runs)))
    name = {"n_edges": "m", "dimension": "d"}[size]
    title = f"Mean rounds at {name} = {largest} (standard error)"
    return ReportTable(title, ("omega", "graph", *settings.chosen_methods), tuple(body))


def mean_text(sample: Array) -> str:
    """Mean and standard error."""
    return f"{sample.mean():.4g} ({sample.std(ddof=1) / math.sqrt(len(sample)):.2g})"


def _agreements(rows: list[Row], size: str, first: str, second: str) -> list[HypothesisTest]:
    """All sizes together (each with equal weight), and the largest, where graphs differ most."""
    a, b = (_samples(rows, size, graph=graph) for graph in (first, second))
    pairs = [(a[x], b[x]) for x in sorted(a)]
    return [
        agreement(f"{first} / {second}, all sizes", pairs, margin=MARGIN),
        agreement(f"{first} / {second}, {_name(size, max(a))}", pairs[-1:], margin=MARGIN),
    ]


def _slower(rows: list[Row], size: str, first: str, second: str) -> HypothesisTest:
    a, b = (_samples(rows, size, graph=graph) for graph in (first, second))
    x = max(a)
    return larger(f"{first} / {second}, {_name(size, x)}", [(a[x], b[x])])


def closest_to_bound(method: str, rows: list[Row]) -> HypothesisTest:
    """Mean rounds over the lower bound at the point where the ratio is smallest."""
    points: dict[tuple[float, int, int, str], list[float]] = {}
    for row in rows:
        place = (float(row["omega"]), int(row["n_edges"]), int(row["dimension"]), str(row["graph"]))
        points.setdefault(place, []).append(float(row["rounds"]))
    delta = float(rows[0]["delta"])
    ratios = {
        place: _array(runs) / paper_bound(*place[:3], delta) for place, runs in points.items()
    }
    place = min(ratios, key=lambda key: float(ratios[key].mean()))
    subject = f"{method}: omega = {place[0]:.4g}, {place[3]}, m = {place[1]}, d = {place[2]}"
    return at_least(subject, ratios[place], 1.0)


def _near(rows: Iterable[Row], omega: float, method: str) -> list[Row]:
    return [
        row
        for row in rows
        if row["method"] == method and math.isclose(float(row["omega"]), omega, rel_tol=1e-3)
    ]


def _samples(rows: list[Row], size: str, **wanted: str) -> dict[float, Array]:
    chosen = select(rows, **wanted)
    sizes = sorted({int(row[size]) for row in chosen})
    return {
        _size(size, value, value): column(select(chosen, **{size: value}), "rounds")
        for value in sizes
    }


def _size(size: str, n_edges: int, dimension: int) -> float:
    return float(n_edges if size == "n_edges" else dimension**2)


def _name(size: str, x: float) -> str:
    return f"m = {x:g}" if size == "n_edges" else f"d = {math.isqrt(int(x))}"


def n_errors(rows: list[Row]) -> int:
    """Runs that certified a wrong answer."""
    return sum(bool(row["certified"]) and not row["correct"] for row in rows)


@cache
def paper_bound(omega: float, n_edges: int, dimension: int, delta: float) -> float:
    """Fewest expected rounds of any method on the paper's instance, as the paper prints it."""
    arms, matrix = paper_instance(dimension, omega)
    # Any family will do: the bound depends on m only, and every even m is a matching.
    graph = graph_of("matching", n_edges)
    return lower_bound(graph, arms, matrix, delta=delta, nats="printed").rounds


def _array(values: Iterable[float]) -> Array:
    return np.array(list(values), dtype=float)
