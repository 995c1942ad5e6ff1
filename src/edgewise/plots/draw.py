"""Drawing plot data on matplotlib axes. Nothing here computes; see the data modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from edgewise.plots.curves import Curve, CurvesData
from edgewise.plots.data import DesignData, HeatMapData, HistogramData
from edgewise.plots.style import (
    COLOURS,
    REFERENCE,
    REFERENCE_LINES,
    Line,
    label_text,
    lines_of,
    look_of,
)
from edgewise.plots.trace import ConvergenceData

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D

_DODGE = 0.012
"""Relative shift of coinciding curves, so that each error bar can be seen."""
_SINGLE_ROUNDS = 40
"""So many rounds are marked one by one: a line of one point is invisible."""
_NAMED_ARMS = 24
_NUMBERED_CELLS = 8


def draw_curves(
    data: CurvesData, ax: Axes, *, legend: bool = True, among: Sequence[CurvesData] = ()
) -> None:
    """Means with error bars; colour and marker by label, line by group, references in grey.

    ``among`` lists all panels of a figure, for which a label or group looks the same.
    """
    looks, lines = _styles(among or (data,))
    centre = (len(looks) - 1) / 2
    if data.band is not None:
        ax.axhspan(*data.band, color=REFERENCE, alpha=0.12, linewidth=0)
    for curve in data.curves:
        colour, marker = looks[curve.label]
        shift = 1.0 + _DODGE * (list(looks).index(curve.label) - centre) * data.log_x
        _draw_curve(curve, ax, shift, colour, marker, lines[curve.group])
    for number, curve in enumerate(data.references):
        style = _reference_line(number)
        ax.plot(curve.x, curve.mean, color=REFERENCE, linestyle=style, label=curve.label)
    ax.set(xlabel=data.x_label, ylabel=data.y_label, title=data.title)
    _scale(data, ax)
    if legend:
        ax.legend(frameon=False)


def legend_handles(panels: Sequence[CurvesData]) -> list[Line2D]:
    """One entry per label (colour, marker), per group (line) and per reference of all panels."""
    from matplotlib.lines import Line2D

    looks, groups = _styles(panels)
    handles = [
        Line2D([], [], color=colour, marker=marker, markersize=5, linestyle="", label=label)
        for label, (colour, marker) in looks.items()
    ]
    handles += [
        Line2D([], [], color="black", linestyle=line, label=group)
        for group, line in groups.items()
        if group
    ]
    references: dict[str, tuple[float, tuple[float, ...]]] = {}
    for data in panels:
        for number, curve in enumerate(data.references):
            references.setdefault(curve.label, _reference_line(number))
    handles += [
        Line2D([], [], color=REFERENCE, linestyle=line, label=label)
        for label, line in references.items()
    ]
    return handles


def _styles(
    panels: Sequence[CurvesData],
) -> tuple[dict[str, tuple[str, str]], dict[str, Line]]:
    curves = [curve for data in panels for curve in data.curves]
    return look_of(curve.label for curve in curves), lines_of(curve.group for curve in curves)


def _reference_line(number: int) -> tuple[float, tuple[float, ...]]:
    return REFERENCE_LINES[number % len(REFERENCE_LINES)]


def _draw_curve(curve: Curve, ax: Axes, shift: float, colour: str, marker: str, line: Line) -> None:
    name = f"{curve.label}, {curve.group}" if curve.group else curve.label
    ax.errorbar(
        curve.x * shift,
        curve.mean,
        yerr=np.stack([curve.mean - curve.low, curve.high - curve.mean]),
        color=colour,
        marker=marker,
        markersize=4.5,
        linestyle=line,
        linewidth=1.3,
        capsize=2,
        label=name,
    )


def _scale(data: CurvesData, ax: Axes) -> None:
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, ScalarFormatter

    ax.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    if data.log_y:
        ax.set_yscale("log")
        ax.yaxis.set_minor_formatter(NullFormatter())
    if data.log_x and data.curves:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(_ticks(data)))
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_locator(NullLocator())


def _ticks(data: CurvesData) -> list[float]:
    """The sizes measured, thinned so that neighbours are a fifth apart and labels stay clear."""
    sizes = sorted({float(x) for curve in data.curves for x in curve.x})
    kept = sizes[-1:]
    for size in sizes[-2::-1]:
        if kept[-1] / size >= 1.3:
            kept.append(size)
    return kept[::-1]


def draw_progress(data: ConvergenceData, ax: Axes) -> None:
    """Evidence against the closest rival over the rounds; the rule stops at 1."""
    marker = "o" if len(data.rounds) <= _SINGLE_ROUNDS else ""
    ax.plot(
        data.rounds, data.progress, color=COLOURS[0], linewidth=1.3, label="evidence",
        marker=marker, markersize=3,
    )  # fmt: skip
    ax.axhline(1.0, color=REFERENCE, linestyle="--", linewidth=1.0, label="enough to stop")
    changes = data.leader_changes
    if len(changes):
        at = np.searchsorted(data.rounds, changes)
        ax.plot(
            changes, data.progress[at], "v", color=COLOURS[1], markersize=5, label="leader changes"
        )
    top = max(1.05, 1.05 * float(data.progress.max()))
    ax.set(xlabel="round", ylabel="evidence / evidence needed", ylim=(0.0, top))
    ax.set_title("stopping margin")
    ax.legend(frameon=False, loc="lower right")


def draw_error(data: ConvergenceData, ax: Axes) -> None:
    """Distance of the estimate from the truth over the rounds, on logarithmic axes."""
    ax.plot(data.error_rounds, data.errors, "o-", color=COLOURS[0], markersize=3, linewidth=1.2)
    if len(data.errors):
        last = float(data.errors[-1])
        slope = last * np.sqrt(data.error_rounds[-1] / data.error_rounds)
        ax.plot(data.error_rounds, slope, "--", color=REFERENCE, label=r"slope of $1/\sqrt{t}$")
        ax.legend(frameon=False)
    ax.set(xlabel="round", ylabel="relative error", title="error of the estimate")
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        _plain_log_ticks(axis)


def _plain_log_ticks(axis: Axis) -> None:
    """10, 20, 50 instead of powers of ten: runs often span less than one."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def draw_design(data: DesignData, ax: Axes) -> None:
    """A bar per arm; arms that are never played have none."""
    position = np.arange(len(data.weights))
    ax.bar(position, data.weights, color=COLOURS[0], width=0.75)
    if len(position) <= _NAMED_ARMS:
        long = max(len(name) for name in data.arms) > 4
        names = [label_text(name) for name in data.arms]
        ax.set_xticks(position, names, rotation=45 * long, ha="right" if long else "center")
    ax.set(xlabel="arm", ylabel="probability", title=f"design (gap {data.gap:.1e})")
    ax.set_ylim(bottom=0.0)


def draw_estimate(data: HeatMapData, ax: Axes) -> None:
    """A heat map centred on zero: blue above, orange-brown below; marked entries framed."""
    finite = np.abs(data.values[np.isfinite(data.values)])
    limit = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    image = ax.imshow(data.values, cmap="PuOr", vmin=-limit, vmax=limit)
    if len(data.rows) <= _NAMED_ARMS:
        long = max(len(name) for name in data.columns) > 3
        columns = [label_text(name) for name in data.columns]
        ax.set_xticks(range(len(columns)), columns, rotation=45 if long else 0)
        ax.set_yticks(range(len(data.rows)), [label_text(name) for name in data.rows])
    if len(data.rows) <= _NUMBERED_CELLS:
        for (i, j), value in np.ndenumerate(data.values):
            colour = "white" if abs(value) > 0.6 * limit else "black"
            ax.text(j, i, f"{value:.2g}", ha="center", va="center", color=colour, fontsize=8)
    for i, j in data.marked:
        outline = [(j - 0.5, i - 0.5), (j + 0.5, i - 0.5), (j + 0.5, i + 0.5), (j - 0.5, i + 0.5)]
        ax.fill(*zip(*outline, strict=True), fill=False, edgecolor="black", linewidth=2.5)
    ax.set_title(data.title)
    if ax.figure is not None:
        ax.figure.colorbar(image, ax=ax, shrink=0.8)


def draw_histogram(data: HistogramData, ax: Axes) -> None:
    """Runs by rounds, with their mean, median and the lower bound for any method."""
    ax.bar(
        data.edges[:-1],
        data.counts,
        width=np.diff(data.edges),
        align="edge",
        color=COLOURS[5],
        edgecolor="white",
        linewidth=0.5,
    )
    ax.axvline(data.mean, color=COLOURS[0], linewidth=1.5, label=f"mean {data.mean:.4g}")
    ax.axvline(data.median, color=COLOURS[0], linestyle=":", label=f"median {data.median:.4g}")
    if data.lower_bound is not None and np.isfinite(data.lower_bound):
        ax.axvline(
            data.lower_bound,
            color=REFERENCE,
            linestyle="-.",
            label=f"lower bound {data.lower_bound:.3g} (any method)",
        )
    title = f"{int(data.counts.sum())} runs"
    if data.n_uncertified:
        title += f", {data.n_uncertified} cut off by the round limit"
    ax.set(xlabel="rounds", ylabel="runs", title=title)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, fontsize=8)
