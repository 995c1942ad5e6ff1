"""Large edge lists are read as small ones, only faster."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import edgewise as ew
from edgewise.errors import InvalidFile, SlowReading
from edgewise.formats import edge_list, large_csv
from edgewise.formats.graphs import read_graph
from edgewise.formats.table import read_csv


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_csv, "LARGE", 0)


def written(folder: Path, text: str) -> Path:
    file = folder / "edges.csv"
    file.write_text(text, encoding="utf-8")
    return file


def same(one: ew.Graph, two: ew.Graph) -> None:
    assert_array_equal(one.edges, two.edges)
    assert one.labels == two.labels
    assert_array_equal(one.kind_of_edge, two.kind_of_edge)
    assert one.kind_labels == two.kind_labels
    assert_array_equal(one.weight_of_edge, two.weight_of_edge)
    assert one.directed == two.directed


@pytest.mark.parametrize(
    "text",
    [
        "source,target\n1,2\n2,3\n",
        '"source","target"\n1,2\n2,3\n',
        "from,to,weight,kind\n10,7,0.5,1\n7,3,2,0\n",
        "u,v,kind\n5,1000000,3\n1000000,2,3\n",
    ],
)
def test_whole_numbers_are_read_by_columns_and_give_the_same_graph(
    tmp_path: Path, text: str
) -> None:
    file = written(tmp_path, text)
    large = large_csv.read_large_csv(file, edge_list._NAMES)
    assert large is not None
    same(edge_list.graph_of(large), edge_list.graph_of(read_csv(file)))


@pytest.mark.parametrize(
    "text",
    [
        "source,target\na,b\nb,c\n",
        "source,target\n007,2\n2,3\n",
        'source,target\n"1",2\n2,3\n',
        "source,target\n1, 2\n2,3\n",
        "source,target\n-1,2\n2,3\n",
        "source,target\n1.0,2\n2,3\n",
        "source,target,kind\n1,2,near\n2,3,far\n",
        "source,target,kind\n1,2,\n2,3,1\n",
        "source,target,source\n1,2,1\n",
        "source,target\n1,2,3\n",
    ],
)
def test_anything_else_is_left_to_the_careful_reader(tmp_path: Path, text: str) -> None:
    assert large_csv.read_large_csv(written(tmp_path, text), edge_list._NAMES) is None


def test_small_files_are_left_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_csv, "LARGE", 10**6)
    file = written(tmp_path, "source,target\n1,2\n")
    assert large_csv.read_large_csv(file, edge_list._NAMES) is None


def test_mistakes_keep_their_line(tmp_path: Path) -> None:
    file = written(tmp_path, "source,target\n1,2\n\n2,3\n3,3\n")
    with pytest.raises(InvalidFile, match="line 5: the edge joins a node to itself"):
        read_graph(file)


def test_without_pyarrow_the_wait_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return usual(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    file = written(tmp_path, "source,target\n1,2\n2,3\n")
    with pytest.warns(SlowReading, match=r"edgewise\[parquet\]"):
        assert read_graph(file).n_nodes == 3


def test_random_lists(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    ends = np.unique(np.sort(rng.integers(0, 300, (500, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] < ends[:, 1]]
    rows = "\n".join(f"{i},{j},{rng.random() + 0.1:.6g}" for i, j in ends)
    file = written(tmp_path, f"source,target,weight\n{rows}\n")
    same(read_graph(file), edge_list.graph_of(read_csv(file)))
