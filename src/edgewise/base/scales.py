"""Numbers far from 1: units that bring them nearer, and the error when they overflow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from edgewise.base.arrays import Array
from edgewise.errors import NotFinite

_ORDINARY = 20
"""Sizes between 2^-20 and 2^20, about a million either way, are left as they are."""


def binary_unit(values: Array, *, ordinary: int = _ORDINARY) -> float:
    """A power of two of the typical size of some numbers; 1 if that is an ordinary one.

    Ordinary are 2^-ordinary to 2^ordinary.

    Dividing by a power of two rounds nothing, so results in such units are the same to the bit
    whatever units the numbers were stated in.

    >>> binary_unit(np.array([0.3, 5.0])), binary_unit(np.array([3e-9])) == 2.0**-29
    (1.0, True)
    """
    sizes = np.abs(values)
    typical = float(np.median(sizes[sizes > 0.0])) if (sizes > 0.0).any() else 1.0
    exponent = math.frexp(typical)[1] - 1
    return 1.0 if abs(exponent) <= ordinary else math.ldexp(1.0, exponent)


def overflowed(what: str) -> NotFinite:
    """The error that no verdict may rest on; ``what`` has become infinite or undefined."""
    return NotFinite(
        f"{what} has overflowed: rewards, weights or arms differ too much in size; state them in "
        "units in which they are nearer to 1"
    )


@contextmanager
def staying_finite(what: str) -> Iterator[None]:
    """Whatever arithmetic breaks down inside is that error; as a decorator, in the function.

    >>> with staying_finite("the estimate"):
    ...     1.0 / 0.0
    Traceback (most recent call last):
    edgewise.errors.NotFinite: the estimate has overflowed: rewards, weights or arms differ ...
    """
    try:
        yield
    except NotFinite:
        raise
    except (np.linalg.LinAlgError, ArithmeticError) as error:
        raise overflowed(what) from error
