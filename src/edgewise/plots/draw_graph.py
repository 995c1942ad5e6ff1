"""Drawing a graph whose nodes carry arms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Indices
from edgewise.plots.data import GraphData
from edgewise.plots.style import COLOURS, MARKERS, label_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED_NODES = 40


def draw_graph(data: GraphData, ax: Axes) -> None:
    """Edges in grey, nodes coloured and shaped by arm; up to seven arms are named in a legend."""
    _draw_edges(data, ax)
    used = np.unique(data.arms)
    size = float(np.clip(4_000 / len(data.arms), 12, 260))
    if len(used) <= len(COLOURS):
        for slot, arm in enumerate(used):
            at = data.positions[data.arms == arm]
            name = label_text(data.arm_names[arm])
            share = f"{f'arm {name}' if name.isdigit() else name}: {len(at)} nodes"
            ax.scatter(
                at[:, 0], at[:, 1], s=size, c=COLOURS[slot], marker=MARKERS[slot],
                label=share, zorder=3, edgecolors="white", linewidths=0.6,
            )  # fmt: skip
        # One column beside the graph: names may be long, and a wide legend would squeeze it.
        ax.legend(
            frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8,
            markerscale=min(1.0, (60.0 / size) ** 0.5),
        )  # fmt: skip
    else:
        _draw_many(data, ax, used, size)
    if len(data.arms) <= _NAMED_NODES:
        for name, (x, y) in zip(data.node_names, data.positions, strict=True):
            ax.annotate(
                label_text(name), (x, y), xytext=(0, -0.6 * size**0.5 - 1),
                textcoords="offset points", ha="center", va="top", fontsize=7, color="#333333",
                zorder=4,
            )  # fmt: skip
    ax.set_title(data.title, fontsize=10, wrap=True)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.margins(0.08)


def _draw_edges(data: GraphData, ax: Axes) -> None:
    from matplotlib.collections import LineCollection

    segments = data.positions[data.edges]
    width = float(np.clip(300 / len(segments), 0.15, 1.2))
    ax.add_collection(LineCollection(list(segments), colors="#999999", linewidths=width))
    if data.directed:
        # The head stands two thirds along the edge: not hidden by the node it points to.
        along = 0.66 * (segments[:, 1] - segments[:, 0])
        ax.quiver(
            segments[:, 0, 0], segments[:, 0, 1], along[:, 0], along[:, 1], color="#777777",
            angles="xy", scale_units="xy", scale=1.0, units="dots", width=1.0, headwidth=9,
            headlength=11, headaxislength=11,
        )  # fmt: skip


def _draw_many(data: GraphData, ax: Axes, used: Indices, size: float) -> None:
    points = ax.scatter(
        data.positions[:, 0], data.positions[:, 1], s=size, c=data.arms, cmap="viridis", zorder=3,
        edgecolors="white", linewidths=0.4,
    )  # fmt: skip
    if ax.figure is not None:
        ax.figure.colorbar(points, ax=ax, shrink=0.7, label=f"arm ({len(used)} in use)")
