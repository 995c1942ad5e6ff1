r"""The criterion, its slopes and its expected curvature, given the variances.

.. math::
    -2 \log L = N \log \sigma^2 + \sum_c \log\det(I + S_c D_c / \sigma^2) + \log\det A
    + \sum_g \dim_g \log \lambda_g + r^\top V^{-1} r - b^\top X^\top V^{-1} r

with :math:`A = \mathrm{diag}(1/\lambda) + X^\top V^{-1} X`, :math:`B = A^{-1}`,
:math:`b = B X^\top V^{-1} r`, :math:`\tilde h_c = h_c - T_c b` and
:math:`P_c = H_c - T_c B T_c^\top`:

.. math::
    G_k = \frac{\partial}{\partial \Omega_k} = \sum_{e \in k} P_{ee} - \tilde h_e \tilde h_e^\top,
    \qquad \mathrm E \frac{\partial^2}{\partial \Omega_k \partial \Omega_l}
    \approx \sum_{e \in k, f \in l} P_{ef} \otimes P_{ef}

(pairs of blocks of one channel; what the means couple across channels is left out).

The deviations have mean :math:`\Omega \tilde h_e` and covariance
:math:`\Omega - \Omega P_{ee} \Omega`, so a step of EM is :math:`\Omega_k - \Omega_k G_k \Omega_k
/ n_k`, and likewise for the other variances: EM needs nothing but the slopes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.core.local.channels import Channels, Layout
from edgewise.core.local.normal_equations import NormalEquations
from edgewise.core.local.passes import Components, Marginals, marginals, times_root


@dataclass(frozen=True, eq=False)
class Look:
    """One look at the model with given variances: criterion, estimates and slopes."""

    components: Components
    marginals: Marginals
    criterion: float
    """-2 log REML."""
    fixed: Array
    """(f,) b, then levels of rounds."""
    fixed_covariance: Array
    """(f, f) B."""
    theta: Array
    """(P,) posterior mean of all parameters, F b + D h~."""
    omega_slopes: Array
    """(g, p, p) G."""
    variance_slope: float
    """Of the criterion in sigma^2."""
    spread_slopes: Array
    """(q, m) of the criterion in lambda; 0 where flat."""
    expected: Array
    """(g, g, p^2, p^2) sum of P_ef (x) P_ef over pairs of blocks (k <= l); empty if not asked."""
    observed: Array
    """The same for the curvature as it is, not as it is expected to be."""
    variance_cross: Array
    """(g, p, p) expected curvature between sigma^2 and Omega."""
    variance_curvature: float
    spread_curvatures: Array
    """(q, m)."""


def look(
    equations: NormalEquations, layout: Layout, components: Components, *, curvature: bool = True
) -> Look:
    """Two sweeps over the channels: integrate the deviations out, then differentiate."""
    channels, s2 = equations.channels, components.variance
    m = marginals(equations, layout, components)
    precisions = components.precisions(channels, equations.n_nuisances)
    A = m.information + np.diag(precisions)
    B, log_det = _inverse(A)
    b = B @ m.moment
    n = float(equations.freedoms.sum())
    sweep = _differentiate(equations, layout, components, m, b, B, curvature)
    G, U, expected, observed, theta, (trace, trace2, product) = sweep
    fitted = float(np.vdot(B, m.information))
    R = equations.n_nuisances
    squares = float(equations.squares.sum()) - product - b[len(b) - R :] @ equations.nuisance_moment
    informed = precisions > 0
    criterion = (
        n * np.log(s2)
        + m.log_determinant
        + log_det
        - float(np.log(precisions[informed]).sum())
        + m.quadratic
        - float(b @ m.moment)
    )
    slopes, curvatures = _spreads(channels, components.spreads, b, B)
    return Look(
        components,
        m,
        float(criterion),
        b,
        B,
        theta,
        G,
        (n - trace - fitted) / s2 - squares / s2**2,
        slopes,
        expected,
        observed,
        U,
        max(n - 2 * trace + trace2 - fitted, 1.0) / s2**2,
        curvatures,
    )


def _inverse(A: Array) -> tuple[Array, float]:
    """Inverse and log determinant of a positive semidefinite matrix, on its range."""
    if not len(A):
        return A, 0.0
    scale = 1.0 / np.sqrt(np.maximum(np.diag(A), 1e-300))
    values, vectors = np.linalg.eigh(A * np.outer(scale, scale))
    kept = values > 1e-11 * len(A)
    root = vectors[:, kept] / np.sqrt(values[kept]) * scale[:, None]
    return root @ root.T, float(np.log(values[kept]).sum() - 2 * np.log(scale[scale < 1e149]).sum())


def _spreads(channels: Channels, spreads: Array, b: Array, B: Array) -> tuple[Array, Array]:
    """Slope dim/lambda - (|b_g|^2 + tr B_gg)/lambda^2 and curvature |I/lambda - B/lambda^2|^2."""
    slopes, curvatures = np.zeros_like(spreads), np.zeros_like(spreads)
    for k, p in enumerate(channels.dimensions):
        for i in range(spreads.shape[1]):
            if np.isinf(spreads[k, i]):
                continue
            own = slice(channels.mean_starts[k] + i * p, channels.mean_starts[k] + (i + 1) * p)
            scale, B_own = spreads[k, i], B[own, own]
            slopes[k, i] = (p - (b[own] @ b[own] + np.trace(B_own)) / scale) / scale
            curvatures[k, i] = ((np.eye(p) - B_own / scale) ** 2).sum() / scale**2
    return slopes, curvatures


def _differentiate(
    equations: NormalEquations,
    layout: Layout,
    components: Components,
    m: Marginals,
    b: Array,
    B: Array,
    curvature: bool,
) -> tuple[Array, Array, Array, Array, Array, Array]:
    roots = components.roots
    g, p = roots.shape[:2]
    G, U, theta = np.zeros((g, p, p)), np.zeros((g, p, p)), np.zeros_like(m.h)
    shape = (g, g, p * p, p * p) if curvature else (0, 0, 0, 0)
    expected, observed = np.zeros(shape), np.zeros(shape)
    omegas = roots @ roots.transpose(0, 2, 1)
    groups, s2 = components.groups[equations.channels.kinds], components.variance
    sums = np.zeros(3)
    data = (m.H, m.h, m.T, equations.moment)
    _sweep(layout, groups, roots, omegas, s2, *data, b, B, G, U, expected, observed, theta, sums)
    return G, U / s2, expected, observed, theta, sums


@compiled
def _sweep(
    layout: Layout,
    groups: Indices,
    roots: Array,
    omegas: Array,
    s2: float,
    H: Array,
    h: Array,
    T: Array,
    moments: Array,
    b: Array,
    B: Array,
    G: Array,
    U: Array,
    expected: Array,
    observed: Array,
    theta: Array,
    sums: Array,
) -> None:
    t = 0
    for c in range(len(layout.blocks) - 1):
        low, high = layout.blocks[c], layout.blocks[c + 1]
        first, last = layout.block_starts[low], layout.block_starts[high]
        w = last - first
        if w == 0:
            continue
        Hc = H[layout.gram_starts[c] : layout.gram_starts[c + 1]].reshape(w, w)
        columns = layout.columns[layout.column_starts[c] : layout.column_starts[c + 1]]
        Tc = T[t : t + w * len(columns)].reshape(w, len(columns))
        t += w * len(columns)
        own = np.empty(len(columns))
        own_B = np.empty((len(columns), len(columns)))
        for i in range(len(columns)):
            own[i] = b[columns[i]]
            for j in range(len(columns)):
                own_B[i, j] = B[columns[i], columns[j]]
        rest = h[first:last] - np.dot(Tc, own)
        Pc = Hc - np.dot(np.dot(Tc, own_B), Tc.T)
        PL = np.zeros((w, w))
        times_root(layout, c, groups, roots, Pc, PL)
        for e in range(low, high):
            s, p, k = layout.block_starts[e] - first, 0, groups[e]
            p = layout.block_starts[e + 1] - layout.block_starts[e]
            for i in range(p):
                value = 0.0
                for j in range(p):
                    inner = 0.0
                    for m in range(w):
                        inner += PL[s + i, m] * PL[s + j, m]
                    G[k, i, j] += Pc[s + i, s + j] - rest[s + i] * rest[s + j]
                    U[k, i, j] += Pc[s + i, s + j] - inner
                    sums[0] += omegas[k, i, j] * Pc[s + i, s + j]
                    sums[1] += omegas[k, i, j] * inner
                    value += omegas[k, i, j] * rest[s + j]
                for m in range(layout.covariates.shape[1]):
                    value += layout.covariates[e, m] * own[layout.block_columns[e] + m * p + i]
                theta[first + s + i] = value
                sums[2] += value * (moments[first + s + i] + s2 * rest[s + i])
            if len(expected) > 0:
                _add_pairs(layout, e, high, groups, Pc, rest, first, expected, observed)


@compiled
def _add_pairs(
    layout: Layout,
    e: int,
    high: int,
    groups: Indices,
    P: Array,
    rest: Array,
    first: int,
    expected: Array,
    observed: Array,
) -> None:
    """Add the pairs of block e with itself and the later blocks of its channel."""
    width = int(np.sqrt(expected.shape[2]))
    values, products = np.zeros(width * width), np.zeros(width * width)
    for f in range(e, high):
        lead, other = (e, f) if groups[e] <= groups[f] else (f, e)
        s, t = layout.block_starts[lead] - first, layout.block_starts[other] - first
        p = layout.block_starts[lead + 1] - layout.block_starts[lead]
        q = layout.block_starts[other + 1] - layout.block_starts[other]
        values[:], products[:] = 0.0, 0.0
        for i in range(p):
            for j in range(q):
                values[i * width + j] = P[s + i, t + j]
                products[i * width + j] = rest[s + i] * rest[t + j]
        twice = 2.0 if f != e and groups[e] == groups[f] else 1.0
        for m in range(p * width):
            scale = twice * values[m]
            change = twice * products[m] - scale
            row = expected[groups[lead], groups[other], m]
            other_row = observed[groups[lead], groups[other], m]
            for n in range(m - m % width, p * width):  # the rest is symmetric
                row[n] += scale * values[n]
                other_row[n] += change * values[n] + scale * products[n]
