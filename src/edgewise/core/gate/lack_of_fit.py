"""Does the bilinear model hold?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import fdtrc

from edgewise.base.arrays import Array
from edgewise.core.evidence.equations import Equations
from edgewise.core.evidence.measuring import ByPhase, Total
from edgewise.core.evidence.noise import pure_error
from edgewise.core.evidence.observed import observed_directions
from edgewise.core.gate.forms import is_local
from edgewise.core.gate.sums import Sums
from edgewise.core.gate.watch import Watch
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem

_ROUNDING = 1e-12
"""Residual squares below this share of all squares are rounding."""


@dataclass(frozen=True)
class LackOfFit:
    r"""Spread of the cell means around the fitted model, against the spread within cells.

    .. math:: F = \frac{\sum_c N_c (\bar y_c - \phi_c^\top\hat\theta)^2 / (\#c - p)}{
        \text{pure error}}

    Where no cell is seen by itself (rewards per node or in total, unknown levels), phases take the
    place of cells: with :math:`R_j` the residual squares of phase j fitted alone and R those of all
    phases fitted with one vector of parameters,

    .. math:: F = \frac{(R - \sum_j R_j)/(\sum_j \text{rank}_j - \text{rank})}{
        \sum_j R_j / \sum_j \nu_j} .

    A model that lacks something asks for other parameters where other joint arms are shown. Under
    the bilinear model with Gaussian noise, F has an F distribution. A small p-value says that the
    model is wrong, whatever a certificate says. At a data-dependent stop, and where later phases
    are laid out by earlier ones, the p-value is a diagnostic, not an exact level.
    """

    statistic: float
    p_value: float
    degrees_of_freedom: tuple[int, int]
    compares: Literal["cells", "phases"] = "cells"


def lack_of_fit(
    cells: Cells,
    statistics: Total,
    theta: Array,
    watch: Watch | None = None,
    phases: ByPhase | None = None,
) -> LackOfFit | None:
    """The F test; None if the cells seen cannot contradict the model, or nothing was repeated.

    ``statistics`` are those of all rounds, ``phases`` (J, ...) the same phase by phase. Where they
    are normal equations, cells are those that the gate has counted: it does where every number
    shows one cell and has no level. Elsewhere phases are compared, if there are any.
    """
    if isinstance(statistics, Equations):
        found = None if watch is None else _of_sums(watch.sums)
        if found is None and isinstance(phases, Equations):
            found = _of_phases(phases, statistics)
        return found
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


def _of_sums(sums: Sums) -> LackOfFit | None:
    """Nested models by ranks: the parameters, then a mean of its own for every cell."""
    seen = sums.cell_counts > 0
    values, basis = observed_directions(sums.gram)
    fitted = float((((basis.T @ sums.moment) ** 2) / values).sum())
    explained = float((sums.cell_rewards[seen] ** 2 / sums.cell_counts[seen]).sum())
    fit_freedom, error_freedom = int(seen.sum()) - len(values), sums.count - int(seen.sum())
    error = sums.squares - explained
    if fit_freedom < 1 or error_freedom < 1 or not error > _ROUNDING * sums.squares:
        return None
    statistic = max(explained - fitted, 0.0) / fit_freedom / (error / error_freedom)
    p_value = float(fdtrc(fit_freedom, error_freedom, statistic))
    return LackOfFit(statistic, p_value, (fit_freedom, error_freedom))


def _of_phases(phases: Equations, everything: Equations) -> LackOfFit | None:
    """Nested models: one vector of parameters for all phases, and one for each."""
    squares, freedom = phases.residual()
    together, left = everything[None].residual()
    error, error_freedom = float(squares.sum()), int(freedom.sum())
    fit_freedom = int(left[0]) - error_freedom
    if fit_freedom < 1 or error_freedom < 1 or not error > _ROUNDING * float(everything.squares):
        return None
    extra = max(float(together[0]) - error, 0.0)
    statistic = extra / fit_freedom / (error / error_freedom)
    p_value = float(fdtrc(fit_freedom, error_freedom, statistic))
    return LackOfFit(statistic, p_value, (fit_freedom, error_freedom), "phases")


def untested(problem: Problem, *, certified: bool) -> str:
    """Why the fit was not tested; empty if more rounds may, or nothing can fail."""
    if is_local(problem):
        return "not tested: edges may differ, and whether they do is tested instead"
    waits = (
        "the fit is tested by whether phases agree, once there are two with more numbers than "
        "parameters"
    )
    if problem.measured in ("node", "total"):
        return f"not tested yet: a number is a sum over several edges, so {waits}"
    if problem.levels != "none":
        return f"not tested yet: rewards repeat only but for unknown levels, so {waits}"
    if certified and problem.n_arms > problem.whitening.rank:
        return (
            "not tested: the pairs of arms that were shown suit some matrix whatever they pay, so "
            "a missing feature would go unnoticed; Adaptive(even=1) shows all arms"
        )
    return ""
