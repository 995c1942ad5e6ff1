"""Data frames in: graphs, arms and candidates by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import edgewise as ew
from edgewise.errors import InvalidGraph, InvalidProblem

EDGES = pd.DataFrame(
    {
        "from": ["north", "south", "hub"],
        "to": ["hub", "hub", "east"],
        "kind": ["near", "far", "near"],
        "weight": [1.0, 2.0, 0.5],
        "distance": [3.0, 4.0, 5.0],
    }
)
ARMS = pd.DataFrame({"yaw": [0.0, 1.0], "pitch": [1.0, 0.5]}, index=["low", "high"])


def problem_with(candidates: Any) -> ew.Problem:
    return ew.Problem(graph(), ARMS, candidates=candidates)


def graph(**options: Any) -> ew.Graph:
    return ew.Graph.from_pandas(EDGES, source="from", target="to", **options)


def test_a_graph_keeps_names_kinds_weights_and_covariates() -> None:
    made = graph(covariates=["distance"])
    assert made.labels == ("north", "hub", "south", "east")
    assert made.edges.tolist() == [[0, 1], [2, 1], [1, 3]]
    assert made.kind_labels == ("near", "far")
    assert made.weights is not None
    assert made.weights.tolist() == [1.0, 2.0, 0.5]
    assert made.covariate_names == ("distance",)


def test_nodes_are_in_the_order_given() -> None:
    nodes = ["east", "hub", "north", "south", "alone"]
    with pytest.warns(ew.errors.IsolatedNodes):
        made = graph(nodes=nodes, kind=None, weight=None)
    assert list(made.labels) == nodes
    assert made.edges.tolist() == [[2, 1], [3, 1], [1, 0]]
    assert made.weights is None
    numbered = pd.DataFrame({"source": [30, 10], "target": [20, 30]})
    assert ew.Graph.from_pandas(numbered).labels == (30, 20, 10)
    assert graph(directed=True).n_arcs == 3


def test_wrong_frames_are_refused() -> None:
    with pytest.raises(InvalidGraph, match="no column 'source'"):
        ew.Graph.from_pandas(EDGES)
    with pytest.raises(InvalidGraph, match="row 0 of the frame names node 'north'"):
        graph(nodes=["hub"])
    with pytest.raises(InvalidGraph, match="no column 'distanc'; did you mean 'distance'"):
        graph(covariates=["distanc"])
    with pytest.raises(InvalidGraph, match=r"pass a pandas\.DataFrame"):
        ew.Graph.from_pandas([("a", "b")])


def test_arms_are_named_by_the_index_and_features_by_the_columns() -> None:
    problem = ew.Problem(graph(), ARMS)
    assert problem.arm_labels == ("low", "high")
    assert problem.feature_names == ("yaw", "pitch")
    assert problem.arms.tolist() == [[0.0, 1.0], [1.0, 0.5]]
    assert ew.Problem(graph(), ARMS, arm_labels=["a", "b"]).arm_labels == ("a", "b")
    plain = ew.Problem(graph(), pd.DataFrame(np.eye(2)))
    assert plain.arm_labels is plain.feature_names is None
    with pytest.raises(InvalidProblem, match="1 names for 2 features"):
        ew.Problem(graph(), np.eye(2), feature_names=["yaw"])


def test_candidates_by_label() -> None:
    by_name = problem_with({"hub": ["high"]})
    assert by_name.candidates is not None
    assert by_name.candidates.tolist() == [[True, True], [False, True], [True, True], [True, True]]
    table = pd.DataFrame([[False, True]], index=["hub"], columns=["low", "high"])
    framed = problem_with(table)
    assert framed.candidates is not None
    assert framed.candidates.tolist() == by_name.candidates.tolist()
    with pytest.raises(InvalidProblem, match="candidates name the arm 'hihg'; did you mean 'high'"):
        problem_with({"hub": ["hihg"]})
    with pytest.raises(InvalidProblem, match="candidates name the node 'hug'"):
        problem_with({"hug": ["high"]})
    with pytest.raises(InvalidProblem, match="no candidate arm"):
        problem_with({"hub": []})


def test_a_stored_study_keeps_feature_names(tmp_path: Path) -> None:
    place = f"sqlite:///{tmp_path}/farm.db"
    ew.Study.create("farm", ew.Problem(graph(), ARMS), storage=place)
    assert ew.Study.load("farm", storage=place).problem.feature_names == ("yaw", "pitch")
