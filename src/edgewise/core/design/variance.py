"""Prediction variances: what a design leaves unknown about each arm."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from edgewise.base.arrays import Array
from edgewise.errors import InvalidProblem

_CHUNK_ENTRIES = 1 << 19
"""Entries of the largest temporary array: 4 MB, which stays in the cache of most machines."""


def variances(arms: Array, weights: Array) -> Array:
    r"""Prediction variance of every arm under a design.

    .. math:: v_k(w) = x_k^\top \Sigma(w)^{-1} x_k, \qquad \Sigma(w) = \sum_k w_k x_k x_k^\top

    Its design-weighted mean is the dimension, whatever ``w`` (the trace of the identity):

    >>> w = np.array([0.2, 0.3, 0.5])
    >>> v = variances(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), w)
    >>> round(float(w @ v), 12)
    2.0

    Raises
    ------
    InvalidProblem
        When the arms of positive weight do not span the space: some variance is infinite.
    """
    support = weights > 0
    # R'R = Sigma from the rows themselves: forming Sigma first would square the condition number.
    scaled = arms[support] * np.sqrt(weights[support])[:, None]
    root = np.asarray(np.linalg.qr(scaled, mode="r"), dtype=np.float64)
    _require_full_rank(root, arms.shape[1])
    return squared_lengths(arms, root)


def _require_full_rank(root: Array, dimension: int) -> None:
    lengths = np.linalg.norm(root, axis=0)
    singular = np.linalg.svd(root / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    rank = int((singular > dimension * np.finfo(float).eps * singular.max(initial=0.0)).sum())
    if rank < dimension:
        raise InvalidProblem(
            f"the arms of positive weight span {rank} of {dimension} dimensions, so some variance "
            f"is infinite; give weight to {dimension - rank} more independent arm(s)"
        )


def squared_lengths(arms: Array, root: Array) -> Array:
    r"""``x' (R'R)^{-1} x`` for every arm, with ``R`` upper triangular.

    In chunks: the peak memory does not grow with the number of arms.
    """
    n_arms, dimension = arms.shape
    chunk = max(1, _CHUNK_ENTRIES // dimension)
    lengths = np.empty(n_arms)
    for start in range(0, n_arms, chunk):
        rows = scipy.linalg.solve_triangular(
            root, arms[start : start + chunk].T, trans="T", check_finite=False
        )
        lengths[start : start + chunk] = np.einsum("dk,dk->k", rows, rows)
    return lengths
