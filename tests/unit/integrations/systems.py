"""A system small enough to know: knobs in a row, each helps or harms the next."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.integrations.ordered import OrderedSettings

SETTINGS = OrderedSettings(np.array([-2.0, -1.0, 0.0, 1.0, 2.0]))


@dataclass(frozen=True, eq=False)
class Row:
    """Knob j earns 5 - 0.4 u_j^2 + s u_(j-1), with u its value over 2: the best is known."""

    n: int = 6
    noise: float = 0.05
    open_below: bool = True

    @cached_property
    def problem(self) -> ew.Problem:
        graph = ew.Graph.from_edges([(i, i + 1) for i in range(self.n - 1)], directed=True)
        sides = np.arange(self.n) < self.n - 1
        return ew.Problem(
            graph,
            SETTINGS.features,
            noise="estimate",
            measured="node",
            levels=True,
            pooling="partial",
            interaction=False,
            candidates=SETTINGS.candidates(above=sides, below=sides & self.open_below),
        )

    @property
    def today(self) -> Indices:
        return np.full(self.n, SETTINGS.now)

    @property
    def slopes(self) -> Array:
        """(n - 1,) what knob i does to the next: helps above or below."""
        return np.where(np.arange(self.n - 1) % 2, -1.0, 1.0) * np.linspace(0.7, 1.0, self.n - 1)

    def means(self, arms: Indices) -> Array:
        u = SETTINGS.values[arms] / 2.0
        numbers = 5.0 - 0.4 * u**2
        numbers[:, 1:] += self.slopes * u[:, :-1]
        return numbers

    def measured(self, arms: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
        means = self.means(arms)
        return means + self.noise * rng.standard_normal(means.shape), means

    def worths(self, totals: Array) -> Array:
        return totals

    @property
    def best(self) -> Indices:
        """(n,) every knob for itself, the last as it is today."""
        u = SETTINGS.values / 2.0
        worth = self.slopes[:, None] * u - 0.4 * u**2
        return np.append(worth.argmax(axis=1), SETTINGS.now)
