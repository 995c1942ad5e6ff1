"""The mixture rule by phases, with a union over rivals: what ``anytime`` was before."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.evidence.evidence import Evidence
from edgewise.core.stopping.mixture import Mixture


@dataclass(frozen=True)
class Rivalwise:
    r"""Looks when a phase ends; stops when every e-value reaches :math:`(P - 1)/\delta`.

    Kept for studies that were begun with it, and to compare with: :class:`Anytime` needs fewer
    rounds.

    Phase j gives for a contrast y the estimate :math:`D_j = y^\top A_j^{-1} b_j` with deviation
    :math:`s_j`, known before the phase's rewards. :math:`W = \sum_j D_j/s_j^2` and
    :math:`I = \sum_j 1/s_j^2` then make the mixture of
    :func:`~edgewise.core.stopping.mixture.log_mixture` an e-process, whatever earlier rewards did
    to later phases: see docs/stopping.md.
    """

    mixture: Mixture = field(default_factory=Mixture)
    name: str = "rivalwise"
    assumes: str = (
        "independent sub-Gaussian noise; inside a phase, joint arms and gaps in the data depend "
        "on earlier phases' rewards only"
    )
    allows_ridge: bool = False
    allows_phases: bool = True
    needs_phases: bool = True

    def is_due(self, rounds: Indices) -> Mask:
        """Never inside a phase."""
        return np.zeros(len(rounds), np.bool_)

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Array:
        """``log E / log((P - 1)/delta)`` per rival."""
        return self.mixture(evidence, delta=delta, epsilon=epsilon)

    def contrast_width(self, variances: Array, *, rounds: int, log_odds: float) -> Array:
        """As for the mixture, with variances pooled phase by phase."""
        return self.mixture.contrast_width(variances, rounds=rounds, log_odds=log_odds)
