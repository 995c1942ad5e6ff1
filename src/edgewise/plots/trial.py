"""A trial, pair by pair: the difference, and the interval that holds at all times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array, frozen
from edgewise.plots.figures import new_figure
from edgewise.plots.style import COLOURS, REFERENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from edgewise.trial.comparison import Comparison
    from edgewise.trial.report import TrialReport


@dataclass(frozen=True, eq=False)
class TrialData:
    """One comparison after every pair."""

    title: str
    differences: Array
    """(k,) of each pair."""
    means: Array
    """(k,) of the pairs so far."""
    lows: Array
    """(k,) lower end of the interval; -inf while it has none."""
    highs: Array
    """(k,)"""
    margin: float
    """The loss that would not matter."""

    def __post_init__(self) -> None:
        for name in ("differences", "means", "lows", "highs"):
            object.__setattr__(self, name, frozen(getattr(self, name), float))


def trial_data(comparison: Comparison, margin: float = 0.0) -> TrialData:
    """The picture of a comparison, as numbers."""
    so_far = [comparison.after(pairs) for pairs in range(1, comparison.pairs + 1)]
    return TrialData(
        f"{comparison.first} minus {comparison.second}",
        comparison.differences,
        np.array([one.difference for one in so_far]),
        np.array([one.interval[0] for one in so_far]),
        np.array([one.interval[1] for one in so_far]),
        margin,
    )


def draw_trial(data: TrialData, ax: Axes) -> None:
    """Differences as dots, their mean as a line, the interval as a band around it."""
    pairs = np.arange(1, len(data.differences) + 1)
    low, high = shown_range(data)
    ax.fill_between(
        pairs,
        np.clip(data.lows, low, high),
        np.clip(data.highs, low, high),
        color=COLOURS[0],
        alpha=0.18,
        linewidth=0,
        label="interval, valid at all times",
    )
    ax.plot(pairs, data.means, color=COLOURS[0], label="mean difference")
    ax.plot(pairs, data.differences, "o", color=COLOURS[1], markersize=3.5, label="pairs")
    ax.axhline(0.0, color=REFERENCE, linewidth=1.0)
    if data.margin:
        ax.axhline(-data.margin, color=REFERENCE, linewidth=1.0, linestyle="--", label="margin")
    ax.set(xlabel="pairs", ylabel=data.title, ylim=(low, high))
    ax.locator_params(axis="x", integer=True)
    ax.legend(frameon=False, fontsize=8.5)


def figure_trial(report: TrialReport) -> Figure:
    """The difference to the baseline over the pairs: of the candidate that did best, if several."""
    figure = new_figure()
    ax = figure.subplots()
    if report.leading is not None and report.pairs:
        draw_trial(trial_data(report.leading, report.goal.margin), ax)
    words = report.ending.name.lower().replace("_", " ")
    ax.set_title(f"{report.length}: {words}", fontsize=10)
    return figure


def shown_range(data: TrialData) -> tuple[float, float]:
    """What the axis shows: all pairs, zero, and the last interval; early ones may be cut off."""
    ends = np.array([data.lows[-1], data.highs[-1]])
    shown = np.concatenate([data.differences, [0.0, -data.margin], ends[np.isfinite(ends)]])
    room = 0.08 * (float(np.ptp(shown)) or 1.0)
    return float(shown.min()) - room, float(shown.max()) + room
