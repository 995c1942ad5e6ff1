import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import edgewise as ew
from edgewise.core.model.sharing import Classes

PAIRS = [(0, 1), (1, 2), (2, 3), (3, 0)]


def test_kinds_are_classes_and_the_graph_stays_itself() -> None:
    graph = ew.Graph.from_edges(PAIRS, kinds=[0, 1, 1, 0])
    classes = Classes.of(graph, alone=False)
    assert classes.graph is graph
    assert_array_equal(classes.loadings, np.eye(2))


def test_alone_every_edge_is_a_class() -> None:
    classes = Classes.of(ew.Graph.from_edges(PAIRS, kinds=[0, 1, 1, 0]), alone=True)
    assert classes.graph.kind_of_edge.tolist() == [0, 1, 2, 3]
    assert_array_equal(classes.loadings, np.eye(4))
    assert classes.n_groups == 4


def test_edges_with_equal_kinds_and_covariates_are_one_class() -> None:
    lengths = [1.0, 2.0, 2.0, 3.0]
    graph = ew.Graph.from_edges(PAIRS, kinds=[0, 1, 1, 0], covariates={"length": lengths})
    classes = Classes.of(graph, alone=False)
    codes = classes.graph.kind_of_edge
    assert codes[1] == codes[2]
    assert len(set(codes.tolist())) == len(classes.loadings) == 3
    assert classes.n_groups == 3  # two kinds and a covariate
    for edge, kind in enumerate([0, 1, 1, 0]):
        expected = [kind == 0, kind == 1, lengths[edge]]
        assert_allclose(classes.loadings[codes[edge]], expected)


def test_problems_choose_their_classes_by_pooling() -> None:
    graph = ew.Graph.from_edges(PAIRS)
    assert ew.Problem(graph, np.eye(2)).classes.graph is graph
    alone = ew.Problem(graph, np.eye(2), pooling="none").classes
    assert len(alone.loadings) == 4
