from typing import Any

import numpy as np
import pytest

from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.two_colouring import two_colouring
from edgewise.allocation.starts.bipartite import bipartite, greedy_cut, half_guarantee_holds
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph

MAX_CUT = np.array([[0.0, 1.0], [1.0, 0.0]])


def slow_cut(graph: Graph) -> list[bool]:
    """Algorithm 1 as printed, with weights in place of counts."""
    weights = np.ones(len(graph.edges)) if graph.weights is None else graph.weights
    V1: set[int] = set()
    V2: set[int] = set()
    for i in range(graph.n_nodes):
        to_side = [0.0, 0.0]
        for (u, v), w in zip(graph.edges.tolist(), weights.tolist(), strict=True):
            if i in (u, v):
                other = v if i == u else u
                to_side[0] += w * (other in V1)
                to_side[1] += w * (other in V2)
        (V2 if to_side[0] > to_side[1] else V1).add(i)
    return [i in V2 for i in range(graph.n_nodes)]


def random_graph(rng: np.random.Generator, n: int, density: float, **kwargs: Any) -> Graph:
    pairs = np.column_stack(np.triu_indices(n, k=1))
    chosen = rng.random(len(pairs)) < density
    chosen |= pairs[:, 1] == pairs[:, 0] + 1  # a path, so that no node is isolated
    pairs = rng.permutation(n)[pairs[chosen]]
    return Graph.from_edges(pairs, n_nodes=n, **kwargs)


@pytest.mark.parametrize("seed", range(20))
def test_cut_is_the_printed_algorithm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(2, 30)), rng.random())
    assert greedy_cut(graph).tolist() == slow_cut(graph)
    weights = rng.integers(1, 9, len(graph.edges)) / 4  # exact sums: no rounding to argue about
    weighted = Graph(graph.n_nodes, graph.edges, weights=weights)
    assert greedy_cut(weighted).tolist() == slow_cut(weighted)


@pytest.mark.parametrize("seed", range(20))
def test_at_least_half_of_the_weight_crosses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 40, rng.random())
    weights = rng.exponential(size=len(graph.edges))
    weighted = Graph(graph.n_nodes, graph.edges, weights=weights)
    cut = greedy_cut(weighted)
    crosses = cut[graph.edges[:, 0]] != cut[graph.edges[:, 1]]
    assert weights[crosses].sum() >= weights.sum() / 2 * (1 - 1e-12)


def test_a_tie_goes_to_the_first_side() -> None:
    # node 2 has one neighbour on either side
    assert greedy_cut(Graph.from_edges([(0, 1), (0, 2), (1, 2)])).tolist() == [False, True, False]


def test_sides_take_the_best_pair_of_arms() -> None:
    tables = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 7.0], [0.0, 7.0, 0.0]])
    result = bipartite(Objective(Graph.star(n_nodes=4), tables))
    assert result.arms.tolist() == [1, 2, 2, 2]
    assert result.value == 6 * 7
    assert result.proved_optimal
    assert result.method == "bipartite"


def test_only_the_symmetric_part_chooses_the_pair() -> None:
    # the largest entry of W is W[0, 1] = 10, but the pair is worth (10 - 20) / 2
    result = bipartite(Objective(Graph.star(n_nodes=3), np.array([[1.0, 10.0], [-20.0, 0.0]])))
    assert result.arms.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("options", "candidates", "fact"),
    [
        ({"directed": True}, None, "directed"),
        ({"kinds": [0, 1]}, None, "2 edge kinds"),
        ({}, [[True, True], [True, False], [True, True]], "may not take all arms"),
    ],
)
def test_other_settings_are_refused(options: Any, candidates: Any, fact: str) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], **options)
    assert not half_guarantee_holds(graph, candidates)
    with pytest.raises(InvalidArgument, match=rf'{fact}.*method="auto" or "local-search"'):
        bipartite(Objective.of(graph, MAX_CUT, candidates))


def test_the_guarantee_is_claimed_for_weights_without_negative_ones() -> None:
    pairs = [(0, 1), (1, 2)]
    assert half_guarantee_holds(Graph.from_edges(pairs))
    assert half_guarantee_holds(Graph.from_edges(pairs, weights=[1.0, 0.5]), np.ones((3, 2), bool))
    assert not half_guarantee_holds(Graph.from_edges(pairs, weights=[1.0, -0.5]))


def test_negative_weights_are_accepted_without_guarantee() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], weights=[1.0, -0.5])
    # node 2 has weight 0 to V1 and -0.5 to V2: "more" to V1
    assert bipartite(Objective(graph, MAX_CUT)).arms.tolist() == [0, 1, 1]


def test_two_colouring_of_a_shuffled_forest_and_of_odd_cycles() -> None:
    rng = np.random.default_rng(3)
    names = rng.permutation(300)
    parents = [(int(rng.integers(i)), i) for i in range(1, 200)]
    pairs = names[np.array([*parents, *((i, i + 1) for i in range(200, 299, 2))])]
    sides = two_colouring(Graph.from_edges(pairs))
    assert sides is not None
    assert (sides[pairs[:, 0]] != sides[pairs[:, 1]]).all()
    odd = np.array([(0, 1), (2, 3), (3, 4), (4, 2)])  # the second component has a triangle
    assert two_colouring(Graph.from_edges(odd)) is None
    assert two_colouring(Graph.circle(n_nodes=8)) is not None
    assert two_colouring(Graph.circle(n_nodes=9)) is None
