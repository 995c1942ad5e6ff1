"""The authors' algorithm for regret, transcribed: the named peer of ``bench_optimistic.py``.

Rizk, Colin, Thomas, Laraki and Chevaleyre, "An alpha-No-Regret Algorithm For Graphical Bilinear
Bandits", NeurIPS 2022. The graph is cut once, greedily. Every round takes the pair of arms with the
largest upper confidence value, gives one arm to each side, and updates a ridge regression on the
d^2 entries of M. Algorithm 1 values a pair by the edges across the cut alone; the improved
one by all edges. Written from the paper, with its constants and those of its experiments: a ridge
of 1, delta = 0.001, S = 8, twice the norm of their matrices.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass
class AlphaNoRegret:
    """State of one run."""

    arms: Array
    arcs: Indices
    """(m, 2)"""
    n_nodes: int
    noise: float
    improved: bool
    rng: np.random.Generator
    delta: float = 0.001
    ridge: float = 1.0
    norm: float = 8.0
    rounds: int = 0
    second: NDArray[np.bool_] = field(init=False)
    """(n,) the nodes on the second side of the cut."""

    def __post_init__(self) -> None:
        d = self.arms.shape[1]
        self.A, self.b = self.ridge * np.eye(d * d), np.zeros(d * d)
        self.second = self.cut()
        self.edge_arms = np.einsum("ki,lj->klij", self.arms, self.arms).reshape(
            len(self.arms), len(self.arms), -1
        )
        self.directions = self.valued()

    def cut(self) -> NDArray[np.bool_]:
        """Nodes in order; each joins the side where it has fewer neighbours, ties the first."""
        second = np.zeros(self.n_nodes, bool)
        for i in range(self.n_nodes):
            before = self.arcs[(self.arcs[:, 0] == i) & (self.arcs[:, 1] < i), 1]
            second[i] = (~second[before]).sum() > second[before].sum()
        return second

    def valued(self) -> Array:
        """(K, K, d^2) what a pair of arms, one for each side, is valued by."""
        z = self.edge_arms
        back = z.transpose(1, 0, 2)
        if not self.improved:
            return np.asarray(z + back)
        here, there = self.second[self.arcs[:, 0]], self.second[self.arcs[:, 1]]
        own = z[np.arange(len(z)), np.arange(len(z))]
        return np.asarray(
            (~here & there).sum() * z
            + (here & ~there).sum() * back
            + (~here & ~there).sum() * own[:, None]
            + (here & there).sum() * own[None, :]
        )

    def joint_arm(self) -> Indices:
        """(n,) the optimistic pair, ties broken at random."""
        inverse = np.linalg.inv(self.A)
        d2 = len(self.b)
        log_term = np.log((1.0 + self.rounds / self.ridge) / self.delta)
        beta = self.noise * np.sqrt(d2 * log_term) + np.sqrt(self.ridge) * self.norm
        spread = np.einsum("kli,ij,klj->kl", self.directions, inverse, self.directions)
        upper = self.directions @ (inverse @ self.b) + beta * np.sqrt(spread)
        best = self.rng.choice(np.flatnonzero(upper == upper.max()))
        k, l = divmod(int(best), len(self.arms))
        return np.where(self.second, l, k)

    def tell(self, arms: Indices, rewards: Array) -> None:
        """Update the ridge regression by what every arc has shown."""
        z = self.edge_arms[arms[self.arcs[:, 0]], arms[self.arcs[:, 1]]]
        self.A += z.T @ z
        self.b += z.T @ rewards
        self.rounds += 1
