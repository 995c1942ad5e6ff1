r"""The t-test that may be looked at after every pair: for Gaussian differences.

Let :math:`D_1, D_2, \dots` be independent :math:`N(\mu, \sigma^2)` with both unknown, and consider
the effects :math:`\theta = \mu / \sigma`. Up to a positive factor nothing about
:math:`(D_1, \dots, D_n)` depends on :math:`\sigma`, so the likelihood ratio of "effect
:math:`\theta`" to "effect 0" of what is left is a martingale under :math:`\mu = 0`, whatever
:math:`\sigma` is. It is a function of :math:`u = \sqrt n \bar D` and
:math:`v = \sum (D_k - \bar D)^2`. Mixed over positive effects, half-normal with scale
:math:`\tau`, it is

.. math:: M_n = 2\, T_n\!\left(\frac{n \tau u}{\sqrt{v r + u^2}}\right) r^{-1/2}
          \left(\frac{(v + u^2)\, r}{v r + u^2}\right)^{n/2}, \qquad r = 1 + n \tau^2,

with :math:`T_n` the distribution function of Student's t with n degrees of freedom. It grows with
u, so it bounds every mean at or below 0 as well. Proofs: ``docs/confirm.md``; after Wang and
Ramdas, *Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance*,
2023.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import logsumexp, stdtr

from edgewise.base.arrays import Array, as_floats
from edgewise.base.border import border
from edgewise.base.checks import probability
from edgewise.errors import InvalidArgument

SCALES = np.array([0.7, 1.5, 3.0])
"""Scales of the effects that are mixed, alike: no single one is good at 0.5, 1 and 2 deviations."""

Interval = tuple[float, float]

_LARGEST_T = 1e12
"""A t statistic beyond this is infinite."""


@border
def t_evidence(differences: ArrayLike, *, null: float = 0.0) -> float:
    """Evidence against "the mean is at most ``null``", however often one looks.

    If the differences are independent and Gaussian with a mean of at most ``null``, the probability
    that it *ever* reaches ``1/delta`` is at most ``delta``.

    >>> t_evidence([1.1, 0.8, 1.3, 0.9]) > 20
    True
    """
    n, mean, squares = moments(checked_differences(differences))
    with np.errstate(over="ignore"):
        return float(np.exp(log_evidence(n, np.sqrt(n) * (mean - null), squares)))


@border
def t_interval(
    differences: ArrayLike, *, delta: float = 0.05, lower_share: float = 0.5
) -> Interval:
    """An interval that covers the mean after every pair at once, with probability 1 - ``delta``.

    ``lower_share`` is the part of ``delta`` spent on the lower end.

    >>> low, high = t_interval([1.1, 0.8, 1.3, 0.9, 1.0, 1.2])
    >>> 0.5 < low < 1.05 < high < 1.6
    True
    """
    n, mean, squares = moments(checked_differences(differences))
    if n < 2:
        return -np.inf, np.inf
    error = float(np.sqrt(squares / (n - 1) / n))
    below, above = levels_of(delta, lower_share)
    return mean - _times(t_quantile(n, below), error), mean + _times(t_quantile(n, above), error)


@border
@lru_cache(maxsize=65536)
def t_quantile(n: int, level: float) -> float:
    """The t statistic at which n differences carry evidence ``1/level``; infinite if none does.

    The running counterpart of the quantile of Student's t:

    >>> round(t_quantile(10, 0.05), 2), round(t_quantile(100, 0.05), 2)
    (3.52, 3.19)
    """

    def missing(t: float) -> float:
        return float(log_evidence(n, t, n - 1.0) + np.log(level))

    if n < 2 or missing(_LARGEST_T) < 0:
        return np.inf
    return float(np.exp(brentq(lambda x: missing(np.exp(x)), -3.0, np.log(_LARGEST_T))))


def log_evidence(n: ArrayLike, u: ArrayLike, v: ArrayLike) -> Array:
    r"""Log of the mixture over positive effects, of arrays of n, u and v (see above).

    All differences equal to the null (u = v = 0) say nothing:

    >>> float(log_evidence(5, 0.0, 0.0))
    0.0
    """
    n, u, v = (np.asarray(one, float)[..., None] for one in (n, u, v))
    nothing = (u == 0.0) & (v == 0.0)
    v = np.where(nothing, 1.0, v)
    r = 1.0 + n * SCALES**2
    inner = v * r + u**2
    grown = 0.5 * n * (np.log(v + u**2) + np.log(r) - np.log(inner)) - 0.5 * np.log(r)
    with np.errstate(divide="ignore"):  # log of 0, if nothing speaks for a positive effect
        positive = np.log(2.0 * stdtr(n, n * SCALES * u / np.sqrt(inner)))
    mixed = logsumexp(grown + positive, axis=-1) - np.log(len(SCALES))
    return np.asarray(np.where(nothing[..., 0], 0.0, mixed))


def levels_of(delta: float, lower_share: float) -> tuple[float, float]:
    """How much of ``delta`` the lower and the upper end of an interval may err by."""
    probability("delta", delta, "the probability that the interval ever misses")
    return delta * lower_share, delta * (1.0 - lower_share)


def checked_differences(differences: ArrayLike) -> Array:
    """(n,) the differences of pairs as finite numbers, or InvalidArgument."""
    values = as_floats(
        "differences", differences, InvalidArgument, "give one number per complete pair"
    )
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InvalidArgument(
            f"differences have shape {values.shape} and {int((~np.isfinite(values)).sum())} that "
            "are not finite; give one finite number per complete pair: pairs with a gap are "
            "repeated, not filled in",
            argument="differences",
        )
    return values


def moments(differences: Array) -> tuple[int, float, float]:
    """How many, their mean, and the sum of squares around it."""
    if not len(differences):
        return 0, 0.0, 0.0
    mean = float(differences.mean())
    return len(differences), mean, float(((differences - mean) ** 2).sum())


def _times(quantile: float, error: float) -> float:
    """Their product; an infinite quantile wins over an error of 0."""
    return np.inf if np.isinf(quantile) else quantile * error
