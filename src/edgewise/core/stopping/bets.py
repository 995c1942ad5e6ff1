"""Bets against cells: what capital becomes that was staked on other cells being better."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled
from edgewise.core.evidence.duels import Duels
from edgewise.core.stopping.mixture import log_tilted


@dataclass(frozen=True)
class Stakes:
    """How a bet is divided among sizes of the difference: precisions r in units of information.

    Half is staked on the first, a quarter on the next, and so on.
    """

    first: float
    count: int = 12
    ratio: float = 3.0

    @property
    def scales(self) -> Array:
        """(J,) precisions over the information of the first phase that counts."""
        powers: Array = np.arange(float(self.count))
        return self.first * np.asarray(self.ratio**powers)

    @property
    def shares(self) -> Array:
        """(J,) they add up to 1."""
        shares: Array = 0.5 ** np.arange(1.0, self.count + 1.0)
        shares[-1] *= 2.0
        return shares


def log_bets(duels: Duels, stakes: Stakes, *, noise: float, epsilon: float = 0.0) -> Array:
    r"""(B, Z) log of what one unit staked on claimant z' against cell z has become.

    .. math:: e = \sum_j \pi_j\, 2 \sqrt{\frac{r_j}{I + r_j}}
        \exp\frac{W^2}{2(I + r_j)} \Phi\!\left(\frac{W}{\sqrt{I + r_j}}\right)

    with W in units of sigma and :math:`r_j` in units of the first information. 1 while no phase
    has determined the contrast; 0 where :math:`W \le 0`. The latter gives away next to nothing,
    and makes e fall when the bound on sigma is larger than sigma, whatever the sign of W.
    """
    score = (duels.score + epsilon * duels.information) / noise
    return _log_bets(score, duels.information, duels.unit, stakes.scales, stakes.shares)


@compiled
def _log_bets(score: Array, information: Array, unit: Array, scales: Array, shares: Array) -> Array:
    result = np.zeros(score.shape)
    terms = np.empty(len(scales))
    for i in range(score.shape[0]):
        for j in range(score.shape[1]):
            result[i, j] = log_bet(
                score[i, j], information[i, j], unit[i, j], scales, shares, terms
            )
    return result


@compiled
def log_bet(
    score: float, information: float, unit: float, scales: Array, shares: Array, terms: Array
) -> float:
    """One of them; ``terms`` is room to work in."""
    if unit == 0.0:
        return 0.0
    if not score > 0.0:
        return -np.inf
    for k in range(len(scales)):
        r = scales[k] * unit
        total = information + r
        terms[k] = 0.5 * math.log(r / total) + log_tilted(score / math.sqrt(total))
    largest = float(terms.max())
    won = 0.0
    for k in range(len(scales)):
        won += shares[k] * math.exp(terms[k] - largest)
    return largest + math.log(won)
