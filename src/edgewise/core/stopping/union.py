"""A union bound over rivals and over a few looks, for any sub-Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.border import border
from edgewise.core.evidence.evidence import Evidence
from edgewise.errors import InvalidArgument


@border
@dataclass(frozen=True)
class Union:
    r"""Stop when every gap exceeds :math:`s \sqrt{2 \log((P - 1)/\delta_c)}` at the c-th look.

    Looks are taken on a geometric grid of rounds, and after corrections, when c grows as well;
    :math:`\delta_c = \delta/(c(c + 1))` sums to delta over all looks, and an error means that one
    of the P - 1 contrasts with the true best failed on one side. Valid when the joint arms do not
    depend on the rewards, for sub-Gaussian
    noise: see docs/stopping.md. Strength is the squared ratio of gap and width.
    """

    growth: float = 1.1
    """Ratio of successive looks."""
    name: str = "union"
    assumes: str = "independent sub-Gaussian noise; joint arms drawn without regard to rewards"
    allows_ridge: bool = False
    allows_phases: bool = False
    needs_phases: bool = False

    def __post_init__(self) -> None:
        if not self.growth > 1.0:
            raise InvalidArgument(
                f"growth is {self.growth}; looks are at rounds growth^i, so it must exceed 1"
            )

    def is_due(self, rounds: Indices) -> Mask:
        """On the grid."""
        return np.isin(rounds, self._grid(rounds))

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Array:
        """Squared ratio of gap and width."""
        log_term = math.log(max(evidence.n_rivals, 1) / delta) + self._price(evidence.rounds)
        ratio = evidence.standardised(epsilon)
        strength: Array = ratio * np.abs(ratio) / (2.0 * log_term)[:, None, None]
        return strength

    def contrast_width(self, variances: Array, *, rounds: int, log_odds: float) -> Array:
        """(T,) the margin of the latest look."""
        log_term = log_odds + float(self._price(np.array([rounds]))[0])
        return np.sqrt(2.0 * log_term * variances)

    def surcharge(self, rounds: int, extra: int) -> float:
        """What it takes more to be the look after all extra ones, not the one of its round."""
        look = int(np.searchsorted(self._grid(np.array([rounds])), rounds, side="right"))
        later = look + extra
        return math.log(later * (later + 1.0)) - math.log(look * (look + 1.0))

    def _price(self, rounds: Indices) -> Array:
        """(R,) log(c (c + 1)) at the c-th look."""
        look = np.searchsorted(self._grid(rounds), rounds, side="right")
        price: Array = np.log(look * (look + 1.0))
        return price

    def _grid(self, rounds: Indices) -> Indices:
        """Rounds ceil(growth^i), each once, up to the last of ``rounds``."""
        steps = math.ceil(math.log(int(rounds.max(initial=1)) + 1.0) / math.log(self.growth))
        points = np.ceil(self.growth ** np.arange(steps + 1)).astype(np.int64)
        return np.unique(points)
