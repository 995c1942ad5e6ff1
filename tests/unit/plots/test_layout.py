import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.errors import InvalidArgument
from edgewise.plots import node_positions


def lengths(graph: ew.Graph) -> Array:
    placed = node_positions(graph)
    ends = placed[graph.edges]
    result: Array = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    return result


def test_a_circle_is_drawn_as_one_however_its_nodes_are_numbered() -> None:
    order = np.random.default_rng(0).permutation(12)
    graph = ew.Graph.from_edges(np.column_stack([order, np.roll(order, 1)]))
    assert_allclose(np.linalg.norm(node_positions(graph), axis=1), 1.0)
    assert_allclose(lengths(graph), 2 * np.sin(np.pi / 12))


def test_two_circles_are_not_one_ring() -> None:
    ring = np.array([(0, 1), (1, 2), (2, 0)])
    graph = ew.Graph.from_edges(np.vstack([ring, ring + 3]))
    assert np.isfinite(node_positions(graph)).all()
    assert not np.allclose(np.linalg.norm(node_positions(graph), axis=1), 1.0)


def test_a_star_has_its_centre_in_the_middle() -> None:
    graph = ew.Graph.from_edges([(i, 3) for i in (0, 1, 2, 4, 5)])
    assert node_positions(graph)[3].tolist() == [0.0, 0.0]
    assert_allclose(lengths(graph), 1.0)


def test_a_matching_is_rows_of_pairs_that_do_not_touch() -> None:
    graph = ew.Graph.matching(n_nodes=30)
    assert_allclose(lengths(graph), 1.0)
    assert len(np.unique(node_positions(graph), axis=0)) == 30


def test_other_graphs_have_a_reproducible_layout() -> None:
    graph = ew.Graph.complete(n_nodes=7)
    assert_allclose(node_positions(graph), node_positions(graph))


def test_without_networkx_other_graphs_are_put_on_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    placed = node_positions(ew.Graph.complete(n_nodes=5))
    assert_allclose(np.linalg.norm(placed, axis=1), 1.0)


def test_given_positions_are_used_and_checked() -> None:
    graph = ew.Graph.star(n_nodes=3)
    assert node_positions(graph, [[0, 0], [1, 2], [3, 4]]).tolist() == [[0, 0], [1, 2], [3, 4]]
    with pytest.raises(InvalidArgument, match=r"shape \(3, 2\)"):
        node_positions(graph, [[0, 0]])


def grid(rows: int, columns: int) -> Array:
    index = np.arange(rows * columns).reshape(rows, columns)
    down = np.column_stack([index[:-1].ravel(), index[1:].ravel()])
    across = np.column_stack([index[:, :-1].ravel(), index[:, 1:].ravel()])
    pairs: Array = np.vstack([down, across])
    return pairs


def test_neighbours_of_a_large_network_are_drawn_beside_each_other() -> None:
    graph = ew.Graph.from_edges(grid(40, 50))
    placed = node_positions(graph)
    rng = np.random.default_rng(0)
    any_two = placed[rng.integers(0, graph.n_nodes, (5000, 2))]
    typical = np.linalg.norm(any_two[:, 0] - any_two[:, 1], axis=1).mean()
    assert lengths(graph).mean() < 0.08 * typical
    assert_allclose(placed, node_positions(graph))


def test_parts_of_a_large_network_do_not_overlap() -> None:
    large, small = grid(20, 20), grid(3, 4) + 400
    placed = node_positions(ew.Graph.from_edges(np.vstack([large, small, [[412, 413]]])))
    parts = placed[:400], placed[400:412], placed[412:]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        apart = [
            parts[a][:, axis].max() <= parts[b][:, axis].min() + 1e-9
            for axis in (0, 1)
            for a, b in ((one, other), (other, one))
        ]
        assert any(apart)
