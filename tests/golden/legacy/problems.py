"""The problems whose learners and studies were stored; built by public names only."""

from __future__ import annotations

import numpy as np

import edgewise as ew

_PLANE = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [-0.3, 0.9]])
_SPACE = np.array(
    [[1.0, 0.1, 0.0], [0.0, 1.0, 0.2], [0.3, 0.0, 1.0], [0.6, 0.7, -0.2], [-0.4, 0.5, 0.8]]
)
_PAIRS = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [0, 2], [0, 5]])
_FLOWS = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [4, 1], [2, 4], [0, 5], [5, 3], [4, 5], [1, 3]])
_HOPS = ["near", "far", "near", "near", "far", "far", "near", "far", "near", "far"]


def problems() -> dict[str, ew.Problem]:
    """By the names that ``expected.json`` calls them."""
    pairs = ew.Graph.from_edges(_PAIRS)
    weights = [1.0, 0.5, 2.0, 1.5, 0.75, 1.25, 1.0, 0.8, -0.6, 1.1]
    candidates = np.ones((6, 4), np.bool_)
    candidates[0, 3] = candidates[4, 0] = candidates[5, 1] = False
    return {
        "undirected": ew.Problem(pairs, _SPACE, noise=0.2),
        "noise-unknown": ew.Problem(pairs, _PLANE, noise="estimate"),
        "directed": ew.Problem(
            ew.Graph.from_edges(_FLOWS, directed=True, kinds=[int(hop == "far") for hop in _HOPS]),
            _PLANE,
            noise=0.3,
        ),
        "farm": ew.Problem(
            ew.Graph.from_edges(
                [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c"), ("d", "e")]
            ),
            _PLANE[:3],
            noise=0.5,
        ),
        "labelled": ew.Problem(
            ew.Graph.from_edges(_PAIRS, labels=["hub", ("row", 1), ("row", 2), "süd", "nord", "x"]),
            _PLANE,
            noise=0.4,
            arm_labels=["low", "high", ("tilt", 2.5), 7],
        ),
        "flows": ew.Problem(
            ew.Graph.from_edges(
                _FLOWS, directed=True, kinds=_HOPS, weights=weights, labels=list("uvwxyz")
            ),
            _PLANE,
            noise=0.2,
            node_term=True,
            candidates=candidates,
        ),
    }
