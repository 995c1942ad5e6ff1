from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st

from edgewise.errors import InvalidGraph, IsolatedNodes
from edgewise.network.graph import Graph

FAMILIES: dict[str, Callable[..., Graph]] = {
    "star": Graph.star,
    "complete": Graph.complete,
    "circle": Graph.circle,
    "matching": Graph.matching,
}


def pair_set(graph: Graph) -> set[frozenset[int]]:
    return {frozenset(pair) for pair in graph.edges.tolist()}


def reference(family: str, n: int) -> set[frozenset[int]]:
    """The edges of a family, written down independently."""
    if family == "star":
        return {frozenset({0, i}) for i in range(1, n)}
    if family == "complete":
        return {frozenset({i, j}) for i in range(n) for j in range(n) if i != j}
    if family == "circle":
        return {frozenset({i, (i + 1) % n}) for i in range(n)}
    return {frozenset({2 * i, 2 * i + 1}) for i in range(n // 2)}


# -- families --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "n_nodes"), [("star", 79), ("complete", 13), ("circle", 78), ("matching", 156)]
)
def test_the_paper_s_graphs_have_156_arcs(family: str, n_nodes: int) -> None:
    graph = FAMILIES[family](n_edges=156)
    assert (graph.n_nodes, graph.n_arcs, len(graph.edges)) == (n_nodes, 156, 78)
    assert pair_set(graph) == reference(family, n_nodes)
    assert not graph.directed
    assert graph.n_kinds == 1
    assert graph.weights is None


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n", [4, 6, 10])
def test_families_by_nodes(family: str, n: int) -> None:
    graph = FAMILIES[family](n_nodes=n)
    assert pair_set(graph) == reference(family, n)
    assert graph.n_arcs == 2 * len(reference(family, n))
    degrees = [sum(i in pair for pair in reference(family, n)) for i in range(n)]
    assert graph.degrees.tolist() == degrees
    same = FAMILIES[family](n_edges=graph.n_arcs)
    assert np.array_equal(same.edges, graph.edges)


@pytest.mark.parametrize(
    ("family", "n_edges", "nearest"),
    [
        ("complete", 100, ("90", "110")),
        ("complete", 0, ("2", "6")),
        ("star", 7, ("6", "8")),
        ("circle", 4, ("6", "8")),
        ("circle", 11, ("10", "12")),
        ("matching", 5, ("4", "6")),
        ("matching", -3, ("2", "4")),
    ],
)
def test_impossible_sizes_name_the_nearest(
    family: str, n_edges: int, nearest: tuple[str, str]
) -> None:
    with pytest.raises(InvalidGraph, match=f"n_edges={n_edges}.*nearest valid") as caught:
        FAMILIES[family](n_edges=n_edges)
    assert str(caught.value).endswith(f"{nearest[0]} and {nearest[1]}")
    for value in nearest:
        assert FAMILIES[family](n_edges=int(value)).n_arcs == int(value)


@pytest.mark.parametrize("family", FAMILIES)
def test_families_take_one_size(family: str) -> None:
    for sizes in ({}, {"n_edges": 6, "n_nodes": 6}):
        with pytest.raises(InvalidGraph, match="exactly one of n_edges and n_nodes"):
            FAMILIES[family](**sizes)
    for name in ("n_edges", "n_nodes"):
        with pytest.raises(InvalidGraph, match=f"{name} is 12.5; it must be a whole number"):
            FAMILIES[family](**{name: 12.5})


@pytest.mark.parametrize(("family", "n"), [("star", 1), ("circle", 2), ("matching", 7)])
def test_impossible_numbers_of_nodes(family: str, n: int) -> None:
    with pytest.raises(InvalidGraph, match=f"cannot have {n} nodes; it has at least"):
        FAMILIES[family](n_nodes=n)


# -- arcs, adjacency, storage ----------------------------------------------------------------


def test_arcs_are_each_edge_as_given_then_reversed() -> None:
    graph = Graph.from_edges([(2, 0), (0, 1)])
    assert graph.arcs.tolist() == [[2, 0], [0, 2], [0, 1], [1, 0]]
    directed = Graph.from_edges([(2, 0), (0, 1), (1, 0)], directed=True)
    assert directed.arcs.tolist() == [[2, 0], [0, 1], [1, 0]]
    assert (directed.n_arcs, directed.directed) == (3, True)
    assert directed.degrees.tolist() == [3, 2, 1]


@given(st.integers(0, 10**6), st.integers(2, 12), st.booleans())
def test_adjacency_lists_every_neighbour_once(seed: int, n: int, directed: bool) -> None:
    rng = np.random.default_rng(seed)
    possible = [(i, j) for i in range(n) for j in range(n) if (i != j if directed else i < j)]
    chosen = [possible[i] for i in np.flatnonzero(rng.random(len(possible)) < 0.5)]
    chosen += [(0, i) for i in range(1, n) if (0, i) not in chosen]
    rng.shuffle(chosen)
    graph = Graph.from_edges(chosen, n_nodes=n, directed=directed)
    adjacency = graph.adjacency
    for node in range(n):
        expected = [(v if u == node else u, e) for e, (u, v) in enumerate(chosen) if node in (u, v)]
        row = slice(adjacency.starts[node], adjacency.starts[node + 1])
        assert list(zip(adjacency.neighbours[row], adjacency.edge_ids[row], strict=True)) == (
            expected
        )
        assert graph.degrees[node] == len(expected)


def test_arrays_are_32_bit_read_only_copies() -> None:
    pairs = np.array([[0, 1], [1, 2]], np.int64)
    weights = np.array([1.0, 2.0])
    kinds = np.array([0, 1])
    graph = Graph.from_edges(pairs, weights=weights, kinds=kinds)
    assert graph.kinds is not None
    assert graph.weights is not None
    for array in (graph.edges, graph.arcs, graph.kinds, graph.adjacency.neighbours):
        assert array.dtype == np.int32
    stored: list[Any] = [graph.edges, graph.arcs, graph.kinds, graph.weights, graph.degrees]
    for array in stored:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    pairs[0, 0], weights[0], kinds[0] = 2, 7.0, 1
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.weights.tolist() == [1.0, 2.0]
    assert graph.kinds.tolist() == [0, 1]


# -- from_edges ------------------------------------------------------------------------------


def test_labels_are_numbered_by_appearance() -> None:
    graph = Graph.from_edges([("north", "hub"), ("south", "hub")])
    assert list(graph.labels) == ["north", "hub", "south"]
    assert graph.edges.tolist() == [[0, 1], [2, 1]]


def test_given_labels_decide_the_order() -> None:
    graph = Graph.from_edges([("a", "b"), ("c", "a")], labels=["c", "b", "a"])
    assert graph.edges.tolist() == [[2, 1], [0, 2]]
    indexed = Graph.from_edges([(0, 1), (1, 2)], labels=["x", "y", "z"])
    assert list(indexed.labels) == ["x", "y", "z"]
    assert list(Graph.from_edges([(0, 1)]).labels) == [0, 1]


def test_tuples_may_be_labels() -> None:
    graph = Graph.from_edges([((0, 0), (0, 1)), ((0, 1), (1, 1))])
    assert list(graph.labels) == [(0, 0), (0, 1), (1, 1)]


@pytest.mark.parametrize(
    ("kinds", "codes", "labels"),
    [
        ([1, 0, 1], [1, 0, 1], None),
        (np.array([0, 1, 2], np.uint8), [0, 1, 2], None),
        (["deep", "first", "deep"], [0, 1, 0], ("deep", "first")),
        (np.array(["b", "a", "b"]), [0, 1, 0], ("b", "a")),
        ([("near", 1), ("far", 2), ("near", 1)], [0, 1, 0], (("near", 1), ("far", 2))),
        ([1, "one", 1], [0, 1, 0], (1, "one")),
    ],
)
def test_kinds_are_numbers_or_labels(kinds: Any, codes: list[int], labels: Any) -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0)], kinds=kinds)
    assert graph.kinds is not None
    assert graph.kinds.tolist() == codes
    assert graph.kind_labels == labels
    assert graph.n_kinds == max(codes) + 1


def test_repr_tells_what_is_special() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], directed=True, kinds=[0, 1], weights=[1, 2])
    assert repr(graph) == "Graph(n_nodes=3, n_arcs=2, directed=True, n_kinds=2, weighted)"
    assert repr(Graph.circle(n_nodes=4)) == "Graph(n_nodes=4, n_arcs=8)"


def test_isolated_nodes_are_allowed_and_said() -> None:
    with pytest.warns(IsolatedNodes, match="2 of 4 nodes have no edge") as caught:
        graph = Graph.from_edges([(0, 2)], n_nodes=4)
    assert graph.isolated.tolist() == [1, 3]
    assert "(1, 3)" in str(caught[0].message)
    assert "no reward depends on it" in str(caught[0].message)


BAD_EDGES: list[tuple[Any, dict[str, Any], str, str]] = [
    ([(0, 1), (1, 1)], {}, "1 self loop.*node 1", "remove them"),
    ([(0, 1), (1, 0)], {}, "1 duplicate edge.*0 and 1", "each undirected pair once"),
    ([(0, 1), (1, 2), (0, 1)], {}, "duplicate.*0 and 1", "directed=True"),
    ([(0, 1), (0, 1)], {"directed": True}, "duplicate", "each arc once"),
    ([("a", "b"), ("b", "a")], {}, "duplicate.*'a' and 'b'", "once"),
    ([(0, 5)], {"n_nodes": 3}, "node 5, outside 0 .. 2", "larger n_nodes"),
    ([(-1, 1)], {}, "node -1, outside", "fix the edge"),
    ([], {"n_nodes": 3}, "no edge", "add one"),
    ([], {}, "n_nodes is 0", "must be between 1"),
    (np.zeros((0, 2), int), {"n_nodes": 2}, "no edge", "add one"),
    ([(0, 1)], {"n_nodes": 2.5}, "n_nodes is 2.5", "whole number"),
    ([(0, 1)], {"n_nodes": "2"}, "n_nodes is '2'", "whole number"),
    ([(0.0, 1.0)], {}, "floating-point", "astype\\(int\\)"),
    (np.array([[0.5, 1.0]]), {}, "floating-point", "convert"),
    ([(0, 1, 2)], {}, "pair", "some entries are not"),
    ([0, 1], {}, "pair", "some entries are not"),
    (np.array([0, 1]), {}, "shape \\(2,\\)", "\\(E, 2\\)"),
    (np.array([[0, 1, 2]]), {}, "shape \\(1, 3\\)", "\\(E, 2\\)"),
    ([(0, 1), (1, 2)], {"kinds": [0, 2]}, "no edge has kind 1", "without gaps"),
    ([(0, 1), (1, 2)], {"kinds": [0, -1]}, "kind -1 is negative", "0 .. q - 1"),
    ([(0, 1), (1, 2)], {"kinds": [0]}, "shape \\(1,\\)", "2 edges: one each"),
    ([(0, 1), (1, 2)], {"kinds": ["a", "b", "c"]}, "shape \\(3,\\)", "one each"),
    ([(0, 1), (1, 2)], {"weights": [1.0, 0.0]}, "edge 1 is 0.0", "remove it"),
    ([(0, 1), (1, 2)], {"weights": [np.nan, 1.0]}, "edge 0 is nan", "finite"),
    ([(0, 1), (1, 2)], {"weights": [1.0, np.inf]}, "edge 1 is inf", "finite"),
    ([(0, 1), (1, 2)], {"weights": [1.0]}, "shape \\(1,\\)", "one each"),
    (
        [(0, 1), (1, 2)],
        {"weights": ["heavy", 1]},
        "cannot be read as numbers",
        "one number per edge",
    ),
    ([(0, 1)], {"labels": ["a", "a"]}, "'a' names two nodes", "distinct"),
    ([(0, 1), (1, 2)], {"labels": ["a", "b"], "n_nodes": 3}, "2 labels for 3 nodes", "one each"),
    ([("a", "z")], {"labels": ["a", "b"]}, "'z'", "not among the labels"),
]


@pytest.mark.parametrize(("pairs", "options", "fact", "remedy"), BAD_EDGES)
def test_bad_edges_are_refused_with_fact_and_remedy(
    pairs: Any, options: dict[str, Any], fact: str, remedy: str
) -> None:
    with pytest.raises(InvalidGraph, match=fact) as caught:
        Graph.from_edges(pairs, **options)
    assert caught.match(remedy)


def test_opposite_arcs_are_not_duplicates_when_directed() -> None:
    assert Graph.from_edges([(0, 1), (1, 0)], directed=True).n_arcs == 2


def test_kind_labels_must_fit_the_kinds() -> None:
    with pytest.raises(InvalidGraph, match="3 labels for 1 edge kind"):
        Graph(2, np.array([[0, 1]]), kind_labels=("a", "b", "c"))


# -- networkx and scipy ----------------------------------------------------------------------


def described(graph: Graph) -> dict[Any, tuple[Any, Any]]:
    """Edges by their labels, in both orientations if undirected, with kind and weight."""
    rows: dict[Any, tuple[Any, Any]] = {}
    for e, (i, j) in enumerate(graph.edges.tolist()):
        kind: Any = None
        if graph.kinds is not None:
            kind = int(graph.kinds[e])
            kind = kind if graph.kind_labels is None else graph.kind_labels[kind]
        weight = None if graph.weights is None else float(graph.weights[e])
        ends = (graph.labels[i], graph.labels[j])
        rows[ends if graph.directed else frozenset(ends)] = (kind, weight)
    return rows


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kinds", [None, ["near", "far", "near"], [0, 1, 0]])
@pytest.mark.parametrize("weights", [None, [0.5, -2.0, 3.0]])
def test_networkx_round_trip(directed: bool, kinds: Any, weights: Any) -> None:
    graph = Graph.from_edges(
        [("c", "a"), ("a", "b"), ("b", "c")], directed=directed, kinds=kinds, weights=weights
    )
    exported = graph.to_networkx()
    assert isinstance(exported, nx.DiGraph if directed else nx.Graph)
    assert exported.is_directed() == directed
    assert list(exported.nodes) == ["c", "a", "b"]
    back = Graph.from_networkx(exported)
    assert list(back.labels) == list(graph.labels)
    assert back.directed == directed
    assert described(back) == described(graph)


def test_networkx_keeps_an_isolated_node() -> None:
    source = nx.path_graph(3)
    source.add_node("alone")
    with pytest.warns(IsolatedNodes, match="alone"):
        graph = Graph.from_networkx(source)
    assert graph.n_nodes == 4
    assert list(graph.labels) == [0, 1, 2, "alone"]
    assert set(graph.to_networkx().edges) == set(source.edges)


def test_networkx_attributes_may_be_renamed_or_ignored() -> None:
    source = nx.Graph()
    source.add_edge("a", "b", weight=3.0, cable="thick")
    source.add_edge("b", "c", weight=4.0, cable="thin")
    assert described(Graph.from_networkx(source, kind="cable", weight=None)) == {
        frozenset("ab"): ("thick", None),
        frozenset("bc"): ("thin", None),
    }


def test_networkx_refusals() -> None:
    with pytest.raises(InvalidGraph, match=r"multigraph.*merge them"):
        Graph.from_networkx(nx.MultiGraph([(0, 1), (0, 1)]))
    partial = nx.Graph([(0, 1), (1, 2)])
    partial.edges[0, 1]["weight"] = 2.0
    with pytest.raises(InvalidGraph, match="1 of 2 edges have the attribute 'weight'; set it on"):
        Graph.from_networkx(partial)
    with pytest.raises(InvalidGraph, match="self loop"):
        Graph.from_networkx(nx.Graph([(0, 1), (1, 1)]))
    with pytest.raises(InvalidGraph, match="n_nodes is 0"):
        Graph.from_networkx(nx.Graph())


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.coo_array, sparse.csr_matrix, np.asarray]
)
def test_scipy_adjacency(form: Callable[[Any], Any]) -> None:
    table = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    graph = Graph.from_scipy(form(table), labels=["x", "y", "z"])
    assert pair_set(graph) == {frozenset({0, 1}), frozenset({1, 2})}
    assert (graph.weights, list(graph.labels)) == (None, ["x", "y", "z"])
    assert pair_set(Graph.from_scipy(form(table.astype(bool)))) == pair_set(graph)


def test_scipy_values_are_weights_and_direction_is_kept() -> None:
    table = np.array([[0, 2.0, 0], [0, 0, 0], [-1.0, 0.5, 0]])
    graph = Graph.from_scipy(sparse.csr_array(table), directed=True)
    assert graph.weights is not None
    assert graph.directed
    found = {tuple(e): w for e, w in zip(graph.edges.tolist(), graph.weights, strict=True)}
    assert found == {(0, 1): 2.0, (2, 0): -1.0, (2, 1): 0.5}
    symmetric = Graph.from_scipy(table + table.T)
    assert symmetric.weights is not None
    assert sorted(symmetric.weights.tolist()) == [-1.0, 0.5, 2.0]


def test_scipy_refusals() -> None:
    with pytest.raises(InvalidGraph, match=r"not symmetric.*directed=True or symmetrise"):
        Graph.from_scipy(sparse.csr_array([[0, 1], [0, 0]]))
    with pytest.raises(InvalidGraph, match="not symmetric"):
        Graph.from_scipy(sparse.csr_array([[0, 1.0], [2.0, 0]]))
    with pytest.raises(InvalidGraph, match="2 x 3; it must be square"):
        Graph.from_scipy(sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(InvalidGraph, match="self loop"):
        Graph.from_scipy(sparse.csr_array(np.eye(2)))
    with pytest.raises(InvalidGraph, match="edge 0 is nan"):
        Graph.from_scipy(sparse.csr_array([[0, np.nan], [np.nan, 0]]))


def test_labels_may_be_of_different_sorts() -> None:
    graph = Graph.from_edges([("hub", ("north", 1)), (("north", 1), 7)])
    assert graph.labels == ("hub", ("north", 1), 7)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
