"""k-means: points in a few clusters."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.threads import single_threaded

_SAMPLE = 5_000
"""Points that the centres are fitted to."""
_RUNS = 4


def cluster(points: Array, n_clusters: int, rng: np.random.Generator) -> Indices:
    """(n,) cluster of every point (n, d), by the best of a few runs on a sample.

    At most ``n_clusters``: centres that no point is nearest to are left out.

    >>> labels = cluster(np.array([[0.0], [9.0], [0.1], [9.1]]), 2, np.random.default_rng(0))
    >>> bool(labels[0] == labels[2] != labels[1] == labels[3])
    True
    """
    from scipy.cluster.vq import kmeans, vq

    sample = points
    if len(points) > _SAMPLE:
        sample = points[rng.choice(len(points), _SAMPLE, replace=False)]
    with single_threaded():
        centres, _ = kmeans(sample, min(n_clusters, len(sample)), iter=_RUNS, seed=rng)
        labels, _ = vq(points, centres)
    return np.asarray(labels)
