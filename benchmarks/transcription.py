"""Algorithm 2 and condition (5), transcribed line by line: the named reference of the benchmarks.

A Python loop over arcs, one rank-one update each, ordered edge-arms, A_0 = I, and the condition
checked after every round against every other edge-arm. Written for clarity, as one would write it
with the paper on the desk.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class Transcription:
    """State of one run."""

    arms: Array
    arcs: list[tuple[int, int]]
    n_nodes: int
    weights: Array
    matrix: Array
    noise: float
    delta: float
    rng: np.random.Generator

    def __post_init__(self) -> None:
        d = self.arms.shape[1]
        self.A = np.eye(d * d)
        self.b = np.zeros(d * d)
        self.edge_arms = [np.outer(x, y).ravel() for x in self.arms for y in self.arms]

    def rounds(self) -> Iterator[tuple[int, bool]]:
        """Run round after round; yields the round and whether condition (5) holds."""
        t = 0
        while True:
            t += 1
            drawn = self.rng.choice(len(self.arms), size=self.n_nodes, p=self.weights)
            for i, j in self.arcs:
                x, y = self.arms[drawn[i]], self.arms[drawn[j]]
                reward = x @ self.matrix @ y + self.noise * self.rng.standard_normal()
                z = np.outer(x, y).ravel()
                self.A += np.outer(z, z)
                self.b += z * reward
            yield t, self.condition_holds(t)

    def condition_holds(self, t: int) -> bool:
        """Condition (5) for the empirical best edge-arm against all others."""
        inverse = np.linalg.inv(self.A)
        theta = inverse @ self.b
        m, K = len(self.arcs), len(self.arms)
        log_term = math.log(6 * m**2 * t**2 * K**4 / (self.delta * math.pi**2))
        best = max(self.edge_arms, key=lambda z: float(z @ theta))
        for other in self.edge_arms:
            y = best - other
            width = math.sqrt(max(y @ inverse @ y, 0.0) * 8 * self.noise**2 * log_term)
            if width > y @ theta:
                return False
        return True
