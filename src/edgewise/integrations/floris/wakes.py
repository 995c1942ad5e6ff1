r"""Whose wake may matter to whom, by geometry alone.

A wake is taken for a Gaussian of width :math:`\sigma = 0.35 D + 0.04 x` a distance x downwind. Its
*reach* at a rotor a distance y off its axis is

.. math:: \Big(\frac{D}{2\sigma}\Big)^2
          \exp\Big(-\frac{\max(|y| - D/2,\, 0)^2}{2 \sigma^2}\Big) ,

a rough share of what the wake takes; nothing else rests on its size than an order of wakes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.integrations.floris.farm import WindFarm

_WIDTH, _GROWTH = 1.3, 0.07
"""A turbine within 1.3 D + 0.07 x of another's axis, x downwind of it, may feel its wake: wakes
grow, and steering moves them."""
_BOTH_SIDES = 0.25
"""A turbine may turn to its weaker side too where wakes reach at least so much, as a share of the
stronger side, to be turned away by it."""
_PUSH, _LENGTH = 0.6, 6.0
"""Turning a turbine by 30 degrees pushes its wake aside by 0.6 D (1 - exp(-x / 6 D)), roughly."""


@dataclass(frozen=True, eq=False)
class Wakes:
    """Links from every turbine to those that its wake may matter to."""

    links: Indices
    """(E, 2) turbine upstream and turbine downstream, by the latter."""
    reach: Array
    """(E,)"""
    offsets: Array
    """(E,) diameters by which the turbine downstream stands to the side that positive arms of the
    one upstream turn its wake away from."""
    distances: Array
    """(E,) diameters downwind."""
    sides: Indices
    """(n,) +1 or -1: the sign of the yaw that positive arms stand for, the one that turns the wake
    away from where it reaches most."""
    steers: Mask
    """(n,) whether the turbine wakes any other."""
    both: Mask
    """(n,) whether turning to the other side may help as well."""

    def __post_init__(self) -> None:
        types = {"links": np.int64, "sides": np.int64, "steers": np.bool_, "both": np.bool_}
        for name in ("links", "reach", "offsets", "distances", "sides", "steers", "both"):
            object.__setattr__(self, name, frozen(getattr(self, name), types.get(name, float)))

    def relief(self, turn: float = 1.0) -> Array:
        r"""(E, 2) what turning takes off a wake, with a positive and a negative arm.

        ``turn`` is in units of 30 degrees. Of the Gaussian averaged over the rotor, of variance
        :math:`\sigma^2 + (D/4)^2`. Rough, so it is told to the model as a covariate: powers say
        what it is worth.
        """
        push = turn * _PUSH * (1.0 - np.exp(-self.distances / _LENGTH))
        still, away, back = (
            _felt(self.distances, self.offsets + aside) for aside in (0.0, push, -push)
        )
        return np.column_stack([still - away, still - back])


def wakes_of(farm: WindFarm) -> Wakes:
    """The wakes of a farm.

    >>> row = WindFarm.grid(3, 1, spacing=(5, 1), wind_direction=270, wind_speed=8)
    >>> wakes_of(row).links.tolist(), wakes_of(row).steers.tolist()
    ([[0, 1], [0, 2], [1, 2]], [True, True, False])
    """
    downwind = (farm.along[None] - farm.along[:, None]) / farm.diameter
    left = (farm.across[None] - farm.across[:, None]) / farm.diameter
    felt = (downwind > 1e-6) & (np.abs(left) < _WIDTH + _GROWTH * downwind)
    last, first = np.nonzero(felt.T)
    reach = reach_of(downwind[first, last], left[first, last])
    n = farm.n_turbines
    # a positive yaw turns the wake to the right; straight behind, either side will do
    on_left = left[first, last] >= -1e-9
    to_left = np.bincount(first, reach * on_left, minlength=n)
    to_right = np.bincount(first, reach * ~on_left, minlength=n)
    sides = np.where(to_left >= to_right, 1, -1)
    stronger, weaker = np.maximum(to_left, to_right), np.minimum(to_left, to_right)
    steers = np.bincount(first, minlength=n) > 0
    return Wakes(
        links=np.column_stack([first, last]),
        reach=reach,
        offsets=left[first, last] * sides[first],
        distances=downwind[first, last],
        sides=sides,
        steers=steers,
        both=steers & (weaker > _BOTH_SIDES * stronger),
    )


def reach_of(downwind: Array, across: Array) -> Array:
    """How much a wake reaches, at distances in diameters."""
    width = _width(downwind)
    beside = np.maximum(np.abs(across) - 0.5, 0.0) / width
    reach: Array = (0.5 / width) ** 2 * np.exp(-(beside**2) / 2)
    return reach


def _felt(downwind: Array, across: Array) -> Array:
    """The Gaussian, averaged over a rotor."""
    width = _width(downwind)
    felt: Array = (0.5 / width) ** 2 * np.exp(-(across**2) / (2 * (width**2 + 0.25**2)))
    return felt


def _width(downwind: Array) -> Array:
    width: Array = 0.35 + 0.04 * downwind
    return width
