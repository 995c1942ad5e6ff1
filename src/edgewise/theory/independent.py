"""The characteristic time when nodes draw their arms independently."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.border import border
from edgewise.base.threads import single_threaded
from edgewise.theory.edge_arms import Model, edge_arm_model, edge_arms
from edgewise.theory.information import LawInformation
from edgewise.theory.least_information import maximise_least
from edgewise.theory.rho import RhoStar, told_apart
from edgewise.theory.setting import spanning_arms, square_matrix


@border
def rho_independent(
    arms: ArrayLike,
    matrix: ArrayLike,
    *,
    model: Model = "symmetric",
    tolerance: float = 1e-6,
    max_iterations: int = 60,
) -> RhoStar:
    r"""What the best single law needs when every node draws from it independently.

    .. math:: \rho_{\mathrm{iid}} = \min_\mu \max_{z \ne z_\star}
        \frac{\|z_\star - z\|^2_{\Sigma(\mu \otimes \mu)^{-1}}}{\Delta_z^2}

    The square root of the inverse is concave and homogeneous of degree 1 in the law (Ando's
    theorem, docs/theory.md), so the interior point of :func:`edgewise.theory.rho_star` finds the
    global optimum and its certificate. The value does not depend on the graph.

    Parameters
    ----------
    arms, matrix
        (K, d) arms spanning the space; M.
    model
        As in :func:`edgewise.theory.lower_bound`.
    tolerance, max_iterations
        As in :func:`edgewise.theory.rho_star`.

    Returns
    -------
    RhoStar
        ``design`` is the law of the nodes (K,); ``multipliers`` has one entry per rival.

    Examples
    --------
    Two orthogonal arms, the first pair worth 1 and the others nothing: an even law is best.

    >>> result = rho_independent(np.eye(2), [[1.0, 0.0], [0.0, 0.0]])
    >>> round(result.value, 3), result.design.round(3).tolist()
    (8.0, [0.5, 0.5])
    """
    table = spanning_arms(arms)
    features, theta = edge_arm_model(table, square_matrix(matrix, table.shape[1]), model)
    phi, y, settled = told_apart(features, theta)
    even = np.full(len(table), 1.0 / len(table))
    if settled is not None:
        return RhoStar(settled, settled, even, np.zeros(len(y)), 0)
    index = edge_arms(len(table), model).index
    with single_threaded():
        unit = float(LawInformation(phi, y, index).at(even).values.min())
        information = LawInformation(phi, unit * y, index)
        # rho is the square of what is bracketed
        found = maximise_least(information, math.sqrt(1.0 + tolerance) - 1.0, max_iterations)
    return RhoStar(
        (found.upper / unit) ** 2,
        (found.lower / unit) ** 2,
        found.design,
        found.multipliers,
        found.iterations,
    )
