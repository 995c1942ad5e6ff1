import itertools
from typing import Any

import numpy as np
import pytest

from edgewise.allocation.instance.objective import Objective, global_reward
from edgewise.allocation.starts.bipartite import greedy_cut
from edgewise.allocation.starts.two_arm import arcs_by_side, best_pair, two_arm
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph

PAIRS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 0)]


def test_arcs_are_counted_by_side() -> None:
    cut = np.array([False, True, False, True, False])
    # inside V1: {2,0}, {4,0}; across: the other four
    assert arcs_by_side(Graph.from_edges(PAIRS), cut).tolist() == [[[4.0, 4.0], [4.0, 0.0]]]
    directed = arcs_by_side(Graph.from_edges(PAIRS, directed=True), cut)
    assert directed.tolist() == [[[2.0, 2.0], [2.0, 0.0]]]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "options",
    [{}, {"weights": [1.0, -2.0, 3.0, 0.5, -0.5, 2.0]}, {"kinds": [0, 1, 1, 0, 1, 0]}],
)
def test_pair_is_the_best_of_all_ordered_pairs(directed: bool, options: Any) -> None:
    rng = np.random.default_rng(5)
    graph = Graph.from_edges(PAIRS, directed=directed, **options)
    for _ in range(20):
        tables = rng.standard_normal((graph.n_kinds, 4, 4))
        cut = rng.random(5) < 0.5
        best = max(
            global_reward(graph, tables, np.where(cut, l, k))
            for k, l in itertools.product(range(4), repeat=2)
        )
        arms = best_pair(Objective(graph, tables), cut)
        assert global_reward(graph, tables, arms) == pytest.approx(best)


def test_pair_counts_what_nodes_earn_themselves() -> None:
    rng = np.random.default_rng(6)
    graph = Graph.from_edges(PAIRS)
    for _ in range(20):
        tables, unary = rng.standard_normal((4, 4)), 3 * rng.standard_normal((5, 4))
        cut = rng.random(5) < 0.5
        best = max(
            global_reward(graph, tables, np.where(cut, l, k), unary)
            for k, l in itertools.product(range(4), repeat=2)
        )
        arms = best_pair(Objective(graph, tables, unary=unary), cut)
        assert global_reward(graph, tables, arms, unary) == pytest.approx(best)


def test_the_sides_are_not_interchangeable() -> None:
    # V1 has all inside edges, so the arm that is good with itself belongs there
    tables = np.array([[0.0, 2.0], [2.0, 1.0]])
    graph = Graph.from_edges(PAIRS)
    arms = two_arm(Objective(graph, tables)).arms
    assert (arms == np.where(greedy_cut(graph), 0, 1)).all()


def test_candidates_are_refused() -> None:
    graph = Graph.from_edges(PAIRS)
    allowed = np.ones((5, 2), bool)
    allowed[0, 0] = False
    with pytest.raises(InvalidArgument, match=r'may not take all arms.*method="auto"'):
        two_arm(Objective(graph, np.eye(2), allowed))
