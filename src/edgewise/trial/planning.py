"""How many pairs to expect, before a trial begins or while it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.base.border import border
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument
from edgewise.trial.sequence import t_quantile

_LARGEST_PLAN = 10**6
_IN_FOUR_OF_FIVE = 0.8416
"""The 80 % quantile of a standard Gaussian."""


@dataclass(frozen=True)
class PairsNeeded:
    """How many pairs a difference takes."""

    expected: int | None
    """Until the interval excludes zero, if the mean is measured as it is; None beyond 10^6, 0 if
    there is nothing to measure."""
    likely: int | None
    """In four of five trials, no more than this."""
    difference: float
    deviation: float
    """Of a pair's difference."""

    def __str__(self) -> str:
        if self.expected == 0:
            return "no pairs: the candidate is the baseline"
        if self.expected is None:
            return f"more than {_LARGEST_PLAN} pairs if the difference is {self.difference:.4g}"
        return (
            f"about {self.expected} pairs, in four of five trials at most "
            f"{self.likely or 'many more'}, if the difference is {self.difference:.4g} and that of "
            f"a pair has the deviation {self.deviation:.4g}"
        )


@border
def pairs_needed(difference: float, deviation: float, *, level: float = 0.04) -> PairsNeeded:
    r"""Pairs until ``level`` of evidence that a difference is not zero.

    The expected number is the smallest n with :math:`t_n \sigma / \sqrt n \le |d|`, where
    :math:`t_n` is the running quantile of :func:`~edgewise.trial.t_quantile`.

    >>> print(pairs_needed(1.0, 1.0))
    about 13 pairs, in four of five trials at most 18, if the difference is 1 and ...
    """
    if not (np.isfinite(difference) and np.isfinite(deviation) and deviation >= 0):
        raise InvalidArgument(
            f"the difference is {difference!r} and the deviation {deviation!r}; give two finite "
            "numbers, the deviation at least 0"
        )
    size = abs(float(difference))
    expected = _smallest(size, deviation, level, 0.0)
    likely = _smallest(size, deviation, level, _IN_FOUR_OF_FIVE)
    return PairsNeeded(expected, likely, float(difference), float(deviation))


def deviation_of_pair(problem: Problem, noise: float | None = None) -> float | None:
    r"""The deviation of a pair's difference of totals, :math:`\sqrt{2 m}\,\sigma`.

    ``noise`` is that of one measured number, if it has been measured; None if nobody knows it.
    """
    if noise is None:
        if problem.noise == "estimate":
            return None
        noise = problem.stated_noise
    return float(np.sqrt(2.0 * problem.n_rewards) * noise)


def _smallest(size: float, deviation: float, level: float, luck: float) -> int | None:
    """The smallest n at which the difference, less ``luck`` standard errors, shows."""

    def shows(n: int) -> bool:
        return (t_quantile(n, level) + luck) * deviation <= size * math.sqrt(n)

    high = 2
    while not shows(high):
        high *= 2
        if high > _LARGEST_PLAN:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high
