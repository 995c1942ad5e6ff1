"""What ``rng`` means, everywhere: a generator, the seed of one, or None for a fresh one."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from edgewise.errors import InvalidArgument

Rng: TypeAlias = np.random.Generator | int | None


def generator(rng: object) -> np.random.Generator:
    """The generator that ``rng`` stands for.

    >>> int(generator(7).integers(100)) == int(np.random.default_rng(7).integers(100))
    True
    """
    if rng is None or isinstance(rng, np.random.Generator):
        return np.random.default_rng(rng)
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise InvalidArgument(
            f"rng is {rng!r}; pass a seed (an int, at least 0), a numpy.random.Generator, or None "
            "for different numbers in every run"
        )
    return np.random.default_rng(int(rng))


def draw_seed(rng: object) -> int:
    """The seed of all joint arms of a run."""
    return int(generator(rng).integers(2**64, dtype=np.uint64))
