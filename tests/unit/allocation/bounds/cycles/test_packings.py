"""Closed walks in tables and graphs, and packings of them."""

import itertools

import numpy as np
import pytest

from edgewise.allocation.bounds.cycles.closed_walks import deficits
from edgewise.allocation.bounds.cycles.cycles import Cycles, Packing, edge_weights, repaired
from edgewise.allocation.bounds.cycles.greedy_cycles import greedy_packing
from edgewise.allocation.bounds.cycles.packing import generate, odd_walks
from edgewise.network.graph import Graph


def random_graph(rng: np.random.Generator, n: int, n_extra: int, *, weighted: bool) -> Graph:
    pairs = np.concatenate(
        [np.column_stack([np.arange(n - 1), np.arange(1, n)]), rng.integers(n, size=(n_extra, 2))]
    )
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return Graph(n, pairs, weights=rng.exponential(size=len(pairs)) if weighted else None)


def assert_is_packing(graph: Graph, packing: Packing) -> None:
    cycles, amounts = packing
    assert (amounts >= 0.0).all()
    loads = np.zeros(len(graph.edges))
    np.add.at(loads, cycles.edges, np.repeat(amounts, cycles.lengths))
    assert (loads <= edge_weights(graph)).all()
    assert (cycles.lengths % 2 == 1).all()
    for a, b in itertools.pairwise(cycles.starts.tolist()):
        nodes = cycles.nodes[a:b]
        steps = np.column_stack([nodes, np.roll(nodes, -1)])  # ... and back to the first
        edges = graph.edges[cycles.edges[a:b]]
        np.testing.assert_array_equal(np.sort(steps, axis=1), np.sort(edges, axis=1))


def test_deficits_are_those_of_all_closed_walks() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        K = int(rng.integers(2, 4))
        W = rng.standard_normal((K, K))
        W += W.T
        found = deficits(W, 5)
        for length in range(1, 6):
            walks = itertools.product(range(K), repeat=length)
            best = max(sum(W[w[t - 1], w[t]] for t in range(length)) for w in walks)
            exact = length * W.max() - best
            assert found[length] == pytest.approx(exact, abs=1e-12)


def test_deficits_never_exceed_the_truth() -> None:
    # thirds are not representable, and every step rounds
    found = deficits(np.array([[0.0, 1 / 3], [1 / 3, 0.0]]), 99)
    assert (found[1::2] <= 1 / 3).all()
    assert found[3::2] == pytest.approx(1 / 3)


@pytest.mark.parametrize("weighted", [False, True])
def test_greedy_and_generated_packings_are_packings(weighted: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        graph = random_graph(rng, int(rng.integers(4, 30)), 30, weighted=weighted)
        quick, best = greedy_packing(graph), odd_walks(graph).packing
        assert_is_packing(graph, quick)
        assert_is_packing(graph, best)
        assert best.amounts.sum() >= quick.amounts.sum() * (1.0 - 1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_large_graphs_get_their_triangles(weighted: bool) -> None:
    rng = np.random.default_rng(2)
    n = 8000
    nodes = np.arange(n)
    pairs = np.concatenate([np.column_stack([nodes, (nodes + s) % n]) for s in (1, 2, 3)])
    graph = Graph(n, pairs, weights=rng.exponential(size=len(pairs)) if weighted else None)
    packing = greedy_packing(graph)
    assert_is_packing(graph, packing)
    assert packing.amounts.sum() > 0.15 * edge_weights(graph).sum()


def test_repair_makes_a_packing_of_anything() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        graph = random_graph(rng, 12, 25, weighted=True)
        cycles = greedy_packing(graph).cycles
        wild = rng.standard_normal(len(cycles.lengths)) * 10.0 ** rng.integers(-3, 4)
        assert_is_packing(graph, repaired(cycles, wild, edge_weights(graph)))


def test_complete_graph_packs_a_third_of_its_edges() -> None:
    """Every triangle equally: sum y = E / 3, the most there is."""
    packing = odd_walks(Graph.complete(n_nodes=7)).packing
    assert packing.amounts.sum() == pytest.approx(21 / 3, rel=1e-9)


def test_bipartite_graphs_have_none() -> None:
    assert len(odd_walks(Graph.star(n_nodes=9)).packing.amounts) == 0


def test_longer_walks_are_used_when_they_are_worth_more() -> None:
    """The deficit may rise with the length; then pentagons beat triangles."""
    graph = Graph.complete(n_nodes=5)
    worth = np.zeros(16)
    worth[3], worth[5] = 1.0, 3.0
    start = odd_walks(graph).pool
    packing = generate(graph, worth, start, seconds=1.0).packing
    assert_is_packing(graph, packing)
    assert float(worth[packing.cycles.lengths] @ packing.amounts) == pytest.approx(6.0)


def test_no_work_allowed_gives_an_empty_packing() -> None:
    graph = Graph.complete(n_nodes=5)
    start = greedy_packing(graph).cycles
    packing = generate(graph, np.ones(16), start, seconds=0.0).packing
    assert packing.amounts.sum() == 0.0


def test_equal_walks_are_joined_once() -> None:
    once = Cycles(np.array([0, 3]), np.array([0, 1, 2]), np.array([0, 1, 2]))
    turned = Cycles(np.array([0, 3]), np.array([1, 2, 0]), np.array([1, 2, 0]))
    assert once.joined(turned).lengths.tolist() == [3]
