r"""A weak prior on how deviations are shaped, and none on how large they are.

A covariance of p parameters has p(p + 1)/2 entries, and few rounds teach few of them: restricted
likelihood alone then finds deviations where there is noise. So :math:`\Omega` is believed to be
round until edges say otherwise: as if, beside the n edges of a kind, :math:`\nu` further ones had
been seen whose deviations have one size :math:`\tau` in every direction. Added to -2 log L is

.. math:: \nu \min_\tau\, [\log\det\Omega + \tau^2\,\mathrm{tr}\,\Omega^{-1} - p\log\tau^2] - \nu p
          = \nu\,\Big[\log\det\Omega + p\log\frac{\mathrm{tr}\,\Omega^{-1}}{p}\Big] \ge 0 ,

an inverse Wishart law whose size is free: it vanishes where :math:`\Omega = \tau^2 I`, whatever
:math:`\tau`, so deviations may still vanish. Round means: in the coordinates of the parameters,
those in which the means b have the prior :math:`N(0, \lambda I)`. A problem's arms are whitened, so
that there every direction moves rewards alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from edgewise.base.arrays import Array
from edgewise.core.local.derivatives import Look
from edgewise.core.local.deviations import Deviations
from edgewise.core.local.scoring import Free


def edges_of_prior(sharing: Deviations) -> Array:
    """(g,) nu: one for each entry of Omega, but no more than there are edges to contradict it."""
    p = sharing.dimensions
    return np.minimum(p * (p + 1) / 2, sharing.blocks)


class Penalty(NamedTuple):
    """What the prior adds to the criterion for one Omega, and its derivatives."""

    value: float
    slope: Array
    """(p, p) in Omega."""
    expected: Array
    """(p, p, p, p) curvature at a round Omega, laid out as :func:`.form_of_pairs` reads it."""
    observed: Array
    """The curvature as it is."""


def penalty(omega: Array, weight: float) -> Penalty:
    """Of ``weight`` round pseudo-edges; raises LinAlgError where Omega is singular."""
    p = len(omega)
    sign, log_det = np.linalg.slogdet(omega)
    K: Array = np.linalg.inv(omega).astype(float)
    K2: Array = (K @ K).astype(float)
    total = float(np.trace(K))
    if sign <= 0 or not (np.isfinite(K2).all() and total > 0):
        raise np.linalg.LinAlgError("the prior excludes a singular Omega")
    value = log_det + p * np.log(total / p)
    slope = K - (p / total) * K2
    crossed = _crossed(K, K2) + _crossed(K2, K)
    observed = (p / total) * crossed - _crossed(K, K) - (p / total**2) * _paired(K2)
    expected = _crossed(K, K) - _paired(K) / p
    return Penalty(weight * value, weight * slope, weight * expected, weight * observed)


def with_prior(now: Look, free: Free) -> Look:
    """A look at the model, the prior added to criterion, slopes and curvatures."""
    if not free.prior.any():
        return now
    slopes, expected, observed = (
        array.copy() for array in (now.omega_slopes, now.expected, now.observed)
    )
    criterion, width = now.criterion, now.omega_slopes.shape[1]
    for g in np.flatnonzero(free.deviations):
        p = int(free.dimensions[g])
        root = now.components.roots[g, :p, :p]
        added = penalty(root @ root.T, float(free.prior[g]))
        criterion += added.value
        slopes[g, :p, :p] += added.slope
        for curvature, own in ((expected, added.expected), (observed, added.observed)):
            curvature[g, g].reshape((width,) * 4)[:p, :p, :p, :p] += own
    return replace(
        now, criterion=criterion, omega_slopes=slopes, expected=expected, observed=observed
    )


def _crossed(A: Array, B: Array) -> Array:
    """The form tr(A dOmega B dOmega) for symmetric A and B."""
    return np.asarray(np.einsum("ad,bc->adbc", A, B))


def _paired(A: Array) -> Array:
    """The form (tr A dOmega)^2."""
    return np.asarray(np.einsum("ab,cd->adbc", A, A))
