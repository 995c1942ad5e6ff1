r"""Sufficient statistics per cell, and what least squares makes of them.

Nothing is accumulated per edge: with :math:`N_c = \sum w^2`, :math:`Y_c = \sum w r` over the arcs
that showed cell c, the Gram matrix is :math:`A = \sum_c N_c \phi_c \phi_c^\top` and the moment
:math:`b = \sum_c Y_c \phi_c`. A round costs O(n + m) whatever the dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgewise.base.arrays import Array, Indices
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.evidence.cell_sums import CellSums, Edges, count_drawn, sum_by_cell
from edgewise.core.model.cells import Cells
from edgewise.network.graph import Graph


@dataclass(frozen=True, eq=False)
class CellStatistics:
    """What is kept of the rewards: four numbers per cell.

    Arrays are (q, P); signatures say :data:`ByRound` or :data:`ByPhase` where they are stacked.
    Where both directions of an edge are
    observed and pairs are unordered, the two rewards are averaged into one observation of double
    weight; a lone direction counts only if both nodes show the same arm (otherwise its mean
    depends on the antisymmetric part of M).
    """

    observations: NDArray[np.int64]
    """How many observations fell into the cell."""
    information: Array
    """N_c: sum of squared weights over the arcs observed."""
    rewards: Array
    """Y_c: sum of weight times reward over the arcs observed."""
    squares: Array
    """Sum of squared observations, each with its weight; NaN if not recorded."""

    @classmethod
    def zero(cls, cells: Cells) -> CellStatistics:
        """Nothing observed yet."""
        shape = cells.showable.shape
        return cls(np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape), np.zeros(shape))

    def __len__(self) -> int:
        """How many rounds or phases are stacked."""
        return len(self.information)

    def normal(self, cells: Cells, kind: int) -> list[tuple[Array, Array]]:
        """A (p, p) and b (p,) of every stacked phase, for one kind."""
        features = cells.features[kind]
        return [
            ((features.T * counts) @ features, sums @ features)
            for counts, sums in zip(self.information[:, kind], self.rewards[:, kind], strict=True)
        ]

    def grams(self, cells: Cells) -> Array:
        """(q, p, p) A of every kind."""
        return cells.grams(self.information)

    def followed_by(self, rounds: ByRound) -> ByRound:
        """Cumulative statistics (R, q, P) after each of the R further rounds.

        Added one after the other, so it does not matter how rounds are grouped.
        """

        def running(past: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
            return np.add.accumulate(np.concatenate([past[None], new]))[1:]

        return CellStatistics(
            running(self.observations, rounds.observations),
            running(self.information, rounds.information),
            running(self.rewards, rounds.rewards),
            running(self.squares, rounds.squares),
        )

    def followed_by_all(self, last: CellStatistics) -> CellStatistics:
        """Sum over the first axis of this (J, q, P) value, and ``last`` (q, P) added."""
        return last.followed_by(self)[-1] if len(self) else last

    def with_another(self, last: CellStatistics) -> ByPhase:
        """The (J, q, P) value with ``last`` (q, P) appended."""
        return CellStatistics(
            *(
                np.concatenate([mine, its[None]])
                for mine, its in zip(self._arrays, last._arrays, strict=True)
            )
        )

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.observations, self.information, self.rewards, self.squares

    def to_tree(self) -> dict[str, NDArray[Any]]:
        """As plain arrays."""
        names = ("observations", "information", "rewards", "squares")
        return {name: array.copy() for name, array in zip(names, self._arrays, strict=True)}

    @classmethod
    def from_tree(
        cls, tree: Mapping[str, Any], shape: tuple[int, ...] | None = None
    ) -> CellStatistics:
        """The inverse of :meth:`to_tree`; ``shape`` restores what empty lists have lost."""

        def array(name: str, dtype: type) -> NDArray[Any]:
            stored: NDArray[Any] = np.array(tree[name], dtype)
            return stored if shape is None else stored.reshape(shape)

        return cls(
            array("observations", np.int64),
            array("information", float),
            array("rewards", float),
            array("squares", float),
        )

    def __getitem__(self, key: Any) -> CellStatistics:
        """Some of the rounds of an (R, q, P) value."""
        return CellStatistics(
            self.observations[key], self.information[key], self.rewards[key], self.squares[key]
        )


ByRound: TypeAlias = CellStatistics
"""Arrays are (R, q, P): R successive rounds, or the sums after each of them."""
ByPhase: TypeAlias = CellStatistics
"""Arrays are (J, q, P): J phases, each on its own."""


def observe(graph: Graph, cells: Cells, arms: Indices, rewards: Array) -> CellStatistics:
    """Statistics of one round: joint arm (n,), rewards (m,) in ``graph.arcs`` order or NaN."""
    return statistics_of(sum_by_cell(Edges.of(graph), cells, arms, rewards), cells)


def statistics_of(found: CellSums, cells: Cells) -> CellStatistics:
    """Sums over all edges, kind by kind."""
    shape = cells.showable.shape
    sums = np.ascontiguousarray(found.sums.T).reshape(3, *shape)
    return CellStatistics(found.observations.reshape(shape), *sums)


def count_joint_arm(graph: Graph, cells: Cells, arms: Indices) -> tuple[NDArray[np.int64], Array]:
    """Observations and information (q, P) that deploying a joint arm gives."""
    counted = observe(graph, cells, arms, np.zeros(graph.n_arcs))
    return counted.observations, counted.information


def count_rounds(
    graph: Graph, cells: Cells, laws: NodeLaws, *, seed: int, first_round: int, n_rounds: int
) -> tuple[NDArray[np.int64], Array]:
    """Observations and information (R, q, P) that R successive rounds will give, no rewards drawn.

    The joint arms are those of :meth:`NodeLaws.draw`; only their cell counts are kept.
    """
    shape = (n_rounds, *cells.showable.shape)
    observations, information = count_drawn(
        Edges.of(graph), cells, laws, seed=seed, first_round=first_round, n_rounds=n_rounds
    )
    return observations.reshape(shape), information.reshape(shape)
