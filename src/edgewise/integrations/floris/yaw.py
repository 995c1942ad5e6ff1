"""Choosing yaw angles as an edgewise problem: nodes, arcs, arms, and what is measured."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.core.model.problem import Problem
from edgewise.core.strategies.thompson import Thompson
from edgewise.errors import InvalidArgument, IsolatedNodes
from edgewise.integrations.floris.farm import WindFarm
from edgewise.integrations.floris.wakes import Wakes, wakes_of
from edgewise.integrations.ordered import OrderedSettings
from edgewise.network.graph import Graph

ANGLES = tuple(range(-30, 31, 5))
"""Default yaw angles in degrees; positive ones turn the wake away from where it reaches most."""
EXPLORE = Thompson(scale=2.0, first=16, phase=8, even=0.0)
"""How a farm is explored: a design of few angles first, then posterior sampling."""
_NEW = 0.05
"""A covariate must differ from all combinations of others by more, in root sum square."""


@dataclass(frozen=True, eq=False)
class YawTask:
    r"""Which yaw angle should every turbine have?

    Nodes are the turbines, arms yaw angles. The power of every turbine is measured, and it has a
    level of its own,

    .. math:: P_j = a_j + x(u_j)^\top\beta_j + \sum_{i \to j} x(u_i)^\top\theta_{ij} + \text{noise},

    with an arc from every turbine whose wake may matter (:func:`wakes_of`), and a parabola to each
    side of the wind as x (:class:`~edgewise.integrations.ordered.OrderedSettings`). Wakes differ:
    every arc has parameters of its own, shrunk towards what geometry makes of it (covariates: a
    rough guess what a full and half a turn do to its reach), as far as the powers say
    (``pooling="partial"``). Turbines that wake nobody face the wind.

    Build one with :meth:`of`.
    """

    farm: WindFarm
    wakes: Wakes
    settings: OrderedSettings
    """Angles in degrees, to one side only where no turbine may turn to its other."""
    problem: Problem

    @classmethod
    def of(
        cls, farm: WindFarm, *, angles: Sequence[float] = ANGLES, wakes: Wakes | None = None
    ) -> YawTask:
        """Arcs, arms and candidates of a farm.

        Parameters
        ----------
        farm
            Layout and wind.
        angles
            Yaw angles in degrees, ascending, 0 among them; positive ones turn the wake away from
            where it reaches most.
        wakes
            Who may feel whose wake; by default by geometry, :func:`wakes_of`.
        """
        settings = OrderedSettings(np.asarray(angles, dtype=float))
        found = wakes_of(farm) if wakes is None else wakes
        if not found.both.any():
            settings = OrderedSettings(settings.values[settings.values >= 0.0])
        if not len(found.links):
            raise InvalidArgument(
                f"no turbine of {farm!r} stands in the wake of another, so all should face the "
                "wind; choose another wind_direction or layout"
            )
        problem = Problem(
            _graph(farm.n_turbines, found),
            settings.features,
            noise="estimate",
            candidates=settings.candidates(above=found.steers, below=found.both),
            arm_labels=[f"{angle:g} deg" for angle in settings.values],
            measured="node",
            levels="channel",
            pooling="partial",
            interaction=False,
            baseline=np.full(farm.n_turbines, settings.now),
        )
        return cls(farm, found, settings, problem)

    @property
    def facing_wind(self) -> Indices:
        """(n,) the joint arm with zero yaw everywhere."""
        return frozen(np.full(self.farm.n_turbines, self.settings.now), np.int64)

    def yaws(self, arms: ArrayLike) -> Array:
        """(..., n) yaw angles in degrees, FLORIS' sign, of joint arms (..., n)."""
        angles: Array = self.settings.values[np.asarray(arms)] * self.wakes.sides
        return angles


def _graph(n_turbines: int, wakes: Wakes) -> Graph:
    known = _covariates(wakes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsolatedNodes)  # alone in the wind: its own term is left
        return Graph(
            n_nodes=n_turbines,
            edges=wakes.links,
            directed=True,
            covariates=np.column_stack(list(known.values())) if known else None,
            covariate_names=tuple(known) or None,
            node_labels=tuple(f"t{i}" for i in range(n_turbines)),
        )


def _covariates(wakes: Wakes) -> dict[str, Array]:
    """What turning does to the reach of every wake, roughly, in units of its spread over wakes.

    To each side that some turbine may turn to: the relief of a full turn, and by how much half a
    turn brings more than half of it. Left out where it says nothing new, as in a short row.
    """
    sides = ("away", "back") if wakes.both.any() else ("away",)
    full = wakes.relief()
    bend = wakes.relief(0.5) - 0.5 * full
    rows = {f"turned {side}": column for side, column in zip(sides, full.T, strict=False)}
    rows |= {f"half {side}": column for side, column in zip(sides, bend.T, strict=False)}
    table, known = np.ones((len(full), 1)), {}
    for name, column in rows.items():
        scaled = column / max(float(column.std()), 1e-9)
        wider = np.column_stack([table, scaled])
        if len(wider) > wider.shape[1] and np.linalg.svd(wider, compute_uv=False)[-1] > _NEW:
            table, known[name] = wider, scaled
    return known
