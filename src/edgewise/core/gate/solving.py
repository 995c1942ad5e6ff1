"""Symmetric systems, factored with directions of which nothing is known left out."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled

ROUNDING = 1e-12
"""Residuals below this share of the largest number are rounding, and count as none."""
_UNSEEN = 1e-10
"""Pivots below this share of the diagonal are rounding: the direction was not observed."""


def log_mean(logs: Iterable[float]) -> float:
    """The log of the mean of numbers whose logs these are; NaN if one of them is.

    There are a few of them, for which lists are quicker than arrays.
    """
    each = list(map(float, logs))
    top = max(each)
    if any(map(math.isnan, each)) or math.isinf(top):
        return math.nan if any(map(math.isnan, each)) else top
    return top + math.log(sum(math.exp(one - top) for one in each) / len(each))


@compiled
def factor(A: Array, least: float = 0.0) -> tuple[Array, int]:
    """Lower L with LL' = A (p, p) on the observed directions, zero columns elsewhere; the rank.

    Where A - ``least`` I is known to be semidefinite, no pivot is below that, and none is left out.
    """
    p = len(A)
    L, rank = np.zeros((p, p)), 0
    for j in range(p):
        pivot = A[j, j]
        for k in range(j):
            pivot -= L[j, k] * L[j, k]
        if least > 0.0:
            pivot = max(pivot, least)
        elif pivot <= _UNSEEN * A[j, j]:
            continue
        rank += 1
        root = np.sqrt(pivot)
        L[j, j] = root
        for i in range(j + 1, p):
            value = A[i, j]
            for k in range(j):
                value -= L[i, k] * L[j, k]
            L[i, j] = value / root
    return L, rank


@compiled
def forward(L: Array, b: Array) -> Array:
    """X (p,) with Lx = b; 0 in the directions left out. So |x|^2 = b'A^-1 b."""
    x = np.zeros(len(b))
    for i in range(len(b)):
        if L[i, i] == 0.0:
            continue
        value = b[i]
        for k in range(i):
            value -= L[i, k] * x[k]
        x[i] = value / L[i, i]
    return x


@compiled
def forward_all(L: Array, B: Array) -> Array:
    """X (p, n) with LX = B; 0 in the directions left out."""
    X = np.zeros(B.shape)
    for i in range(len(B)):
        if L[i, i] == 0.0:
            continue
        for j in range(B.shape[1]):
            X[i, j] = B[i, j]
        for k in range(i):
            scale = L[i, k]
            for j in range(B.shape[1]):
                X[i, j] -= scale * X[k, j]
        for j in range(B.shape[1]):
            X[i, j] /= L[i, i]
    return X


@compiled
def inverse(L: Array) -> Array:
    """L^-1 (p, p) of a lower triangle without zeros on its diagonal; lower as well."""
    p = len(L)
    X = np.zeros((p, p))
    for i in range(p):
        for k in range(i):
            scale = L[i, k]
            for j in range(k + 1):
                X[i, j] -= scale * X[k, j]
        for j in range(i):
            X[i, j] /= L[i, i]
        X[i, i] = 1.0 / L[i, i]
    return X


@compiled
def subtract_squares(rows: Array, A: Array) -> None:
    """A -= X'X for the rows X (n, p), in place; A (p, p) is symmetric."""
    p = len(A)
    for m in range(len(rows)):
        for i in range(p):
            scale = rows[m, i]
            if scale == 0.0:
                continue
            for j in range(i + 1):
                A[i, j] -= scale * rows[m, j]
    for i in range(p):
        for j in range(i):
            A[j, i] = A[i, j]


@compiled
def backward(L: Array, b: Array) -> Array:
    """X (p,) with L'x = b; 0 in the directions left out."""
    x = np.zeros(len(b))
    for i in range(len(b) - 1, -1, -1):
        if L[i, i] == 0.0:
            continue
        value = b[i]
        for k in range(i + 1, len(b)):
            value -= L[k, i] * x[k]
        x[i] = value / L[i, i]
    return x


@compiled
def is_seen(L: Array, z: Array) -> bool:
    """Whether z (p,) lies in the directions that were not left out: z = Lx up to rounding."""
    x, size = forward(L, z), 0.0
    for i in range(len(z)):
        size = max(size, abs(z[i]))
    for i in range(len(z)):
        if L[i, i] > 0.0:
            continue
        value = z[i]
        for k in range(i):
            value -= L[i, k] * x[k]
        if abs(value) > 1e-6 * size:
            return False
    return True
