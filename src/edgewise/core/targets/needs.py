"""How much information a comparison needs, for planning the next phase."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array
from edgewise.core.evidence.equations import Equations
from edgewise.core.evidence.evidence import Evidence
from edgewise.core.evidence.measuring import Total
from edgewise.core.evidence.observed import observed_directions

if TYPE_CHECKING:
    from edgewise.core.setting import Setting


def information_wanted(gaps: Array, variances: Array, sigma: float, nats: float) -> Array:
    r"""(T,) :math:`2\sigma^2\,\text{nats}/\Delta^2`, the gap never below its deviation.

    Everything alike while sigma is unknown.
    """
    if not math.isfinite(sigma):
        return np.ones(len(gaps))
    gap = np.maximum(gaps, sigma * np.sqrt(variances))
    wanted: Array = 2.0 * sigma**2 * nats / gap**2
    return wanted


def pooled(setting: Setting, everything: Total, evidence: Evidence) -> tuple[Array, Array]:
    """(q, P) gaps to the leaders, and variances, by least squares on all rounds together.

    Only for planning: pooled estimates use every reward, but are not valid evidence once designs
    depend on rewards.
    """
    cells = setting.plan.cells
    means = cells.means(evidence.theta[0])
    kinds = np.arange(len(means))
    leaders = evidence.leaders[0]
    contrasts = cells.features[kinds, leaders][:, None] - cells.features
    if isinstance(everything, Equations):
        values, basis = observed_directions(everything.gram)
        images = (contrasts @ basis / values) @ basis.T
    else:
        gram = cells.padded(cells.grams(everything.information))
        images = np.linalg.solve(gram, contrasts.transpose(0, 2, 1)).transpose(0, 2, 1)
    variances = np.maximum((images * contrasts).sum(axis=2), 0.0)
    gaps = means[kinds, leaders][:, None] - means
    return gaps, variances
