import numpy as np
import pytest

from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.optimum.brute_force import brute_force
from edgewise.allocation.optimum.dynamic_programming import SMALL, dynamic_programming
from edgewise.allocation.optimum.elimination import Elimination, eliminate
from edgewise.base.arrays import Indices
from edgewise.network.graph import Graph

MANY = 10**9


def grid(rows: int, columns: int) -> Graph:
    names = np.arange(rows * columns).reshape(rows, columns)
    across = np.column_stack([names[:, :-1].ravel(), names[:, 1:].ravel()])
    down = np.column_stack([names[:-1].ravel(), names[1:].ravel()])
    return Graph.from_edges(np.concatenate([across, down]))


def check(elimination: Elimination | None, edges: Indices, n: int) -> int:
    """Eliminate by hand with sets; the width."""
    assert elimination is not None
    order, starts, scopes = elimination
    assert sorted(order.tolist()) == list(range(n))
    near: dict[int, set[int]] = {i: set() for i in range(n)}
    for i, j in edges.tolist():
        near[i].add(j)
        near[j].add(i)
    place = {int(v): t for t, v in enumerate(order)}
    for t, v in enumerate(order.tolist()):
        scope = scopes[starts[t] : starts[t + 1]].tolist()
        assert set(scope) == near[v]
        assert [place[u] for u in scope] == sorted(place[u] for u in scope)
        for u in scope:
            near[u] |= set(scope) - {u}
            near[u].discard(v)
    return elimination.width


@pytest.mark.parametrize("seed", range(10))
def test_elimination_is_what_its_scopes_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 30
    pairs = np.argwhere(np.triu(rng.random((n, n)) < 0.12, k=1))
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    edges = np.unique(np.concatenate([pairs, path]), axis=0)
    found = eliminate(Graph.from_edges(edges), n, MANY)
    assert check(found, edges, n) <= n


@pytest.mark.parametrize(
    ("graph", "width"),
    [
        (Graph.star(n_nodes=50), 1),
        (Graph.circle(n_nodes=50), 2),
        (Graph.complete(n_nodes=7), 6),
        (grid(4, 12), 4),
        (
            Graph.from_edges(
                [*((0, i) for i in range(1, 31)), *((i, i % 30 + 1) for i in range(1, 31))]
            ),
            3,
        ),
    ],
)
def test_known_treewidths(graph: Graph, width: int) -> None:
    assert check(eliminate(graph, graph.n_nodes, MANY), graph.edges, graph.n_nodes) == width
    assert eliminate(graph, width, MANY) is not None
    if width > 1:
        assert eliminate(graph, width - 1, MANY) is None


def test_work_is_limited() -> None:
    assert eliminate(grid(20, 20), 400, 100) is None


def test_two_arcs_between_two_nodes_count_once() -> None:
    arcs = np.array([(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)])
    found = eliminate(Graph.from_edges(arcs, directed=True), 1, MANY)
    assert check(found, arcs, 4) == 1


@pytest.mark.parametrize("unary", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_equals_brute_force(directed: bool, masked: bool, unary: bool) -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        n, K = int(rng.integers(2, 8)), int(rng.integers(1, 4))
        present = rng.random((n, n)) < rng.choice([0.1, 0.4, 1.0])
        present[np.arange(n), (np.arange(n) + 1) % n] = True
        np.fill_diagonal(present, False)
        pairs = np.argwhere(present if directed else np.triu(present | present.T))
        kinds = np.arange(len(pairs)) % min(2, len(pairs))
        graph = Graph(n, pairs, directed, kinds, rng.standard_normal(len(pairs)))
        allowed = rng.random((n, K)) < 0.5
        allowed[np.arange(n), rng.integers(K, size=n)] = True
        objective = Objective(
            graph,
            rng.standard_normal((graph.n_kinds, K, K)),
            allowed if masked else None,
            rng.standard_normal((n, K)) if unary else None,
        )
        found = dynamic_programming(objective)
        assert found is not None
        assert found.value == pytest.approx(brute_force(objective).value, abs=1e-9)
        assert found.proved_optimal
        assert found.bound == "exact"
        assert masked is False or allowed[np.arange(n), found.arms].all()


def test_a_forest_of_many_nodes_with_weights_of_any_sign() -> None:
    rng = np.random.default_rng(2)
    n = 20_000
    parents = (rng.random(n - 1) * np.arange(1, n)).astype(int)
    weights = rng.standard_normal(n - 1)
    graph = Graph.from_edges(np.column_stack([parents, np.arange(1, n)]), weights=weights)
    found = dynamic_programming(Objective(graph, 1 - np.eye(2)), SMALL)
    assert found is not None
    # on a tree every edge of positive weight can be cut and no other
    assert found.value == pytest.approx(2 * weights[weights > 0].sum())


def test_wide_graphs_are_left_to_others() -> None:
    objective = Objective(Graph.complete(n_nodes=40), 1 - np.eye(10))
    assert dynamic_programming(objective) is None
