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
    baseline: float | None
    """A round of what runs today, in the same units; None if that is not known."""
    recommended: float
    """A round of what is recommended now."""

    @property
    def won(self) -> Array:
        """(rounds,) what rounds up to each earned more than the baseline; missing ones nothing."""
        if self.baseline is None:
            raise InvalidArgument(
                "nobody said what runs today, so nothing was won against it; pass "
                "Problem(..., baseline=...), or read cost"
            )
        return np.cumsum(np.nan_to_num(self.totals - self.baseline))

    @property
    def cost(self) -> Array:
        """(rounds,) what rounds up to each earned less than the recommended would have."""
        return np.cumsum(np.nan_to_num(self.recommended - self.totals))


def earnings_data(totals: Array, earnings: Earnings | None) -> EarningsData:
    """Totals of a study's history beside what its estimate says of the alternatives.

    Differences are the estimate's, the height is that of what was measured: unknown levels are in
    both.
    """
    if earnings is None or not np.isfinite(totals).any():
        raise InvalidArgument(
            "there is nothing to compare earnings with yet; tell enough rounds for an estimate "
            "(and pass Problem(..., baseline=...), today's arms, to see what was won)"
        )
    level = float(np.nanmean(totals)) - earnings.per_round
    baseline = None if earnings.baseline is None else level + earnings.baseline
    return EarningsData(frozen(totals, float), baseline, level + earnings.recommended)


def draw_earnings(data: EarningsData, ax: Axes) -> None:
    """A point per round; baseline and recommendation as levels."""
    rounds = np.arange(1, len(data.totals) + 1)
    ax.plot(rounds, data.totals, "o", color=COLOURS[0], markersize=4, label="a round, as measured")
    levels = [("recommended now", data.recommended), ("baseline", data.baseline)]
    for style, (name, level) in zip(REFERENCE_LINES, levels, strict=False):
        if level is not None:
            ax.axhline(level, color=REFERENCE, linestyle=style, label=name)
    ax.set(ylabel="total reward")
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)


def draw_won(data: EarningsData, ax: Axes) -> None:
    """What was won against the baseline so far; below zero it was lost."""
    rounds = np.arange(1, len(data.totals) + 1)
    ax.plot(
        rounds, data.cost, color=COLOURS[1], marker="s", markersize=3, label="cost of exploring"
    )
    if data.baseline is not None:
        label = "won against the baseline"
        ax.plot(rounds, data.won, color=COLOURS[0], marker="o", markersize=3, label=label)
    ax.axhline(0.0, color=REFERENCE, linewidth=1)
    ax.set(xlabel="round", ylabel="so far")
    ax.legend(frameon=False)


def figure_earnings(data: EarningsData) -> Figure:
    """Both, one above the other."""
    figure = new_figure(6.0, 5.0)
    above, below = figure.subplots(2, 1, sharex=True)
    draw_earnings(data, above)
    draw_won(data, below)
    return figure
