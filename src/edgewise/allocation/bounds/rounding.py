r"""Rounding errors, bounded once and for all.

With :math:`u = 2^{-53}` a sum of ``k + 1`` products, evaluated in any order, is off by at most
:math:`\gamma_k = k u / (1 - k u)` times the sum of the absolute products [1]_. A bound adds such an
amount to whatever it computes, and is then valid for the numbers as stored. Ours because it is
part of every proof.

.. [1] N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.1.
"""

from __future__ import annotations

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled

UNIT = 2.0**-53
PAIRWISE = 200
"""Operations that any term of a numpy sum passes through: pairwise, so at most 16 + 3 + log2 n."""


def gamma(n_operations: float) -> float:
    """Largest relative error of ``n_operations`` roundings in a row; infinite when they are many.

    >>> gamma(2) < 2.3e-16 < gamma(3)
    True
    """
    product = n_operations * UNIT
    return product / (1.0 - product) if product < 0.5 else float("inf")


def shrunk(value: float, n_operations: float) -> float:
    """At most the number that ``value >= 0`` stands for, after that many roundings."""
    return value * max(0.0, 1.0 - 2.0 * gamma(n_operations + 2.0))


def careful_sum(terms: Array) -> tuple[float, float]:
    r"""A sum and a bound on its error, :math:`2u|s| + \gamma_n^2 \sum |x|` (Ogita, Rump, Oishi).

    >>> import numpy as np
    >>> careful_sum(np.array([1e16, 1.0, -1e16]))[0]
    1.0
    """
    total, size = _two_sums(terms)
    return total, 2.0 * UNIT * abs(total) + 2.0 * gamma(len(terms)) ** 2 * size


@compiled
def _two_sums(terms: Array) -> tuple[float, float]:
    total, lost, size = 0.0, 0.0, 0.0
    for term in terms:
        result = total + term
        back = result - total
        lost += (total - (result - back)) + (term - back)
        total = result
        size += abs(term)
    return total + lost, size
