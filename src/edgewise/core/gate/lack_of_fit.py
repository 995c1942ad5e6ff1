"""Does the bilinear model hold?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from edgewise.base.arrays import Array
from edgewise.core.evidence.equations import Equations
from edgewise.core.evidence.noise import pure_error
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells


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


def lack_of_fit(
    cells: Cells, statistics: CellStatistics | Equations, theta: Array
) -> LackOfFit | None:
    """The F test; None if the cells seen cannot contradict the model, or nothing was repeated."""
    if isinstance(statistics, Equations):  # nothing is repeated: see the test whether edges differ
        return None
    seen = statistics.observations > 0
    squares, degrees = pure_error(statistics)
    total, error_freedom = float(squares), int(degrees)
    fit_freedom = int(seen.sum() - cells.dimensions.sum())
    if fit_freedom < 1 or error_freedom < 1 or not total > 0 or not np.isfinite(theta).all():
        return None
    N = statistics.information[seen]
    residual = statistics.rewards[seen] / N - cells.means(theta)[seen]
    statistic = float((N * residual**2).sum() / fit_freedom) / (total / error_freedom)
    p_value = float(fdtrc(fit_freedom, error_freedom, statistic))
    return LackOfFit(statistic, p_value, (fit_freedom, error_freedom))
