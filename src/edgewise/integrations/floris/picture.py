"""The farm as plot data."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from edgewise.integrations.floris.simulator import Flow
from edgewise.integrations.floris.yaw import YawTask
from edgewise.plots.farm import FarmData


def farm_data(
    task: YawTask, yaws: ArrayLike, *, title: str = "", flow: Flow | None = None
) -> FarmData:
    """Turbines, wake graph and yaw angles (n,) in degrees, for :func:`edgewise.plots.figure_farm`.

    ``flow`` is what :meth:`Simulator.flow` computes for the same angles.
    """
    return FarmData(
        positions=task.farm.positions,
        yaws=np.asarray(yaws, dtype=float),
        wind_direction=task.farm.wind_direction,
        diameter=task.farm.diameter,
        wakes=task.wakes.links,
        title=title,
        flow=None if flow is None else (flow.east, flow.north, flow.speed),
    )
