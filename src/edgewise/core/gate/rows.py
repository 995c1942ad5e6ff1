"""A round as the gate sees it: rows of a regression, in units of the noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled
from edgewise.base.scales import binary_unit
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.gate.solving import ROUNDING
from edgewise.core.model.channels import Measurement
from edgewise.core.model.problem import Problem

MOST_PARAMETERS = 400
"""Parameters up to which the richer models are looked at: each look factors matrices as large."""
_NONE = np.zeros(0)
_LARGEST = 1 << 20
"""Numbers that are kept without being asked for: 8 MB."""


class Rows(NamedTuple):
    """What was measured in one round, missing numbers left out.

    Numbers that show the same cell have the same row but for a factor, so rows are kept once.
    """

    features: Array
    """(g, p) distinct rows: what multiplies the parameters of the model."""
    which: Indices
    """(N,) the row of every number."""
    weights: Array
    """(N,) factor of the row: weight of the edge over the noise."""
    numbers: Array
    """(N,) what was measured, over the noise."""
    positions: Indices
    """(N,) which numbers these are, in the order in which they are told."""
    shows_cells: bool
    """Whether the rows are those of all cells, in their order."""
    signs: Array
    """(N,) +1 and -1 for the two directions of an edge; empty if they cannot be told apart."""

    def summed(self, values: Array) -> Array:
        """(g,) sums over the numbers of a row."""
        return np.asarray(np.bincount(self.which, values, len(self.features)), float)

    def without(self, missing: Mask) -> Rows:
        """Without some of the numbers (N,)."""
        if not missing.any():
            return self
        seen = np.flatnonzero(~missing)
        return self._replace(
            which=self.which[seen],
            weights=self.weights[seen],
            numbers=self.numbers[seen],
            positions=self.positions[seen],
            signs=self.signs[seen] if len(self.signs) else self.signs,
        )

    @property
    def full(self) -> Array:
        """(N, p) the row of every number."""
        return np.asarray(self.features[self.which] * self.weights[:, None])


@dataclass(frozen=True, eq=False)
class Sight:
    """How rounds of a problem become rows: fixed before the first."""

    problem: Problem
    measurement: Measurement

    @cached_property
    def n_numbers(self) -> int:
        """C."""
        return self.measurement.n_channels

    @cached_property
    def n_shared(self) -> int:
        """Parameters that the numbers share."""
        return int(self.measurement.shared_rows(self._any_arms).shape[1])

    @cached_property
    def n_parameters(self) -> int:
        """p: those, and a level per number if the model has them."""
        return self.n_shared + (self.n_numbers if self.problem.has_channel_levels else 0)

    @cached_property
    def has_round_levels(self) -> bool:
        """Whether a round's mean says nothing."""
        return self.problem.level_names in ("round", "both")

    @cached_property
    def has_cells(self) -> bool:
        """Whether every number shows one cell."""
        return self.problem.measured in ("arc", "link")

    @cached_property
    def has_directions(self) -> bool:
        """Whether both directions of an edge are measured on their own."""
        return self.problem.measured == "arc" and not self.problem.graph.directed

    @cached_property
    def knows_noise(self) -> bool:
        """Whether numbers come in units of the noise; else of its unknown deviation's unit."""
        return self.problem.noise != "estimate"

    @cached_property
    def n_cells(self) -> int:
        """Cells by class of edges and ordered pair of arms."""
        return (
            len(self.problem.classes.loadings) * self.problem.n_arms**2 if self.shows_cells else 0
        )

    @cached_property
    def edge_noise(self) -> Array:
        """(C',) the noise of every number as edges are kept one by one: their directions' mean."""
        sigma = self.problem.stated_noise if self.knows_noise else 1.0
        return local_network(self.problem).measurement.noise * sigma

    @cached_property
    def shown_features(self) -> Array:
        """(G, p) what multiplies the parameters in every cell; none if cells are not shown."""
        return self.cell_features if self.shows_cells else np.zeros((0, self.n_parameters))

    @cached_property
    def scale(self) -> Array:
        """(C,) the noise of every number; relative to each other if it is not known."""
        sigma = self.problem.stated_noise if self.knows_noise else 1.0
        return self.measurement.noise * sigma

    @property
    def _any_arms(self) -> Indices:
        masks, groups = self.problem.candidate_sets
        return np.asarray(masks.argmax(axis=1)[groups])

    def full_rows(self, arms: Indices) -> Array:
        """(C, p) what multiplies the parameters under a joint arm (n,), over the noise."""
        if self.shows_cells:
            return np.asarray(self.cell_features[self.cells(arms)] * self.factors[:, None])
        rows = self.measurement.shared_rows(arms) / (self.scale * self.unit)[:, None]
        if self.problem.has_channel_levels:
            rows = np.hstack([rows, np.diag(binary_unit(self.scale) / self.scale)])
        return rows

    def means(self, arms: Indices, theta: Array) -> Array:
        """(C,) what parameters (p,) say of the numbers under a joint arm (n,), over the noise."""
        if self.shows_cells:
            return np.asarray((self.cell_features @ theta)[self.cells(arms)] * self.factors)
        return np.asarray(self.full_rows(arms) @ theta)

    def rows(self, arms: Indices, rewards: Array) -> Rows:
        """A round: joint arm (n,), rewards as told, NaN where missing."""
        signs = self.signs if self.has_directions else _NONE
        if self.shows_cells:
            which, numbers, gaps = _shown(arms, rewards, *self.eyes)
            features, weights = self.cell_features, self.factors
            whole = Rows(features, which, weights, numbers, self.positions, True, signs)
            return whole.without(np.isnan(rewards)) if gaps else whole
        numbers = rewards / self.scale
        seen = np.flatnonzero(~np.isnan(rewards))
        full, numbers = self.full_rows(arms)[seen], numbers[seen]
        if self.has_round_levels and len(seen):
            full, numbers = full - full.mean(axis=0), _centred(numbers)
        signs = signs[seen] if len(signs) else signs
        return Rows(full, np.arange(len(seen)), np.ones(len(seen)), numbers, seen, False, signs)

    @cached_property
    def shows_cells(self) -> bool:
        """Whether rows are those of cells: one cell per number, and no levels in the model."""
        return self.has_cells and self.problem.levels == "none"

    @cached_property
    def positions(self) -> Indices:
        """(C,) 0, 1, 2, ..."""
        return np.arange(self.n_numbers)

    @cached_property
    def signs(self) -> Array:
        """(C,) +1 and -1 for the two directions of an edge."""
        return np.where(np.arange(self.n_numbers) % 2, -1.0, 1.0)

    @cached_property
    def factors(self) -> Array:
        """(C,) weight of every number's edge, over its noise, in units of :attr:`unit`."""
        return self.measurement.scale / (self.scale * self.unit)

    @cached_property
    def unit(self) -> float:
        """What parameters are counted in the inverse of, so that rows are of ordinary size.

        Bets on them have priors of ordinary width, and rounding is judged against 1.
        """
        return binary_unit(self.measurement.scale / self.scale[self.measurement.channel])

    def cells(self, arms: Indices) -> Indices:
        """(C,) class and ordered pair of arms that every number shows, as one code."""
        m, n_arms = self.measurement, self.problem.n_arms
        return np.asarray(self._first_cells + arms[m.first] * n_arms + arms[m.second])

    @cached_property
    def eyes(self) -> tuple[Indices, Indices, Indices, int, Array]:
        """For kernels: of every number its first cell, two nodes, how many arms, and its noise."""
        m = self.measurement
        return self._first_cells, m.first, m.second, self.problem.n_arms, self.scale

    @cached_property
    def _first_cells(self) -> Indices:
        """(C,) the first cell of every number's class."""
        classes = self.problem.classes.graph.kind_of_edge[self.measurement.edge]
        return np.asarray(classes * self.problem.n_arms**2, np.int64)

    @cached_property
    def cell_features(self) -> Array:
        """(G, p) what multiplies the parameters in every cell, per unit of weight."""
        loadings = self.problem.classes.loadings
        features = self.measurement.features.reshape(-1, self.measurement.features.shape[2])
        table = np.einsum("ug,ci->ucgi", loadings, features)
        return np.ascontiguousarray(table.reshape(len(loadings) * len(features), -1))


@compiled
def _shown(
    arms: Indices,
    rewards: Array,
    first_cells: Indices,
    first: Indices,
    second: Indices,
    n_arms: int,
    scale: Array,
) -> tuple[Indices, Array, int]:
    """(C,) the cell that every number shows and the number over its noise; how many are missing."""
    which, numbers, gaps = np.empty(len(scale), np.int64), np.empty(len(scale)), 0
    for c in range(len(scale)):
        which[c] = first_cells[c] + arms[first[c]] * n_arms + arms[second[c]]
        numbers[c] = rewards[c] / scale[c]
        gaps += np.isnan(rewards[c])
    return which, numbers, gaps


def _centred(numbers: Array) -> Array:
    """(N,) without their mean; what rounding leaves of numbers that are all alike is nothing."""
    left = numbers - numbers.mean()
    return np.where(np.abs(left) > ROUNDING * np.abs(numbers).max(), left, 0.0)


def is_small(problem: Problem) -> bool:
    """Whether keeping what the gate needs costs little; asked before anything is made."""
    graph, rank, C = problem.graph, problem.whitening.rank, problem.n_rewards
    if not graph.is_at_hand:
        return False
    covariates = 0 if graph.covariates is None else graph.covariates.shape[1]
    alone = problem.pooling == "none"
    groups = len(graph.edges) if alone else graph.n_kinds + covariates
    width = rank**2 + rank * (int(problem.node_term) + int(bool(problem.own_term)))
    p = width * groups + (C if problem.has_channel_levels else 0)
    cells = problem.n_arms**2 * (len(graph.edges) if alone or covariates else graph.n_kinds)
    return p <= MOST_PARAMETERS and (C + p + cells) * p <= _LARGEST


@lru_cache(maxsize=8)
def sight_of(problem: Problem) -> Sight:
    """Remembered for the problems in use, which are compared by identity."""
    return Sight(problem, Measurement.one_by_one(problem))
