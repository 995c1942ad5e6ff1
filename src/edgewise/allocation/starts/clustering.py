"""k-means: points in a few clusters."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled

_SAMPLE = 20_000
"""Points that the centres are fitted to."""
_STEPS = 20
_RUNS = 4


def cluster(points: Array, n_clusters: int, rng: np.random.Generator) -> Indices:
    """(n,) cluster of every point (n, d): Lloyd's steps from k-means++ centres, best of four.

    >>> cluster(np.array([[0.0], [9.0], [0.1], [9.1]]), 2, np.random.default_rng(0)).tolist()
    [1, 0, 1, 0]
    """
    sample = points
    if len(points) > _SAMPLE:
        sample = points[rng.choice(len(points), _SAMPLE, replace=False)]
    best, least = sample[:1], np.inf
    for _ in range(_RUNS):
        centres = _spread_centres(sample, min(n_clusters, len(sample)), rng)
        for _ in range(_STEPS):
            labels, cost = _assign(sample, centres)
            centres = _means(sample, labels, centres)
        if cost < least:
            best, least = centres, cost
    return _assign(points, best)[0]


def _spread_centres(points: Array, count: int, rng: np.random.Generator) -> Array:
    """Points drawn with odds of their squared distance to those drawn before (k-means++)."""
    centres: Array = points[rng.integers(len(points))][None]
    distance = ((points - centres[0]) ** 2).sum(axis=1)
    while len(centres) < count and distance.sum() > 0.0:
        place = int(np.searchsorted(np.cumsum(distance), rng.random() * distance.sum()))
        fresh = points[min(place, len(points) - 1)]
        centres = np.concatenate([centres, fresh[None]])
        distance = np.minimum(distance, ((points - fresh) ** 2).sum(axis=1))
    return centres


@compiled
def _assign(points: Array, centres: Array) -> tuple[Indices, float]:
    """Nearest centre of every point, and the sum of the squared distances."""
    labels = np.zeros(len(points), np.int32)
    cost = 0.0
    for i in range(len(points)):
        least = np.inf
        for c in range(len(centres)):
            distance = 0.0
            for d in range(points.shape[1]):
                distance += (points[i, d] - centres[c, d]) ** 2
            if distance < least:
                least, labels[i] = distance, c
        cost += least
    return labels, cost


@compiled
def _means(points: Array, labels: Indices, centres: Array) -> Array:
    """Mean of every cluster; an empty one keeps its centre."""
    sums = np.zeros_like(centres)
    counts = np.zeros(len(centres))
    for i in range(len(points)):
        counts[labels[i]] += 1.0
        for d in range(points.shape[1]):
            sums[labels[i], d] += points[i, d]
    for c in range(len(centres)):
        if counts[c] > 0.0:
            sums[c] /= counts[c]
        else:
            sums[c] = centres[c]
    return sums
