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
        m, K, t = evidence.n_arcs, evidence.n_arms, evidence.rounds.astype(float)
        width = 8.0 * (math.log(6.0 / (delta * math.pi**2)) + 2.0 * np.log(m * t) + 4 * math.log(K))
        ratio = evidence.standardised(epsilon)
        strength: Array = ratio * np.abs(ratio) / width[:, None, None]
        return strength
