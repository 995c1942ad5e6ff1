"""Farms by a word: regular, random, or a file."""

from __future__ import annotations

import math
from pathlib import Path

from edgewise.errors import InvalidArgument
from edgewise.integrations.floris.farm import WindFarm

_SPACING = (7.0, 5.0)
"""Diameters between columns and between rows of a regular farm."""


def farm_of(
    layout: str,
    *,
    n_turbines: int,
    seed: int,
    wind_direction: float | None = None,
    wind_speed: float | None = None,
    wake: str | None = None,
) -> WindFarm:
    """The farm that ``layout`` names: "regular" (a grid), "random" (by its seed), or a file's.

    What is None is as in the file; otherwise 8 m/s from 273 (regular) or 270 degrees, and "gch".
    """
    speed, model = 8.0 if wind_speed is None else wind_speed, wake or "gch"
    if layout == "random":
        return WindFarm.random(
            n_turbines,
            seed,
            wind_direction=270.0 if wind_direction is None else wind_direction,
            wind_speed=speed,
            wake=model,
        )
    if layout == "regular":
        return WindFarm.grid(
            *_grid(n_turbines),
            spacing=_SPACING,
            wind_direction=273.0 if wind_direction is None else wind_direction,
            wind_speed=speed,
            wake=model,
        )
    if not Path(layout).suffix:
        raise InvalidArgument(
            f"layout is {layout!r}; it must be regular, random, or a file: a .csv with the columns "
            "x and y, or a FLORIS file (.yaml)"
        )
    return WindFarm.from_file(
        layout, wind_direction=wind_direction, wind_speed=wind_speed, wake=wake
    )


def _grid(n_turbines: int) -> tuple[int, int]:
    """Columns and rows of the most nearly square grid."""
    rows = next(k for k in range(math.isqrt(n_turbines), 0, -1) if n_turbines % k == 0)
    columns = n_turbines // rows
    if n_turbines > 3 and columns > 3 * rows:
        side = math.isqrt(n_turbines)
        raise InvalidArgument(
            f"{n_turbines} turbines make no regular grid but a line; try {side**2} or "
            f"{side * (side + 1)}, or layout random"
        )
    return columns, rows
