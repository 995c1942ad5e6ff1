"""The network as plot data."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Indices
from edgewise.integrations.cells.environment import RadioEnvironment
from edgewise.integrations.cells.network import USER_HEIGHT
from edgewise.integrations.cells.simulator import Drop
from edgewise.plots.radio import RadioData

_POINTS = 110
"""Points of the map each way."""


def radio_data(system: RadioEnvironment, arms: Indices, *, title: str = "") -> RadioData:
    """Cells, close neighbours, hot spots and SINR with a joint arm (C,).

    For :func:`edgewise.plots.figure_radio`.
    """
    task, network = system.task, system.task.network
    low, high = network.bounds
    east, north = np.meshgrid(*(np.linspace(a, b, _POINTS) for a, b in zip(low, high, strict=True)))
    height = np.full(east.size, USER_HEIGHT)
    points = Drop(network, np.column_stack([east.ravel(), north.ravel(), height]))
    sinr = points.received(task.tilts(arms)).sinr.reshape(east.shape)
    spots = network.hot_spots
    return RadioData(
        places=network.places[:, :2],
        azimuths=network.azimuths,
        tilts=task.tilts(arms),
        relations=np.argwhere(np.triu(task.near | task.near.T)),
        hot_spots=(spots.centres, spots.radii),
        sinr=(east, north, sinr),
        title=title,
    )
