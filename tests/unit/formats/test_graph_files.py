"""Graphs survive the trip through every file format, with the user's names."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse
from numpy.typing import NDArray
from pyarrow import parquet

from edgewise import Graph
from edgewise.errors import InvalidFile, IsolatedNodes
from edgewise.formats import read_graph

SQUARE = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])


def named_edges(graph: Graph) -> set[frozenset[object]]:
    return {frozenset(graph.labels[i] for i in pair) for pair in graph.edges.tolist()}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def write_npy(path: Path) -> None:
    np.save(path, SQUARE)


def write_adjacency(path: Path) -> None:
    np.save(path, nx.to_numpy_array(nx.cycle_graph(4)))


def write_npz(path: Path) -> None:
    scipy.sparse.save_npz(path, nx.to_scipy_sparse_array(nx.cycle_graph(4)))


def write_mtx(path: Path) -> None:
    scipy.io.mmwrite(path, nx.to_scipy_sparse_array(nx.cycle_graph(4), dtype=float))


def write_graphml(path: Path) -> None:
    nx.write_graphml(nx.cycle_graph(4), path)


def write_parquet(path: Path) -> None:
    parquet.write_table(pa.table({"u": SQUARE[:, 0], "v": SQUARE[:, 1]}), path)


def write_csv(path: Path) -> None:
    write(path, "from,to\n0,1\n1,2\n2,3\n3,0\n")


def write_rudy(path: Path) -> None:
    write(path, "4 4\n1 2 1\n2 3 1\n3 4 1\n4 1 1\n")


@pytest.mark.parametrize(
    ("name", "writer"),
    [
        ("pairs.npy", write_npy),
        ("adjacency.npy", write_adjacency),
        ("graph.npz", write_npz),
        ("graph.mtx", write_mtx),
        ("graph.graphml", write_graphml),
        ("graph.parquet", write_parquet),
        ("graph.csv", write_csv),
        ("graph.CSV", write_csv),
        ("graph.txt", write_rudy),
    ],
)
def test_a_square_is_the_same_in_every_format(
    name: str, writer: Callable[[Path], None], tmp_path: Path
) -> None:
    writer(tmp_path / name)
    graph = read_graph(tmp_path / name)
    first = 1 if name.endswith(".txt") else 0
    assert tuple(graph.labels) == tuple(range(first, first + 4))
    assert named_edges(graph) == {frozenset((pair + first).tolist()) for pair in SQUARE}
    assert not graph.directed
    assert graph.weights is None
    assert graph.n_kinds == 1


def test_names_kinds_weights_and_direction_are_kept(tmp_path: Path) -> None:
    path = write(
        tmp_path / "wakes.csv",
        "\ufeffSource, Target ,kind,Weight,directed\n"
        '"A, north",B,near,1.5,TRUE\n\nB,"A, north",deep,-2,yes\nC,B,near,1,1\n',
    )
    graph = read_graph(path)
    assert graph.node_labels == ("A, north", "B", "C")
    assert graph.directed
    assert graph.kind_labels == ("near", "deep")
    assert graph.kinds is not None
    assert graph.kinds.tolist() == [0, 1, 0]
    assert graph.weights is not None
    assert graph.weights.tolist() == [1.5, -2.0, 1.0]


def test_whole_numbers_are_ordered_by_number_and_other_names_by_appearance(tmp_path: Path) -> None:
    numbers = read_graph(write(tmp_path / "a.csv", "u,v,kind\n10,9,2\n9,2,10\n"))
    assert numbers.node_labels == (2, 9, 10)
    assert numbers.kind_labels == (2, 10)
    mixed = read_graph(write(tmp_path / "b.csv", "u,v\n10,09\n9,2\n"))
    assert mixed.node_labels == ("10", "09", "9", "2")


def test_parquet_has_the_columns_of_csv(tmp_path: Path) -> None:
    table = {
        "source": ["a", "b"],
        "target": ["b", "c"],
        "kind": ["x", "y"],
        "weight": [1.0, 2.0],
        "directed": [True, True],
    }
    parquet.write_table(pa.table(table), tmp_path / "g.parquet")
    graph = read_graph(tmp_path / "g.parquet")
    assert graph.node_labels == ("a", "b", "c")
    assert graph.directed
    assert graph.n_kinds == 2


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"u": ["a", None], "v": ["b", "c"]}, "row 2, column 'u': the cell is empty"),
        ({"u": ["a"], "v": ["b"], "weight": [float("nan")]}, "row 1, column 'weight': an empty"),
        ({"a": ["x"]}, "two of them must be called source and target"),
        ({"u": np.zeros(0, int), "v": np.zeros(0, int)}, "no rows"),
    ],
)
def test_wrong_parquet_is_refused_with_its_row(
    table: dict[str, object], message: str, tmp_path: Path
) -> None:
    parquet.write_table(pa.table(table), tmp_path / "g.parquet")
    with pytest.raises(InvalidFile, match=message):
        read_graph(tmp_path / "g.parquet")


def test_graphml_uses_labels_kinds_and_weights(tmp_path: Path) -> None:
    graph = nx.DiGraph()
    graph.add_node("n0", label="north")
    graph.add_node("n1", label="south")
    graph.add_edge("n0", "n1", kind="cable", weight=2.5)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    read = read_graph(tmp_path / "g.graphml")
    assert read.node_labels == ("north", "south")
    assert read.directed
    assert read.weights is not None
    assert read.weights.tolist() == [2.5]
    nx.set_node_attributes(graph, "same", "label")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    assert read_graph(tmp_path / "g.graphml").node_labels == ("n0", "n1")


def test_an_asymmetric_matrix_is_a_directed_graph(tmp_path: Path) -> None:
    matrix = scipy.sparse.coo_array(np.array([[0, 2.0, 0], [0, 0, 3.0], [0, 0, 0]]))
    scipy.sparse.save_npz(tmp_path / "g.npz", matrix)
    scipy.io.mmwrite(tmp_path / "g.mtx", matrix)
    np.save(tmp_path / "g.npy", matrix.toarray())
    for name in ("g.npz", "g.mtx", "g.npy"):
        graph = read_graph(tmp_path / name)
        assert graph.directed
        assert graph.edges.tolist() == [[0, 1], [1, 2]]
        assert graph.weights is not None
        assert graph.weights.tolist() == [2.0, 3.0]


def test_integers_of_shape_two_by_two_are_two_pairs(tmp_path: Path) -> None:
    np.save(tmp_path / "g.npy", [[0, 1], [1, 2]])
    assert read_graph(tmp_path / "g.npy").n_nodes == 3


def test_gset_weights_and_isolated_nodes(tmp_path: Path) -> None:
    path = write(tmp_path / "G.txt", "4 2\n1 2 -1\n2 3\n")
    with pytest.warns(IsolatedNodes, match="4"):
        graph = read_graph(path)
    assert graph.labels[3] == 4
    assert graph.weights is not None
    assert graph.weights.tolist() == [-1.0, 1.0]


EDGE_LISTS = {
    "a,b\n1,2\n": "line 1: the columns are a, b; two of them must be called source and target",
    "source,b\n1,2\n": "must be called source and target or from and to or u and v",
    "1,2\n2,3\n": "line 1: the first line must name the columns",
    "source;target\n1;2\n": "line 1: columns are separated by semicolons",
    "source\ttarget\n1\t2\n": "separated by tabs",
    "source,target,\n1,2,3\n": "column 3 has no name",
    "source,target,Target\n1,2,3\n": "two columns are called 'target'",
    "source,target\n": "a header but no data",
    "\n  \n": "no lines with text",
    "u,v\n1,2\n1\n": r"line 3: 1 cell\(s\) where 2 are expected",
    "u,v\n1,2\n1,2,3\n": r"line 3: 3 cell\(s\) where 2 are expected",
    "u,v\n1,2\n,3\n": "line 3, column 'u': the cell is empty",
    'u,v\n1,2\n"3,4\n': "not comma-separated text .*close every quotation mark",
    "u,v\n1,2\n\n3,3\n": "line 4: the edge joins a node to itself",
    "u,v\n1,2\n2,3\n2,1\n": "line 4: the edge repeats line 2; list each edge once, or add a column",
    "u,v,directed\n1,2,true\n1,2,true\n": "line 3: the edge repeats line 2; list each edge once$",
    "u,v,directed\n1,2,true\n2,3,false\n": "line 3, column 'directed': false, but true on line 2",
    "u,v,directed\n1,2,maybe\n": "line 2, column 'directed': 'maybe' is neither true nor false",
    "u,v,weight\n1,2,1\n2,3,x\n": "line 3, column 'weight': 'x' is not a finite number",
    "u,v,weight\n1,2,inf\n": "line 2, column 'weight': 'inf' is not a finite number",
    "u,v,weight\n1,2,\n": "line 2, column 'weight': an empty cell is not a finite number",
    "u,v,weight\n1,2,0\n": "line 2, column 'weight': the weight is 0; .* remove the line",
    "u,v,kind\n1,2,a\n2,3,\n": "line 3, column 'kind': the cell is empty",
}


@pytest.mark.parametrize(("text", "message"), EDGE_LISTS.items())
def test_wrong_edge_lists_are_refused_with_line_and_remedy(
    text: str, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "graph.csv", text)
    with pytest.raises(InvalidFile, match=message) as caught:
        read_graph(path)
    assert str(caught.value).startswith(str(path))
    assert ";" in str(caught.value)  # fact; remedy


RUDY = {
    "x y\n1 2 1\n": "line 1: 'x y' is not 'n m'",
    "3\n1 2 1\n": "line 1: '3' is not 'n m'",
    "source,target\n1,2\n": "an edge list with column names is a .csv file",
    "3 2\n1 2 1\n": "line 1: 2 edges are announced, 1 follow",
    "3 1\n1 2 1 5\n": "line 2: '1 2 1 5' is not 'i j w'",
    "3 2\n1 2 1\n\n2 4 1\n": "line 4: the edge names node 4; nodes are numbered 1 to 3",
    "3 1\n0 2 1\n": "line 2: the edge names node 0",
    "3 1\n1.5 2 1\n": "line 2: the edge names node 1.5",
    "3 1\n1 2 w\n": "line 2, column 'weight': 'w' is not a finite number",
    "3 2\n1 2 1\n2 1 1\n": "line 3: the edge repeats line 2",
    "3 2\n1 2 1\n3 3 1\n": "line 3: the edge joins a node to itself",
    " \n": "no lines with text",
    "3 0\n": "the graph has no edge",
}


@pytest.mark.parametrize(("text", "message"), RUDY.items())
def test_wrong_max_cut_files_are_refused_with_their_line(
    text: str, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "graph.txt", text)
    with pytest.raises(InvalidFile, match=message) as caught:
        read_graph(path)
    assert str(path) in str(caught.value)


def test_wrong_binary_and_xml_files_are_refused(tmp_path: Path) -> None:
    cases: dict[str, tuple[bytes, str]] = {
        "g.graphml": (b"<graphml>\n<graph>\n</graphml>", "line 3: not well-formed XML"),
        "h.graphml": (b"<html></html>", "GraphML"),
        "g.mtx": (
            b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1\n",
            "string 'x'",
        ),
        "h.mtx": (b"hello\n", "not a Matrix Market file"),
        "g.npy": (b"hello", "cannot be read as a NumPy array"),
        "g.npz": (b"hello", "not a sparse matrix"),
        "g.parquet": (b"hello", "cannot be read as Parquet"),
        "g.csv": (gzip.compress(b"u,v\n1,2\n"), "not UTF-8 text; save the file as UTF-8"),
    }
    for name, (content, message) in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InvalidFile, match=message) as caught:
            read_graph(path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((3, 4)), "3 x 4; an adjacency matrix .* is square"),
        (np.zeros(3), r"shape \(3,\)"),
        (np.array([["a", "b"]]), "type <U1"),
        (np.array([[0, 1j], [1j, 0]]), "complex"),
        (np.array([[0, np.nan], [np.nan, 0]]), "NaN"),
        (np.zeros((3, 3)), "no edge"),
        (np.array([[0, 1], [1, 0]]), "duplicate"),
        (np.array([{}, {}]), "NumPy array"),
    ],
)
def test_wrong_arrays_are_refused(array: NDArray[Any], message: str, tmp_path: Path) -> None:
    np.save(tmp_path / "g.npy", array)
    with pytest.raises(InvalidFile, match=message):
        read_graph(tmp_path / "g.npy")


def test_missing_unknown_and_empty_files(tmp_path: Path) -> None:
    (tmp_path / "g.csv").touch()
    (tmp_path / "g.xlsx").write_text("x")
    with pytest.raises(InvalidFile, match=r"no such file; pass the path of a graph file \(.csv"):
        read_graph(tmp_path / "nowhere.csv")
    with pytest.raises(InvalidFile, match="this is a folder"):
        read_graph(tmp_path)
    with pytest.raises(InvalidFile, match=r"'.xlsx' is not that of a graph file; .*.graphml, .mtx"):
        read_graph(tmp_path / "g.xlsx")
    with pytest.raises(InvalidFile, match="the file is empty"):
        read_graph(str(tmp_path / "g.csv"))
