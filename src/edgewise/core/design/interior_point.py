r"""Primal-dual Newton for the D-optimal design on a few arms.

The problem is solved in the form

.. math:: \min_{u \ge 0} -\log\det\Sigma(u) + \sum_k u_k, \quad \Sigma(u)=\sum_k u_k x_k x_k^\top

whose optimum has :math:`\sum u = d`, so the simplex needs no multiplier. With
:math:`g_k(u) = x_k^\top\Sigma(u)^{-1}x_k`, the path of solutions is
:math:`1 - g_k(u) = z_k \ge 0,\; u_k z_k = \tau`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from edgewise.base.arrays import Array
from edgewise.core.design.variance import squared_lengths

_SMALLEST_PRODUCT = 1e-18
"""Below this mean of ``u z``, rounding in ``g`` is larger than what a step could gain."""


@dataclass(frozen=True, eq=False)
class Point:
    """A strictly interior pair: masses ``u > 0`` and slacks ``z > 0`` of the same arms."""

    masses: Array
    slacks: Array

    @property
    def mean_product(self) -> float:
        """``u'z / s``, the current value of ``tau``."""
        return float(self.masses @ self.slacks) / len(self.masses)


def centred(arms: Array, masses: Array, *, margin: float, product: float = 0.0) -> Point:
    """A dual feasible point near ``masses``, whose products ``u z`` are about ``product`` or more.

    Masses may be zero as long as the others span the space.
    """
    scaled, slacks = _feasible(arms, masses, margin)
    # On the path u = tau / z. The square root caps the mass given where z is nearly zero.
    raised = np.maximum(scaled, product / np.maximum(slacks, np.sqrt(product)))
    return Point(*_feasible(arms, raised, margin))


def _feasible(arms: Array, masses: Array, margin: float) -> tuple[Array, Array]:
    """Scale the masses until every ``g`` is below one; g(cu) = g(u)/c makes it a division."""
    spread = squared_lengths(arms, root_of(arms, masses))
    scale = spread.max() * (1.0 + margin)
    return masses * scale, 1.0 - spread / scale


def root_of(arms: Array, masses: Array) -> Array:
    """Upper triangular ``R`` with ``R'R = Sigma(u)``."""
    return np.asarray(np.linalg.cholesky((arms.T * masses) @ arms).T, dtype=np.float64)


def solve_restricted(
    arms: Array, point: Point, *, tolerance: float, max_steps: int
) -> tuple[Point, int]:
    """Newton steps until the gap on these arms is below ``tolerance``: point and steps taken.

    Ends early, with the last sound point, where rounding leaves nothing to gain.
    """
    dimension = arms.shape[1]
    for step in range(max_steps):
        overlaps = _overlaps(arms, point.masses)
        gap = point.masses.sum() * overlaps.diagonal().max() / dimension - 1.0
        if gap <= tolerance or point.mean_product < _SMALLEST_PRODUCT:
            return point, step
        try:
            point = _newton_step(overlaps, point)
        except np.linalg.LinAlgError:
            return point, step
    return point, max_steps


def _overlaps(arms: Array, masses: Array) -> Array:
    """Matrix of ``x_i' Sigma(u)^-1 x_j``; its diagonal is ``g``."""
    rows = scipy.linalg.solve_triangular(
        root_of(arms, masses), arms.T, trans="T", check_finite=False
    )
    return np.asarray(rows.T @ rows)


def _newton_step(overlaps: Array, point: Point) -> Point:
    r"""One predictor-corrector step (Mehrotra).

    With :math:`H_{ij} = (x_i^\top\Sigma^{-1}x_j)^2` the Hessian, the direction for targets ``c``
    of the products ``u z`` solves :math:`(H + \mathrm{diag}(z/u))\,\Delta u = g - 1 + c/u`. It is
    solved for :math:`\Delta u/\sqrt u`, whose matrix stays well scaled when ``u`` vanishes.
    """
    u, z = point.masses, point.slacks
    root = np.sqrt(u)
    factor = _factored(overlaps * overlaps * root * root[:, None], z)
    excess = root * (overlaps.diagonal() - 1.0)

    def direction(targets: Array | float) -> tuple[Array, Array]:
        du = root * scipy.linalg.cho_solve(factor, excess + targets / root, check_finite=False)
        return du, (targets - z * du) / u - z

    tau = point.mean_product
    du, dz = direction(0.0)
    reached = Point(u + _reach(u, du) * du, z + _reach(z, dz) * dz).mean_product
    # Aim at a much smaller tau only when the uncorrected direction nearly got there; never at 0,
    # so that no mass meets its bound before its slack is known to be positive.
    du, dz = direction(tau * max((reached / tau) ** 3, 1e-4) - du * dz)
    if not np.isfinite(du).all():
        raise np.linalg.LinAlgError("the Newton direction is not finite")
    # Never quite to the boundary, where the next direction would be blocked at once.
    short = min(max(0.9, 1.0 - tau), 0.999)
    return Point(u + _reach(u, du, short) * du, z + _reach(z, dz, short) * dz)


def _factored(matrix: Array, slacks: Array) -> tuple[Array, bool]:
    """Cholesky factor of ``matrix + diag(slacks)``.

    Equal arms make the matrix singular up to the slacks, and slacks can be below rounding: then a
    ridge as small as possible is added, which bends the direction and not the solution.
    """
    matrix[np.diag_indices_from(matrix)] += slacks
    ridge = 0.0
    for _ in range(8):
        try:
            factor, lower = scipy.linalg.cho_factor(
                matrix + ridge * np.eye(len(matrix)) if ridge else matrix,
                lower=True,
                check_finite=False,
            )
        except np.linalg.LinAlgError:
            ridge = max(100.0 * ridge, 1e-15 * float(np.trace(matrix)))
        else:
            return factor, lower
    raise np.linalg.LinAlgError("the Newton matrix is not finite")


def _reach(values: Array, change: Array, fraction: float = 1.0) -> float:
    """Step along ``change``: one, or that fraction of the way to the first value to vanish."""
    fastest = float((-change / values).max())
    return min(1.0, fraction / fastest) if fastest > 0.0 else 1.0
