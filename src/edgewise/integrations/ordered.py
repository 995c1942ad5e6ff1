"""Settings in an order, such as angles: today's among them, a curve to each side of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Mask, frozen
from edgewise.errors import InvalidArgument


@dataclass(frozen=True, eq=False)
class OrderedSettings:
    r"""The values that a knob may take, ascending, and the features that tell them apart.

    With :math:`u` the distance from today's value in units of the farthest one,

    .. math:: x(u) = (u_+, u_+^2, u_-, u_-^2), \qquad u_+ = \max(u, 0),\; u_- = \max(-u, 0):

    a parabola to each side that need not be the mirror of the other. Today's value has the
    features 0, so effects are counted from it. A side without values has no features, one with a
    single value a single feature.

    >>> OrderedSettings([0.0, 15.0, 30.0]).features.tolist()
    [[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]]
    """

    values: Array
    """(K,)"""
    today: float = 0.0

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=float)
        if values.ndim != 1 or not np.isfinite(values).all() or (np.diff(values) <= 0).any():
            raise InvalidArgument(
                f"values are {values.tolist()}; they must be finite numbers, ascending, each once: "
                "sort them"
            )
        if self.today not in values or len(values) < 2:
            raise InvalidArgument(
                f"values are {values.tolist()} and today's is {self.today:g}; give today's and at "
                "least one other: effects are counted from it"
            )
        object.__setattr__(self, "values", frozen(values, float))

    @property
    def now(self) -> int:
        """The number of today's value."""
        return int(np.flatnonzero(self.values == self.today)[0])

    @property
    def features(self) -> Array:
        """(K, p) at most two to each side."""
        u = (self.values - self.today) / np.abs(self.values - self.today).max()
        above, below = np.maximum(u, 0.0), np.maximum(-u, 0.0)
        return np.column_stack(
            [
                side**power
                for side in (above, below)
                for power in (1, 2)
                if np.count_nonzero(side) >= power
            ]
        )

    @property
    def parabola(self) -> Array:
        """(K, 2) one curve through both sides: u and its square; of two values u alone."""
        u = (self.values - self.today) / np.abs(self.values - self.today).max()
        return np.column_stack([u, u**2][: len(u) - 1])

    def candidates(self, *, above: ArrayLike, below: ArrayLike) -> Mask:
        """(n, K) what each node may choose: today's, and the sides that are open to it (n,)."""
        change = self.values - self.today
        up = np.asarray(above, dtype=bool)[:, None] & (change > 0)
        down = np.asarray(below, dtype=bool)[:, None] & (change < 0)
        mask: Mask = up | down | (change == 0)
        return mask
