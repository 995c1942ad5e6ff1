"""What a closed walk in the table of rewards must give up."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.bounds.rounding import UNIT
from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled


def deficits(table: Array, longest: int) -> Array:
    r"""(longest + 1,) least total slack of a closed walk of each length, rounded down.

    .. math:: \delta_l = \min_{k_1 \dots k_l} \sum_{t=1}^{l} s[k_t, k_{t+1}], \quad
              s = \max W - W \ge 0, \quad k_{l+1} = k_1,

    by (min, +) powers of s: ``O(longest K^3)``. Zero for even l: go back and forth along the best
    pair. All terms are >= 0, so l + 1 roundings cost a *relative* :math:`\gamma_{l+1}`.

    >>> deficits(np.array([[0.0, 1.0], [1.0, 0.0]]), 5).round(9).tolist()
    [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    """
    safe = 1.0 - 4.0 * UNIT * np.arange(3.0, longest + 4.0)
    return _closed_walks(table.max() - table, longest) * safe


@compiled
def _closed_walks(slack: Array, longest: int) -> Array:
    n_arms = len(slack)
    least = np.zeros(longest + 1)
    power = np.full((n_arms, n_arms), np.inf)
    for k in range(n_arms):
        power[k, k] = 0.0
    following = np.empty((n_arms, n_arms))
    for length in range(1, longest + 1):
        least[length] = np.inf
        for k in range(n_arms):
            following[k] = np.inf
            for middle in range(n_arms):
                first = power[k, middle]
                for l in range(n_arms):
                    following[k, l] = min(following[k, l], first + slack[middle, l])
            least[length] = min(least[length], following[k, k])
        power, following = following, power
    return least
