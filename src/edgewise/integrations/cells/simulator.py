"""CRRM itself: which cell serves a user, how well, and what rate the user gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices
from edgewise.base.extras import required
from edgewise.errors import InvalidArgument
from edgewise.integrations.cells.network import USER_HEIGHT, RadioNetwork

TESTED = "2.0.2"
"""The version of CRRM that the tilt is fitted into and tested with."""
_CARRIER, _BANDWIDTH = 3.5, 20.0
"""Gigahertz and megahertz."""


@dataclass(frozen=True, eq=False)
class Reception:
    """What users get."""

    cell: Indices
    """(U,) that serves them: the one received best."""
    power: Array
    """(U, C) received from every cell, in watts."""
    sinr: Array
    """(U,) signal over interference and noise, in decibel."""
    rate: Array
    """(U,) megabits per second."""

    @property
    def interference(self) -> Array:
        """(U, C) the share of what disturbs a user that comes from each cell; 0 of its own."""
        others = self.power.copy()
        np.put_along_axis(others, self.cell[:, None], 0.0, axis=1)
        shares: Array = others / others.sum(axis=1, keepdims=True)
        return shares

    @property
    def second(self) -> Indices:
        """(U,) the cell received next best."""
        found: Indices = self.interference.argmax(axis=1)
        return found


class Drop:
    """Users at fixed places, in CRRM; receptions are computed tilt by tilt.

    CRRM computes path loss (3GPP urban macro, no line of sight), received powers, attachment, SINR,
    CQI, MCS and throughput, in which the users of a cell share its band (proportional fair). Its
    antennas cannot be tilted, so its antenna gain is replaced by the network's
    :class:`~edgewise.integrations.cells.TiltPattern`.
    """

    def __init__(self, network: RadioNetwork, users: ArrayLike) -> None:
        self.network = network
        self.users = np.asarray(users, dtype=float)
        crrm = imported()
        parameters = crrm.Parameters(
            cell_locations=network.places,
            ue_initial_locations=self.users,
            pathloss_model_name="UMa",
            LOS=False,
            fc_GHz=_CARRIER,
            bw_MHz=_BANDWIDTH,
            p_W=network.power,
            smart_update=False,
        )
        self._simulator = crrm.Simulator(parameters)
        self._simulator.d.update()
        self._antennas = _Antennas(network, self._simulator.d.data)
        self._simulator.g.antenna_gain = self._antennas
        loss = self._simulator.g.pathgain_function(
            *self._simulator.d.data[:2], self.users, network.places
        )
        self._simulator.g.pathgain_function = lambda *_: loss  # users stay where they are

    def received(self, tilts: ArrayLike) -> Reception:
        """What users get with tilts (C,) in degrees below the horizon."""
        self._antennas.tilts = _checked(tilts, self.network.n_cells)
        simulator = self._simulator
        simulator.g.update()
        simulator.tp.update()
        return Reception(
            simulator.a.data.copy(),
            simulator.rsrp.data[:, :, 0],  # CRRM makes a new one for every tilt
            10.0 * np.log10(simulator.sinr.data[:, 0]),
            simulator.tp.data[:, 0].copy(),
        )


class _Antennas:
    """The antenna gain that CRRM asks for, of tilted antennas.

    A cell's column depends on its own tilt only, and is remembered: searches change few tilts.
    """

    def __init__(self, network: RadioNetwork, geometry: list[Array]) -> None:
        flat, _, direction = geometry
        self.pattern = network.pattern
        self.tilts = np.zeros(network.n_cells)
        # CRRM counts directions from the east, counterclockwise
        self._sideways = self.pattern.sideways(90.0 - np.rad2deg(direction) - network.azimuths)
        above = network.places[:, 2] - USER_HEIGHT
        self._below = np.rad2deg(np.arctan2(above, flat))
        self._columns: dict[tuple[int, float], Array] = {}

    def __call__(self, _: Array) -> Array:
        """(U, C) gains as factors."""
        return np.column_stack([self._column(c, t) for c, t in enumerate(self.tilts.tolist())])

    def _column(self, cell: int, tilt: float) -> Array:
        if (cell, tilt) not in self._columns:
            upright = self.pattern.upright(self._below[:, cell], tilt)
            gain = self.pattern.gain(self._sideways[:, cell], upright)
            self._columns[cell, tilt] = 10.0 ** (gain / 10.0)
        return self._columns[cell, tilt]


def imported() -> Any:
    """CRRM, in the version that was tested: the tilt is fitted into its inside."""
    crrm = required("CRRM", "simulating a radio network needs CRRM", "cells")
    found = crrm.get_version()
    if found != TESTED:
        raise InvalidArgument(
            f"CRRM is version {found}, and tilts are fitted into the inside of {TESTED}, the one "
            f"tested; install it with: pip install 'CRRM=={TESTED}'"
        )
    return crrm


def _checked(tilts: ArrayLike, n_cells: int) -> Array:
    values = np.asarray(tilts, dtype=float)
    if values.shape != (n_cells,) or not np.isfinite(values).all():
        raise InvalidArgument(
            f"tilts have shape {values.shape}; give one per cell, ({n_cells},), in degrees below "
            "the horizon, all finite"
        )
    return values
