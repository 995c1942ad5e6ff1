r"""Steps that improve the variances: EM, which never fails, and scoring, which is fast.

EM crawls where deviations vanish. Scoring moves a root: :math:`\Omega_k = (L_k + X_k)(L_k +
X_k)^\top`, so that no step leaves the cone, and minimises the quadratic model

.. math:: \sum_k 2 \langle G_k L_k, X_k \rangle + \langle X_k, G_k^+ X_k \rangle
          + \tfrac12 \langle d\Omega, I\, d\Omega \rangle, \qquad
          d\Omega_k = L_k X_k^\top + X_k L_k^\top,

with I the expected curvature and :math:`G^+` the positive part of the slope, which is what
remains of the curvature where :math:`\Omega` is on the boundary: convergence there is fast too.
:math:`\log \sigma^2` and the roots of :math:`\lambda` take part in the same step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.local.derivatives import Look
from edgewise.core.local.passes import Components

_LARGEST_LOG_STEP = 1.5
"""sigma^2 changes at most by a factor of e^1.5 in one step: the model is local."""


@dataclass(frozen=True, eq=False)
class Free:
    """Which variances are learnt; the others stay."""

    dimensions: Indices
    """(g,) of each deviation."""
    blocks: Array
    """(g,) how many measured blocks teach each deviation."""
    deviations: Mask
    """(g,)."""
    spreads: Mask
    """(q, m)."""
    variance: bool


def em_step(now: Look, free: Free, n: float, dimensions: Indices) -> Components:
    """Every free variance v becomes v - v (slope/n) v: EM, written with the slopes."""
    old = now.components
    roots = old.roots.copy()
    for g in np.flatnonzero(free.deviations):
        p = int(free.dimensions[g])
        L, G = roots[g, :p, :p], now.omega_slopes[g, :p, :p]
        # Omega - Omega G Omega / n = L (I - L'GL / n) L'
        values, vectors = np.linalg.eigh(np.eye(p) - L.T @ G @ L / free.blocks[g])
        roots[g, :p, :p] = L @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    spreads = old.spreads.copy()
    step = spreads * (1 - spreads * now.spread_slopes / dimensions[:, None])
    spreads[free.spreads] = step[free.spreads]
    s2 = old.variance
    s2 = s2 * (1 - s2 * now.variance_slope / n) if free.variance else s2
    return replace(old, roots=roots, spreads=spreads, variance=float(s2))


def scoring_step(now: Look, free: Free, damping: float) -> tuple[Components, float]:
    """The step of the quadratic model, and the decrease of the criterion it promises."""
    slope, curvature = _quadratic_model(now, free)
    if not len(slope):
        return now.components, 0.0
    diagonal = np.diag(curvature)
    floor = 1e-10 * max(float(diagonal.max()), 1e-300)
    damped = curvature + np.diag(damping * diagonal + floor)
    step = -np.linalg.solve(damped, slope)
    promised = float(-(slope @ step) - 0.5 * step @ curvature @ step)
    return _moved(now.components, free, step), promised


def _quadratic_model(now: Look, free: Free) -> tuple[Array, Array]:
    """Slope and curvature in (roots of the free deviations, log sigma^2, roots of lambda)."""
    learnt = np.flatnonzero(free.deviations)
    sizes = free.dimensions[learnt] ** 2
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    n_deviations, s2 = int(starts[-1]), now.components.variance
    size = n_deviations + int(free.variance) + int(free.spreads.sum())
    slope, curvature = np.zeros(size), np.zeros((size, size))
    tangents = [_tangent(_own(now.components.roots, g, free)) for g in learnt]
    for i, g in enumerate(learnt):
        own = slice(starts[i], starts[i + 1])
        L, G = _own(now.components.roots, g, free), _own(now.omega_slopes, g, free)
        slope[own] = (2 * G @ L).ravel()
        curvature[own, own] = 2 * np.kron(_positive_part(G), np.eye(len(L)))
        for j, k in enumerate(learnt[: i + 1]):
            block = tangents[i].T @ _information(now, free, k, g).T @ tangents[j]
            other = slice(starts[j], starts[j + 1])
            # each order of a pair of blocks once: half of both, also where i == j
            curvature[own, other] += block if i != j else (block + block.T) / 2
            if i != j:
                curvature[other, own] += block.T
        if free.variance:
            column = s2 * (tangents[i].T @ _own(now.variance_cross, g, free).ravel())
            curvature[own, n_deviations] = curvature[n_deviations, own] = column
    if free.variance:
        slope[n_deviations] = s2 * now.variance_slope
        curvature[n_deviations, n_deviations] = s2**2 * now.variance_curvature
    rest = np.arange(n_deviations + int(free.variance), size)
    lam, g_lam = now.components.spreads[free.spreads], now.spread_slopes[free.spreads]
    slope[rest] = 2 * g_lam * np.sqrt(lam)
    bends = 4 * lam * now.spread_curvatures[free.spreads]
    curvature[rest, rest] = 2 * np.maximum(g_lam, 0.0) + bends
    return slope, curvature


def _own(stack: Array, g: int, free: Free) -> Array:
    p = int(free.dimensions[g])
    return stack[g, :p, :p]


def _tangent(L: Array) -> Array:
    """(p^2, p^2) the map X -> LX' + XL'."""
    p = len(L)
    once = np.kron(np.eye(p), L).reshape(p, p, p * p)
    return np.asarray((once + once.transpose(1, 0, 2)).reshape(p * p, p * p))


def _information(now: Look, free: Free, k: int, l: int) -> Array:
    """(p_k^2, p_l^2) for k <= l: the form tr(H_fe dOmega_k H_ef dOmega_l), summed over pairs."""
    width = now.components.roots.shape[1]
    p, q = int(free.dimensions[k]), int(free.dimensions[l])
    half = now.pairs[k, l].reshape((width,) * 4)[:p, :q, :p, :q]
    upper = np.arange(p)[:, None] <= np.arange(p)
    full = np.where(upper[:, None, :, None], half, half.transpose(2, 3, 0, 1))
    return np.asarray(full.transpose(0, 2, 3, 1).reshape(p * p, q * q))


def _positive_part(G: Array) -> Array:
    values, vectors = np.linalg.eigh(G)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _moved(old: Components, free: Free, step: Array) -> Components:
    roots, at = old.roots.copy(), 0
    for g in np.flatnonzero(free.deviations):
        p = int(free.dimensions[g])
        roots[g, :p, :p] += step[at : at + p * p].reshape(p, p)
        at += p * p
    s2 = old.variance
    if free.variance:
        s2 *= float(np.exp(np.clip(step[at], -_LARGEST_LOG_STEP, _LARGEST_LOG_STEP)))
        at += 1
    spreads = old.spreads.copy()
    root = np.sqrt(spreads[free.spreads])
    # at least a hundredth of the root: lambda = 0 would be left by no later step
    spreads[free.spreads] = np.maximum(root + step[at:], 0.01 * root) ** 2
    return replace(old, roots=roots, spreads=spreads, variance=s2)
