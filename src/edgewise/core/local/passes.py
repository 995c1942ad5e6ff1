r"""One pass over all channels: what given variances make of the normal equations.

With :math:`D_c = \mathrm{blockdiag}\,\Omega` and fixed effects :math:`X = [Z F, X_2]` (means, and
levels of rounds), :math:`V_c = \sigma^2 I + Z_c D_c Z_c^\top` is never formed. All follows from

.. math:: H_c = Z_c^\top V_c^{-1} Z_c = S_c (\sigma^2 I + D_c S_c)^{-1}, \quad
          h_c = Z_c^\top V_c^{-1} r = (\sigma^2 I + S_c D_c)^{-1} C_c, \quad
          T_c = Z_c^\top V_c^{-1} X

computed with a root :math:`D = L L^\top` through :math:`W = \sigma^2 I + L^\top S L`, which is
positive definite even where S or D is singular.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.core.local.channels import Channels, Layout
from edgewise.core.local.normal_equations import NormalEquations


@dataclass(frozen=True, eq=False)
class Components:
    """Variances of the hierarchical model; several kinds may share one deviation."""

    groups: Indices
    """(q,) which deviation each kind has."""
    roots: Array
    """(g, p, p) L with Omega = LL', padded with zeros to the largest dimension p."""
    spreads: Array
    """(q, m) lambda, the prior variance of the means b per kind and covariate; inf: flat."""
    variance: float
    """sigma^2, of one reward (of one whitened reward where noise was stated)."""

    def omega(self, kind: int, dimension: int) -> Array:
        """(p, p) covariance of the deviations of one kind."""
        root = self.roots[self.groups[kind], :dimension, :dimension]
        return np.asarray(root @ root.T)

    def precisions(self, channels: Channels, n_nuisances: int) -> Array:
        """(n_means + R,) 1/lambda of every fixed effect; 0 where it is flat."""
        repeated = np.repeat(
            1.0 / self.spreads.ravel(), np.repeat(channels.dimensions, len(self.spreads.T))
        )
        return np.concatenate([repeated, np.zeros(n_nuisances)])


@dataclass(frozen=True, eq=False)
class Marginals:
    """What the rewards say once deviations are integrated out, given the variances."""

    H: Array
    """Flat (w, w) per channel."""
    h: Array
    """(P,)."""
    T: Array
    """Flat (w, columns of the channel) per channel."""
    information: Array
    """(f, f) X'V^-1 X."""
    moment: Array
    """(f,) X'V^-1 r."""
    log_determinant: float
    """Sum of logdet(I + S_c D_c / sigma^2)."""
    quadratic: float
    """r'V^-1 r."""


def marginals(equations: NormalEquations, layout: Layout, components: Components) -> Marginals:
    """First sweep: integrate the deviations out, channel by channel."""
    channels, s2 = equations.channels, components.variance
    f, R = channels.n_means + equations.n_nuisances, equations.n_nuisances
    H, h = np.empty_like(equations.gram), np.empty_like(equations.moment)
    T = np.empty(int(np.diff(channels.starts) @ np.diff(layout.column_starts)))
    information, moment = np.zeros((f, f)), np.zeros(f)
    groups = components.groups[channels.kinds]
    log_determinant, explained = _integrate(
        layout,
        groups,
        components.roots,
        s2,
        equations.gram,
        equations.moment,
        equations.cross,
        H,
        h,
        T,
        information,
        moment,
    )
    nuisances = np.arange(f - R, f)
    information[nuisances, nuisances] += 1.0 / s2
    moment[nuisances] += equations.nuisance_moment / s2
    quadratic = (float(equations.squares.sum()) - explained) / s2
    return Marginals(H, h, T, information, moment, log_determinant, quadratic)


@compiled
def _integrate(
    layout: Layout,
    groups: Indices,
    roots: Array,
    s2: float,
    gram: Array,
    moments: Array,
    cross: Array,
    H: Array,
    h: Array,
    T: Array,
    information: Array,
    moment: Array,
) -> tuple[float, float]:
    log_determinant, explained, t, R = 0.0, 0.0, 0, cross.shape[1]
    for c in range(len(layout.blocks) - 1):
        first = layout.block_starts[layout.blocks[c]]
        w = layout.block_starts[layout.blocks[c + 1]] - first
        if w == 0:
            continue
        g0, g1 = layout.gram_starts[c], layout.gram_starts[c + 1]
        S, Hc = gram[g0:g1].reshape(w, w), H[g0:g1].reshape(w, w)
        W, reduced = weighted(layout, c, groups, roots, s2, S, moments, cross)
        factor_in_place(W)
        forward(W, reduced)
        own = _products(reduced)
        n = layout.column_starts[c + 1] - layout.column_starts[c]
        Tc = T[t : t + w * n].reshape(w, n)
        t += w * n
        log_determinant -= w * np.log(s2)
        for i in range(w):
            log_determinant += 2.0 * np.log(W[i, i])
            explained += reduced[i, w] ** 2
            h[first + i] = (moments[first + i] - own[i, w]) / s2
            for j in range(w):
                Hc[i, j] = (S[i, j] - own[i, j]) / s2
        times_covariates(layout, c, Hc, Tc)
        for i in range(w):
            for j in range(R):
                Tc[i, n - R + j] = (cross[first + i, j] - own[i, w + 1 + j]) / s2
        _add_fixed(layout, c, Tc, h, own, R, s2, information, moment)
    return log_determinant, explained


@compiled
def weighted(
    layout: Layout,
    c: int,
    groups: Indices,
    roots: Array,
    s2: float,
    S: Array,
    moments: Array,
    cross: Array,
) -> tuple[Array, Array]:
    """W = sigma^2 I + L'SL, and L'(S, C, Z'X) side by side."""
    w, R = len(S), cross.shape[1]
    W, reduced = np.zeros((w, w)), np.zeros((w, w + 1 + R))
    first = layout.block_starts[layout.blocks[c]]
    for b in range(layout.blocks[c], layout.blocks[c + 1]):
        s, e = layout.block_starts[b] - first, layout.block_starts[b + 1] - first
        L = roots[groups[b]]
        for i in range(e - s):
            for j in range(e - s):
                scale, row = L[i, j], reduced[s + j]
                if scale == 0.0:
                    continue
                for k in range(w):
                    row[k] += scale * S[s + i, k]
                row[w] += scale * moments[first + s + i]
                for k in range(R):
                    row[w + 1 + k] += scale * cross[first + s + i, k]
    times_root(layout, c, groups, roots, reduced, W)
    for i in range(w):
        W[i, i] += s2
    return W, reduced


@compiled
def times_root(
    layout: Layout, c: int, groups: Indices, roots: Array, left: Array, result: Array
) -> None:
    """Add the first w columns of ``left``, times blockdiag L, to ``result``."""
    first = layout.block_starts[layout.blocks[c]]
    for b in range(layout.blocks[c], layout.blocks[c + 1]):
        s, p = layout.block_starts[b] - first, layout.block_starts[b + 1] - layout.block_starts[b]
        L = roots[groups[b]]
        for i in range(len(left)):
            row = result[i]
            for a in range(p):
                scale = left[i, s + a]
                for j in range(p):
                    row[s + j] += scale * L[a, j]


@compiled
def factor_in_place(W: Array) -> None:
    """Upper triangle of W becomes U with W = U'U, by updates of rows."""
    for k in range(len(W)):
        pivot = W[k]
        scale = 1.0 / np.sqrt(pivot[k])
        for j in range(k, len(W)):
            pivot[j] *= scale
        for i in range(k + 1, len(W)):
            row, scale = W[i], pivot[i]
            for j in range(i, len(W)):
                row[j] -= scale * pivot[j]


@compiled
def forward(U: Array, right: Array) -> None:
    """Solve U'X = right in place."""
    for i in range(len(U)):
        row = right[i]
        for j in range(i):
            scale, other = U[j, i], right[j]
            for k in range(len(row)):
                row[k] -= scale * other[k]
        scale = 1.0 / U[i, i]
        for k in range(len(row)):
            row[k] *= scale


@compiled
def _products(reduced: Array) -> Array:
    """X'X of what was reduced: what the deviations explain of (S, C, Z'X), each with each."""
    n = reduced.shape[1]
    result = np.zeros((n, n))
    for i in range(len(reduced)):
        row = reduced[i]
        for a in range(n):
            scale, target = row[a], result[a]
            for b in range(n):
                target[b] += scale * row[b]
    return result


@compiled
def times_covariates(layout: Layout, c: int, left: Array, result: Array) -> None:
    """Fill ``result`` with left F, in the columns of the kinds."""
    result[:] = 0.0
    first = layout.block_starts[layout.blocks[c]]
    for b in range(layout.blocks[c], layout.blocks[c + 1]):
        s, p = layout.block_starts[b] - first, layout.block_starts[b + 1] - layout.block_starts[b]
        for m in range(layout.covariates.shape[1]):
            number, column = layout.covariates[b, m], layout.block_columns[b] + m * p
            for i in range(len(left)):
                for a in range(p):
                    result[i, column + a] += number * left[i, s + a]


@compiled
def _add_fixed(
    layout: Layout,
    c: int,
    T: Array,
    h: Array,
    own: Array,
    R: int,
    s2: float,
    information: Array,
    moment: Array,
) -> None:
    """Add the channel's part of X'V^-1 X (but for I/sigma^2) and X'V^-1 r."""
    start, n = layout.block_starts[layout.blocks[c]], T.shape[1]
    columns = layout.columns[layout.column_starts[c] : layout.column_starts[c + 1]]
    for b in range(layout.blocks[c], layout.blocks[c + 1]):
        first, p = layout.block_starts[b], layout.block_starts[b + 1] - layout.block_starts[b]
        for m in range(layout.covariates.shape[1]):
            number, column = layout.covariates[b, m], layout.block_columns[b] + m * p
            for a in range(p):
                target = columns[column + a]
                moment[target] += number * h[first + a]
                for j in range(n):
                    value = number * T[first - start + a, j]
                    information[target, columns[j]] += value
                    if j >= n - R:
                        information[columns[j], target] += value
    base, w = len(moment) - R, len(T)
    for i in range(R):
        moment[base + i] -= own[w + 1 + i, w] / s2
        for j in range(R):
            information[base + i, base + j] -= own[w + 1 + i, w + 1 + j] / s2
