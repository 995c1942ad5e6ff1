"""Pictures with one row per edge or channel."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from edgewise.network.graph import Graph
from edgewise.plots.style import label_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED_ROWS = 40
"""So many rows have room for a name each."""


def edge_name(graph: Graph, first: Hashable, second: Hashable) -> str:
    """An edge by the labels of its nodes."""
    return f"{first} -> {second}" if graph.directed else f"{first} - {second}"


def row_height(n_rows: int) -> float:
    """Inches for so many rows, title, axis and legend."""
    return 1.5 + 0.19 * min(max(n_rows, 6), NAMED_ROWS)


def name_rows(ax: Axes, names: Sequence[str], what: str) -> None:
    """Names of the rows if there is room, else what they are and how many."""
    if len(names) <= NAMED_ROWS:
        ax.set_yticks(range(len(names)), [label_text(name) for name in names], fontsize=8)
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(names)} {what}s, sorted")
    ax.set_ylim(-0.9, len(names) - 0.1)
    ax.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)


def legend_below(ax: Axes) -> None:
    """Below the figure, where no row is."""
    handles, labels = ax.get_legend_handles_labels()
    figure = ax.figure
    if figure is not None:
        figure.legend(
            handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8.5
        )
