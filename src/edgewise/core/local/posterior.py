r"""What is believed of the parameters once the variances are known.

.. math:: \mathrm{Cov}\,\theta_c = V_c + M_c B M_c^\top, \quad V_c = D_c - D_c H_c D_c, \quad
          M_c = F_c - D_c T_c

:math:`V_c` is the channel's own uncertainty; the second term is what all channels share, because
they learn the means b (and the levels of rounds) together:
:math:`\mathrm{Cov}(\theta_c, \theta_d) = M_c B M_d^\top`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.base.randomness import Rng, generator
from edgewise.core.local.calibration import VarianceErrors, calibrated
from edgewise.core.local.channels import Channels, Layout
from edgewise.core.local.passes import factor_in_place, forward, weighted
from edgewise.core.local.reml import Fit
from edgewise.errors import InvalidArgument


@dataclass(frozen=True, eq=False)
class Gains:
    """Linear functions of the parameters, as the posterior sees them.

    Variances are estimated, and deviations and intervals say so (:mod:`.calibration`).
    """

    mean: Array
    """(k,)."""
    deviation: Array
    """(k,) posterior standard deviation."""
    freedom: Array
    """(k,) degrees of freedom of the deviation; infinite where nothing was estimated."""
    conditional: Array
    """(k,) the deviation that there would be if the variances were known to be as estimated."""

    def interval(self, level: float = 0.9) -> tuple[Array, Array]:
        """Bounds that hold the true value with probability ``level``: Student's t."""
        if not 0 < level < 1:
            raise InvalidArgument(f"level is {level!r}; it must be between 0 and 1")
        reach = stdtrit(self.freedom, 0.5 + level / 2) * self.deviation
        return self.mean - reach, self.mean + reach


@dataclass(frozen=True, eq=False)
class Posterior:
    """Mean and covariance of all parameters, kept in factors."""

    fit: Fit

    @property
    def channels(self) -> Channels:
        """Which parameters feed which measured number."""
        return self.fit.channels

    @property
    def mean(self) -> Array:
        """(P,)."""
        return self.fit.theta

    @cached_property
    def _factors(self) -> tuple[Array, Array]:
        """Flat per channel: a (w, w) root with V = root' root, and M of (w, columns)."""
        f, c = self.fit, self.fit.components
        roots, loadings = np.empty_like(f.equations.gram), np.empty_like(f.final.marginals.T)
        groups, omegas = c.groups[self.channels.kinds], c.roots @ c.roots.transpose(0, 2, 1)
        data = (f.equations.gram, f.equations.moment, f.final.marginals.T)
        _factorise(f.layout, groups, c.roots, omegas, c.variance, *data, roots, loadings)
        return roots, loadings

    @cached_property
    def _fixed_root(self) -> Array:
        """(f, f) R with B = RR'."""
        values, vectors = np.linalg.eigh(self.fit.final.fixed_covariance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    @cached_property
    def _errors(self) -> VarianceErrors:
        return VarianceErrors.of(self.fit)

    @property
    def noise_error(self) -> float:
        """Two over the degrees of freedom of the noise's variance: 0 where that is known."""
        return self._errors.variance / self.fit.sigma**4

    def gains(self, directions: ArrayLike) -> Gains:
        """Posterior of g'theta for every row g of ``directions``, (k, P) or (P,).

        The gain of one joint arm over another: g = the features of the one minus the features of
        the other, times weights; levels drop out.
        """
        g = np.ascontiguousarray(np.atleast_2d(np.asarray(directions, dtype=float)))
        if g.shape[1] != self.channels.n_parameters:
            raise InvalidArgument(
                f"directions have {g.shape[1]} entries, the model {self.channels.n_parameters} "
                "parameters; give one for each"
            )
        variances, shared = np.zeros(len(g)), np.zeros((len(g), len(self.fit.final.fixed)))
        _spread(self.fit.layout, *self._factors, g, variances, shared)
        variances += ((shared @ self._fixed_root) ** 2).sum(axis=1)
        widened, freedom = calibrated(self.fit, self._errors, g, variances, shared)
        return Gains(g @ self.mean, np.sqrt(widened), freedom, np.sqrt(variances))

    def draw(self, rng: Rng = None, *, scale: float = 1.0) -> Array:
        """(P,) one draw of all parameters jointly, its distance from the mean times ``scale``."""
        random = generator(rng)
        own = random.standard_normal(self.channels.n_parameters)
        shared = self._fixed_root @ random.standard_normal(len(self.fit.final.fixed))
        step = np.empty_like(own)
        _disturb(self.fit.layout, *self._factors, own, shared, step)
        return np.asarray(self.mean + scale * step)

    def channel_factors(self, channel: int) -> tuple[Array, Array]:
        """(w, w) V and (w, f) M with Cov(theta_c, theta_d) = V'V if c = d, plus M_c M_d'."""
        layout, (roots, loadings) = self.fit.layout, self._factors
        sizes = np.diff(self.channels.starts) * np.diff(layout.column_starts)
        at, w = int(sizes[:channel].sum()), int(np.diff(self.channels.starts)[channel])
        columns = layout.columns[layout.column_starts[channel] : layout.column_starts[channel + 1]]
        M = loadings[at : at + w * len(columns)].reshape(w, -1) @ self._fixed_root[columns]
        first, last = self.channels.gram_starts[channel : channel + 2]
        return roots[first:last].reshape(w, w), np.asarray(M)

    def channel_covariance(self, channel: int) -> Array:
        """(w, w) joint covariance of the parameters that feed one channel."""
        root, M = self.channel_factors(channel)
        return np.asarray(root.T @ root + M @ M.T)

    def covariances(self) -> Iterator[Array]:
        """(p, p) covariance of every block's parameters, in the order of the blocks."""
        for c in range(self.channels.n_channels):
            whole = self.channel_covariance(c)
            starts = self.channels.block_starts[self.channels.blocks[c] :]
            for b in range(self.channels.blocks[c + 1] - self.channels.blocks[c]):
                own = slice(starts[b] - starts[0], starts[b + 1] - starts[0])
                yield whole[own, own]


def of_kind(channels: Channels, theta: Array, kind: int) -> Array:
    """(n_k, p) the parameters of all blocks of one kind, in the order of the blocks."""
    first = channels.block_starts[:-1][channels.kinds == kind]
    return np.asarray(theta[first[:, None] + np.arange(channels.dimensions[kind])])


def tables(parameters: Array, features: Array, weights: ArrayLike = 1.0) -> Array:
    r"""(E, K, L) what every edge brings for every pair of arms, for the allocator.

    .. math:: \text{table}_e[k, l] = w_e\, \phi_{kl}^\top \theta_e

    ``parameters``: (E, p) theta per edge; ``features``: (K, L, p); ``weights``: (E,).
    """
    K, L, p = features.shape
    flat = parameters @ features.reshape(K * L, p).T
    flat *= np.reshape(np.broadcast_to(np.asarray(weights, dtype=float), len(flat)), (-1, 1))
    return flat.reshape(len(parameters), K, L)


@compiled
def _factorise(
    layout: Layout,
    groups: Indices,
    roots: Array,
    omegas: Array,
    s2: float,
    gram: Array,
    moments: Array,
    T: Array,
    own: Array,
    loadings: Array,
) -> None:
    """V = s2 L W^-1 L' = root' root with root = sigma W^-1/2 L'; M = F - D T."""
    t, no_levels = 0, np.zeros((0, 0))
    for c in range(len(layout.blocks) - 1):
        g0, g1 = layout.gram_starts[c], layout.gram_starts[c + 1]
        low, high = layout.blocks[c], layout.blocks[c + 1]
        first = layout.block_starts[low]
        w = layout.block_starts[high] - first
        n = layout.column_starts[c + 1] - layout.column_starts[c]
        if w == 0:
            continue
        S = gram[g0:g1].reshape(w, w)
        W, _ = weighted(layout, c, groups, roots, s2, S, moments, no_levels)
        factor_in_place(W)
        root = own[g0:g1].reshape(w, w)
        root[:] = 0.0
        Tc, M = T[t : t + w * n].reshape(w, n), loadings[t : t + w * n].reshape(w, n)
        t += w * n
        M[:] = 0.0
        for b in range(low, high):
            s, p = (
                layout.block_starts[b] - first,
                layout.block_starts[b + 1] - layout.block_starts[b],
            )
            for i in range(p):
                for j in range(p):
                    root[s + i, s + j] = np.sqrt(s2) * roots[groups[b], j, i]
                    for m in range(n):
                        M[s + i, m] -= omegas[groups[b], i, j] * Tc[s + j, m]
                for m in range(layout.covariates.shape[1]):
                    M[s + i, layout.block_columns[b] + m * p + i] += layout.covariates[b, m]
        forward(W, root)


@compiled
def _spread(
    layout: Layout,
    roots: Array,
    loadings: Array,
    directions: Array,
    variances: Array,
    shared: Array,
) -> None:
    """Add |root g|^2 to the variances and M'g to the shared loadings, channel by channel."""
    t = 0
    for c in range(len(layout.blocks) - 1):
        first = layout.block_starts[layout.blocks[c]]
        w = layout.block_starts[layout.blocks[c + 1]] - first
        columns = layout.columns[layout.column_starts[c] : layout.column_starts[c + 1]]
        root = roots[layout.gram_starts[c] : layout.gram_starts[c + 1]].reshape(w, w)
        M = loadings[t : t + w * len(columns)].reshape(w, len(columns))
        t += w * len(columns)
        for k in range(len(directions)):
            for i in range(w):
                total = 0.0
                for j in range(w):
                    total += root[i, j] * directions[k, first + j]
                variances[k] += total * total
                for m in range(len(columns)):
                    shared[k, columns[m]] += M[i, m] * directions[k, first + i]


@compiled
def _disturb(
    layout: Layout, roots: Array, loadings: Array, own: Array, shared: Array, step: Array
) -> None:
    """Fill ``step`` with root' own + M shared, channel by channel."""
    t = 0
    step[:] = 0.0
    for c in range(len(layout.blocks) - 1):
        first = layout.block_starts[layout.blocks[c]]
        w = layout.block_starts[layout.blocks[c + 1]] - first
        columns = layout.columns[layout.column_starts[c] : layout.column_starts[c + 1]]
        root = roots[layout.gram_starts[c] : layout.gram_starts[c + 1]].reshape(w, w)
        M = loadings[t : t + w * len(columns)].reshape(w, len(columns))
        t += w * len(columns)
        for i in range(w):
            for j in range(w):
                step[first + j] += root[i, j] * own[first + i]
            for m in range(len(columns)):
                step[first + i] += M[i, m] * shared[columns[m]]
