import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.cluster.networks import network, weighted

from edgewise.cluster import PartitionedGraph
from edgewise.cluster.partitions.preparing import SUMMARY
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument, InvalidFile, InvalidGraph

pytestmark = pytest.mark.filterwarnings("ignore::edgewise.errors.IsolatedNodes")


def write(folder: Path, name: str, **columns: Any) -> None:
    folder.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), folder / name)


def triangle(folder: Path) -> Path:
    write(folder, "a.parquet", source=[0, 1], target=[1, 2])
    write(folder, "b.parquet", source=[2], target=[0])
    return folder


@pytest.mark.parametrize("directed", [False, True])
def test_a_prepared_graph_is_the_graph(tmp_path: Path, directed: bool) -> None:
    graph = PartitionedGraph.from_function(weighted, tmp_path, n_partitions=16, directed=directed)
    whole = graph.load()
    assert (graph.n_nodes, graph.n_arcs, graph.n_kinds) == (whole.n_nodes, whole.n_arcs, 2)
    assert graph.second_moment == (whole.degrees**2).mean()
    assert graph.total_weight == pytest.approx(whole.total_weight, rel=1e-12)
    assert graph.summary.isolated == len(whole.isolated)
    rows = whole.adjacency
    for one in graph.ranges:
        links = one.links()
        for i in range(0, one.last - one.first, 97):
            expected = rows.neighbours[rows.starts[one.first + i] : rows.starts[one.first + i + 1]]
            mine = links.neighbours[links.starts[i] : links.starts[i + 1]]
            assert sorted(mine) == sorted(expected)
    again = PartitionedGraph.open(tmp_path)
    assert again.summary == graph.summary
    assert Problem(again, np.eye(2)).fingerprint == Problem(graph, np.eye(2)).fingerprint


def test_parquet_files_and_folders_are_partitions(tmp_path: Path) -> None:
    edges = triangle(tmp_path / "edges")
    write(edges / "c", "0.parquet", source=[3], target=[0])
    write(edges / "c", "1.parquet", source=[3], target=[1])
    graph = PartitionedGraph.from_parquet(edges, tmp_path / "graph")
    assert graph.summary.names == ("a.parquet", "b.parquet", "c")
    assert graph.load().edges.tolist() == [[0, 1], [1, 2], [2, 0], [3, 0], [3, 1]]


def test_files_that_changed_are_not_those_it_was_made_of(tmp_path: Path) -> None:
    edges = triangle(tmp_path / "edges")
    graph = PartitionedGraph.from_parquet(edges, tmp_path / "graph")
    stored = (tmp_path / "graph" / SUMMARY).stat().st_mtime
    os.utime(edges / "a.parquet", (stored - 1, stored - 1))
    os.utime(edges / "b.parquet", (stored - 1, stored - 1))
    assert graph.is_made_of(edges)
    os.utime(edges / "b.parquet", (stored + 1, stored + 1))
    assert not graph.is_made_of(edges)
    (edges / "b.parquet").unlink()
    assert not graph.is_made_of(edges)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of dask with pandas 3
def test_a_dask_dataframe_is_partitions(tmp_path: Path) -> None:
    import dask.dataframe as dd

    frame = dd.read_parquet(triangle(tmp_path / "edges"))
    graph = PartitionedGraph.from_dataframe(frame, tmp_path / "graph")
    assert graph.load().edges.tolist() == [[0, 1], [1, 2], [2, 0]]
    with pytest.raises(InvalidGraph, match=r"it must be a dask\.dataframe"):
        PartitionedGraph.from_dataframe([1], tmp_path / "graph")


@pytest.mark.parametrize("kind", [str, lambda number: 10**12 - 7 * number])
def test_any_ids_are_numbered_once(tmp_path: Path, kind: Any) -> None:
    pairs = [(1, 2), (2, 3), (3, 4), (9, 1)]
    for part in (0, 1):
        some = pairs[2 * part : 2 * part + 2]
        columns = {"source": [kind(i) for i, _ in some], "target": [kind(j) for _, j in some]}
        write(tmp_path / "edges", f"{part}.parquet", **columns)
    graph = PartitionedGraph.from_parquet(tmp_path / "edges", tmp_path / "graph", relabel=True)
    numbering = PartitionedGraph.open(tmp_path / "graph").numbering
    assert numbering is not None
    found = [[numbering.ids(i), numbering.ids(j)] for i, j in graph.load().edges.tolist()]
    assert found == [[kind(i), kind(j)] for i, j in pairs]
    assert graph.n_nodes == 5


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": [4], "target": [4]}, r"bad.parquet: 1 self loop.*node 4"),
        ({"source": [0], "target": [7]}, r"bad.parquet: an edge names node 7, outside 0 .. 4"),
        ({"source": [-1], "target": [0]}, r"bad.parquet: an edge names node -1"),
        ({"source": [1], "target": [0]}, r"a.parquet and bad.parquet: .*nodes [01] and [01] is th"),
        ({"source": ["x"], "target": ["y"]}, "bad.parquet: nodes are of type .*relabel=True"),
        ({"source": [1]}, "bad.parquet: there is no column 'target'"),
        ({"source": [0], "target": [3], "weight": [0.0]}, "bad.parquet: weight of edge 0 is 0.0"),
        ({"source": [0], "target": [3], "kind": [0.5]}, "bad.parquet: kinds are float64"),
        ({"source": [0], "target": [3], "kind": [0]}, "a.parquet: it has no column 'kind'"),
    ],
)
def test_wrong_edges_are_refused_with_the_partition(
    tmp_path: Path, columns: dict[str, Any], message: str
) -> None:
    edges = triangle(tmp_path / "edges")
    write(edges, "bad.parquet", **columns)
    with pytest.raises(InvalidGraph, match=message):
        PartitionedGraph.from_parquet(edges, tmp_path / "graph", n_nodes=5)
    assert not (tmp_path / "graph" / SUMMARY).exists()


def test_what_needs_all_edges_says_so(tmp_path: Path) -> None:
    graph = network(tmp_path)
    with pytest.raises(InvalidGraph, match="lie in partitions"):
        _ = graph.edges
    with pytest.raises(InvalidGraph, match="lie in partitions"):
        _ = graph.degrees


def test_wrong_places_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="no partitions there"):
        PartitionedGraph.from_parquet(tmp_path / "nowhere", tmp_path)
    with pytest.raises(InvalidFile, match="there is no prepared graph"):
        PartitionedGraph.open(tmp_path)
    (tmp_path / SUMMARY).write_text("{}")
    with pytest.raises(InvalidArgument, match="stored summary cannot be read"):
        PartitionedGraph.open(tmp_path)
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(InvalidFile, match=r"x.parquet: it cannot be read as Parquet"):
        PartitionedGraph.from_parquet(tmp_path, tmp_path / "graph")
    with pytest.raises(InvalidGraph, match="gave a str"):
        PartitionedGraph.from_function(str, tmp_path / "graph", n_partitions=1)
