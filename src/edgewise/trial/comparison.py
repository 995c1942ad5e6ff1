"""Two candidates compared: their difference, its interval, and whether the order mattered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from edgewise.base.arrays import Array
from edgewise.trial.sequence import Interval, moments, t_interval, t_quantile
from edgewise.trial.signs import sign_interval


@dataclass(frozen=True, eq=False)
class Comparison:
    r"""What complete pairs say about "first minus second".

    The interval is that of the t-test. Where the order within pairs is seen to matter, so that the
    differences are no Gaussian sample but two, or where it could not be seen, as all coins have
    fallen alike, it is widened to include the interval from signs, which holds by the coin alone. A
    wider interval errs less, so nothing is lost where the differences are Gaussian after all.
    """

    first: str
    second: str
    differences: Array
    """(k,) first minus second, pair by pair."""
    orders: Array
    """(k,) +1 where the first came later in its pair, -1 where it came earlier."""
    delta: float
    lower_share: float = 0.5
    """The part of delta spent on the lower end of the interval."""

    @property
    def pairs(self) -> int:
        """Complete pairs."""
        return len(self.differences)

    @property
    def difference(self) -> float:
        """Mean difference; NaN before the first pair."""
        return moments(self.differences)[1] if self.pairs else np.nan

    @property
    def deviation(self) -> float:
        """Standard deviation of a pair's difference; NaN before the second pair."""
        n, _, squares = moments(self.differences)
        return float(np.sqrt(squares / (n - 1))) if n > 1 else np.nan

    def after(self, pairs: int) -> Comparison:
        """As it was after the first so many pairs."""
        return replace(self, differences=self.differences[:pairs], orders=self.orders[:pairs])

    @cached_property
    def interval(self) -> Interval:
        """Covers the difference after every pair at once, with probability 1 - delta."""
        low, high = t_interval(self.differences, delta=self.delta, lower_share=self.lower_share)
        if self.tells_order and not self.order_matters:
            return low, high
        lowest, highest = self.sign_interval
        return min(low, lowest), max(high, highest)

    @cached_property
    def sign_interval(self) -> Interval:
        """The same from signs: it assumes symmetric differences, which the coin sees to."""
        return sign_interval(self.differences, delta=self.delta, lower_share=self.lower_share)

    @property
    def order_effect(self) -> float:
        """By how much more the later round of a pair brings, whoever it is; NaN while that is open.

        The slope of the differences on the coin, beside their mean.
        """
        return _slope(self.differences, self.orders)[0]

    @property
    def tells_order(self) -> bool:
        """Whether both orders have occurred: else drift cannot be told from a difference."""
        return len(np.unique(self.orders)) > 1

    @cached_property
    def order_matters(self) -> bool:
        """Whether later rounds of a pair bring more, or less, than chance explains."""
        if self.pairs < _FEWEST_FOR_ORDER or not self.tells_order:
            return False
        statistic = _slope(self.differences, self.orders)[1]
        return abs(statistic) >= t_quantile(self.pairs - 1, self.delta)


_FEWEST_FOR_ORDER = 3
"""Pairs for a mean, a slope and a deviation."""


def _slope(differences: Array, orders: Array) -> tuple[float, float]:
    """Slope of the differences on the coins, and its t statistic; NaN if it has none."""
    coins = orders - orders.mean() if len(orders) else orders
    spread = float((coins**2).sum())
    if not spread:
        return np.nan, np.nan
    slope = float((coins * differences).sum()) / spread
    n, _, squares = moments(differences)
    left = max(squares - slope**2 * spread, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return slope, float(np.divide(slope, np.sqrt(left / max(n - 2, 1) / spread)))
