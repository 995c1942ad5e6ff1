"""The K x K matrix of the spectral bound."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.threads import single_threaded

_HEATS = (0.1, 0.02, 0.004, 0.001)
_ROUNDS = 60


def best_shift(table: Array, level: float, spread: float) -> Array:
    r"""(K, K) B, such that :math:`Q = B B^\top` nearly minimises the spectral bound.

    .. math:: \max_{kl} \bigl(W + Q + \tfrac{\zeta}{2} (q_k + q_l)\bigr)
              + \rho \bigl(\max_k q_k - \min_k q_k\bigr), \quad q = \mathrm{diag}\, Q,

    convex in Q. Maxima are smoothed less and less. Any B gives a valid bound.

    Parameters
    ----------
    table
        (K, K) W, symmetric.
    level, spread
        :math:`\zeta` and :math:`\rho`.
    """
    from scipy.optimize import minimize

    n_arms = len(table)
    width = float(np.ptp(table))
    if width == 0.0:
        return np.zeros((n_arms, n_arms))
    scaled = (table - table.max()) / width
    B = 0.5 * (np.eye(n_arms) - 1.0 / n_arms) + 0.01 * np.eye(n_arms)
    with single_threaded():
        for heat in _HEATS:
            found = minimize(
                _smooth,
                B.ravel(),
                args=(scaled, level, spread, heat),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": _ROUNDS},
            )
            B = found.x.reshape(n_arms, n_arms)
    best: Array = B * np.sqrt(width)
    return best


def _smooth(
    flat: Array, table: Array, level: float, spread: float, heat: float
) -> tuple[float, Array]:
    """The smoothed bound per arc and its gradient with respect to B."""
    B = flat.reshape(table.shape)
    Q = B @ B.T
    q = np.diagonal(Q)
    pairs, law = _soft_max(table + Q + 0.5 * level * (q[:, None] + q), heat)
    high, law_high = _soft_max(q, heat)
    low, law_low = _soft_max(-q, heat)
    slope = law + np.diag(level * 0.5 * (law.sum(axis=0) + law.sum(axis=1)))
    slope += spread * np.diag(law_high - law_low)
    gradient = (slope + slope.T) @ B
    return pairs + spread * (high + low), gradient.ravel()


def _soft_max(values: Array, heat: float) -> tuple[float, Array]:
    top = float(values.max())
    weights = np.exp((values - top) / heat)
    total = float(weights.sum())
    return top + heat * float(np.log(total)), weights / total
