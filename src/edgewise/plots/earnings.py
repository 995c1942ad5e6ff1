"""What exploring earns, round by round: against what runs today and what is recommended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array, frozen
from edgewise.core.earnings import Earnings
from edgewise.errors import InvalidArgument
from edgewise.plots.figures import new_figure
from edgewise.plots.style import COLOURS, REFERENCE, REFERENCE_LINES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class EarningsData:
    """Totals as measured, and what baseline and recommendation would have shown in their place."""

    totals: Array
    """(rounds,) sum of each round's rewards; NaN if some are missing."""
    baseline: float
    """A round of what runs today, in the same units."""
    recommended: float
    """A round of what is recommended now."""

    @property
    def won(self) -> Array:
        """(rounds,) what rounds up to each earned more than the baseline; missing ones nothing."""
        return np.cumsum(np.nan_to_num(self.totals - self.baseline))


def earnings_data(totals: Array, earnings: Earnings | None) -> EarningsData:
    """Totals of a study's history beside what its estimate says of the alternatives.

    Differences are the estimate's, the height is that of what was measured: unknown levels are in
    both.
    """
    if earnings is None or earnings.baseline is None or not np.isfinite(totals).any():
        raise InvalidArgument(
            "there is nothing to compare earnings with yet; pass Problem(..., baseline=...), the "
            "arm of every node today, and tell enough rounds for an estimate"
        )
    level = float(np.nanmean(totals)) - earnings.per_round
    return EarningsData(
        frozen(totals, float), level + earnings.baseline, level + earnings.recommended
    )


def draw_earnings(data: EarningsData, ax: Axes) -> None:
    """A point per round; baseline and recommendation as levels."""
    rounds = np.arange(1, len(data.totals) + 1)
    ax.plot(rounds, data.totals, "o", color=COLOURS[0], markersize=4, label="a round, as measured")
    for style, name, level in (
        (REFERENCE_LINES[0], "recommended now", data.recommended),
        (REFERENCE_LINES[1], "baseline", data.baseline),
    ):
        ax.axhline(level, color=REFERENCE, linestyle=style, label=name)
    ax.set(ylabel="total reward")
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)


def draw_won(data: EarningsData, ax: Axes) -> None:
    """What was won against the baseline so far; below zero it was lost."""
    rounds = np.arange(1, len(data.totals) + 1)
    ax.plot(rounds, data.won, color=COLOURS[0], marker="o", markersize=3)
    ax.axhline(0.0, color=REFERENCE, linewidth=1)
    ax.set(xlabel="round", ylabel="won so far")


def figure_earnings(data: EarningsData) -> Figure:
    """Both, one above the other."""
    figure = new_figure(6.0, 5.0)
    above, below = figure.subplots(2, 1, sharex=True)
    draw_earnings(data, above)
    draw_won(data, below)
    return figure
