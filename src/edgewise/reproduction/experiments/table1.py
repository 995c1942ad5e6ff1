"""Table 1: how ||Var(A_1)|| and alpha grow with m, fitted; and the bound alpha in simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array
from edgewise.plots.curves import Curve, CurvesData, curve_of, mean_interval
from edgewise.plots.figures import figure_curves
from edgewise.reproduction.experiments.variance_data import (
    ASYMPTOTIC,
    ORDERS,
    by_repetition,
    growth,
    orders_text,
    samples_by_size,
    variance_cells,
)
from edgewise.reproduction.inference import HypothesisTest, at_most, rate_at_most, within
from edgewise.reproduction.outcome import Outcome, PaperClaim, ReportTable
from edgewise.reproduction.settings import Settings
from edgewise.reproduction.sweep.cell import Cell, Row, split
from edgewise.reproduction.sweep.frame import column, select, table_of
from edgewise.reproduction.sweep.points import LossPoint
from edgewise.simulation import paper_instance
from edgewise.theory import burn_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGIN = 0.05
"""A fitted exponent agrees with an order when it is within 0.05 of it."""
ALPHA_ORDERS = {graph: order / 2 - 1 for graph, order in ORDERS.items()}
"""alpha is a constant of the arms times sqrt(v)/m."""
LOSS_MARGIN = 0.1
"""Exponents of simulated losses are fitted from three sizes, with noise: twice the margin."""
LOSS_EDGES = (12, 42, 156)
_ENOUGH = 60
"""Runs without any violation that prove a rate below 0.05 at level 0.05: 0.95^59 < 0.05."""


@dataclass(frozen=True)
class Table1:
    """Orders in m, fitted from exact variances and from simulated designs."""

    name: str = "table1"

    def cells(self, settings: Settings) -> list[Cell]:
        """Variances, and losses of simulated designs."""
        return [*variance_cells(settings), *_loss_cells(settings)]

    def analyse(self, settings: Settings, results: dict[str, list[Row]]) -> Outcome:
        """Fitted exponents against the orders of the paper."""
        variances = table_of(variance_cells(settings), results)
        losses = table_of(_loss_cells(settings), results)
        return Outcome(
            self.name,
            "Table 1: growth of the variance and of alpha with the number of edges",
            {f"{self.name}-variance": variances, f"{self.name}-loss": losses},
            (
                _order_claim(variances, settings),
                _alpha_claim(variances, settings),
                _measured_claim(losses, settings),
                _bound_claim(losses, settings),
            ),
            {self.name: _figure(variances, losses, settings)},
            {
                self.name: f"Left: exact norm, mean of {settings.runs} sets of 100 unit arms in "
                "five dimensions. Right: loss of simulated designs after t0 rounds on the paper's "
                "arms, with the leading term of Theorem 4.2 and our own whitened bound (star). "
                "95 % confidence intervals."
            },
            (_table(variances, losses, settings),),
        )


def _loss_cells(settings: Settings) -> list[Cell]:
    dimension = 3 if settings.quick else 5
    cells: list[Cell] = []
    for omega in settings.omegas:
        arms, _ = paper_instance(dimension, omega)
        rounds = math.ceil(burn_in(arms, delta=settings.delta))
        for graph in settings.graphs:
            for n_edges in LOSS_EDGES:
                point = LossPoint(omega, graph, n_edges, dimension, settings.delta, rounds)
                cells += split(point, max(settings.runs, _ENOUGH), settings.seed)
    return cells


def _order_claim(rows: list[Row], settings: Settings) -> PaperClaim:
    tests = tuple(
        within(graph, growth(rows, graph, "exact", ASYMPTOTIC), ORDERS[graph], margin=MARGIN)
        for graph in settings.graphs
    )
    return PaperClaim(
        f"||Var(A_1)|| grows as {orders_text(ORDERS, settings)}.",
        "Table 1, Section 5",
        tests,
        f"Least-squares slope of log norm on log m over m >= {ASYMPTOTIC}, one per set of arms.",
    )


def _alpha_claim(rows: list[Row], settings: Settings) -> PaperClaim:
    tests = tuple(
        within(
            graph,
            growth(rows, graph, "exact", ASYMPTOTIC) / 2 - 1,
            ALPHA_ORDERS[graph],
            margin=MARGIN,
        )
        for graph in settings.graphs
    )
    return PaperClaim(
        f"alpha changes with m as {orders_text(ALPHA_ORDERS, settings)}.",
        "Table 1, Theorem 4.2",
        tests,
        "alpha is a constant of the arms times sqrt(v)/m, so its exponent is half that of v, less "
        "one.",
    )


def _measured_claim(rows: list[Row], settings: Settings) -> PaperClaim:
    tests: list[HypothesisTest] = []
    for omega in settings.omegas:
        at = select(rows, omega=omega)
        tests += [
            at_most(
                f"{graph}, omega = {omega:.4g}",
                growth(at, graph, "loss", 0),
                ALPHA_ORDERS[graph] + LOSS_MARGIN,
            )
            for graph in settings.graphs
        ]
    return PaperClaim(
        "The loss of simulated designs falls with m at least as fast as Table 1 says.",
        "Table 1",
        tuple(tests),
        f"Fitted exponent of the realised loss, against the order plus {LOSS_MARGIN}.",
    )


def _bound_claim(rows: list[Row], settings: Settings) -> PaperClaim:
    tests = []
    for omega in settings.omegas:
        for graph in settings.graphs:
            for n_edges in LOSS_EDGES:
                runs = select(rows, omega=omega, graph=graph, n_edges=n_edges)
                beyond = int((column(runs, "loss") > column(runs, "bound")).sum())
                subject = f"{graph}, omega = {omega:.4g}, m = {n_edges}"
                tests.append(rate_at_most(subject, beyond, len(runs), settings.delta))
    loss, whitened = column(rows, "loss"), column(rows, "whitened_bound")
    return PaperClaim(
        "After t0 rounds the loss is at most alpha, with probability at least 1 - delta.",
        "Theorem 4.2",
        tuple(tests),
        f"alpha's leading term was at least {(column(rows, 'bound') / loss).min():.3g} times the "
        f"loss in every run. The whitened bound (our own), {np.median(whitened / loss):.2g} times "
        f"the loss in the median, was exceeded in {(loss > whitened).sum()} of {len(loss)} runs.",
    )


def _figure(variances: list[Row], losses: list[Row], settings: Settings) -> Figure:
    omega = settings.omegas[0]
    left = CurvesData(
        "edges per round, $m$",
        r"$\|\mathrm{Var}(A_1)\|$",
        tuple(
            curve_of(graph, samples_by_size(variances, graph, "exact")) for graph in settings.graphs
        ),
        title="variance of one round's information",
    )
    at = select(losses, omega=omega)
    first = settings.graphs[0]
    right = CurvesData(
        "edges per round, $m$",
        r"loss $\alpha$",
        tuple(curve_of(graph, samples_by_size(at, graph, "loss")) for graph in settings.graphs),
        tuple(
            Curve.exact(f"{label} ({first})", *_bound_points(at, first, name))
            for label, name in (("Theorem 4.2", "bound"), ("whitened", "whitened_bound"))
        ),
        title=rf"loss of the drawn design after $t_0$ rounds, $\omega$ = {omega:.4g}",
    )
    return figure_curves(left, right)


def _bound_points(rows: list[Row], graph: str, name: str) -> tuple[Array, Array]:
    sizes, values = by_repetition(rows, graph, name, 0)
    return sizes, values[0]


def _table(variances: list[Row], losses: list[Row], settings: Settings) -> ReportTable:
    body = []
    for graph in settings.graphs:
        asymptotic = growth(variances, graph, "exact", ASYMPTOTIC)
        small = [row for row in variances if int(row["n_edges"]) <= ASYMPTOTIC]
        body.append(
            (
                graph,
                f"{ORDERS[graph]:g}",
                _interval(asymptotic),
                _interval(growth(small, graph, "exact", 0)),
                f"{ALPHA_ORDERS[graph]:g}",
                _interval(asymptotic / 2 - 1),
                *(
                    _interval(growth(select(losses, omega=omega), graph, "loss", 0))
                    for omega in settings.omegas
                ),
            )
        )
    measured = (f"loss measured, omega = {omega:.4g}" for omega in settings.omegas)
    header = ("graph", "order of v", f"fitted, m >= {ASYMPTOTIC}", f"fitted, m <= {ASYMPTOTIC}")
    alpha = ("order of alpha", "fitted")
    return ReportTable(
        "Exponents of m with 95 % intervals", (*header, *alpha, *measured), tuple(body)
    )


def _interval(samples: Array) -> str:
    mean, low, high = mean_interval(samples)
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]"
