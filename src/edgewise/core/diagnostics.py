"""Is the noise as large as stated, and does the bilinear model hold?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, fdtrc

from edgewise.core.arrays import Array
from edgewise.core.cells import Cells
from edgewise.core.statistics import CellStatistics


@dataclass(frozen=True)
class NoiseEstimate:
    """Noise deviation estimated from repeated observations of the same cell, model-free."""

    deviation: float
    low: float
    high: float
    """``low`` and ``high`` bound sigma with 95 % confidence if the noise is Gaussian."""
    degrees_of_freedom: int


@dataclass(frozen=True)
class LackOfFit:
    r"""Spread of the cell means around the fitted model, against the spread within cells.

    .. math:: F = \frac{\sum_c N_c (\bar y_c - \phi_c^\top\hat\theta)^2 / (\#c - p)}{
        \text{pure error}}

    Under the bilinear model with Gaussian noise, F has an F distribution. A small p-value says
    that the model is wrong, whatever a certificate says. At a data-dependent stop the p-value is a
    diagnostic, not an exact level.
    """

    statistic: float
    p_value: float
    degrees_of_freedom: tuple[int, int]


def pure_error(statistics: CellStatistics) -> tuple[float, int]:
    r"""Sum of squares within cells, :math:`\sum_c (Q_c - Y_c^2/N_c)`, and degrees of freedom."""
    seen = statistics.observations > 0
    within = statistics.squares[seen] - statistics.rewards[seen] ** 2 / statistics.information[seen]
    freedom = int(statistics.observations[seen].sum() - seen.sum())
    return max(float(within.sum()), 0.0), freedom


def estimate_noise(statistics: CellStatistics) -> NoiseEstimate | None:
    """Pure-error estimate of sigma; None while no cell has been observed twice."""
    total, freedom = pure_error(statistics)
    if freedom < 1 or math.isnan(total):
        return None
    low, high = (math.sqrt(total / chdtri(freedom, tail)) for tail in (0.025, 0.975))
    return NoiseEstimate(math.sqrt(total / freedom), low, high, freedom)


def lack_of_fit(cells: Cells, statistics: CellStatistics, theta: Array) -> LackOfFit | None:
    """The F test; None if the cells seen cannot contradict the model, or nothing was repeated."""
    seen = statistics.observations > 0
    total, error_freedom = pure_error(statistics)
    fit_freedom = int(seen.sum() - cells.dimensions.sum())
    if fit_freedom < 1 or error_freedom < 1 or not total > 0 or not np.isfinite(theta).all():
        return None
    N = statistics.information[seen]
    residual = statistics.rewards[seen] / N - cells.means(theta)[seen]
    statistic = float((N * residual**2).sum() / fit_freedom) / (total / error_freedom)
    p_value = float(fdtrc(fit_freedom, error_freedom, statistic))
    return LackOfFit(statistic, p_value, (fit_freedom, error_freedom))
