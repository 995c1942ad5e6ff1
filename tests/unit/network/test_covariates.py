from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import edgewise as ew
from edgewise.errors import InvalidGraph

PAIRS = [(0, 1), (1, 2), (2, 3), (3, 0)]
LENGTH, ANGLE = [1.0, 2.0, 4.0, 3.0], [0.5, -0.5, 0.1, 0.2]


def graph_with(covariates: Any, **options: Any) -> ew.Graph:
    return ew.Graph.from_edges(PAIRS, covariates=covariates, **options)


@pytest.mark.parametrize(
    "covariates",
    [
        {"length": LENGTH, "angle": ANGLE},
        pd.DataFrame({"length": LENGTH, "angle": ANGLE}, index=list("wxyz")),
    ],
)
def test_columns_keep_their_names(covariates: Any) -> None:
    graph = graph_with(covariates)
    assert graph.covariate_names == ("length", "angle")
    assert graph.covariates is not None
    assert_array_equal(graph.covariates, np.column_stack([LENGTH, ANGLE]))
    assert "covariates=length, angle" in repr(graph)


def test_an_array_gets_names_and_cannot_be_changed() -> None:
    graph = graph_with(np.column_stack([LENGTH, ANGLE]))
    assert graph.covariate_names == ("covariate 0", "covariate 1")
    assert graph.covariates is not None
    assert not graph.covariates.flags.writeable
    assert graph_with(None).covariates is None


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        ({"length": [1.0, np.nan, 2.0, np.nan]}, r"'length' of edge 1 is nan \(2 such edges\)"),
        ({"length": [1.0, 2.0, np.inf, 0.0]}, r"'length' of edge 2 is inf"),
        ({"length": [3.0] * 4}, r"'length' is 3 for every edge.*leave it out"),
        ({"length": LENGTH, "twice": 2 * np.array(LENGTH)}, r"'twice'.*rank 2 of 3.*leave out 1"),
        ({"length": LENGTH, "off": 1e6 - 1e-3 * np.array(LENGTH)}, r"rank 2 of 3"),
        (LENGTH, r"shape \(4,\).*\(4, k\)"),
        (np.ones((3, 1)), r"shape \(3, 1\).*\(4, k\)"),
        (np.ones((4, 0)), r"shape \(4, 0\)"),
        ({"name": list("wxyz")}, r"cannot be read as numbers"),
        ({}, r"shape \(0, 0\)"),
    ],
)
def test_bad_covariates_are_named(covariates: Any, message: str) -> None:
    with pytest.raises(InvalidGraph, match=message):
        graph_with(covariates)


def test_a_column_that_only_repeats_the_kinds_is_refused() -> None:
    with pytest.raises(InvalidGraph, match="rank 2 of 3"):
        graph_with({"indicator": [1.0, 0.0, 1.0, 0.0]}, kinds=[0, 1, 0, 1])
    graph_with({"indicator": [1.0, 0.0, 1.0, 0.5]}, kinds=[0, 1, 0, 1])


def test_units_do_not_matter_for_the_rank() -> None:
    graph_with({"length": 1e-9 * np.array(LENGTH), "angle": 1e9 * np.array(ANGLE)})
    graph_with({"length": 1e5 + np.array(LENGTH)})


def test_names_must_be_distinct() -> None:
    table = np.column_stack([LENGTH, ANGLE])
    for names in (("a", "a"), ("a",)):
        with pytest.raises(InvalidGraph, match="one distinct name each"):
            ew.Graph(4, np.array(PAIRS), covariates=table, covariate_names=names)
