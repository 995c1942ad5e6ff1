"""A farm that is measured: yaw angles in, noisy powers out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.instance.objective import checked_joint_arm
from edgewise.base.arrays import Array
from edgewise.integrations.floris.simulator import Simulator
from edgewise.integrations.floris.yaw import YawTask


@dataclass(frozen=True, eq=False)
class Deployment:
    """One round as it was: what was set, what was measured, what was true."""

    yaws: Array
    """(n,) degrees."""
    measured: Array
    """(n,) megawatts, with noise."""
    powers: Array
    """(n,) megawatts; known only because the farm is simulated."""


class FlorisEnvironment:
    """Deploys joint arms in FLORIS and measures every turbine's power with noise.

    Pass it to :func:`edgewise.identify`. It keeps a record of all rounds.

    Parameters
    ----------
    task
        Farm, arms and rewards; the noise is the problem's.
    rng
        Generator or seed of the noise.
    """

    def __init__(self, task: YawTask, *, rng: np.random.Generator | int | None = None) -> None:
        self.task = task
        self.simulator = Simulator(task.farm)
        self._rng = np.random.default_rng(rng)
        self._record: list[Deployment] = []

    @property
    def record(self) -> tuple[Deployment, ...]:
        """All rounds so far."""
        return tuple(self._record)

    def __call__(self, arms: ArrayLike) -> Array:
        """(m,) rewards of a joint arm (n + 1,)."""
        problem = self.task.problem
        yaws = self.task.yaws(checked_joint_arm(arms, problem.graph.n_nodes, problem.n_arms))
        powers = self.simulator.powers(yaws)[0]
        measured = powers + problem.stated_noise * self._rng.standard_normal(len(powers))
        self._record.append(Deployment(yaws, measured, powers))
        return self.task.rewards(measured)
