"""How large the noise is: estimated from repeated observations of the same cell, model-free."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from edgewise.base.arrays import Array
from edgewise.core.evidence.equations import Equations
from edgewise.core.evidence.measuring import ByPhase, ByRound
from edgewise.core.evidence.statistics import CellStatistics

_TILTS = 2.0 ** np.arange(-12, 9)
"""Lambda in :func:`noise_bounds`: each is best for one ratio of bound and estimate."""
_SMALLEST = 1e-150
"""A bound is never zero, even if every reward was: gaps are divided by it."""


@dataclass(frozen=True)
class NoiseEstimate:
    """Noise deviation estimated from repeated observations of the same cell, model-free."""

    deviation: float
    low: float
    high: float
    """``low`` and ``high`` bound sigma with 95 % confidence if the noise is Gaussian."""
    degrees_of_freedom: int


def pure_error(statistics: CellStatistics | Equations) -> tuple[Array, NDArray[np.int64]]:
    r"""Sum of squares within cells, :math:`\sum_c (Q_c - Y_c^2/N_c)`, and degrees of freedom.

    Over the last two axes: numbers for a (q, P) value, (R,) for an (R, q, P) one. Of normal
    equations, the squared residuals of every phase.
    """
    if isinstance(statistics, Equations):
        return statistics.residual()
    seen = statistics.observations > 0
    N = np.where(seen, statistics.information, 1.0)
    within = np.where(seen, statistics.squares - statistics.rewards**2 / N, 0.0)
    freedom = np.where(seen, statistics.observations - 1, 0).sum(axis=(-2, -1))
    return np.maximum(within.sum(axis=(-2, -1)), 0.0), freedom


def estimate_noise(statistics: CellStatistics | Equations) -> NoiseEstimate | None:
    """Pure-error estimate of sigma; None while no cell has been observed twice."""
    one = statistics[None] if isinstance(statistics, Equations) else statistics
    squares, degrees = pure_error(one)
    total, freedom = float(squares.sum()), int(degrees.sum())
    if freedom < 1 or math.isnan(total):
        return None
    low, high = (math.sqrt(total / chdtri(freedom, tail)) for tail in (0.025, 0.975))
    return NoiseEstimate(math.sqrt(total / freedom), low, high, freedom)


def noise_bounds(closed: ByPhase, present: ByRound, alpha: float) -> Array:
    r"""(R,) numbers that are all above sigma with probability at least 1 - alpha.

    For Gaussian noise the pure error of a phase is :math:`\sigma^2\chi^2_\nu` given all before
    it, whatever the cell means. So :math:`e^{-\lambda Q/2\sigma^2}(1+\lambda)^{\nu/2}` is a
    martingale over the sums Q and :math:`\nu` of all phases, and Ville's inequality at each of J
    values of lambda gives

    .. math:: \sigma^2 \le \min_\lambda \frac{\lambda Q}{\nu\log(1+\lambda) - 2\log(J/\alpha)}

    over the lambda with a positive denominator, at all times at once; infinity where there is
    none yet. What rounding may have taken from Q is added to it.

    Parameters
    ----------
    closed
        Phases that are over, (J, q, P).
    present
        The present phase after each of R rounds, (R, q, P).
    alpha
        Probability that some bound is too small.
    """
    latest = present if isinstance(present, CellStatistics) else present[-1].equations[None]
    past, past_freedom = pure_error(closed)
    squares, freedom = pure_error(latest)
    squares = squares + past.sum() + _rounding(closed).sum() + _rounding(latest)
    freedom = freedom + past_freedom.sum()
    price = 2.0 * math.log(len(_TILTS) / alpha)
    growth = freedom[:, None] * np.log1p(_TILTS) - price
    with np.errstate(divide="ignore"):
        variances = np.where(growth > 0, _TILTS * squares[:, None] / np.abs(growth), np.inf)
    bounds: Array = np.sqrt(variances.min(axis=1))
    return np.maximum(bounds, _SMALLEST)


def _rounding(statistics: CellStatistics | Equations) -> Array:
    """How much the pure error may have lost to rounding: all of it if rewards dwarf the noise."""
    if isinstance(statistics, Equations):
        return np.asarray(np.finfo(float).eps * (statistics.freedom + 4) * statistics.squares)
    terms = (statistics.observations + 4) * statistics.squares
    allowance: Array = np.finfo(float).eps * terms.sum(axis=(-2, -1))
    return allowance
