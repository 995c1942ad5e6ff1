"""Symmetric systems, factored with directions of which nothing is known left out."""

from __future__ import annotations

import math

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled

_UNSEEN = 1e-10
"""Pivots below this share of the diagonal are rounding: the direction was not observed."""


def log_mean(logs: Array) -> float:
    """The log of the mean of numbers whose logs these are."""
    top = float(logs.max())
    return top if math.isinf(top) else top + math.log(float(np.exp(logs - top).mean()))


def log_means(logs: Array) -> list[float]:
    """(F,) the same over the first and the last of three axes, (S, F, T)."""
    top = logs.max(axis=(0, 2))
    finite = np.where(np.isinf(top), 0.0, top)
    means = np.exp(logs - finite[:, None]).mean(axis=(0, 2))
    return list(np.where(np.isinf(top), top, finite + np.log(np.maximum(means, 1e-300))))


@compiled
def factor(A: Array) -> tuple[Array, int]:
    """Lower L with LL' = A (p, p) on the observed directions, zero columns elsewhere; the rank."""
    p = len(A)
    L, rank = np.zeros((p, p)), 0
    for j in range(p):
        pivot = A[j, j]
        for k in range(j):
            pivot -= L[j, k] * L[j, k]
        if pivot <= _UNSEEN * A[j, j]:
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
