r"""What it adds to a gain's uncertainty that the variances are estimated, not known.

Let v be the posterior variance of :math:`g^\top\theta`, m its mean, both as functions of
:math:`\psi = (\Omega, \sigma^2)`. With

.. math:: u = (I - H D) g - T B M^\top g, \qquad \tilde h = h - T b, \qquad
          P = H - T B T^\top

the derivatives in the direction :math:`d\Omega` are

.. math:: dv = \sum_e u_e^\top d\Omega\, u_e, \qquad dm = \sum_e u_e^\top d\Omega\, \tilde h_e ,

and those in :math:`\sigma^2` follow, because v grows in proportion to all variances together and
m does not change. :math:`\tilde h` has the covariance P. With :math:`\Psi = 2 I^{-1}` the sampling
covariance of :math:`\hat\psi` (I: the expected curvature of -2 log REML),

.. math:: \text{variance} = v + 2 \gamma, \quad \gamma = \mathrm{tr}\, \Psi\,
          \mathrm E\,\nabla m \nabla m^\top, \qquad
          \text{degrees of freedom} = \frac{2 (v + 2\gamma)^2}{\nabla v^\top \Psi \nabla v} .

One :math:`\gamma` is what the estimated variances add to the error of m, the other what v, being
concave in :math:`\psi`, is too small by on average; the degrees of freedom are Satterthwaite's.
The spread :math:`\lambda` of the means counts as known. So does :math:`\Omega` in directions of
which the rounds say nothing. Near the boundary, where :math:`\hat\Omega` is no more than its
standard errors, all this does not hold: there the estimate, which cannot be negative, is too large
on average, and so is v. So the errors of :math:`\Omega_k` count by the share

.. math:: \Phi(z_k - 2), \qquad z_k = \sqrt{\tfrac12 \langle\Omega_k, I\,\Omega_k\rangle} ,

(z: how many of its standard errors the size of :math:`\Omega_k` is away from zero).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.core.local.channels import Layout
from edgewise.core.local.reml import Fit
from edgewise.core.local.scoring import form_of_pairs

_VANISHED = 0.1
"""A direction in which Omega is below this many of its standard errors has vanished."""

_INSIDE = 2.0
"""Standard errors from zero at which half of the error of an Omega counts."""

_NO_INFORMATION = 1e-10
"""Relative curvature below which the rounds say nothing about a direction of Omega."""


@dataclass(frozen=True, eq=False)
class VarianceErrors:
    """Sampling covariance of the estimated variances, entry by entry; zeros where known."""

    omegas: Array
    """(g, g, p, p, p, p) Cov(Omega_k[a, b], Omega_l[c, d])."""
    crossed: Array
    """(g, p, p) Cov(Omega_k[a, b], sigma^2)."""
    variance: float
    """Of sigma^2."""

    @classmethod
    def of(cls, fit: Fit) -> VarianceErrors:
        """Twice the inverse of the expected curvature at the optimum."""
        free, roots = fit.free, fit.components.roots
        g, p = roots.shape[:2]
        learnt = np.flatnonzero(free.deviations)
        bases = [_movable(fit, int(k)) for k in learnt]
        starts = np.concatenate([[0], np.cumsum([len(basis) for basis in bases])]).astype(int)
        covariance = 2 * _inverse(_curvature(fit, learnt, bases, starts))
        counted = np.repeat([_counted(fit, int(k)) for k in learnt], np.diff(starts))
        counted = np.append(counted, np.ones(len(covariance) - len(counted)))
        covariance *= np.outer(counted, counted)
        omegas, crossed = np.zeros((g, g, p, p, p, p)), np.zeros((g, p, p))
        for i, k in enumerate(learnt):
            own = slice(starts[i], starts[i + 1])
            if free.variance:
                crossed[k] = np.tensordot(covariance[own, -1], bases[i], 1)
            for j, m in enumerate(learnt):
                block = covariance[own, starts[j] : starts[j + 1]]
                omegas[k, m] = np.einsum("iab,ij,jcd->abcd", bases[i], block, bases[j])
        return cls(omegas, crossed, float(covariance[-1, -1]) if free.variance else 0.0)

    def of_means(self, omega: Array, variance: float) -> Array:
        """As ``omegas``, for a function that a common factor of all variances leaves alone.

        Its derivative in sigma^2 is minus that in Omega (g, p, p), times Omega / sigma^2.
        """
        ratio = omega / variance
        crossed = self.crossed[:, None, :, :, None, None] * ratio[None, :, None, None, :, :]
        both = crossed + crossed.transpose(1, 0, 4, 5, 2, 3)
        own = self.variance * ratio[:, None, :, :, None, None] * ratio[None, :, None, None, :, :]
        return np.asarray(self.omegas - both + own)

    def of_function(self, slopes: Array, slope: float) -> float:
        """Variance of a function with these derivatives in Omega (g, p, p) and sigma^2."""
        own = np.einsum("kab,kmabcd,mcd->", slopes, self.omegas, slopes, optimize=True)
        crossed = float(np.vdot(self.crossed, slopes))
        return float(own) + 2 * slope * crossed + slope**2 * self.variance


def _movable(fit: Fit, k: int) -> Array:
    """(n, width, width) symmetric changes of Omega, but for those between vanished directions."""
    p, width = int(fit.free.dimensions[k]), fit.components.roots.shape[1]
    root = fit.components.roots[k, :p, :p]
    values, Q = np.linalg.eigh(root @ root.T)
    form = form_of_pairs(fit.final.expected[k, k], p, p)
    curvatures = np.einsum("ai,bi,abcd,ci,di->i", Q, Q, form, Q, Q, optimize=True)
    errors = np.sqrt(2.0 / np.maximum(curvatures, 1e-300))
    alive = values > _VANISHED * errors
    rows, columns = np.tril_indices(p)
    kept = alive[rows] | alive[columns]
    products = np.einsum("ai,bi->iab", Q[:, rows[kept]], Q[:, columns[kept]])
    basis = np.zeros((len(products), width, width))
    basis[:, :p, :p] = products + products.transpose(0, 2, 1)
    return basis


def _counted(fit: Fit, k: int) -> float:
    """Root of the share of an Omega's error that counts: 1 well inside, 0 on the boundary."""
    p = int(fit.free.dimensions[k])
    root = fit.components.roots[k, :p, :p]
    omega, form = root @ root.T, form_of_pairs(fit.final.expected[k, k], p, p)
    bend = float(np.einsum("ab,abcd,cd->", omega, form, omega, optimize=True))
    return float(np.sqrt(ndtr(np.sqrt(max(bend, 0.0) / 2) - _INSIDE)))


def _curvature(fit: Fit, learnt: Indices, bases: list[Array], starts: Indices) -> Array:
    """Expected curvature of -2 log REML in the entries of the free Omega, and sigma^2 last."""
    now, free = fit.final, fit.free
    n = int(starts[-1])
    result = np.zeros((n + int(free.variance),) * 2)
    for i, k in enumerate(learnt):
        own, p = slice(starts[i], starts[i + 1]), int(free.dimensions[k])
        small = bases[i][:, :p, :p]
        if free.variance:
            column = np.tensordot(small, now.variance_cross[k, :p, :p], 2)
            result[own, n] = result[n, own] = column
        for j in range(i, len(learnt)):
            q = int(free.dimensions[learnt[j]])
            form = form_of_pairs(now.expected[k, learnt[j]], p, q)
            block = np.einsum("iab,abcd,jcd->ij", small, form, bases[j][:, :q, :q], optimize=True)
            result[own, starts[j] : starts[j + 1]] = block
            result[starts[j] : starts[j + 1], own] = block.T
    if free.variance:
        result[n, n] = now.variance_curvature
    return (result + result.T) / 2


def _inverse(curvature: Array) -> Array:
    """Inverse on the directions that have curvature."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(curvature), 1e-300))
    values, vectors = np.linalg.eigh(curvature * np.outer(scale, scale))
    kept = values > _NO_INFORMATION * max(float(values.max(initial=0.0)), 1e-300)
    root = scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])
    return np.asarray(root @ root.T)


def calibrated(
    fit: Fit, errors: VarianceErrors, directions: Array, variances: Array, shared: Array
) -> tuple[Array, Array]:
    """(k,) variances of g'theta with the variances estimated, and their degrees of freedom.

    ``directions`` (k, P) are g, ``variances`` (k,) are v, ``shared`` (k, f) are M'g.
    """
    c, m = fit.components, fit.final.marginals
    omegas, B = c.roots @ c.roots.transpose(0, 2, 1), fit.final.fixed_covariance
    groups = c.groups[fit.channels.kinds]
    weights = errors.of_means(omegas, c.variance)
    precisions = c.precisions(fit.channels, fit.equations.n_nuisances)
    slopes, loadings = np.empty_like(omegas), np.empty((*omegas.shape, len(B)))
    widened, freedoms = np.empty_like(variances), np.empty_like(variances)
    for k, (g, v) in enumerate(zip(directions, variances, strict=True)):
        pull = B @ shared[k]
        slopes[:], loadings[:] = 0.0, 0.0
        added = _follow(fit.layout, groups, omegas, m.H, m.T, g, pull, weights, slopes, loadings)
        added -= _across(weights, loadings, B)
        slope = (v - precisions @ pull**2 - np.vdot(omegas, slopes)) / c.variance
        widened[k] = v + 2 * max(added, 0.0)
        spread = errors.of_function(slopes, float(slope))
        freedoms[k] = max(2 * widened[k] ** 2 / spread, 1.0) if spread > 0 else np.inf
    return widened, freedoms


def _across(weights: Array, loadings: Array, B: Array) -> float:
    """What the means couple: the part of E dm dm' with T B T' in the place of H."""
    turned = np.einsum("kabm,mn->kabn", loadings, B)
    inner = np.einsum("kabn,ldcn->klabcd", turned, loadings, optimize=True)
    return float(np.vdot(weights, inner))


@compiled
def _follow(
    layout: Layout,
    groups: Indices,
    omegas: Array,
    H: Array,
    T: Array,
    g: Array,
    pull: Array,
    weights: Array,
    slopes: Array,
    loadings: Array,
) -> float:
    """Fill ``slopes`` with sum u u' and ``loadings`` with sum u T; return the part of H."""
    added, t = 0.0, 0
    for c in range(len(layout.blocks) - 1):
        low, high = layout.blocks[c], layout.blocks[c + 1]
        first = layout.block_starts[low]
        w = layout.block_starts[high] - first
        columns = layout.columns[layout.column_starts[c] : layout.column_starts[c + 1]]
        Tc = T[t : t + w * len(columns)].reshape(w, len(columns))
        t += w * len(columns)
        if w == 0:
            continue
        Hc = H[layout.gram_starts[c] : layout.gram_starts[c + 1]].reshape(w, w)
        u = g[first : first + w].copy()
        for e in range(low, high):
            s, p = layout.block_starts[e], layout.block_starts[e + 1] - layout.block_starts[e]
            moved = np.dot(np.ascontiguousarray(omegas[groups[e], :p, :p]), g[s : s + p])
            for i in range(w):
                for j in range(p):
                    u[i] -= Hc[i, s - first + j] * moved[j]
        for i in range(w):
            for j in range(len(columns)):
                u[i] -= Tc[i, j] * pull[columns[j]]
        for e in range(low, high):
            s, k = layout.block_starts[e] - first, groups[e]
            p = layout.block_starts[e + 1] - layout.block_starts[e]
            for a in range(p):
                for b in range(p):
                    slopes[k, a, b] += u[s + a] * u[s + b]
                    for j in range(len(columns)):
                        loadings[k, a, b, columns[j]] += u[s + a] * Tc[s + b, j]
        added += _within(layout, c, groups, weights, Hc, u)
    return added


@compiled
def _within(layout: Layout, c: int, groups: Indices, weights: Array, H: Array, u: Array) -> float:
    """Sum of weights[a, b, c, d] u_e[a] H_ef[b, c] u_f[d] over pairs of blocks of a channel."""
    low, high = layout.blocks[c], layout.blocks[c + 1]
    first, total = layout.block_starts[low], 0.0
    for e in range(low, high):
        s, p = layout.block_starts[e] - first, layout.block_starts[e + 1] - layout.block_starts[e]
        for f in range(low, high):
            t = layout.block_starts[f] - first
            q = layout.block_starts[f + 1] - layout.block_starts[f]
            both = weights[groups[e], groups[f]]
            for a in range(p):
                for b in range(p):
                    for i in range(q):
                        inner = 0.0
                        for j in range(q):
                            inner += both[a, b, i, j] * u[t + j]
                        total += u[s + a] * H[s + b, t + i] * inner
    return total
