import sys

import numpy as np
import pytest

from edgewise.allocation.allocate import allocate_table
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.optimum.brute_force import brute_force
from edgewise.allocation.optimum.toulbar2 import Costs, branch_and_bound
from edgewise.errors import MissingExtra
from edgewise.network.graph import Graph


def wide_graph(rng: np.random.Generator, n: int, count: int) -> Graph:
    pairs = np.column_stack(np.triu_indices(n, k=1))
    path = pairs[:, 1] == pairs[:, 0] + 1
    path[rng.choice(len(pairs), count, replace=False)] = True
    return Graph.from_edges(pairs[path])


@pytest.mark.parametrize("unary", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_toulbar2_equals_brute_force(masked: bool, unary: bool) -> None:
    rng = np.random.default_rng(3)
    for number in range(25):
        n, K, directed = 6, 3, bool(number % 2)
        present = rng.random((n, n)) < 0.6
        present[np.arange(n), (np.arange(n) + 1) % n] = True
        np.fill_diagonal(present, False)
        pairs = np.argwhere(present if directed else np.triu(present | present.T))
        graph = Graph(
            n, pairs, directed, np.arange(len(pairs)) % 2, weights=rng.standard_normal(len(pairs))
        )
        allowed = rng.random((n, K)) < 0.6
        allowed[np.arange(n), rng.integers(K, size=n)] = True
        objective = Objective(
            graph,
            rng.standard_normal((2, K, K)),
            allowed if masked else None,
            rng.standard_normal((n, K)) if unary else None,
        )
        first = allowed.argmax(axis=1) if masked else np.zeros(n, int)
        start = objective.certify(first, method="first")
        found = branch_and_bound(objective, start, Deadline())
        assert found.proved_optimal
        assert found.bound == "exact"
        assert found.value == pytest.approx(brute_force(objective).value, abs=1e-9)
        assert masked is False or allowed[np.arange(n), found.arms].all()
        # nothing to beat: the start is confirmed
        again = branch_and_bound(objective, found, Deadline())
        assert again.proved_optimal
        assert again.arms.tolist() == found.arms.tolist()


def test_costs_are_the_rewards_counted_from_the_best() -> None:
    rng = np.random.default_rng(4)
    objective = Objective(
        Graph.circle(n_nodes=5), rng.standard_normal((3, 3)), unary=rng.standard_normal((5, 3))
    )
    costs = Costs.of(objective)
    for _ in range(20):
        arms = rng.integers(3, size=5)
        value = costs.constant - costs.of_arms(objective.graph.edges, arms) / costs.scale
        assert value == pytest.approx(objective.value(arms), abs=1e-12)


def test_a_graph_too_wide_for_tables_is_solved_and_proved() -> None:
    rng = np.random.default_rng(5)
    graph = wide_graph(rng, 30, 60)
    W = rng.random((6, 6)) - 0.5 * np.eye(6)
    found = allocate_table(graph, W + W.T, method="exact")
    assert found.proved_optimal
    assert found.gap == 0.0
    assert found.method in ("exact", "dynamic-programming")
    anneal = allocate_table(graph, W + W.T, method="anneal", bound=None)
    assert anneal.value <= found.value + 1e-9


def test_time_out_says_so_and_keeps_a_valid_bound() -> None:
    rng = np.random.default_rng(6)
    graph = wide_graph(rng, 70, 600)
    W = rng.random((8, 8)) - np.eye(8)
    found = allocate_table(graph, W + W.T, method="exact", time_limit=1.5, bound=None)
    assert not found.proved_optimal
    assert found.value <= found.upper_bound
    assert found.gap > 0.0


def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytoulbar2", None)
    with pytest.raises(MissingExtra, match=r"too wide.*pip install 'edgewise\[exact\]'"):
        allocate_table(Graph.complete(n_nodes=30), 1 - np.eye(6), method="exact")
    # a narrow graph needs no extra
    assert allocate_table(Graph.circle(n_nodes=9), 1 - np.eye(2), method="exact").proved_optimal
