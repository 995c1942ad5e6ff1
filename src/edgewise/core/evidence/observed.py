"""Has this direction been observed? The one place that decides, with its tolerances.

Information is a matrix A = sum of N phi phi'. Rounding leaves tiny eigenvalues where nothing was
observed; below ``UNSEEN`` times the largest they count as zero. The factorisation of
:mod:`~edgewise.core.evidence.least_squares` accepts any A whose eigenvalues are all above that, as
its pivots, relative to the diagonal, are not smaller than the smallest eigenvalue relative to the
largest.
"""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array, Mask

UNSEEN = 1e-9
"""Eigenvalues of the information below this, relative to the largest, are rounding."""

OUTSIDE = 1e-10
"""Squared relative length of the part of a contrast outside the observed directions that is
rounding; more, and the data say nothing about the contrast."""


def observed_directions(gram: Array) -> tuple[Array, Array]:
    """Nonzero eigenvalues (rank,) of A (p, p) and their eigenvectors (p, rank)."""
    values, vectors = np.linalg.eigh(gram)
    seen = values > UNSEEN * max(values[-1], 0.0)
    return values[seen], vectors[:, seen]


def are_inside(contrasts: Array, inside: Array) -> Mask:
    """(T,) whether contrasts (T, p) lie in a subspace, given their coordinates (T, rank) in it."""
    total = (contrasts**2).sum(axis=1)
    return np.asarray(total - (inside**2).sum(axis=1) <= OUTSIDE * total)


def in_range(gram: Array, contrasts: Array) -> Mask:
    """(T,) whether each contrast (T, p) can be estimated from information A (p, p)."""
    _, basis = observed_directions(gram)
    return are_inside(contrasts, contrasts @ basis)
