"""FLORIS itself: powers, flow and its own optimiser."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, frozen
from edgewise.base.extras import required
from edgewise.errors import InvalidArgument
from edgewise.integrations.floris.farm import WindFarm
from edgewise.integrations.floris.models import WAKES


@dataclass(frozen=True, eq=False)
class Flow:
    """Wind speed at hub height on a grid."""

    east: Array
    """(h, w) metres."""
    north: Array
    """(h, w) metres."""
    speed: Array
    """(h, w) metres per second."""


@dataclass(frozen=True, eq=False)
class Simulator:
    """A farm in FLORIS.

    Needs ``edgewise[wind]``; FLORIS is imported when something is first computed.
    """

    farm: WindFarm

    @cached_property
    def _model(self) -> Any:
        return self._fresh_model()

    def powers(self, yaws: ArrayLike) -> Array:
        """(R, n) megawatts of every turbine, for R settings of yaw angles (R, n) in degrees."""
        settings = np.atleast_2d(np.asarray(yaws, dtype=float))
        if settings.ndim != 2 or settings.shape[1] != self.farm.n_turbines:
            raise InvalidArgument(
                f"yaw angles have shape {np.shape(yaws)}; one per turbine is needed, "
                f"(..., {self.farm.n_turbines})"
            )
        if not np.isfinite(settings).all():
            raise InvalidArgument("some yaw angles are not finite; give degrees")
        model = self._model
        if model.n_findex != len(settings):  # slow: FLORIS reads its turbine library again
            self._set_wind(model, len(settings))
        model.set_operation(yaw_angles=settings)
        model.run()
        return np.asarray(model.get_turbine_powers(), dtype=float) / 1e6

    def farm_power(self, yaws: ArrayLike) -> Array:
        """(R,) megawatts of the whole farm."""
        total: Array = self.powers(yaws).sum(axis=1)
        return total

    def optimised(self, lowest: float, highest: float) -> Array:
        """(n,) yaw angles by FLORIS' own optimiser (serial refine), which knows the wake model."""
        module = _imported("floris.optimization.yaw_optimization.yaw_optimizer_sr")
        model = self._fresh_model()
        solver = module.YawOptimizationSR(
            model, minimum_yaw_angle=float(lowest), maximum_yaw_angle=float(highest)
        )
        found = solver.optimize(print_progress=False)
        return np.array(found["yaw_angles_opt"].iloc[0], dtype=float)

    def flow(self, yaws: ArrayLike, *, resolution: int = 250) -> Flow:
        """Wind speed at hub height around the farm, ``resolution`` points each way."""
        model = self._fresh_model()
        model.set_operation(yaw_angles=np.atleast_2d(np.asarray(yaws, dtype=float)))
        low, high = self.farm.positions.min(axis=0), self.farm.positions.max(axis=0)
        before, behind = 2.5 * self.farm.diameter, 5.0 * self.farm.diameter
        east, north = np.meshgrid(
            np.linspace(low[0] - before, high[0] + behind, resolution),
            np.linspace(low[1] - before, high[1] + before, resolution),
        )
        height = np.full(east.size, float(model.core.farm.hub_heights.flat[0]))
        speed = model.sample_flow_at_points(east.ravel(), north.ravel(), height)
        return Flow(
            frozen(east, float), frozen(north, float), frozen(speed.reshape(east.shape), float)
        )

    def _fresh_model(self) -> Any:
        floris = _imported("floris")
        settings = self._input(floris.FlorisModel.get_defaults())
        settings["farm"] |= {
            "layout_x": self.farm.positions[:, 0].tolist(),
            "layout_y": self.farm.positions[:, 1].tolist(),
        }
        model = floris.FlorisModel(settings)
        self._set_wind(model, 1)
        return model

    def _input(self, defaults: dict[str, Any]) -> dict[str, Any]:
        """The file's input, or FLORIS' defaults with the type of turbine; and the wake model."""
        if self.farm.source is None:
            settings = defaults
            settings["farm"]["turbine_type"] = [self.farm.turbine]
        else:
            settings = copy.deepcopy(dict(self.farm.source))
        if self.farm.wake != "file":
            wake = settings["wake"] = copy.deepcopy(defaults["wake"])
            for name, value in WAKES[self.farm.wake].items():
                (wake if name in wake else wake["model_strings"])[name] = value
        return settings

    def _set_wind(self, model: Any, n_settings: int) -> None:
        model.set(
            wind_directions=np.full(n_settings, self.farm.wind_direction),
            wind_speeds=np.full(n_settings, self.farm.wind_speed),
            turbulence_intensities=np.full(n_settings, self.farm.turbulence),
        )


def _imported(name: str) -> Any:
    return required(name, "simulating a wind farm needs FLORIS", "wind")
