"""A picture of a wind farm: turbines, who wakes whom, and the yaw angles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.plots.curves import CurvesData
from edgewise.plots.draw import draw_curves
from edgewise.plots.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROTOR = "#111111"
_WAKE = "#D55E00"


@dataclass(frozen=True, eq=False)
class FarmData:
    """Turbines with yaw angles in the wind, and the flow behind them if it is known."""

    positions: Array
    """(n, 2) metres east and north."""
    yaws: Array
    """(n,) degrees; positive turns the rotor counter-clockwise, seen from above."""
    wind_direction: float
    """Degrees clockwise from north, where the wind comes from."""
    diameter: float
    wakes: Indices
    """(E, 2) turbine and one that its wake may matter to."""
    title: str = ""
    flow: tuple[Array, Array, Array] | None = None
    """(h, w) each: metres east, metres north, wind speed."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", frozen(self.positions, float))
        object.__setattr__(self, "yaws", frozen(self.yaws, float))
        object.__setattr__(self, "wakes", frozen(np.reshape(self.wakes, (-1, 2)), np.int64))

    @property
    def rotors(self) -> Array:
        """(n, 2, 2) the two tips of every rotor, drawn at one and a half times its size."""
        downwind = np.deg2rad(270.0 - self.wind_direction)
        along_blade = downwind + np.pi / 2 + np.deg2rad(self.yaws)
        half = 0.75 * self.diameter * np.stack([np.cos(along_blade), np.sin(along_blade)], axis=1)
        return np.stack([self.positions - half, self.positions + half], axis=1)


def draw_farm(data: FarmData, ax: Axes, *, speeds: tuple[float, float] | None = None) -> None:
    """Flow in colour (between ``speeds``), wakes as arrows, rotors as bars with their angle."""
    from matplotlib.collections import LineCollection

    size = data.diameter
    if data.flow is not None:
        low, high = speeds or (float(data.flow[2].min()), float(data.flow[2].max()))
        ax.pcolormesh(*data.flow, cmap="Blues_r", vmin=low, vmax=high, rasterized=True)
    for upstream, downstream in data.positions[data.wakes]:
        ax.annotate(
            "", downstream, upstream, zorder=2,
            arrowprops={
                "arrowstyle": "-|>", "color": _WAKE, "lw": 0.5, "alpha": 0.4,
                "mutation_scale": 7, "shrinkA": 6, "shrinkB": 8,
            },
        )  # fmt: skip
    ax.add_collection(
        LineCollection(list(data.rotors), colors=_ROTOR, linewidths=2.6, capstyle="round", zorder=3)
    )
    for (east, north), yaw in zip(data.positions, data.yaws, strict=True):
        ax.text(
            east, north + 1.05 * size, f"{yaw:+g}°" if yaw else "0°", fontsize=7.5, ha="center",
            va="bottom", color=_ROTOR, zorder=4,
        )  # fmt: skip
    _draw_wind(data, ax)
    ax.set_title(data.title, fontsize=10, loc="left")
    ax.set_aspect("equal")
    low, high = data.positions.min(axis=0), data.positions.max(axis=0)
    ax.set_xlim(low[0] - 2.5 * size, high[0] + 5.0 * size)
    ax.set_ylim(low[1] - 2.5 * size, high[1] + 2.5 * size)
    ax.set_axis_off()


def _draw_wind(data: FarmData, ax: Axes) -> None:
    """An arrow in the lower left corner."""
    angle = np.deg2rad(270.0 - data.wind_direction)
    tip = 2.0 * data.diameter * np.array([np.cos(angle), np.sin(angle)])
    start = data.positions.min(axis=0) - 1.9 * data.diameter
    ax.annotate(
        "", start + tip, start, zorder=4,
        arrowprops={"arrowstyle": "-|>", "color": _ROTOR, "lw": 1.4, "mutation_scale": 14},
    )  # fmt: skip
    east, north = start + tip
    ax.text(east + 0.3 * data.diameter, north, "wind", fontsize=8, va="center", zorder=4)


def figure_farm(*panels: FarmData, gains: CurvesData | None = None) -> Figure:
    """Farms side by side, with one colour scale of wind speed if there is flow; then the gains."""
    figure = new_figure(6.0 * len(panels) + (5.0 if gains is not None else 0.0), 5.2)
    widths = [1.2] * len(panels) + ([1.0] if gains is not None else [])
    axes = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
    flows = [data.flow[2] for data in panels if data.flow is not None]
    speeds = (min(map(np.min, flows)), max(map(np.max, flows))) if flows else None
    farms = axes[: len(panels)]
    for data, ax in zip(panels, farms, strict=True):
        draw_farm(data, ax, speeds=speeds)
    meshes = [mesh for ax in farms for mesh in ax.collections if mesh.get_array() is not None]
    if meshes:
        figure.colorbar(
            meshes[0],
            ax=list(farms),
            label="wind speed at hub height (m/s)",
            orientation="horizontal",
            shrink=0.4,
            pad=0.01,
        )
    if gains is not None:
        draw_curves(gains, axes[-1], legend=True)
    return figure
