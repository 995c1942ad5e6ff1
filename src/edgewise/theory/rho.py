r"""The characteristic time of an identification problem, with a certificate.

.. math:: \rho^\star = \min_{\lambda} \max_y \frac{y^\top \Sigma(\lambda)^{-1} y}{\Delta_y^2},
    \qquad \Sigma(\lambda) = \sum_c \lambda_c \phi_c \phi_c^\top

Observations of the cells ``c`` (features :math:`\phi_c`) in the proportions :math:`\lambda` tell
the sign of every contrast :math:`y^\top\theta = \Delta_y` apart; :math:`\rho^\star` is what the
best proportions need, per unit of :math:`2\sigma^2\log(1/\delta)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, as_floats, frozen
from edgewise.base.border import border
from edgewise.base.threads import single_threaded
from edgewise.errors import InvalidArgument
from edgewise.network.arms import whiten
from edgewise.theory.information import CellInformation
from edgewise.theory.least_information import maximise_least

_ROUNDING = 1e-12
"""Differences below this fraction of the values compared are rounding, not information."""
_OUTSIDE = 1e-8
"""Relative residual from which a contrast is outside the span of the features."""


@dataclass(frozen=True, eq=False)
class RhoStar:
    """The characteristic time, bracketed: ``lower <= rho* <= value``."""

    value: float
    """Reached by ``design``; infinite when two cells tie."""
    lower: float
    """Proved by ``multipliers`` at ``design``."""
    design: Array
    """(C,) proportion of observations to give every cell; uniform when ``value`` is infinite."""
    multipliers: Array
    """(Y,) non-negative, sums to 1: how much each contrast matters."""
    iterations: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "design", frozen(self.design, float))
        object.__setattr__(self, "multipliers", frozen(self.multipliers, float))

    @property
    def gap(self) -> float:
        """Relative width of the bracket: how far ``design`` can be from optimal, a proof."""
        return bracket_width(self.lower, self.value)


def bracket_width(lower: float, upper: float) -> float:
    """Relative width of a bracket; none where both ends are 0 or both infinite."""
    if not 0.0 < lower < math.inf:
        return 0.0 if upper == lower else math.inf
    return max(upper / lower - 1.0, 0.0)


@border
def rho_star(
    features: ArrayLike,
    contrasts: ArrayLike,
    gaps: ArrayLike,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 60,
) -> RhoStar:
    r"""Solve :math:`\min_\lambda \max_y y^\top \Sigma(\lambda)^{-1} y / \Delta_y^2`.

    Scale every contrast by its gap. Then :math:`h_y(\lambda) = 1/(y^\top\Sigma(\lambda)^{-1}y)` is
    concave and homogeneous of degree 1, and :math:`\rho^\star` is the optimal value of

    .. math:: \min_{u \ge 0} \mathbf{1}^\top u \quad\text{subject to}\quad h_y(u) \ge 1
        \text{ for all } y,

    which a primal-dual interior point solves in 10 to 30 iterations.

    Parameters
    ----------
    features
        (C, p) what one observation of each cell measures; repeated or dependent ones are fine.
    contrasts
        (Y, p) the differences whose signs must be learnt, in the span of the features.
    gaps
        (Y,) true values of the contrasts, not negative. A zero contrast is ignored; any other
        contrast of gap zero makes the value infinite.
    tolerance
        Relative gap to reach.
    max_iterations
        Per attempt; a second attempt with shorter steps follows a failed one.

    Returns
    -------
    RhoStar
        With both bounds. Look at its ``gap``: it exceeds ``tolerance`` if the iterations ran out.

    Examples
    --------
    Three arms observed directly, the second and third behind the first by 1: the leader deserves
    :math:`\sqrt 2` times as many observations as each rival.

    >>> result = rho_star(np.eye(3), [[1.0, -1.0, 0.0], [1.0, 0.0, -1.0]], [1.0, 1.0])
    >>> round(result.value, 4), round((1 + 2**0.5) ** 2, 4)
    (5.8284, 5.8284)
    >>> result.design.round(3).tolist()
    [0.414, 0.293, 0.293]
    """
    phi, y, delta = _checked(features, contrasts, gaps)
    relevant = np.abs(y).max(axis=1, initial=0.0) > 0.0
    uniform, multipliers = np.full(len(phi), 1.0 / len(phi)), np.zeros(len(y))
    if not relevant.any():
        return RhoStar(0.0, 0.0, uniform, multipliers, 0)
    if (delta[relevant] == 0.0).any():
        multipliers[np.flatnonzero(relevant & (delta == 0.0))[0]] = 1.0
        return RhoStar(math.inf, math.inf, uniform, multipliers, 0)
    with single_threaded():
        white, scaled = _whitened(phi, y[relevant] / delta[relevant, None])
        # the uniform design is the identity in white coordinates: its worst ratio becomes 1
        unit = float((scaled**2).sum(axis=1).max())
        model = CellInformation(white, scaled / math.sqrt(unit))
        found = maximise_least(model, tolerance, max_iterations)
    multipliers[relevant] = found.multipliers
    return RhoStar(
        unit * found.upper, unit * found.lower, found.design, multipliers, found.iterations
    )


@border
def characteristic(features: ArrayLike, theta: ArrayLike, *, tolerance: float = 1e-6) -> RhoStar:
    r""":math:`\rho^\star` for telling the best cell of :math:`\phi_c^\top\theta` from the others.

    Cells with the best one's features are the same cell. A *different* cell of equal mean is a
    tie: no amount of data separates the two, and the value is infinite.
    """
    phi = as_floats("features", features, InvalidArgument, "pass an array of numbers")
    parameter = as_floats("theta", theta, InvalidArgument, "pass an array of numbers")
    if phi.ndim != 2 or phi.shape[1:] != parameter.shape:
        raise InvalidArgument(
            f"features have shape {phi.shape} and theta {parameter.shape}; a cell's mean is their "
            "inner product; pass arrays of shapes (C, p) and (p,)"
        )
    best, rivals, gaps = rivals_of_best(phi, phi @ parameter)
    return rho_star(phi, phi[best] - phi[rivals], gaps, tolerance=tolerance)


class ToldApart(NamedTuple):
    """The best cell against the others, in coordinates where the uniform design is the identity."""

    features: Array
    """(C, p)"""
    contrasts: Array
    """(Y, p) scaled by their gaps: the value sought is a largest variance."""
    settled: float | None
    """The value when no design matters: 0 if all cells are one, infinite if the best is tied."""


def told_apart(features: Array, theta: Array) -> ToldApart:
    """What has to be told apart to know the best cell of phi' theta."""
    best, rivals, gaps = rivals_of_best(features, features @ theta)
    contrasts = features[best] - features[rivals]
    if len(rivals) == 0 or (gaps == 0.0).any():
        return ToldApart(features, contrasts, 0.0 if len(rivals) == 0 else math.inf)
    return ToldApart(*_whitened(features, contrasts / gaps[:, None]), settled=None)


def rivals_of_best(features: Array, means: Array) -> tuple[int, Indices, Array]:
    """The best cell, the cells that differ from it, and by how much it leads each of them.

    Leads within rounding of zero are zero: the digits left after cancellation mean nothing.
    """
    best = int(means.argmax())
    # Per column, so that features of small scale still count as differences.
    scale = np.abs(features).max(axis=0)
    differs = (np.abs(features - features[best]) > _ROUNDING * scale).any(axis=1)
    rivals = np.flatnonzero(differs)
    gaps = means[best] - means[rivals]
    gaps[gaps <= _ROUNDING * np.abs(means).max(initial=0.0)] = 0.0
    return best, rivals, gaps


@border
def worst_ratio(
    features: ArrayLike, contrasts: ArrayLike, gaps: ArrayLike, design: ArrayLike
) -> float:
    r"""What a given design needs: :math:`\max_y y^\top\Sigma(\lambda)^{-1}y/\Delta_y^2`."""
    phi, y, delta = _checked(features, contrasts, gaps)
    solved = np.linalg.solve((phi.T * _checked_design(phi, design)) @ phi, y.T)
    return float(((y.T * solved).sum(axis=0) / delta**2).max())


@border
def dual_bound(
    features: ArrayLike,
    contrasts: ArrayLike,
    gaps: ArrayLike,
    design: ArrayLike,
    multipliers: ArrayLike,
) -> float:
    r"""A proved lower bound on :math:`\rho^\star` from any design and any multipliers.

    .. math:: \rho^\star \ge \Big[\max_c \sum_y q_y \frac{\partial h_y}{\partial\lambda_c}
        (\lambda_0)\Big]^{-1}, \qquad \frac{\partial h_y}{\partial\lambda_c} =
        \frac{(\phi_c^\top\Sigma^{-1}y)^2}{(y^\top\Sigma^{-1}y)^2}

    Proof. For every design :math:`\lambda`, :math:`\min_y h_y(\lambda) \le \sum_y q_y h_y(\lambda)
    \le \sum_y q_y [h_y(\lambda_0) + \nabla h_y(\lambda_0)^\top(\lambda - \lambda_0)]` by concavity,
    which is :math:`\sum_y q_y \nabla h_y(\lambda_0)^\top\lambda` by Euler's identity
    :math:`h = \nabla h^\top\lambda_0`, and at most the maximum above as :math:`\lambda` averages.
    """
    phi, y, delta = _checked(features, contrasts, gaps)
    q = as_floats("multipliers", multipliers, InvalidArgument, "pass an array of numbers")
    if q.shape != delta.shape:
        raise InvalidArgument(
            f"multipliers have shape {q.shape}; there is one per contrast, {delta.shape}",
            argument="multipliers",
        )
    y = y / delta[:, None]
    solved = np.linalg.solve((phi.T * _checked_design(phi, design)) @ phi, y.T)
    slopes = (phi @ solved / (y.T * solved).sum(axis=0)) ** 2
    return float(q.sum() / (slopes @ q).max())


def _checked_design(phi: Array, design: ArrayLike) -> Array:
    """(C,) weights under which every direction is observed."""
    weights = as_floats("design", design, InvalidArgument, "pass an array of numbers")
    if weights.shape != (len(phi),) or not (weights >= 0.0).all():
        raise InvalidArgument(
            f"design has shape {weights.shape}; it must be ({len(phi)},), a weight of at least 0 "
            "for each feature",
            argument="design",
        )
    if np.linalg.matrix_rank(phi[weights > 0.0]) < phi.shape[1]:
        raise InvalidArgument(
            "the design leaves a direction unobserved; give weight to features that span all",
            argument="design",
        )
    return weights


def _checked(
    features: ArrayLike, contrasts: ArrayLike, gaps: ArrayLike
) -> tuple[Array, Array, Array]:
    phi = as_floats("features", features, InvalidArgument, "pass an array of numbers")
    y = as_floats("contrasts", contrasts, InvalidArgument, "pass an array of numbers")
    delta = as_floats("gaps", gaps, InvalidArgument, "pass an array of numbers")
    if phi.ndim != 2 or y.ndim != 2 or y.shape[1] != phi.shape[1] or delta.shape != y.shape[:1]:
        raise InvalidArgument(
            f"features have shape {phi.shape}, contrasts {y.shape} and gaps {delta.shape}; every "
            "contrast is a difference of features with one gap; pass (C, p), (Y, p) and (Y,)"
        )
    if not (np.isfinite(phi).all() and np.isfinite(y).all() and np.all(delta >= 0.0)):
        raise InvalidArgument(
            "a feature or contrast is not finite, or a gap is negative or NaN; a contrast of known "
            "sign has a gap >= 0; flip the sign of contrasts with negative gaps"
        )
    return phi, y, delta


def _whitened(features: Array, contrasts: Array) -> tuple[Array, Array]:
    """Features and contrasts where the uniform design is the identity; ratios are unchanged."""
    white = whiten(features)
    coordinates = contrasts @ white.transform
    # phi = coordinates @ back, so a contrast in the span of the features is returned by back.
    back = white.coordinates.T @ features / len(features)
    residual = np.abs(coordinates @ back - contrasts)
    if (residual > _OUTSIDE * np.abs(contrasts).max(axis=1, keepdims=True)).any():
        raise InvalidArgument(
            "a contrast is outside the span of the features, so no observation reveals it; every "
            "contrast must be a combination of features; add cells or drop the contrast"
        )
    return white.coordinates, coordinates
