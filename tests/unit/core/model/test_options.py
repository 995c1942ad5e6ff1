from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import InvalidProblem

UNDIRECTED = ew.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a")], kinds=["x", "y", "x"])
DIRECTED = ew.Graph.from_edges([(0, 1), (1, 2), (2, 0)], directed=True)


def problem(graph: ew.Graph = UNDIRECTED, **options: Any) -> ew.Problem:
    return ew.Problem(graph, np.eye(2), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measured": "edge"}, r"measured is 'edge'"),
        ({"measured": None}, r"measured is None"),
        ({"measured": "nodes"}, r"node"),
        ({"levels": "rounds"}, r"levels is 'rounds'"),
        ({"levels": 1}, r"levels is 1"),
        ({"pooling": "full"}, r"pooling is 'full'"),
        ({"own_term": True}, r"own_term=True with measured='arc'.*measured='node'"),
        ({"average": True, "measured": "link"}, r"average=True with measured='link'"),
        ({"average": True, "measured": "node"}, r"average=True on an undirected graph.*directed"),
        ({"node_kinds": [0, 1]}, r"node_kinds have shape \(2,\).*\(3,\)"),
        ({"node_kinds": [0.0, 1.0, 0.0]}, r"type float64"),
        ({"node_kinds": [0, 2, 0]}, r"without gaps"),
        ({"node_kinds": [-1, 0, 1]}, r"without gaps"),
        ({"noise": "guess"}, r"noise is 'guess'"),
        ({"noise": True}, r"noise is True"),
        ({"noise": None}, r"noise is None"),
        ({"noise": 0.0}, r"noise is 0.0"),
        ({"noise": np.inf}, r"noise is inf"),
        ({"noise": [0.1, 0.2, 0.3]}, r"one per arc \(6\), or one per kind of edge \(2\)"),
        ({"noise": [[0.1, 0.2]]}, r"one per arc"),
        ({"noise": [0.1, -0.2]}, r"noise\[1\] is -0.2"),
        ({"noise": [0.1, np.nan]}, r"noise\[1\] is nan"),
        ({"noise": ["a", "b"]}, r"one per arc"),
        ({"noise": [0.1, 0.2], "measured": "node"}, r"one per node \(3\)"),
        ({"noise": [0.1, 0.2], "measured": "total"}, r"one per total \(1\)"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidProblem, match=message):
        problem(**options)


def test_a_directed_graph_has_no_links() -> None:
    with pytest.raises(InvalidProblem, match=r"no links.*measured='arc'.*directed=False"):
        problem(DIRECTED, measured="link")


@pytest.mark.parametrize(
    ("given", "name"),
    [(True, "channel"), (False, "none"), (np.True_, "channel"), ("both", "both")],
)
def test_levels_by_name(given: Any, name: str) -> None:
    assert problem(levels=given).level_names == problem(levels=given).levels == name


@pytest.mark.parametrize(("measured", "size"), [("arc", 6), ("link", 3), ("node", 3), ("total", 1)])
def test_how_many_numbers_are_measured(measured: Any, size: int) -> None:
    assert problem(measured=measured).n_rewards == size


def test_only_numbers_at_nodes_have_an_own_term_and_do_by_default() -> None:
    assert not problem().own_term
    assert problem(measured="node").own_term
    assert not problem(measured="node", own_term=False).own_term
    assert problem(measured="node", node_kinds=[1, 0, 1]).kind_of_node.tolist() == [1, 0, 1]
    assert problem(measured="node").kind_of_node.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("options", "plain"),
    [
        ({}, True),
        ({"noise": 0.3}, True),
        ({"noise": "estimate"}, True),
        ({"noise": [0.1, 0.2]}, False),
        ({"levels": True}, False),
        ({"measured": "link"}, False),
        ({"pooling": "none"}, False),
        ({"pooling": "partial"}, False),
    ],
)
def test_what_is_plain(options: dict[str, Any], plain: bool) -> None:
    assert problem(**options).is_plain == plain


def test_every_option_changes_the_fingerprint() -> None:
    table = {"length": [1.0, 2.0, 4.0]}
    measured = ew.Graph.from_edges([(0, 1), (1, 2), (2, 0)], covariates=table)
    options: list[dict[str, Any]] = [
        {},
        {"levels": True},
        {"levels": "round"},
        {"pooling": "none"},
        {"measured": "link"},
        {"measured": "node"},
        {"measured": "node", "own_term": False},
        {"measured": "node", "node_kinds": [0, 1, 0]},
        {"noise": [0.1, 0.2]},
        {"graph": measured},
    ]
    assert len({problem(**one).fingerprint for one in options}) == len(options)
