r"""Steps that improve the variances: EM, which never fails, and scoring, which is fast.

EM crawls where deviations vanish. Scoring moves a root: :math:`\Omega_k = (L_k + X_k)(L_k +
X_k)^\top`, so that no step leaves the cone, and minimises the quadratic model

.. math:: \sum_k 2 \langle G_k L_k, X_k \rangle + \langle X_k, G_k^+ X_k \rangle
          + \tfrac12 \langle d\Omega, I\, d\Omega \rangle, \qquad
          d\Omega_k = L_k X_k^\top + X_k L_k^\top,

with I the observed curvature where that is positive definite, else mixed with the expected one,
and :math:`G^+` the positive part of the slope, which is what
remains of the curvature where :math:`\Omega` is on the boundary: convergence there is fast too.
:math:`\log \sigma^2` and the roots of :math:`\lambda` take part in the same step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.scales import overflowed
from edgewise.core.local.derivatives import Look
from edgewise.core.local.passes import Components

_LARGEST_LOG_STEP = 1.5
"""sigma^2 changes at most by a factor of e^1.5 in one step: the model is local."""

_ATTEMPTS = ((1.0, 0.0), (0.9, 0.0), (0.75, 0.0), (0.5, 0.0), (0.0, 0.0), (0.0, 0.01), (0.0, 1.0))
"""Share of the observed curvature, and damping added: the first that is positive definite."""


@dataclass(frozen=True, eq=False)
class Free:
    """Which variances are learnt; the others stay."""

    dimensions: Indices
    """(g,) of each deviation."""
    blocks: Array
    """(g,) how many measured blocks teach each deviation."""
    prior: Array
    """(g,) how many round ones the prior adds to them."""
    deviations: Mask
    """(g,)."""
    spreads: Mask
    """(q, m)."""
    variance: bool
    least_variance: float = 0.0
    """sigma^2 stays above: with fewer rewards than parameters a perfect fit would be the best."""


def em_step(now: Look, free: Free, n: float, dimensions: Indices) -> Components:
    """Every free variance v becomes v - v (slope/n) v: EM, written with the slopes."""
    old = now.components
    roots = old.roots.copy()
    for g in np.flatnonzero(free.deviations):
        p = int(free.dimensions[g])
        L, G = roots[g, :p, :p], now.omega_slopes[g, :p, :p]
        # Omega - Omega G Omega / n = L (I - L'GL / n) L'
        n_blocks = free.blocks[g] + free.prior[g]
        values, vectors = np.linalg.eigh(np.eye(p) - L.T @ G @ L / n_blocks)
        roots[g, :p, :p] = L @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    spreads = old.spreads.copy()
    sizes = np.broadcast_to(dimensions[:, None], spreads.shape)[free.spreads]
    learnt = spreads[free.spreads]
    spreads[free.spreads] = learnt * (1 - learnt * now.spread_slopes[free.spreads] / sizes)
    s2 = old.variance
    if free.variance:
        s2 = max(s2 * (1 - s2 * now.variance_slope / n), free.least_variance)
    return replace(old, roots=roots, spreads=spreads, variance=float(s2))


def scoring_step(now: Look, free: Free, damping: float) -> tuple[Components, float]:
    """The step of the quadratic model, and the decrease of the criterion it promises."""
    if not (free.variance or free.deviations.any() or free.spreads.any()):
        return now.components, 0.0
    slope, common = _slope(now, free), _common_curvature(now, free)
    expected = _curvature_of_pairs(now.expected, now, free)
    observed = _curvature_of_pairs(now.observed, now, free)
    n = len(expected)
    for share, more in _ATTEMPTS:
        curvature = common.copy()
        curvature[:n, :n] += share * observed + (1 - share) * expected
        step = _solved(curvature, slope, damping + more)
        if step is not None:
            break
    else:
        step = -slope / np.maximum(np.abs(np.diag(curvature)), 1e-300)
    promised = float(-(slope @ step) - 0.5 * step @ curvature @ step)
    return _moved(now.components, free, step), promised


def _solved(curvature: Array, slope: Array, damping: float) -> Array | None:
    """The damped Newton step, or None if the curvature is not positive definite."""
    diagonal = np.abs(np.diag(curvature))
    floor = 1e-10 * max(float(diagonal.max()), 1e-300)
    damped = curvature + np.diag(damping * diagonal + floor)
    if not np.isfinite(damped).all():
        raise overflowed("the fit of the edges' variances")
    try:
        return np.asarray(-cho_solve(cho_factor(damped, overwrite_a=True), slope))
    except LinAlgError:
        return None


def _slope(now: Look, free: Free) -> Array:
    """In (roots of the free deviations, log sigma^2, roots of lambda)."""
    own = now.components
    parts = [
        (2 * _own(now.omega_slopes, g, free) @ _own(own.roots, g, free)).ravel()
        for g in np.flatnonzero(free.deviations)
    ]
    if free.variance:
        parts.append(np.array([own.variance * now.variance_slope]))
    spreads = own.spreads[free.spreads]
    return np.concatenate([*parts, 2 * now.spread_slopes[free.spreads] * np.sqrt(spreads)])


def _common_curvature(now: Look, free: Free) -> Array:
    """All of the curvature but for the pairs of blocks."""
    learnt = np.flatnonzero(free.deviations)
    starts = _starts(free)
    n, s2 = int(starts[-1]), now.components.variance
    size = n + int(free.variance) + int(free.spreads.sum())
    curvature = np.zeros((size, size))
    for i, g in enumerate(learnt):
        own, p = slice(starts[i], starts[i + 1]), int(free.dimensions[g])
        G = _own(now.omega_slopes, g, free)
        curvature[own, own] = 2 * np.kron(_positive_part(G), np.eye(p))
        if free.variance:
            U = _own(now.variance_cross, g, free)
            column = 2 * s2 * (U @ _own(now.components.roots, g, free)).ravel()
            curvature[own, n] = curvature[n, own] = column
    if free.variance:
        curvature[n, n] = s2**2 * now.variance_curvature
    rest = np.arange(n + int(free.variance), size)
    spreads, slopes = now.components.spreads[free.spreads], now.spread_slopes[free.spreads]
    bends = 4 * spreads * now.spread_curvatures[free.spreads]
    curvature[rest, rest] = 2 * np.maximum(slopes, 0.0) + bends
    return curvature


def _curvature_of_pairs(pairs: Array, now: Look, free: Free) -> Array:
    """<dOmega, I dOmega> as a form in the roots."""
    learnt, starts = np.flatnonzero(free.deviations), _starts(free)
    result = np.zeros((starts[-1], starts[-1]))
    for i, g in enumerate(learnt):
        for j, k in enumerate(learnt[: i + 1]):
            own, other = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
            form = form_of_pairs(pairs[k, g], int(free.dimensions[k]), int(free.dimensions[g]))
            roots = _own(now.components.roots, k, free), _own(now.components.roots, g, free)
            block = _in_roots(form, *roots)
            # one order of every pair of blocks was summed, so the form is symmetric in mean only
            result[other, own] = block if i != j else (block + block.T) / 2
            result[own, other] = result[other, own].T
    return result


def form_of_pairs(half: Array, p: int, q: int) -> Array:
    """(p, p, q, q) the form sum P_ef[b, c] P_ef[a, d] dOmega_k[a, b] dOmega_l[c, d]."""
    width = int(np.sqrt(len(half)))
    half = half.reshape((width,) * 4)[:p, :q, :p, :q]
    upper = np.arange(p)[:, None] <= np.arange(p)
    full = np.where(upper[:, None, :, None], half, half.transpose(2, 3, 0, 1))
    return full.transpose(0, 2, 3, 1)


def _in_roots(form: Array, L: Array, M: Array) -> Array:
    """(p^2, q^2) the form with dOmega = LX' + XL' on the left and MY' + YM' on the right."""
    p, q = len(L), len(M)
    form = form + form.transpose(1, 0, 2, 3)
    left = np.tensordot(form, L, (1, 0)).transpose(0, 3, 1, 2)  # X[a, x] L[b, x]
    both = left + left.transpose(0, 1, 3, 2)
    return np.asarray(np.tensordot(both, M, (3, 0)).reshape(p * p, q * q))


def _starts(free: Free) -> Indices:
    sizes = free.dimensions[free.deviations] ** 2
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _own(stack: Array, g: int | np.integer[Any], free: Free) -> Array:
    p = int(free.dimensions[g])
    return np.asarray(stack[g, :p, :p])


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
        s2 = max(s2, free.least_variance)
        at += 1
    spreads = old.spreads.copy()
    root = np.sqrt(spreads[free.spreads])
    # at least a hundredth of the root: lambda = 0 would be left by no later step
    spreads[free.spreads] = np.clip(root + step[at:], 0.01 * root, 100.0 * root) ** 2
    return replace(old, roots=roots, spreads=spreads, variance=s2)
