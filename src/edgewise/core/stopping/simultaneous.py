r"""Confidence for many contrasts at once, each with a share of delta that may have been learnt.

Let :math:`\Delta` be the true value of a contrast. What phases found short of it,
:math:`W(\Delta) = I\Delta - \sum_j D_j/s_j^2`, has no drift, so capital staked on the truth being
smaller than :math:`\Delta` is a supermartingale, and so is its sum over all contrasts. If the
stakes add up to 1, nobody ever wins :math:`1/\delta` with probability :math:`1 - \delta`: the truth
lies below the value at which somebody would have. The proof is in docs/stopping.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled
from edgewise.core.evidence.duels import Duels
from edgewise.core.stopping.bets import Stakes, log_bet

_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Account:
    """What is staked on contrasts (T,), and the phases it is staked in."""

    duels: Duels
    shares: Array
    """(T,) they add up to 1 at most, over all accounts and contrasts."""
    stakes: Stakes


def margins(
    first: Account, second: Account, estimates: Array, *, noise: float, nats: float
) -> Array:
    """(T,) how far above ``estimates`` the truth may lie while nobody has won ``exp(nats)``.

    Infinite where no phase of either account determines the contrast; never below zero.
    """
    with np.errstate(divide="ignore"):
        shares = np.log(np.stack([first.shares, second.shares]))
    pair = (first.duels, second.duels)
    return _margins(
        estimates,
        noise,
        nats,
        shares,
        np.stack([duels.score for duels in pair]),
        np.stack([duels.information for duels in pair]),
        np.stack([duels.unit for duels in pair]),
        np.stack([first.stakes.scales, second.stakes.scales]),
        np.stack([first.stakes.shares, second.stakes.shares]),
    )


@compiled
def _margins(
    estimates: Array,
    noise: float,
    nats: float,
    shares: Array,
    score: Array,
    information: Array,
    unit: Array,
    scales: Array,
    parts: Array,
) -> Array:
    """Arrays are (2, T), scales and parts (2, J).

    By bisection, of which the upper end is kept: what it leaves open makes margins larger.
    """
    result = np.empty(len(estimates))
    terms = np.empty(scales.shape[1])
    for c in range(len(estimates)):
        high = np.inf
        for a in range(2):
            price = nats - shares[a, c]
            enough = _enough(information[a, c], unit[a, c], scales[a], parts[a], price)
            if enough < np.inf:
                high = min(high, (noise * enough + score[a, c]) / information[a, c])
        low, high = 0.0, max(high - estimates[c], 0.0)
        for _ in range(_HALVINGS if high < np.inf else 0):
            middle = 0.5 * (low + high)
            won = 0.0
            for a in range(2):
                I = information[a, c]
                W = (I * (estimates[c] + middle) - score[a, c]) / noise
                bet = log_bet(W, I, unit[a, c], scales[a], parts[a], terms)
                won += math.exp(shares[a, c] + bet - nats)
            if won < 1.0:
                low = middle
            else:
                high = middle
        result[c] = high
    return result


@compiled
def _enough(information: float, unit: float, scales: Array, parts: Array, price: float) -> float:
    """A score W with which one scale alone has won, as 2 Phi(z) >= 1 for z >= 0."""
    least = np.inf
    for k in range(len(scales) if unit > 0.0 else 0):
        r = scales[k] * unit
        total = information + r
        needed = price - math.log(parts[k]) + 0.5 * math.log(total / r)
        least = min(least, math.sqrt(2.0 * total * max(needed, 0.0)))
    return least
