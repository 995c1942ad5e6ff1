"""The picture of the tour: rounds, the network with its answer, and the trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from edgewise.cli.tour import Tour
from edgewise.plots import allocation_data, draw_graph, draw_trial, trial_data
from edgewise.plots.figures import new_figure
from edgewise.plots.style import COLOURS, REFERENCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figure_tour(found: Tour) -> Figure:
    """One panel per act."""
    figure = new_figure(15.0, 4.4)
    axes = figure.subplots(1, 3, width_ratios=(1.0, 1.1, 1.0))
    _draw_rounds(found.rounds, axes[0])
    draw_graph(allocation_data(found.recommended), axes[1])
    draw_trial(trial_data(found.trial.comparisons[0]), axes[2])
    titles = ("rounds to a certificate", "who gets which band", "recommended minus today, measured")
    for number, (ax, title) in enumerate(zip(axes, titles, strict=True), 1):
        ax.set_title(f"{number}. {title}", fontsize=11)
    return figure


def _draw_rounds(rounds: tuple[tuple[str, float], ...], ax: Axes) -> None:
    """Bars on a logarithmic axis, the number at the end of each."""
    names, values = [name for name, _ in rounds], np.array([value for _, value in rounds])
    colours = [COLOURS[0] if name.startswith("edgewise") else REFERENCE for name in names]
    bars = ax.barh(names, values, color=colours)
    ax.bar_label(bars, labels=[f"{value:.4g}" for value in values], padding=3, fontsize=9)
    ax.set(xscale="log", xlabel="rounds", xlim=(0.8, 8 * values.max()))
    ax.invert_yaxis()
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
