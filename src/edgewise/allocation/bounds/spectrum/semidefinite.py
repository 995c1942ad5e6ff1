"""Two arms: the Max-Cut semidefinite bound."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.bounds.bound import Bound
from edgewise.allocation.bounds.rounding import UNIT, careful_sum
from edgewise.allocation.bounds.spectrum.cut_dual import dominate
from edgewise.allocation.bounds.spectrum.ising import as_ising
from edgewise.allocation.instance.objective import Objective


def semidefinite_bound(
    objective: Objective, *, seconds: float, rng: np.random.Generator
) -> Bound | None:
    r"""Goemans and Williamson's bound on any objective with two arms.

    With :func:`as_ising`, :math:`F = c + \frac12 s^\top C s`, and for every diagonal z that
    dominates C

    .. math:: F_{\max} \le c + \frac12 \sum_i z_i, \quad \text{since} \quad
              s^\top C s \le s^\top \mathrm{Diag}(z) s = \sum_i z_i .

    None when there are more arms, or when no domination could be proved.
    """
    if objective.n_arms != 2:
        return None
    ising = as_ising(objective)
    if ising.couplings.size == 0:
        return Bound(ising.constant + ising.error, "sdp")
    found = dominate(ising.couplings, seconds=seconds, rng=rng)
    if found is None:
        return None
    total, error = careful_sum(found.diagonal)
    value = ising.constant + 0.5 * total
    margin = ising.error + error + 4.0 * UNIT * (abs(ising.constant) + total)
    return Bound.probable(value + margin, "sdp", found.failure_probability)
