"""No more points than can be seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices

POINTS = 800
"""A screen has about so many columns."""


def thinned(
    values: Array, summary: Callable[..., Any], most: int = POINTS
) -> tuple[Indices, Array, int]:
    """Rounds, values and how many rounds make a point, where there are more than can be seen.

    >>> thinned(np.arange(5.0), np.nanmean, most=3)
    (array([2, 4, 5]), array([0.5, 2.5, 4. ]), 2)
    """
    size = -(-len(values) // most) if len(values) else 1
    count = -(-len(values) // size)
    padded = np.full(count * size, np.nan)
    padded[: len(values)] = values
    ends = np.minimum(np.arange(1, count + 1) * size, len(values))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of points without a single value
        return ends, np.asarray(summary(padded.reshape(count, size), axis=1)), size
