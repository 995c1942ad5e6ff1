"""Places on a map."""

from __future__ import annotations

from scipy.spatial import cKDTree

from edgewise.base.arrays import Array


def closest_pair(places: Array) -> tuple[int, int, float]:
    """The two of at least two places (n, 2) that are closest, in order, and their distance.

    >>> import numpy as np
    >>> closest_pair(np.array([[0.0, 0.0], [9.0, 0.0], [9.0, 4.0], [9.0, 4.0]]))
    (2, 3, 0.0)
    """
    distances, nearest = cKDTree(places).query(places, k=2)
    first = int(distances[:, 1].argmin())
    # of two on one spot, either may be called the nearest to itself
    second = int(nearest[first][nearest[first] != first][0])
    return min(first, second), max(first, second), float(distances[first, 1])
