r"""Partial pooling: every edge its own parameters, shrunk towards its kind as far as data say.

.. math:: \theta_e = F_e b + \delta_e, \quad \delta_e \sim N(0, \Omega_{\kappa(e)}), \quad
          b_g \sim N(0, \lambda_g I)

The variances maximise the restricted likelihood (REML: levels and b are integrated out). One code
path for all pooling: "shared" holds :math:`\Omega = 0`, "none" holds it far above what any edge
could tell, "partial" learns it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.threads import single_threaded
from edgewise.core.local.channels import Channels, Layout
from edgewise.core.local.derivatives import Look, look
from edgewise.core.local.deviations import Deviations, deviations_of, inverse_information
from edgewise.core.local.normal_equations import NormalEquations
from edgewise.core.local.passes import Components
from edgewise.core.local.pooling import Pooling
from edgewise.core.local.prior import edges_of_prior, with_prior
from edgewise.core.local.scoring import Free, em_step, scoring_step
from edgewise.errors import InvalidArgument

_UNBOUNDED = 1e6
"""Omega of "none", as a multiple of what the rounds leave uncertain: shrinks by 1e-6."""

_LEAST_VARIANCE = 1e-6
"""sigma^2 is at least this share of the mean square of the rewards."""

_NO_GAIN = 1e-7
"""A step of EM that gains less than this is at the optimum."""

_UNSEEN = 1e-9
"""Information on the means below this, relative to the largest, is rounding."""

_TOLERANCE = 1e-3
"""Fits end when a step promises less than this in -2 log likelihood."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The fitted model."""

    equations: NormalEquations
    layout: Layout
    pooling: Pooling
    deviations: Deviations
    free: Free
    """Which variances were learnt."""
    final: Look
    trace: tuple[float, ...]
    """-2 log REML, with the prior, after every accepted step: never increases."""
    passes: int
    """Looks at all channels, rejected ones included."""
    converged: bool

    @property
    def channels(self) -> Channels:
        """Which parameters feed which measured number."""
        return self.equations.channels

    @property
    def components(self) -> Components:
        """The variances; pass them as ``start`` of the next fit."""
        return self.final.components

    @property
    def sigma(self) -> float:
        """Noise deviation."""
        return float(np.sqrt(self.components.variance))

    @property
    def theta(self) -> Array:
        """(P,) posterior mean of all parameters."""
        return self.final.theta

    def omega(self, kind: int) -> Array:
        """(p, p) covariance of the deviations of one kind."""
        return self.components.omega(kind, int(self.channels.dimensions[kind]))

    def means(self, kind: int) -> Array:
        """(m, p) b: what each covariate adds to the parameters of a kind."""
        first, last = self.channels.mean_starts[kind : kind + 2]
        return self.final.fixed[first:last].reshape(self.channels.n_covariates, -1)


def fit(
    equations: NormalEquations,
    pooling: Pooling | str = Pooling.PARTIAL,
    *,
    noise: float | None = None,
    flat: bool = False,
    prior: float = 1.0,
    start: Components | None = None,
    max_passes: int = 60,
    tolerance: float = _TOLERANCE,
) -> Fit:
    """Learn the variances and estimate the parameters.

    Parameters
    ----------
    equations
        From :func:`normal_equations`.
    pooling
        "shared", "partial" or "none".
    noise
        Known noise deviation of a (whitened) reward; None: learnt.
    flat
        True: no prior for the means b (classical REML), False: their spread is learnt.
    prior
        Weight of the belief that deviations are alike in all directions (:mod:`.prior`), relative
        to what it is by default; 0: none, classical REML.
    start
        ``fit.components`` of an earlier fit of the same channels: saves most of the passes.
    max_passes
        Looks at all channels after which to give up.
    tolerance
        The fit ends when a step promises less than this in -2 log likelihood.
    """
    _check(equations, noise, prior)
    pooling = Pooling(pooling)
    layout = equations.channels.layout(equations.n_nuisances)
    sharing = deviations_of(equations)
    with single_threaded():
        first = _start(equations, layout, sharing, pooling, noise, flat, start)
        free = _free(equations, first, sharing, pooling, noise, prior)
        return _climb(equations, layout, pooling, sharing, first, free, max_passes, tolerance)


def _climb(
    equations: NormalEquations,
    layout: Layout,
    pooling: Pooling,
    sharing: Deviations,
    first: Components,
    free: Free,
    max_passes: int,
    tolerance: float,
) -> Fit:
    """Scoring steps; wherever one fails, a step of EM, which cannot."""
    n, dimensions = float(equations.freedoms.sum()), equations.channels.dimensions
    learns = bool(free.deviations.any())
    now = with_prior(look(equations, layout, first, curvature=learns), free)
    trace, passes, damping, converged = [now.criterion], 1, 1e-3, False
    while passes < max_passes and not converged:
        proposal, promised = scoring_step(now, free, damping)
        if promised < tolerance:
            converged = True
            break
        then = _looked(equations, layout, proposal, free)
        passes += 1
        if then is not None and then.criterion <= now.criterion:
            damping = max(damping / 3, 1e-6)
        else:
            damping = min(max(damping * 10, 0.01), 1e3)
            then = _looked(equations, layout, em_step(now, free, n, dimensions), free)
            passes += 1
            # where EM gains nothing either, nothing is left but rounding
            converged = then is None or then.criterion > now.criterion - _NO_GAIN
            if then is None or then.criterion > now.criterion:
                break
        now = then
        trace.append(now.criterion)
    return Fit(equations, layout, pooling, sharing, free, now, tuple(trace), passes, converged)


def _looked(
    equations: NormalEquations, layout: Layout, proposal: Components, free: Free
) -> Look | None:
    """A look at other variances; None if they cannot be computed with: the step was too bold."""
    try:
        learns = bool(free.deviations.any())
        return with_prior(look(equations, layout, proposal, curvature=learns), free)
    except np.linalg.LinAlgError:
        return None


def _start(
    equations: NormalEquations,
    layout: Layout,
    sharing: Deviations,
    pooling: Pooling,
    noise: float | None,
    flat: bool,
    start: Components | None,
) -> Components:
    """A quarter of what rounds leave uncertain, or the earlier one, raised: no step leaves 0."""
    channels, width = equations.channels, int(sharing.dimensions.max())
    zero = np.zeros((len(sharing.dimensions), width, width))
    shared = Components(
        sharing.groups, zero, np.full((channels.n_kinds, channels.n_covariates), np.inf), 1.0
    )
    if start is None or start.roots.shape != zero.shape or pooling is not Pooling.PARTIAL:
        variance, spreads = _shared_start(equations, layout, shared, noise)
    else:
        variance, spreads = start.variance, start.spreads
    spreads = np.full_like(spreads, np.inf) if flat else spreads
    variance = variance if noise is None else noise**2
    if pooling is Pooling.SHARED:
        return replace(shared, spreads=spreads, variance=variance)
    uncertain = variance * inverse_information(equations, sharing)
    if pooling is Pooling.NONE:
        return Components(
            sharing.groups, _roots(_UNBOUNDED * uncertain, sharing), spreads, variance
        )
    omegas = 0.25 * _rounded(uncertain, sharing)
    if start is not None and start.roots.shape == zero.shape:
        omegas = 0.05 * omegas + start.roots @ start.roots.transpose(0, 2, 1)
    return Components(sharing.groups, _roots(omegas, sharing), spreads, variance)


def _shared_start(
    equations: NormalEquations, layout: Layout, shared: Components, noise: float | None
) -> tuple[float, Array]:
    """sigma^2 and lambda as one matrix per kind would have them."""
    now = look(equations, layout, shared, curvature=False)
    n, m = float(equations.freedoms.sum()), now.marginals
    values, vectors = np.linalg.eigh(m.information)
    seen = values > _UNSEEN * max(float(values[-1]), 0.0)  # levels hide what is constant
    values, basis = values[seen], vectors[:, seen]
    fixed = basis @ ((basis.T @ m.moment) / values)
    variance = max(m.quadratic - float(fixed @ m.moment), 1e-12 * m.quadratic) / max(
        n - len(values), 1.0
    )
    variance = variance if noise is None else noise**2
    sizes = fixed**2 + variance * (basis**2 / values).sum(axis=1)
    channels, spreads = equations.channels, np.ones_like(shared.spreads)
    for k in range(channels.n_kinds):
        own = sizes[channels.mean_starts[k] : channels.mean_starts[k + 1]]
        spreads[k] = own.reshape(channels.n_covariates, -1).mean(axis=1)
    largest = float(spreads.max())
    floor = 1e-6 * largest if largest > 0 else 1.0
    return (variance if variance > 0 else 1e-300), np.maximum(spreads, floor)


def _rounded(omegas: Array, sharing: Deviations) -> Array:
    """As the prior would have them: the same in all directions, as large as their median."""
    rounded = np.zeros_like(omegas)
    for g, p in enumerate(sharing.dimensions):
        size = np.median(np.linalg.eigvalsh(omegas[g, :p, :p]))
        rounded[g, :p, :p] = size * np.eye(p)
    return rounded


def _roots(omegas: Array, sharing: Deviations) -> Array:
    roots = np.zeros_like(omegas)
    for g, p in enumerate(sharing.dimensions):
        if sharing.teachable[g]:
            values, vectors = np.linalg.eigh(omegas[g, :p, :p])
            roots[g, :p, :p] = vectors * np.sqrt(np.maximum(values, 0.0))
    return roots


def _free(
    equations: NormalEquations,
    first: Components,
    sharing: Deviations,
    pooling: Pooling,
    noise: float | None,
    prior: float,
) -> Free:
    return Free(
        sharing.dimensions,
        sharing.blocks.astype(float),
        prior * edges_of_prior(sharing),
        sharing.teachable & (pooling is Pooling.PARTIAL),
        np.isfinite(first.spreads),
        noise is None,
        _LEAST_VARIANCE * float(equations.squares.sum() / max(equations.freedoms.sum(), 1)),
    )


def _check(equations: NormalEquations, noise: float | None, prior: float) -> None:
    if not (np.isfinite(prior) and prior >= 0):
        raise InvalidArgument(f"prior is {prior!r}; pass a finite number, at least 0")
    if noise is not None and not (np.isfinite(noise) and noise > 0):
        raise InvalidArgument(f"noise is {noise!r}; pass a finite number above 0, or None")
    if noise is None and equations.freedoms.sum() < 1:
        raise InvalidArgument(
            "no reward is left once levels are projected out, so the noise cannot be learnt; "
            "add rounds, or pass noise="
        )
