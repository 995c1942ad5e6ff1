"""Whole figures, and saving them. They never touch pyplot: no window, no global state."""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from numpy.typing import ArrayLike

from edgewise.base.border import border
from edgewise.base.extras import required
from edgewise.core.design.g_optimal import Design
from edgewise.core.report import Report
from edgewise.errors import InvalidArgument
from edgewise.plots.curves import CurvesData
from edgewise.plots.data import (
    GraphData,
    allocation_data,
    design_data,
    estimate_data,
    histogram_data,
)
from edgewise.plots.draw import (
    draw_curves,
    draw_design,
    draw_error,
    draw_estimate,
    draw_histogram,
    draw_progress,
    legend_handles,
)
from edgewise.plots.draw_graph import draw_graph
from edgewise.plots.trace import ConvergenceData
from edgewise.writing import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from edgewise.simulation.replicate import Replications

FORMATS = ("png", "svg", "pdf")


def new_figure(width: float = 6.0, height: float = 4.0) -> Figure:
    """An empty figure with automatic spacing, which notebooks show; needs ``edgewise[plot]``."""
    required("matplotlib.figure", "drawing needs matplotlib", "plot")
    module = importlib.import_module("edgewise.plots.shown")
    figure: Figure = module.ShownFigure(figsize=(width, height), layout="constrained")
    return figure


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure as PNG, SVG or PDF, by the file's suffix; the same figure, the same bytes."""
    target = Path(path)
    suffix = target.suffix.removeprefix(".").lower()
    if suffix not in FORMATS:
        raise InvalidArgument(
            f"{target.name} does not end in .png, .svg or .pdf; the suffix chooses the format: "
            "rename the file"
        )
    content = io.BytesIO()
    _render(figure, content, suffix)
    write_bytes(target, content.getvalue())
    return target


def as_svg(figure: Figure) -> bytes:
    """A figure as the contents of an SVG file; the same figure, the same bytes."""
    target = io.BytesIO()
    _render(figure, target, "svg")
    return target.getvalue()


def _render(figure: Figure, target: io.BytesIO, suffix: str) -> None:
    matplotlib = importlib.import_module("matplotlib")
    dates = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    # Without a salt, SVG ids are random.
    with matplotlib.rc_context({"svg.hashsalt": "edgewise"}):
        figure.savefig(target, format=suffix, dpi=150, metadata=dates[suffix])


def figure_curves(*panels: CurvesData, columns: int | None = None) -> Figure:
    """Panels row by row (by default in one row), with a common legend below."""
    n_columns = columns or len(panels)
    n_rows = -(-len(panels) // n_columns)
    figure = new_figure(5.0 * n_columns, 3.7 * n_rows + 0.6)
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for data, ax in zip(panels, axes, strict=False):
        draw_curves(data, ax, legend=False, among=panels)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    handles = legend_handles(panels)
    n_lines = -(-len(handles) // (4 * n_columns))
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=-(-len(handles) // n_lines),
        frameon=False,
        fontsize=8.5,
    )
    return figure


def figure_convergence(data: ConvergenceData) -> Figure:
    """Stopping margin over the rounds and, if the truth was known, error of the estimate."""
    n_panels = 2 if len(data.errors) else 1
    figure = new_figure(5.0 * n_panels, 3.8)
    axes = figure.subplots(1, n_panels, squeeze=False)[0]
    draw_progress(data, axes[0])
    if n_panels == 2:
        draw_error(data, axes[1])
    return figure


def figure_design(design: Design, arm_labels: Sequence[str] | None = None) -> Figure:
    """Weights of a design."""
    figure = new_figure()
    draw_design(design_data(design, arm_labels), figure.subplots())
    return figure


def figure_estimate(
    report: Report, *, of: Literal["rewards", "matrix"] = "rewards", kind: int = 0
) -> Figure:
    """Heat map of the estimate."""
    figure = new_figure(5.4, 4.6)
    draw_estimate(estimate_data(report, of=of, kind=kind), figure.subplots())
    return figure


def figure_graph(data: GraphData) -> Figure:
    """A graph coloured by arm."""
    figure = new_figure(7.5, 5.6)
    draw_graph(data, figure.subplots())
    return figure


def figure_allocation(report: Report, *, positions: ArrayLike | None = None) -> Figure:
    """The graph coloured by the recommended allocation."""
    return figure_graph(allocation_data(report, positions=positions))


@border
def figure_histogram(
    replications: Replications, *, lower_bound: float | None = None, n_bins: int | None = None
) -> Figure:
    """Rounds of repeated runs."""
    figure = new_figure()
    data = histogram_data(
        replications.rounds,
        certified=replications.certified,
        lower_bound=lower_bound,
        n_bins=n_bins,
    )
    draw_histogram(data, figure.subplots())
    return figure
