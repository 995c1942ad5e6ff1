import numpy as np
import pytest

from edgewise.allocation.allocate import allocate_table
from edgewise.allocation.improve.local_search import local_search
from edgewise.allocation.instance.links import links_of
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.starts.clustering import cluster
from edgewise.allocation.starts.planted import embed, shows_structure, spectral_start
from edgewise.base.arrays import Array, Indices
from edgewise.network.graph import Graph


def cycle_table(n_classes: int, n_arms: int, rng: np.random.Generator) -> Array:
    """1 between neighbours on a cycle of arms, less elsewhere."""
    W = 0.8 * rng.random((n_arms, n_arms))
    W = 0.5 * (W + W.T)
    ring = np.arange(n_classes)
    W[ring, (ring + 1) % n_classes] = W[(ring + 1) % n_classes, ring] = 1.0
    return W


def planted(n: int, count: int, n_classes: int, rng: np.random.Generator) -> tuple[Graph, Indices]:
    """Every edge joins a class to the next on a cycle of classes; no node is isolated."""
    classes = np.arange(n) % n_classes  # n a multiple of n_classes: i and i + 1 may be joined
    first = np.concatenate([np.arange(n), rng.integers(n, size=count)])
    second = (first + 1 + n_classes * rng.integers(n // n_classes, size=len(first))) % n
    pairs = np.unique(np.sort(np.column_stack([first, second]), axis=1), axis=0)
    names = rng.permutation(n)
    labels = np.empty(n, np.int64)
    labels[names] = classes
    return Graph.from_edges(names[pairs]), labels


@pytest.mark.parametrize("n_arms", [5, 8])
def test_a_planted_pentagon_is_found(n_arms: int) -> None:
    rng = np.random.default_rng(n_arms)
    graph, labels = planted(2000, 8000, 5, rng)
    W = cycle_table(5, n_arms, rng)
    optimum = graph.n_arcs * 1.0
    assert Objective(graph, W).value(labels) == optimum
    assert shows_structure(links_of(graph), np.random.default_rng(0))
    start = spectral_start(Objective(graph, W), np.random.default_rng(0))
    assert local_search(Objective(graph, W), start).value >= 0.999 * optimum
    assert allocate_table(graph, W).value >= 0.999 * optimum


def test_structure_is_seen_whatever_the_seed() -> None:
    graph, _ = planted(20_000, 80_000, 5, np.random.default_rng(6))
    links = links_of(graph)
    assert all(shows_structure(links, np.random.default_rng(seed)) for seed in range(20))


def test_random_graphs_show_no_structure() -> None:
    rng = np.random.default_rng(1)
    for degree in (4, 10):
        pairs = rng.integers(3000, size=(1500 * degree, 2))
        pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
        path = np.column_stack([np.arange(2999), np.arange(1, 3000)])
        graph = Graph.from_edges(np.unique(np.concatenate([pairs, path]), axis=0))
        links = links_of(graph)
        assert not any(shows_structure(links, np.random.default_rng(seed)) for seed in range(20))


def test_embedding_has_the_eigenvectors_of_two_cliques() -> None:
    left = np.column_stack(np.triu_indices(20, k=1))
    graph = Graph.from_edges(np.concatenate([left, left + 20, [[0, 20]]]))
    points = embed(links_of(graph), 1, np.random.default_rng(2))
    side = points[:, 0] > 0
    assert (side[:20] == side[0]).all()
    assert (side[20:] != side[0]).all()


def test_tiny_graphs_have_fewer_eigenvectors_than_asked() -> None:
    points = embed(links_of(Graph.star(n_nodes=3)), 6, np.random.default_rng(3))
    assert points.shape == (3, 6)
    assert np.isfinite(points).all()


def test_clusters_of_well_separated_points() -> None:
    rng = np.random.default_rng(4)
    centres = 100 * rng.standard_normal((6, 3))
    truth = rng.integers(6, size=30_000)  # more than the sample that centres are fitted to
    labels = cluster(centres[truth] + rng.standard_normal((30_000, 3)), 6, rng)
    assert len(np.unique(labels)) == 6
    for c in range(6):
        assert len(np.unique(labels[truth == c])) == 1


def test_more_clusters_than_points() -> None:
    labels = cluster(np.zeros((3, 2)), 5, np.random.default_rng(5))
    assert labels.tolist() == [0, 0, 0]
