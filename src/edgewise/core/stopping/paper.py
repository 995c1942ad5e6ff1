"""Condition (5) of the paper, as printed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.evidence.evidence import Evidence


@dataclass(frozen=True)
class PaperRule:
    r"""Stop when the leader beats every rival by more than the paper's confidence width.

    .. math:: \|\hat z - z\|_{A_t^{-1}}
        \sqrt{8\sigma^2 \log\frac{6 m^2 t^2 K^4}{\delta\pi^2}} \le \hat\Delta_t(\hat z, z)

    Only the empirical best can satisfy it against all others, so one row of comparisons suffices.
    Strength is the squared ratio of the two sides. Looked at after every round.
    """

    name: str = "paper"
    assumes: str = "independent sub-Gaussian noise; joint arms drawn without regard to rewards"
    allows_ridge: bool = True
    allows_phases: bool = False
    needs_phases: bool = False

    def is_due(self, rounds: Indices) -> Mask:
        """After every round."""
        return np.ones(len(rounds), np.bool_)

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Array:
        """Squared ratio of gap and width."""
        ratio = evidence.standardised(epsilon)
        needed = self.needed(evidence.rounds, evidence.n_arcs, evidence.n_arms, delta=delta)
        strength: Array = ratio * np.abs(ratio) / needed[:, None, None]
        return strength

    def needed(self, rounds: Indices, n_arcs: int, n_arms: int, *, delta: float) -> Array:
        """(R,) the squared standardised gap at which a rival is refuted."""
        t = rounds.astype(float)
        odds = math.log(6.0 / (delta * math.pi**2))
        needed: Array = 8.0 * (odds + 2.0 * np.log(n_arcs * t) + 4 * math.log(n_arms))
        return needed
