"""Choosing tilts as an edgewise problem: nodes, arcs, arms, and what is measured."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.base.choice import pick
from edgewise.core.model.problem import Problem
from edgewise.core.strategies.limits.limited import Limited
from edgewise.core.strategies.thompson import Thompson
from edgewise.errors import InvalidArgument, IsolatedNodes
from edgewise.integrations.cells.booking import Coverage
from edgewise.integrations.cells.network import RadioNetwork
from edgewise.integrations.ordered import OrderedSettings
from edgewise.network.graph import Graph

TILTS = tuple(range(2, 19, 2))
"""Default tilts in degrees below the horizon."""
EXPLORE = Limited(Thompson(scale=1.0, first=6, phase=3), within=1)
"""How a network is explored: posterior sampling, one step from the answer so far at most."""
_HEARD, _NEAR = 0.002, 0.05
"""Mean share of what disturbs the users of a cell that makes another one heard, and near."""
_FEWEST = 0.0025
"""Share of all users that a relation must have to be measured."""


@dataclass(frozen=True, eq=False)
class TiltTask:
    r"""Which tilt should every antenna have?

    Nodes are the cells, arms tilts. The mean log rate of users is measured for the places that
    each cell served before (:mod:`~edgewise.integrations.cells.booking`), and it has a level of
    its own,

    .. math:: r_j = a_j + x(u_j)^\top\beta_j + \sum_{i \to j} x(u_i)^\top\theta_{ij} + \text{noise},
              \qquad x(u) = (u, u^2),

    with an arc from every cell that is heard there, neighbours of neighbours included:
    interference is not pairwise, and load spreads. Cells differ, so every arc has parameters of
    its own, shrunk towards the others' as far as the reports say (``pooling="partial"``),
    in proportion to the users that are concerned and to how loudly the other is heard (weights).

    Build one with :meth:`of`.
    """

    network: RadioNetwork
    coverage: Coverage
    settings: OrderedSettings
    """Tilts in degrees below the horizon."""
    today: Indices
    """(C,) the joint arm in use."""
    problem: Problem

    @classmethod
    def of(
        cls,
        network: RadioNetwork,
        coverage: Coverage,
        *,
        today: ArrayLike,
        tilts: Sequence[float] = TILTS,
        channels: str = "cell",
    ) -> TiltTask:
        """Arcs and arms of a network.

        Parameters
        ----------
        network
            Its cells.
        coverage
            What places have with today's tilts: shares of users and neighbours.
        today
            Tilts in use: one for all cells, or (C,).
        tilts
            What may be chosen, ascending, today's among them.
        channels
            "cell": a number for the places of every cell, with all cells heard there.
            "relation": a number for every pair of cells, the places served by one where the other
            is second best; the tilts of these two only.
        """
        model = pick("channels", channels, _MODELS)
        now = np.broadcast_to(np.asarray(today, dtype=float), (network.n_cells,))
        settings = OrderedSettings(np.asarray(tilts, dtype=float), today=float(now[0]))
        arms = _arms_of(settings.values, now)
        graph, options = model(network, coverage)
        problem = Problem(
            graph,
            settings.parabola if channels == "cell" else _with_constant(settings.parabola),
            noise="estimate",
            arm_labels=[f"{tilt:g} deg" for tilt in settings.values],
            levels="channel",
            pooling="partial",
            baseline=arms,
            **options,
        )
        return cls(network, coverage, settings, frozen(arms, np.int64), problem)

    @property
    def near(self) -> Mask:
        """(C, C) whom a cell disturbs most: close neighbours, the same mast mostly included."""
        near: Mask = self.coverage.overlap > _NEAR
        return near

    def tilts(self, arms: ArrayLike) -> Array:
        """(..., C) degrees below the horizon of joint arms (..., C)."""
        found: Array = self.settings.values[np.asarray(arms)]
        return found


def _arms_of(values: Array, tilts: Array) -> Indices:
    missing = np.setdiff1d(tilts, values)
    if len(missing):
        raise InvalidArgument(
            f"today's tilts include {missing[0]:g}, and tilts are {values.tolist()}; today's must "
            "be among them: changes are counted from there"
        )
    return np.searchsorted(values, tilts)


def _with_constant(features: Array) -> Array:
    return np.column_stack([np.ones(len(features)), features])


def _by_cell(network: RadioNetwork, coverage: Coverage) -> tuple[Graph, dict[str, Any]]:
    """An arc from every cell that is heard at the places of another.

    Weights say what to expect: more where more users are, and where the other is louder. With
    them arcs are of one kind.
    """
    second, first = np.nonzero((coverage.overlap > _HEARD).T)
    expected = np.sqrt(coverage.shares[second] * coverage.overlap[first, second])
    graph = _graph(network, np.column_stack([first, second]), expected)
    return graph, {"measured": "node", "interaction": False}


def _by_relation(network: RadioNetwork, coverage: Coverage) -> tuple[Graph, dict[str, Any]]:
    """An arc from the cell next best to the serving one, where users are."""
    second, first = np.nonzero((coverage.relations > _FEWEST).T)
    links = np.column_stack([first, second])
    return _graph(network, links, np.ones(len(links))), {"measured": "arc"}


_MODELS: dict[str, Callable[[RadioNetwork, Coverage], tuple[Graph, dict[str, Any]]]] = {
    "cell": _by_cell,
    "relation": _by_relation,
}


def _graph(network: RadioNetwork, links: Indices, weights: Array) -> Graph:
    if not len(links):
        raise InvalidArgument(
            f"no cell of {network!r} is a neighbour of another, so each can be tilted alone; give "
            "a network whose cells overlap"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsolatedNodes)  # its own term is left
        return Graph(
            n_nodes=network.n_cells,
            edges=links,
            directed=True,
            weights=weights / np.sqrt((weights**2).mean()),
            node_labels=network.cell_names,
        )
