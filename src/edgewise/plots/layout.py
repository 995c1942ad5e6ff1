"""Where to put the nodes of a graph."""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lobpcg

from edgewise.base.arrays import Array, Indices, as_floats
from edgewise.base.border import border
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph

_LARGEST_SPRING = 300
"""Nodes up to which forces are simulated; beyond, the picture would take seconds to minutes."""

_FEW = 40
"""Nodes below which a part of a large network is drawn as a circle."""


@border
def node_positions(graph: Graph, positions: ArrayLike | None = None) -> Array:
    """(n, 2) positions: those given, else a layout that shows the family.

    Circles become circles, stars stars, matchings rows of pairs. Other graphs are laid out by
    networkx (``edgewise[networkx]``, forces with a fixed seed) and without it on a circle; above
    300 nodes by the two smoothest functions on the graph [1]_, part by part.

    .. [1] Y. Koren, "Drawing graphs by eigenvectors: theory and practice", Computers & Mathematics
       with Applications 49, 2005.

    >>> from edgewise import Graph
    >>> node_positions(Graph.star(n_nodes=5)).round(2).tolist()[:2]
    [[0.0, 0.0], [0.0, 1.0]]
    """
    if positions is not None:
        return _checked(positions, graph.n_nodes)
    n, degrees = graph.n_nodes, graph.degrees
    if degrees.max() == 1:
        return _pairs(graph)
    if n > 3 and degrees.max() == n - 1 and (degrees == 1).sum() == n - 1:
        return _star(int(degrees.argmax()), n)
    order = _ring_order(graph)
    if order is not None:
        placed = np.empty((n, 2))
        placed[order] = _ring(n)
        return placed
    return _spring(graph)


def _checked(positions: ArrayLike, n_nodes: int) -> Array:
    table = as_floats("positions", positions, InvalidArgument, "pass (n, 2) numbers").copy()
    if table.shape != (n_nodes, 2) or not np.isfinite(table).all():
        raise InvalidArgument(
            f"positions have shape {table.shape} or are not finite; every node needs a place: "
            f"pass finite numbers of shape ({n_nodes}, 2)"
        )
    return table


def _ring(n: int) -> Array:
    """Clockwise from the top."""
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _star(centre: int, n: int) -> Array:
    return np.insert(_ring(n - 1), centre, 0.0, axis=0)


def _pairs(graph: Graph) -> Array:
    """Each pair upright in a grid about twice as wide as high; isolated nodes below."""
    n_columns = max(1, math.ceil(math.sqrt(4 * len(graph.edges))))
    placed = np.zeros((graph.n_nodes, 2))
    slot = np.arange(len(graph.edges))
    row, column = np.divmod(slot, n_columns)
    for end, lift in ((0, 1.0), (1, 0.0)):
        placed[graph.edges[:, end]] = np.column_stack([column, lift - 2.0 * row])
    lowest = -2.0 * (int(row.max()) + 1)
    placed[graph.isolated] = [(i, lowest) for i in range(len(graph.isolated))] or np.zeros((0, 2))
    return placed


def _ring_order(graph: Graph) -> Indices | None:
    """The nodes in the order in which a single cycle visits them, or None."""
    n = graph.n_nodes
    if n < 3 or len(graph.edges) != n or (graph.degrees != 2).any():
        return None
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for i, j in graph.edges.tolist():
        neighbours[i].append(j)
        neighbours[j].append(i)
    order, previous, here = [0], -1, 0
    while len(order) < n:
        first, second = neighbours[here]
        previous, here = here, second if first == previous else first
        if here == 0:
            return None  # several cycles
        order.append(here)
    return np.array(order)


def _spring(graph: Graph) -> Array:
    if graph.n_nodes > _LARGEST_SPRING:
        return _smooth(graph)
    try:
        import networkx as nx
    except ImportError:
        return _ring(graph.n_nodes)
    network = nx.Graph()
    network.add_nodes_from(range(graph.n_nodes))
    network.add_edges_from(graph.edges.tolist())
    placed = nx.spring_layout(network, seed=0)
    return np.array([placed[i] for i in range(graph.n_nodes)], dtype=float)


def _smooth(graph: Graph) -> Array:
    """Every connected part by its eigenvectors, in boxes side by side, the largest first."""
    n, (first, second) = graph.n_nodes, graph.edges.T
    links = coo_array((np.ones(len(first)), (first, second)), shape=(n, n))
    links = (links + links.T).tocsr()
    count, part = connected_components(links, directed=False)
    order = np.argsort(part, kind="stable")
    parts = sorted(np.split(order, np.cumsum(np.bincount(part, minlength=count))[:-1]), key=len)
    placed = np.zeros((n, 2))
    width = math.sqrt(n)
    corner, row_height = np.zeros(2), 0.0
    for nodes in reversed(parts):
        side = math.sqrt(len(nodes))
        if corner[0] > 0.0 and corner[0] + side > width:
            corner, row_height = np.array([0.0, corner[1] - 1.1 * row_height]), 0.0
        placed[nodes] = corner + side * _by_eigenvectors(links[nodes][:, nodes])
        corner = corner + np.array([1.1 * side, 0.0])
        row_height = max(row_height, side)
    return placed


def _by_eigenvectors(links: csr_array) -> Array:
    r"""(n, 2) in the unit square: the second and third eigenvector of the walk :math:`D^{-1}A`.

    Found together, by LOBPCG: a grid has two of the same eigenvalue, of which methods that start
    from one vector find one. A picture needs no digits, so the iteration may end early.
    """
    n = links.shape[0]
    if n < _FEW:
        return 0.5 + 0.5 * _ring(n) if n > 1 else np.full((1, 2), 0.5)
    root = np.sqrt(np.asarray(links.sum(axis=1)).ravel())
    scale = diags_array(1.0 / root)
    start = np.random.default_rng(0).standard_normal((n, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it ended early
        _, vectors = lobpcg(
            scale @ links @ scale, start, Y=root[:, None], tol=1e-4, maxiter=200, largest=True
        )
    at = scale @ vectors[:, :2]
    low, high = at.min(axis=0), at.max(axis=0)
    placed: Array = (at - low) / np.where(high > low, high - low, 1.0)
    return placed
