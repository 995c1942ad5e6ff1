"""A wind farm in a steady wind: where the turbines stand and how the wind blows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from edgewise.base.arrays import Array, frozen
from edgewise.errors import InvalidArgument


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
        object.__setattr__(self, "positions", frozen(places, float))

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
