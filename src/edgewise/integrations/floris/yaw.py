"""Choosing yaw angles as an edgewise problem: nodes, edges, kinds, arms and rewards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument
from edgewise.integrations.floris.farm import WindFarm
from edgewise.integrations.floris.wakes import Wakes, wakes_of
from edgewise.network.graph import Graph

ANGLES = tuple(2.5 * step for step in range(13))
"""Default yaw angles: away from the turbine behind, 0 to 30 degrees."""


@dataclass(frozen=True, eq=False)
class YawTask:
    r"""Which yaw angle should every turbine have?

    Nodes are the turbines and one more, *air*, which has a single arm. Arms are yaw angles,
    counted to the side that turns the wake away from the turbine behind, with the features
    :math:`(1, y, y^2, \dots)`. All edges are directed. Their rewards, in megawatts:

    - *free* (air to turbine): the power of a turbine in the free wind;
    - *wake 1*, *wake 2*, ... (turbine to the next one behind it, by wake depth): the power of the
      one behind;
    - *beyond 0*, *beyond 1*, ... (turbine to air, by the turbine's own depth): the power of all
      turbines two or more wakes further down the line. A yaw angle is felt there too, and no
      edge between two neighbours can show it.

    Every turbine's power is the reward of one *free* or *wake* edge. Where nodes draw their arms
    independently, the tables of all kinds together are the additive approximation of the farm's
    power, up to a constant: differences between allocations are estimates of differences in power.

    Build one with :meth:`of`.
    """

    farm: WindFarm
    wakes: Wakes
    angles: Array
    """(K,) degrees away from the turbine behind."""
    problem: Problem
    sums: Array
    """(m, n) which turbines' power makes up the reward of each edge."""

    @classmethod
    def of(
        cls,
        farm: WindFarm,
        *,
        angles: Sequence[float] = ANGLES,
        degree: int = 2,
        noise: float = 0.1,
        wakes: Wakes | None = None,
    ) -> YawTask:
        """Wake graph, arms and candidates of a farm; turbines that wake nobody face the wind.

        Parameters
        ----------
        farm
            Layout and wind.
        angles
            Yaw angles in degrees, 0 among them; negative ones turn the wake towards the
            turbine behind.
        degree
            Of the polynomial features.
        noise
            Deviation of one measured power, in megawatts.
        wakes
            Who wakes whom; by default by geometry, :func:`wakes_of`.
        """
        degrees = _checked_angles(angles, degree)
        forest = wakes_of(farm) if wakes is None else wakes
        measured = tuple(_measured(forest))
        sums = np.zeros((len(measured), farm.n_turbines))
        for row, edge in zip(sums, measured, strict=True):
            row[edge.turbines] = 1.0
        problem = Problem(
            _graph(farm.n_turbines, measured),
            features(degrees, degree),
            noise=noise,
            candidates=_candidates(forest, degrees),
            arm_labels=[f"{angle:g} deg" for angle in degrees],
        )
        return cls(farm, forest, frozen(degrees, float), problem, frozen(sums, float))

    @property
    def facing_wind(self) -> Indices:
        """(n + 1,) the joint arm with zero yaw everywhere."""
        zero = int(np.flatnonzero(self.angles == 0.0)[0])
        return np.full(self.problem.graph.n_nodes, zero)

    @property
    def kinds(self) -> Indices:
        """(m,) kind of every edge; those of the turbines' own power come first, in their order."""
        return self.problem.graph.kind_of_edge

    def yaws(self, arms: ArrayLike) -> Array:
        """(..., n) yaw angles in degrees, FLORIS' sign, of joint arms (..., n + 1)."""
        chosen = self.angles[np.asarray(arms)[..., : self.farm.n_turbines]]
        signed: Array = np.where(self.wakes.sides < 0, -chosen, chosen)
        return signed

    def rewards(self, powers: ArrayLike) -> Array:
        """(..., m) rewards in ``graph.arcs`` order from the powers (..., n) of the turbines."""
        sums: Array = np.asarray(powers, dtype=float) @ self.sums.T
        return sums


def features(angles: ArrayLike, degree: int) -> Array:
    """(K, degree + 1) polynomial features of yaw angles, in units of 30 degrees.

    >>> features([0.0, 30.0], 2).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    """
    return np.vander(np.asarray(angles, dtype=float) / 30.0, degree + 1, increasing=True)


class _Measured(NamedTuple):
    """An edge and the turbines whose power is its reward."""

    kind: tuple[str, int]
    ends: tuple[int, int]
    turbines: list[int]


def _measured(wakes: Wakes) -> Iterator[_Measured]:
    air = len(wakes.parents)
    for turbine, (parent, depth) in enumerate(zip(wakes.parents, wakes.depths, strict=True)):
        if parent < 0:
            yield _Measured(("free", 0), (air, turbine), [turbine])
        else:
            yield _Measured(("wake", int(depth)), (int(parent), turbine), [turbine])
    for turbine, beyond in enumerate(wakes.beyond):
        if len(beyond):
            depth = int(wakes.depths[turbine])
            yield _Measured(("beyond", depth), (turbine, air), beyond.tolist())


def _graph(n_turbines: int, measured: Sequence[_Measured]) -> Graph:
    order = {"free": 0, "wake": 1, "beyond": 2}
    kinds = sorted({edge.kind for edge in measured}, key=lambda kind: (order[kind[0]], kind[1]))
    return Graph(
        n_nodes=n_turbines + 1,
        edges=np.array([edge.ends for edge in measured]),
        directed=True,
        kinds=np.array([kinds.index(edge.kind) for edge in measured]),
        node_labels=(*(f"t{i}" for i in range(n_turbines)), "air"),
        kind_labels=tuple(name if name == "free" else f"{name} {depth}" for name, depth in kinds),
    )


def _candidates(wakes: Wakes, angles: Array) -> Mask:
    """Air, and turbines that wake nobody, have the arm 0 degrees only."""
    steers = np.append(wakes.sides != 0, False)
    mask: Mask = steers[:, None] | (angles == 0.0)[None, :]
    return mask


def _checked_angles(angles: Sequence[float], degree: int) -> Array:
    degrees = np.asarray(angles, dtype=float)
    if degrees.ndim != 1 or not np.isfinite(degrees).all() or len(set(degrees)) != len(degrees):
        raise InvalidArgument("angles must be distinct finite numbers, e.g. range(0, 31, 5)")
    if not (degrees == 0.0).any():
        raise InvalidArgument(
            "0 degrees is not among the angles; turbines that wake nobody need it: add 0"
        )
    if not 1 <= degree < len(degrees):
        raise InvalidArgument(
            f"degree is {degree} with {len(degrees)} angles; it must be at least 1 and below "
            "their number, or the polynomial cannot be told from the arms"
        )
    return degrees
