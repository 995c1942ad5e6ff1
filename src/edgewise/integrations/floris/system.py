"""A farm that can be measured: yaw angles in, powers out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument
from edgewise.integrations.floris.simulator import Simulator
from edgewise.integrations.floris.yaw import YawTask


@dataclass(frozen=True, eq=False)
class FlorisSystem:
    """A farm in FLORIS whose turbines' powers are measured with noise.

    It is a :class:`~edgewise.integrations.running.System`: methods are tried on it.
    """

    task: YawTask
    noise: float = 0.1
    """Deviation of one measured power, in megawatts."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.noise < np.inf:
            raise InvalidArgument(
                f"noise is {self.noise} MW; the deviation of a measured power is at least 0"
            )

    @cached_property
    def simulator(self) -> Simulator:
        """FLORIS."""
        return Simulator(self.task.farm)

    @property
    def problem(self) -> Problem:
        """The task's."""
        return self.task.problem

    @property
    def today(self) -> Indices:
        """(n,) zero yaw."""
        return self.task.facing_wind

    def means(self, arms: Indices) -> Array:
        """(R, n) megawatts of every turbine for joint arms (R, n)."""
        return self.simulator.powers(self.task.yaws(arms))

    def measured(self, arms: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
        """(R, n) powers with noise, and without."""
        means = self.means(arms)
        return means + self.noise * rng.standard_normal(means.shape), means

    def worths(self, totals: Array) -> Array:
        """Megawatts of the farm."""
        return totals
