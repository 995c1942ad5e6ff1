"""A picture of a radio network: how well places are served, sectors by tilt, relations."""

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

_INK, _RELATION, _SPOT = "#111111", "#ffffff", "#D55E00"
_SINR = (-6.0, 24.0)
"""Decibels at the ends of the colours."""
_HALF_WIDTH = 32.0
"""Degrees to each side that a sector is drawn."""


@dataclass(frozen=True, eq=False)
class RadioData:
    """Cells with tilts, and the SINR around them."""

    places: Array
    """(C, 2) metres east and north of every cell's mast."""
    azimuths: Array
    """(C,) degrees clockwise from north."""
    tilts: Array
    """(C,) degrees below the horizon."""
    relations: Indices
    """(E, 2) pairs of cells."""
    hot_spots: tuple[Array, Array]
    """(H, 2) centres and (H,) radii, in metres."""
    sinr: tuple[Array, Array, Array]
    """(h, w) each: metres east, metres north, decibels."""
    title: str = ""

    def __post_init__(self) -> None:
        for name in ("places", "azimuths", "tilts"):
            object.__setattr__(self, name, frozen(getattr(self, name), float))
        object.__setattr__(self, "relations", frozen(np.reshape(self.relations, (-1, 2)), np.int64))

    @property
    def size(self) -> float:
        """Metres that a sector is drawn long: by the distance of the two nearest masts."""
        masts = np.unique(self.places, axis=0)
        apart = np.linalg.norm(masts[:, None] - masts, axis=2)
        nearest = apart[apart > 0.0].min(initial=4_000.0)
        return 0.36 * float(nearest)

    @property
    def middles(self) -> Array:
        """(C, 2) where each sector's tilt is written."""
        angle = np.deg2rad(90.0 - self.azimuths)
        ahead = np.column_stack([np.cos(angle), np.sin(angle)])
        found: Array = self.places + 0.64 * self.size * ahead
        return found


def draw_radio(data: RadioData, ax: Axes, *, tilts: tuple[float, float]) -> None:
    """SINR in colour, hot spots as circles, relations as lines, sectors coloured by their tilt."""
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Circle, Wedge

    low, high = _SINR
    east, north, level = data.sinr
    ax.pcolormesh(
        east, north, level, cmap="viridis", vmin=low, vmax=high, rasterized=True, zorder=0
    )
    lines = list(data.middles[data.relations])
    ax.add_collection(LineCollection(lines, colors=_RELATION, linewidths=0.8, alpha=0.55, zorder=1))
    for centre, radius in zip(*data.hot_spots, strict=True):
        ax.add_patch(
            Circle(centre, 2 * radius, fill=False, ec=_SPOT, lw=1.8, ls=(0, (4, 2)), zorder=2)
        )
    wedges = [
        Wedge(place, data.size, 90.0 - azimuth - _HALF_WIDTH, 90.0 - azimuth + _HALF_WIDTH)
        for place, azimuth in zip(data.places, data.azimuths, strict=True)
    ]
    sectors = PatchCollection(wedges, cmap="Reds", ec=_INK, linewidths=0.8, zorder=3)
    sectors.set_array(data.tilts)
    sectors.set_clim(*tilts)
    ax.add_collection(sectors)
    middle = (tilts[0] + tilts[1]) / 2
    for (x, y), tilt in zip(data.middles, data.tilts, strict=True):
        colour = "white" if tilt > middle + 1.0 else _INK
        ax.text(x, y, f"{tilt:g}", fontsize=7.5, ha="center", va="center", color=colour, zorder=4)
    # inside the map: above it, equal scales and a bar below push it out of the picture
    ax.set_title(data.title, fontsize=10, loc="left", x=0.02, y=0.94, backgroundcolor="white")
    ax.set_aspect("equal")
    ax.set(xlim=(east.min(), east.max()), ylim=(north.min(), north.max()))
    ax.set_axis_off()


def figure_radio(*panels: RadioData, gains: CurvesData | None = None) -> Figure:
    """Networks side by side with one scale of SINR and one of tilts; then the gains."""
    figure = new_figure(5.4 * len(panels) + (5.0 if gains is not None else 0.0), 6.0)
    widths = [1.1] * len(panels) + ([1.0] if gains is not None else [])
    axes = figure.subplots(1, len(widths), squeeze=False, width_ratios=widths)[0]
    maps = list(axes[: len(panels)])
    tilts = np.concatenate([data.tilts for data in panels])
    for data, ax in zip(panels, maps, strict=True):
        draw_radio(data, ax, tilts=(float(tilts.min()) - 1.0, float(tilts.max()) + 1.0))
    scales = ((maps[0], 0, "SINR (dB)"), (maps[-1], -1, "tilt of a sector (degrees down)"))
    for ax, which, label in scales:
        drawn = ax.collections[which]
        figure.colorbar(drawn, ax=ax, label=label, orientation="horizontal", shrink=0.7, pad=0.02)
    if gains is not None:
        draw_curves(gains, axes[-1], legend=True)
        low, high = axes[-1].get_ylim()
        axes[-1].set_ylim(low, high + 0.4 * (high - low))  # room for the legend
    return figure
