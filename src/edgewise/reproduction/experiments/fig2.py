"""Figure 2: ||Var(A_1)|| against m for random arms; exact, simulated, and as decomposed."""

from __future__ import annotations

from dataclasses import dataclass

from edgewise.base.arrays import Array
from edgewise.plots.curves import CurvesData, curve_of
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
from edgewise.reproduction.inference import HypothesisTest, at_least, within
from edgewise.reproduction.outcome import Outcome, PaperClaim, ReportTable
from edgewise.reproduction.settings import Settings
from edgewise.reproduction.sweep.cell import Cell, Row
from edgewise.reproduction.sweep.frame import table_of

MARGIN = 0.05
"""Formula and simulation agree when their ratio is within 5 % of 1."""
_GROWTH_MARGIN = 0.1
_FORMS = (("exact", "exact"), ("monte_carlo", "Monte Carlo"), ("paper", "paper's Section 5"))


@dataclass(frozen=True)
class Fig2:
    """Three values of the same variance."""

    name: str = "fig2"

    def cells(self, settings: Settings) -> list[Cell]:
        """The cells of Table 1's variances."""
        return variance_cells(settings)

    def analyse(self, settings: Settings, results: dict[str, list[Row]]) -> Outcome:
        """Overlay, and test which formula the simulation supports."""
        rows = table_of(self.cells(settings), results)
        return Outcome(
            self.name,
            "Figure 2: variance of one round's information, K = 100 unit arms, d = 5",
            {self.name: rows},
            (_growth_claim(rows, settings), *_formula_claims(rows, settings)),
            {self.name: figure_curves(_overlay(rows, settings), _ratios(rows, settings))},
            {
                self.name: f"Mean of {settings.runs} sets of arms with 95 % confidence intervals. "
                "Right: exact formula and the paper's decomposition, relative to simulation."
            },
            (_table(rows, settings),),
        )


def _growth_claim(rows: list[Row], settings: Settings) -> PaperClaim:
    tests = tuple(
        within(
            graph,
            growth(rows, graph, "monte_carlo", ASYMPTOTIC),
            ORDERS[graph],
            margin=_GROWTH_MARGIN,
        )
        for graph in settings.graphs
    )
    return PaperClaim(
        f"The simulated variance grows as {orders_text(ORDERS, settings)}.",
        "Appendix, Figure 2",
        tests,
        f"Slope of the Monte Carlo values over m >= {ASYMPTOTIC}, one per set of arms.",
    )


def _formula_claims(rows: list[Row], settings: Settings) -> list[PaperClaim]:
    exact = tuple(
        within(f"simulated / exact, {graph}", _ratio(rows, graph, "exact"), 1.0, margin=MARGIN)
        for graph in settings.graphs
    )
    omission = tuple(_omission(rows, graph) for graph in settings.graphs)
    return [
        PaperClaim(
            "The exact closed form of Var(A_1) is what rounds drawn at random show.",
            "docs/theory.md (ours)",
            exact,
            "Mean over sizes, one ratio per set of arms.",
        ),
        PaperClaim(
            "The paper's decomposition omits terms: what it adds up to is smaller than the "
            "simulated variance, except on a matching, where nothing is omitted.",
            "Section 5, corrected",
            omission,
            "Var(A_1) pairs arcs that share a node in four ways; two of them are missing.",
        ),
    ]


def _omission(rows: list[Row], graph: str) -> HypothesisTest:
    ratio = _ratio(rows, graph, "paper")
    subject = f"simulated / decomposition, {graph}"
    if graph == "matching":
        return within(subject, ratio, 1.0, margin=MARGIN)
    return at_least(subject, ratio, 1.0 + MARGIN)


def _ratio(rows: list[Row], graph: str, formula: str) -> Array:
    """(R,) simulated over computed variance, averaged over sizes."""
    _, simulated = by_repetition(rows, graph, "monte_carlo", 0)
    _, computed = by_repetition(rows, graph, formula, 0)
    ratio: Array = (simulated / computed).mean(axis=1)
    return ratio


def _overlay(rows: list[Row], settings: Settings) -> CurvesData:
    curves = [
        curve_of(graph, samples_by_size(rows, graph, name), group=label)
        for name, label in _FORMS
        for graph in settings.graphs
    ]
    return CurvesData(
        "edges per round, $m$",
        r"$\|\mathrm{Var}(A_1)\|$",
        tuple(curves),
        title="variance of one round's information",
    )


def _ratios(rows: list[Row], settings: Settings) -> CurvesData:
    curves = []
    for name, label in _FORMS[::2]:
        for graph in settings.graphs:
            sizes, simulated = by_repetition(rows, graph, "monte_carlo", 0)
            _, computed = by_repetition(rows, graph, name, 0)
            ratio = dict(zip(sizes.tolist(), (computed / simulated).T, strict=True))
            curves.append(curve_of(graph, ratio, group=label))
    return CurvesData(
        "edges per round, $m$",
        "formula / Monte Carlo",
        tuple(curves),
        title="which formula the simulation supports",
        log_y=False,
        band=(1 - MARGIN, 1 + MARGIN),
    )


def _table(rows: list[Row], settings: Settings) -> ReportTable:
    body = []
    for graph in settings.graphs:
        sizes, exact = by_repetition(rows, graph, "exact", 0)
        for at in (0, int((sizes <= ASYMPTOTIC).sum()) - 1, len(sizes) - 1):
            row = [graph, f"{sizes[at]:g}", f"{exact[:, at].mean():.4g}"]
            for name in ("monte_carlo", "paper"):
                value = by_repetition(rows, graph, name, 0)[1][:, at].mean()
                row.append(f"{value:.4g} ({value / exact[:, at].mean():.1%})")
            body.append(tuple(row))
    header = ("graph", "m", "exact", "Monte Carlo (of exact)", "paper's Section 5 (of exact)")
    return ReportTable("Mean norm over the sets of arms", header, tuple(body))
