"""A wind farm in a steady wind: where the turbines stand and how the wind blows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, frozen
from edgewise.base.choice import pick
from edgewise.base.randomness import generator
from edgewise.errors import InvalidArgument
from edgewise.formats.files import FilePath, blaming
from edgewise.integrations.floris.models import WAKES
from edgewise.integrations.places import closest_pair

_FULLEST = 0.4
"""Share of the ground that discs of the least distance may cover: fuller ground is hard to fill."""


@dataclass(frozen=True, eq=False, repr=False)
class WindFarm:
    """Turbines of one type in a steady wind.

    Parameters
    ----------
    positions
        (n, 2) metres east and north.
    wind_direction
        Where the wind comes from, in degrees clockwise from north: 270 is from the west.
    wind_speed
        Metres per second.
    turbulence
        Turbulence intensity of the free wind.
    turbine
        Name of the type in FLORIS' turbine library.
    diameter
        Rotor diameter of that type in metres.
    wake
        How FLORIS computes wakes: "gch", "cc", "jensen" or "empirical gauss"
        (:data:`~edgewise.integrations.floris.WAKES`); "file": as its input file says.
    source
        What a FLORIS input file says, turbines and all; positions, wind and, unless it is "file",
        the wake model are replaced by those above.

    Examples
    --------
    >>> WindFarm.grid(5, 5, spacing=(7.0, 5.0), wind_direction=273.0, wind_speed=8.0)
    WindFarm(25 turbines, 8 m/s from 273 degrees)
    """

    positions: Array
    _: KW_ONLY
    wind_direction: float
    wind_speed: float
    turbulence: float = 0.06
    turbine: str = "nrel_5MW"
    diameter: float = 126.0
    wake: str = "gch"
    source: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        places = np.asarray(self.positions, dtype=float)
        if places.ndim != 2 or places.shape[1] != 2 or not len(places):
            raise InvalidArgument(
                f"positions have shape {places.shape}; give metres east and north of every "
                "turbine, shape (n_turbines, 2)"
            )
        numbers = (self.wind_direction, self.wind_speed, self.turbulence, self.diameter)
        if not (np.isfinite(places).all() and np.isfinite(numbers).all()):
            raise InvalidArgument("positions and wind must be finite numbers; check for NaN")
        if min(numbers[1:]) <= 0:
            raise InvalidArgument(
                f"wind_speed is {self.wind_speed}, turbulence {self.turbulence} and diameter "
                f"{self.diameter}; all must be above 0"
            )
        wake = self.wake.replace("_", " ").replace("-", " ")
        if wake != "file" or self.source is None:
            pick("wake model", wake, WAKES)
        object.__setattr__(self, "wake", wake)
        _refuse_crowded(places, self.diameter)
        object.__setattr__(self, "positions", frozen(places, float))

    @classmethod
    def random(
        cls,
        n_turbines: int,
        seed: int,
        *,
        spacing: float = 5.0,
        least: float = 3.0,
        wind_direction: float = 270.0,
        wind_speed: float = 8.0,
        wake: str = "gch",
        diameter: float = 126.0,
    ) -> WindFarm:
        """Turbines dropped on a square one by one, each at least ``least`` diameters from others.

        The square has the area of ``n_turbines`` squares of ``spacing`` diameters; the same seed
        gives the same farm.
        """
        if n_turbines < 1 or not 0.0 < least**2 * np.pi / 4 < _FULLEST * spacing**2:
            raise InvalidArgument(
                f"{n_turbines} turbines, {least:g} diameters apart at least and {spacing:g} on the "
                "average, cannot be dropped on a square one by one; ask for one turbine at least, "
                f"and for a least distance below {np.sqrt(4 * _FULLEST / np.pi):.2f} of the spacing"
            )
        rng, side = generator(seed), spacing * np.sqrt(n_turbines)
        places: list[Array] = []
        while len(places) < n_turbines:
            place = rng.uniform(0.0, side, 2)
            if all(np.hypot(*(place - other)) >= least for other in places):
                places.append(place)
        return cls(
            diameter * np.array(places),
            wind_direction=wind_direction,
            wind_speed=wind_speed,
            diameter=diameter,
            wake=wake,
        )

    @classmethod
    def from_file(
        cls,
        path: FilePath,
        *,
        wind_direction: float | None = None,
        wind_speed: float | None = None,
        wake: str | None = None,
    ) -> WindFarm:
        """Read a ``.csv`` with the columns x and y in metres, or a FLORIS file (``.yaml``).

        What is None is as the FLORIS file says, and otherwise 8 m/s from 270 degrees and "gch".
        """
        from edgewise.integrations.floris.files import read_farm

        given = {"wind_direction": wind_direction, "wind_speed": wind_speed, "wake": wake}
        known: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        found = read_farm(path, one_wind=wind_direction is None or wind_speed is None)
        with blaming(path):
            farm = cls(**found)
        return replace(farm, **known)

    @classmethod
    def grid(
        cls,
        columns: int,
        rows: int,
        *,
        spacing: tuple[float, float],
        wind_direction: float,
        wind_speed: float,
        diameter: float = 126.0,
        wake: str = "gch",
    ) -> WindFarm:
        """``columns`` from west to east, ``rows`` from south to north, ``spacing`` in diameters.

        Turbines are numbered column by column, from the south-west corner.
        """
        east, north = np.meshgrid(np.arange(columns), np.arange(rows), indexing="ij")
        steps = np.column_stack([east.ravel(), north.ravel()])
        return cls(
            steps * np.array(spacing) * diameter,
            wind_direction=wind_direction,
            wind_speed=wind_speed,
            diameter=diameter,
            wake=wake,
        )

    @property
    def n_turbines(self) -> int:
        """How many turbines."""
        return len(self.positions)

    @property
    def downwind(self) -> Array:
        """(2,) unit vector the wind blows along."""
        angle = np.deg2rad(270.0 - self.wind_direction)
        return np.array([np.cos(angle), np.sin(angle)])

    @property
    def along(self) -> Array:
        """(n,) metres downwind."""
        distance: Array = self.positions @ self.downwind
        return distance

    @property
    def across(self) -> Array:
        """(n,) metres to the left, looking downwind."""
        east, north = self.downwind
        distance: Array = self.positions @ np.array([-north, east])
        return distance

    def __repr__(self) -> str:
        return (
            f"WindFarm({self.n_turbines} turbines, {self.wind_speed:g} m/s from "
            f"{self.wind_direction:g} degrees)"
        )


def _refuse_crowded(places: Array, diameter: float) -> None:
    if len(places) < 2:
        return
    first, second, distance = closest_pair(places)
    if distance < diameter:
        here, there = (f"{i} (at {places[i, 0]:g}, {places[i, 1]:g})" for i in (first, second))
        raise InvalidArgument(
            f"turbines {here} and {there} stand {distance:.0f} m apart, closer than a rotor "
            f"({diameter:g} m); move one, and check that positions are in metres"
        )
