"""Who stands in whose wake, by geometry alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from edgewise.base.arrays import Indices, frozen
from edgewise.integrations.floris.farm import WindFarm

_EXPANSION = 0.05
"""Growth of the wake's radius per metre, offshore (Jensen 1983; Katic et al. 1986)."""


@dataclass(frozen=True, eq=False)
class Wakes:
    """A forest: every waked turbine hangs from the nearest turbine upstream that wakes it."""

    parents: Indices
    """(n,) the turbine a turbine hangs from; -1 in the free wind."""
    depths: Indices
    """(n,) wakes between a turbine and the free wind."""
    sides: Indices
    """(n,) +1 or -1: the sign of the yaw that turns a turbine's wake away from the nearest turbine
    behind it; 0 if it wakes none."""

    def __post_init__(self) -> None:
        for name in ("parents", "depths", "sides"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int64))

    @cached_property
    def beyond(self) -> tuple[Indices, ...]:
        """For every turbine, those two or more wakes further down the same line."""
        reached: list[list[int]] = [[] for _ in self.parents]
        for turbine, parent in enumerate(self.parents.tolist()):
            above = int(self.parents[parent]) if parent >= 0 else -1
            while above >= 0:
                reached[above].append(turbine)
                above = int(self.parents[above])
        return tuple(frozen(turbines, np.int64) for turbines in reached)


def wakes_of(farm: WindFarm, *, expansion: float = _EXPANSION) -> Wakes:
    r"""The wake forest of a farm.

    Turbine j, a distance x downwind of i, is waked by i when the wake, of radius
    :math:`D/2 + kx`, touches its rotor: the distance across the wind is below :math:`D + kx`.

    >>> row = WindFarm.grid(3, 1, spacing=(5, 1), wind_direction=270, wind_speed=8)
    >>> wakes_of(row).parents.tolist(), wakes_of(row).depths.tolist()
    ([-1, 0, 1], [0, 1, 2])
    """
    along, across, diameter = farm.along, farm.across, farm.diameter
    parents = np.full(farm.n_turbines, -1)
    depths = np.zeros(farm.n_turbines, np.int64)
    sides = np.zeros(farm.n_turbines, np.int64)
    for turbine in np.argsort(along, kind="stable"):
        distance = along[turbine] - along
        offset = across[turbine] - across
        waking = (distance > 1e-6 * diameter) & (np.abs(offset) < diameter + expansion * distance)
        if not waking.any():
            continue
        parent = int(np.where(waking, distance, np.inf).argmin())
        parents[turbine], depths[turbine] = parent, depths[parent] + 1
        if sides[parent] == 0:  # turbines are visited from upwind: this is its nearest
            sides[parent] = _away(offset[parent], diameter)
    return Wakes(parents, depths, sides)


def _away(offset: float, diameter: float) -> int:
    """A positive yaw turns the wake to the right; in line, either side will do."""
    return -1 if offset < -1e-6 * diameter else 1
