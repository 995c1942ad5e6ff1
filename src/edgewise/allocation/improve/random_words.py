"""Random numbers inside kernels: a seed goes in, and no generator object is touched."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array, frozen
from edgewise.base.compiled import compiled

QUANTILES: Array = frozen((np.arange(1 << 15) + 0.5) / (1 << 15), float)
LOG_UNIFORM: Array = frozen(np.log((np.arange(1 << 12) + 0.5) / (1 << 12)), float)
"""Logarithms of uniform numbers: a Metropolis test is then one product and one comparison."""


def seed_of(rng: np.random.Generator) -> np.uint64:
    """A seed for :func:`following`, which must not be zero."""
    return np.uint64(rng.integers(1, 1 << 63))


def gumbel_table(rng: np.random.Generator) -> Array:
    r"""Standard Gumbel numbers :math:`G = -\log(-\log U)` in random order.

    The arm that maximises :math:`H[k] + T G_k` has the law :math:`\propto e^{H[k]/T}`: a draw
    from it costs K additions and no exponential.
    """
    return np.asarray(-np.log(-np.log(rng.permutation(QUANTILES))))


@compiled
def following(state: np.uint64) -> np.uint64:
    """The next of 2^64 - 1 numbers (xorshift, Marsaglia 2003); its high bits are the best."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return state
