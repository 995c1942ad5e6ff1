"""The statistical tests behind every "confirmed": each returns what it tested and what it saw."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from scipy.stats import beta as beta_law
from scipy.stats import t as student

from edgewise.base.arrays import Array
from edgewise.plots.curves import mean_interval

LEVEL = 0.05
"""Level of every test; intervals have confidence 1 - LEVEL."""

Samples: TypeAlias = Array


@dataclass(frozen=True)
class HypothesisTest:
    """One test: the question, the numbers, the answer."""

    subject: str
    test: str
    estimate: float
    low: float
    high: float
    """Confidence interval of the estimate, 95 % (90 % for a rate: each end is one-sided)."""
    statistic: float
    p_value: float
    """Of the opposite of the claim: small when the claim is confirmed."""
    p_against: float
    """Of the claim itself: small when it is contradicted."""

    @property
    def passed(self) -> bool:
        """Whether the opposite of the claim is rejected."""
        return self.p_value <= LEVEL


def log_ratio(pairs: Sequence[tuple[Samples, Samples]]) -> tuple[float, float, float]:
    """Mean over pairs of samples of log(mean a / mean b): estimate, standard error, freedom.

    The delta method; degrees of freedom by Welch and Satterthwaite.
    """
    estimates, parts, freedom = [], [], []
    for a, b in pairs:
        estimates.append(math.log(a.mean() / b.mean()))
        for sample in (a, b):
            parts.append(sample.var(ddof=1) / len(sample) / sample.mean() ** 2)
            freedom.append(len(sample) - 1)
    terms = np.array(parts) / len(pairs) ** 2
    error = math.sqrt(float(terms.sum()))
    spread = float((terms**2 / np.array(freedom)).sum())
    return float(np.mean(estimates)), error, error**4 / spread if spread > 0 else math.inf


def agreement(
    subject: str, pairs: Sequence[tuple[Samples, Samples]], *, margin: float
) -> HypothesisTest:
    """Equivalence: is the ratio of means within a factor 1 + margin of 1?

    Two one-sided t-tests (TOST): passed when both reject "the ratio is outside" at ``LEVEL``.
    """
    name = (
        f"equivalence within {margin:.0%}: two one-sided Welch t-tests (TOST) on the log ratio "
        "of means"
    )
    return _of_ratio(subject, name, pairs, lambda value: math.log1p(margin) - abs(value))


def larger(subject: str, pairs: Sequence[tuple[Samples, Samples]]) -> HypothesisTest:
    """Is the first mean larger than the second? One-sided Welch t-test on the log ratio."""
    name = "one-sided Welch t-test on the log ratio of means"
    return _of_ratio(subject, name, pairs, lambda value: value)


def _of_ratio(
    subject: str,
    test: str,
    pairs: Sequence[tuple[Samples, Samples]],
    lead: Callable[[float], float],
) -> HypothesisTest:
    """A Welch test that the log ratio is on the right side of a limit, by ``lead`` of it."""
    value, error, freedom = log_ratio(pairs)
    half = float(student.ppf(1 - LEVEL / 2, freedom)) * error
    low, high = math.exp(value - half), math.exp(value + half)
    statistic = _statistic(lead(value), error)
    above, below = _upper_tail(statistic, freedom), _upper_tail(-statistic, freedom)
    return HypothesisTest(subject, test, math.exp(value), low, high, statistic, above, below)


def within(subject: str, samples: Samples, target: float, *, margin: float) -> HypothesisTest:
    """Equivalence of a mean with a number: two one-sided t-tests of ``target`` +- ``margin``."""
    mean = float(samples.mean())
    name = f"equivalence with {target:g} within {margin:g}: two one-sided t-tests (TOST)"
    return _of_mean(subject, name, samples, margin - abs(mean - target))


def at_most(subject: str, samples: Samples, limit: float) -> HypothesisTest:
    """Is the mean below ``limit``? One-sided t-test."""
    return _one_sided(subject, samples, limit, sign=-1.0)


def at_least(subject: str, samples: Samples, limit: float) -> HypothesisTest:
    """Is the mean above ``limit``? One-sided t-test."""
    return _one_sided(subject, samples, limit, sign=1.0)


def geometrically_above(subject: str, ratios: Samples, limit: float) -> HypothesisTest:
    """Is the geometric mean of positive numbers above ``limit``? One-sided t-test on logarithms."""
    test = _one_sided(subject, np.log(ratios), math.log(limit), sign=1.0)
    return replace(
        test,
        test=f"one-sided t-test of a geometric mean above {limit:.4g}",
        estimate=math.exp(test.estimate),
        low=math.exp(test.low),
        high=math.exp(test.high),
    )


def _one_sided(subject: str, samples: Samples, limit: float, sign: float) -> HypothesisTest:
    side = "above" if sign > 0 else "below"
    name = f"one-sided t-test of a mean {side} {limit:.4g}"
    return _of_mean(subject, name, samples, sign * (float(samples.mean()) - limit))


def _of_mean(subject: str, test: str, samples: Samples, lead: float) -> HypothesisTest:
    """A t-test that a mean is on the right side of a limit, by ``lead`` in the sample."""
    mean, low, high = mean_interval(samples, 1 - LEVEL)
    freedom = len(samples) - 1
    statistic = _statistic(lead, float(samples.std(ddof=1)) / math.sqrt(len(samples)))
    above, below = _upper_tail(statistic, freedom), _upper_tail(-statistic, freedom)
    return HypothesisTest(subject, test, mean, low, high, statistic, above, below)


def rate_at_most(subject: str, events: int, trials: int, limit: float) -> HypothesisTest:
    """Is the probability of an event at most ``limit``? Exact binomial test.

    Passed when the upper 95 % limit of Clopper and Pearson is at most ``limit``.
    """
    upper = 1.0 if events == trials else float(beta_law.ppf(1 - LEVEL, events + 1, trials - events))
    lower = 0.0 if events == 0 else float(beta_law.ppf(LEVEL, events, trials - events + 1))
    p_value = float(beta_law.sf(limit, events + 1, trials - events)) if events < trials else 1.0
    p_against = float(beta_law.cdf(limit, events, trials - events + 1)) if events else 1.0
    return HypothesisTest(
        subject,
        f"exact binomial test of a rate below {limit:g} (Clopper-Pearson limit)",
        events / trials,
        lower,
        upper,
        float(events),
        p_value,
        p_against,
    )


def exponents(x: Array, y: Array) -> Array:
    """(R,) slope of log y[r] against log x by least squares, for every repetition r.

    >>> exponents(np.array([1.0, 10.0, 100.0]), np.array([[2.0, 200.0, 2e4]])).round(12).tolist()
    [2.0]
    """
    centred = np.log(x) - np.log(x).mean()
    slopes: Array = np.log(y) @ centred / (centred @ centred)
    return slopes


def _statistic(lead: float, error: float) -> float:
    """The lead in standard errors; without any spread a lead is certain, and none is none."""
    if error > 0.0:
        return lead / error
    return math.inf if lead > 0.0 else -math.inf


def _upper_tail(statistic: float, freedom: float) -> float:
    return float(student.sf(statistic, freedom))
