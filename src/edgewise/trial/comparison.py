"""Two candidates compared: their difference, its interval, and whether the order mattered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from edgewise.base.arrays import Array
from edgewise.trial.sequence import Interval, moments, t_evidence, t_interval
from edgewise.trial.signs import sign_interval


@dataclass(frozen=True, eq=False)
class Comparison:
    r"""What complete pairs say about "first minus second".

    The interval is that of the t-test. Where the order within pairs is seen to matter, so that the
    differences are no Gaussian sample but two, it is widened to include the interval from signs,
    which holds by the coin alone. A wider interval errs less, so nothing is lost where the
    differences are Gaussian after all.
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
        if not self.order_matters:
            return low, high
        lowest, highest = self.sign_interval
        return min(low, lowest), max(high, highest)

    @cached_property
    def sign_interval(self) -> Interval:
        """The same from signs: it assumes symmetric differences, which the coin sees to."""
        return sign_interval(self.differences, delta=self.delta, lower_share=self.lower_share)

    @property
    def order_effect(self) -> float:
        """By how much more the later round of a pair brought, on average; NaN without pairs."""
        return float((self.differences * self.orders).mean()) if self.pairs else np.nan

    @cached_property
    def order_matters(self) -> bool:
        """Whether later rounds of a pair brought more, or less, than chance explains.

        At a lower threshold than that of the interval: while all coins have fallen alike, a
        difference between rounds cannot be told from one between candidates.
        """
        later = self.differences * self.orders
        return max(t_evidence(later), t_evidence(-later)) >= 1.0 / self.delta
