"""Planted structure: eigenvectors show communities that no local move can see."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.links import Links
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.starts.clustering import cluster
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.base.threads import single_threaded

_STEPS = 24
"""Power steps; an eigenvalue 1.3 times those of the bulk then stands out 500 times."""
_GLANCE = 12
_OUTSTANDING = 1.0
"""Steps of a first look, and by how much the largest eigenvalue must exceed the bulk."""
_VECTORS = 8
_CLUSTERS = 16
"""Most dimensions and clusters of the embedding."""
_RESTARTS = 200
"""Starts of the search for the arms of the clusters, a problem of a few dozen numbers."""


def spectral_start(objective: Objective, rng: np.random.Generator) -> Indices:
    r"""(n,) joint arm, constant on the clusters of a spectral embedding.

    When the graph maps to a small one (every edge between classes that go well together), the
    classes appear in the extreme eigenvectors of :math:`D^{-1/2} A D^{-1/2}`. Nodes are clustered
    by them; which arm each cluster takes is the allocation problem on the graph of clusters.
    Candidates are not looked at: repair the result, as a local search does.
    """
    K = objective.n_arms
    points = embed(objective.links, min(K, _VECTORS), rng)
    clusters = cluster(points, min(2 * K, _CLUSTERS), rng)
    return _arms_of_clusters(objective, clusters, rng)[clusters]


def shows_structure(links: Links, rng: np.random.Generator) -> bool:
    """Whether eigenvalues stand out from those of a random graph with such degrees.

    A few power steps on four vectors, in single precision: a fifth of the cost of the embedding.
    Fewer would overlook structure for some seeds: over 12 seeds and up to 10^6 edges the ratio to
    the bulk was 1.29 or more for planted pentagons, 0.94 or less for random graphs.
    """
    scale = _scale(links)
    start: Array = rng.standard_normal((len(scale), 4), np.float32)  # type: ignore[assignment]
    values, _ = _extreme(links, scale, start, _GLANCE)
    bulk = 2.0 * np.sqrt(_mean_square(links, scale))
    return bool(values[0] > _OUTSTANDING * bulk)


def embed(links: Links, dimensions: int, rng: np.random.Generator) -> Array:
    """(n, dimensions) eigenvectors of the normalised adjacency, largest in absolute value first.

    Degrees are raised by their mean, lest leaves and small components have eigenvectors of their
    own. Coordinates are shrunk by the square of their eigenvalue: those of the bulk are noise.
    """
    scale = _scale(links)
    start = rng.standard_normal((len(scale), dimensions + 1))
    values, vectors = _extreme(links, scale, start, _STEPS)
    points = vectors * scale[:, None]
    spread = np.sqrt((points**2).mean(axis=0))
    return np.asarray(points * (values**2 / np.where(spread > 0.0, spread, 1.0)))


def _extreme(links: Links, scale: Array, vectors: Array, steps: int) -> tuple[Array, Array]:
    """Largest absolute eigenvalues, and vectors that span theirs, by subspace iteration.

    All but the first, which is nearly the square roots of the degrees and tells nothing. The
    square of the matrix is projected: eigenvalues of either sign must not cancel.
    """
    both = scale[:, None].astype(vectors.dtype)
    with single_threaded():
        for step in range(steps):
            vectors = both * _multiply(links, both * vectors)
            if step % 4 == 3:  # eigenvalues differ too little to cancel anything in four steps
                vectors = _orthonormal(vectors)
        image = both * _multiply(links, both * vectors)
        squares, mixing = np.linalg.eigh(image.T @ image)
        values = np.sqrt(np.maximum(squares[-2::-1], 0.0))
        return values, np.asarray(vectors @ mixing[:, -2::-1])


def _scale(links: Links) -> Array:
    """(n,) what the adjacency is multiplied with from both sides."""
    strength = _strengths(links)
    return np.asarray(1.0 / np.sqrt(strength + strength.mean()))


def _orthonormal(vectors: Array) -> Array:
    """Orthonormal columns with the same span, by the Gram matrix; dependent ones become zero."""
    values, mixing = np.linalg.eigh(vectors.T @ vectors)
    kept = values > 1e-13 * values.max()
    return np.asarray(
        vectors @ (mixing * np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0))
    )


def _arms_of_clusters(objective: Objective, clusters: Indices, rng: np.random.Generator) -> Indices:
    """(C,) arm of every cluster: the same problem with the clusters as nodes."""
    graph, C = objective.graph, int(clusters.max()) + 1
    first, second = clusters[graph.edges[:, 0]], clusters[graph.edges[:, 1]]
    cells = (graph.kind_of_edge * C + first) * C + second
    counts = np.bincount(cells, graph.weights, graph.n_kinds * C * C)
    arcs = np.asarray(counts, dtype=float).reshape(-1, C, C)
    if not graph.directed:
        arcs = arcs + arcs.transpose(0, 2, 1)
    own = np.zeros((C, objective.n_arms))
    if objective.unary is not None:
        np.add.at(own, clusters, objective.unary)
    starts = rng.integers(objective.n_arms, size=(_RESTARTS, C))
    return _best_arms(arcs, objective.tables, own, starts)


@compiled
def _strengths(links: Links) -> Array:
    """(n,) sum of the absolute weights at every node."""
    totals = np.zeros(len(links.starts) - 1)
    for i in range(len(totals)):
        for p in range(links.starts[i], links.starts[i + 1]):
            totals[i] += abs(links.weights[p]) if len(links.weights) else 1.0
    return totals


@compiled
def _mean_square(links: Links, scale: Array) -> float:
    """Mean over the nodes of the sum of the squares of their row."""
    total = 0.0
    for i in range(len(scale)):
        for p in range(links.starts[i], links.starts[i + 1]):
            w = links.weights[p] if len(links.weights) else 1.0
            total += (scale[i] * scale[links.neighbours[p]] * w) ** 2
    return total / len(scale)


@compiled
def _multiply(links: Links, vectors: Array) -> Array:
    """The (signed, weighted) adjacency times each column."""
    result = np.zeros_like(vectors)
    row = np.empty(vectors.shape[1])
    for i in range(len(vectors)):
        row[:] = 0.0
        for p in range(links.starts[i], links.starts[i + 1]):
            w = links.weights[p] if len(links.weights) else 1.0
            for d in range(len(row)):
                row[d] += w * vectors[links.neighbours[p], d]
        for d in range(len(row)):
            result[i, d] = row[d]
    return result


@compiled
def _field(arcs: Array, tables: Array, own: Array, arms: Indices, c: int, field: Array) -> None:
    """What cluster ``c`` would earn by each arm; its own arcs show that arm at both ends."""
    field[:] = own[c]
    for q in range(len(tables)):
        for d in range(len(arms)):
            for k in range(len(field)):
                if d == c:
                    field[k] += arcs[q, c, c] * tables[q, k, k]
                else:
                    field[k] += arcs[q, c, d] * tables[q, k, arms[d]]
                    field[k] += arcs[q, d, c] * tables[q, arms[d], k]


@compiled
def _best_arms(arcs: Array, tables: Array, own: Array, starts: Indices) -> Indices:
    """Best response from every start; the best end."""
    n_clusters, n_arms = own.shape
    field = np.empty(n_arms)
    best: Indices = starts[0]
    top = -np.inf
    for s in range(len(starts)):
        arms = starts[s].copy()
        for _ in range(4 * n_clusters):
            moved = False
            for c in range(n_clusters):
                _field(arcs, tables, own, arms, c, field)
                k = field.argmax()
                if field[k] > field[arms[c]]:
                    arms[c], moved = k, True
            if not moved:
                break
        value = 0.0
        for c in range(n_clusters):
            value += own[c, arms[c]]
            for q in range(len(tables)):
                for d in range(n_clusters):
                    value += arcs[q, c, d] * tables[q, arms[c], arms[d]]
        if value > top:
            best, top = arms, value
    return best.copy()
