"""How many rounds each strategy needs: the share of runs that are over, by round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array, frozen
from edgewise.plots.figures import new_figure
from edgewise.plots.style import COLOURS, LINES, label_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from edgewise.simulation.compare import Comparison


@dataclass(frozen=True, eq=False)
class ComparisonData:
    """Of every strategy, the rounds at which its runs were certified, and their mean."""

    names: tuple[str, ...]
    certified_at: tuple[Array, ...]
    """Ascending; runs that were not certified are left out."""
    n_runs: tuple[int, ...]
    means: Array
    """Rounds of all runs, certified or not."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "means", frozen(self.means, float))


def comparison_data(comparison: Comparison) -> ComparisonData:
    """The picture of a comparison, as numbers."""
    runs = comparison.runs
    return ComparisonData(
        comparison.names,
        tuple(frozen(np.sort(run.rounds[run.certified]), float) for run in runs),
        tuple(len(run.rounds) for run in runs),
        np.array([run.mean_rounds for run in runs]),
    )


def draw_comparison(data: ComparisonData, ax: Axes) -> None:
    """A staircase for every strategy: the share of its runs that are certified by each round."""
    for i, name in enumerate(data.names):
        rounds, n_runs = data.certified_at[i], data.n_runs[i]
        ax.step(
            np.concatenate([[1.0], rounds]),
            np.arange(len(rounds) + 1) / n_runs,
            where="post",
            color=COLOURS[i % len(COLOURS)],
            linestyle=LINES[i % len(LINES)],
            label=f"{label_text(name)}: {data.means[i]:.4g} rounds on average",
        )
    ax.set(xlabel="rounds", ylabel="share of runs certified", xscale="log", ylim=(-0.02, 1.02))
    ax.legend(frameon=False, fontsize=8.5)


def figure_comparison(comparison: Comparison) -> Figure:
    """Rounds of several strategies on the same runs; further to the left is better."""
    figure = new_figure()
    draw_comparison(comparison_data(comparison), figure.subplots())
    return figure
