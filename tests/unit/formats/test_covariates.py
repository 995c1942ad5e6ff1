"""Known numbers of each edge, from files and from networkx."""

from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import edgewise as ew
from edgewise.errors import InvalidFile, InvalidGraph
from edgewise.formats import read_graph

ROWS = "source,target,distance,angle\na,b,1.0,0.5\nb,c,2.5,1.5\nc,a,4.0,0.0\n"
TWICE = ROWS.replace("0.5", "2").replace("1.5", "5").replace("0.0", "8")
NUMBERS = [[1.0, 0.5], [2.5, 1.5], [4.0, 0.0]]


def drawn() -> nx.Graph:
    graph = nx.Graph()
    for line in ROWS.splitlines()[1:]:
        u, v, distance, angle = line.split(",")
        graph.add_edge(u, v, distance=float(distance), angle=float(angle))
    return graph


def numbers(graph: ew.Graph) -> dict[frozenset[object], list[float]]:
    assert graph.covariates is not None
    return {
        frozenset((graph.labels[i], graph.labels[j])): row.tolist()
        for (i, j), row in zip(graph.edges.tolist(), graph.covariates, strict=True)
    }


WANTED = {frozenset(pair): row for pair, row in zip(("ab", "bc", "ca"), NUMBERS, strict=True)}


@pytest.mark.parametrize("ending", ["csv", "parquet", "graphml"])
def test_files_have_covariates(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"graph.{ending}"
    if ending == "csv":
        file.write_text(ROWS)
    elif ending == "graphml":
        nx.write_graphml(drawn(), file)
    else:
        (tmp_path / "rows.csv").write_text(ROWS)
        pd.read_csv(tmp_path / "rows.csv").to_parquet(file)
    graph = read_graph(file, covariates=["distance", "angle"])
    assert graph.covariate_names == ("distance", "angle")
    assert numbers(graph) == WANTED
    assert read_graph(file).covariates is None


def test_networkx_there_and_back() -> None:
    graph = ew.Graph.from_networkx(drawn(), covariates=["distance", "angle"])
    assert numbers(graph) == WANTED
    again = ew.Graph.from_networkx(graph.to_networkx(), covariates=["distance", "angle"])
    assert numbers(again) == WANTED
    assert ew.Graph.from_networkx(drawn()).covariates is None


def test_attributes_that_edges_lack_are_named() -> None:
    graph = drawn()
    with pytest.raises(InvalidGraph, match=r"no edge has the attribute 'distanc'.*distance"):
        ew.Graph.from_networkx(graph, covariates=["distanc"])
    with pytest.raises(InvalidGraph, match=r"no edge has the attribute 'x'.*or any other"):
        ew.Graph.from_networkx(nx.path_graph(3), covariates=["x"])
    del graph.edges["a", "b"]["distance"]
    with pytest.raises(InvalidGraph, match="2 of 3 edges have the attribute 'distance'"):
        ew.Graph.from_networkx(graph, covariates=["distance"])


@pytest.mark.parametrize(
    ("text", "names", "message"),
    [
        (ROWS, ["distanz"], "no column is called 'distanz', a covariate; did you mean 'distance'"),
        (ROWS.replace("2.5", "far"), ["distance"], "line 3, column 'distance': 'far' is not a"),
        (ROWS.replace("2.5", ""), ["distance"], "line 3, column 'distance': an empty cell"),
        (ROWS.replace("2.5", "1.0").replace("4.0", "1.0"), ["distance"], "'distance' is 1 for"),
        (
            ROWS.replace("0.5", "2").replace("1.5", "5").replace("0.0", "8"),
            ["distance", "angle"],
            "rank 2 of 3",
        ),
    ],
)
def test_faults_name_the_column(text: str, names: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "graph.csv").write_text(text)
    with pytest.raises(InvalidFile) as raised:
        read_graph(tmp_path / "graph.csv", covariates=names)
    assert message in str(raised.value)
    assert "graph.csv" in str(raised.value)


def test_formats_without_further_numbers_say_which_have_them(tmp_path: Path) -> None:
    np.save(tmp_path / "graph.npy", np.array([[0, 1], [1, 2]]))
    with pytest.raises(InvalidFile, match=r"graph file with covariates.*\.csv, \.graphml, \.par"):
        read_graph(tmp_path / "graph.npy", covariates=["distance"])
