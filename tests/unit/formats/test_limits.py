"""A small file cannot ask for all the memory there is, nor end in a traceback."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

import edgewise as ew
from edgewise.errors import InvalidFile
from edgewise.formats import limits, parse_rewards, read_arms, read_graph, read_matrix
from edgewise.formats.matrix_market import load_matrix_market
from edgewise.study.files.document import Document

PROBLEM = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2))


def test_a_parquet_file_is_measured_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table({"source": np.zeros(5000, int), "target": np.ones(5000, int)})
    parquet.write_table(table, tmp_path / "g.parquet")
    monkeypatch.setattr(limits, "CELLS", 9_999)
    with pytest.raises(InvalidFile, match=r"10000 cells, and the limit is 9999.*limits\.CELLS"):
        read_graph(tmp_path / "g.parquet")


@pytest.mark.parametrize("ending", [".npy", ".txt", ".mtx"])
def test_a_number_of_nodes_beyond_all_use_is_refused(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"g{ending}"
    if ending == ".npy":
        np.save(file, np.array([[0, 2 * 10**9]]))
    elif ending == ".txt":
        file.write_text("2000000000 1\n1 2 1\n")
    else:
        file.write_text(
            "%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 2 1.0\n"
        )
    with pytest.raises(InvalidFile, match=r"nodes, and the limit is 200000000.*limits\.NODES"):
        read_graph(file)


def test_a_small_file_does_not_announce_a_large_graph(tmp_path: Path) -> None:
    np.save(tmp_path / "g.npy", np.array([[0, 10**8]]))
    with pytest.raises(InvalidFile, match=r"99999999 nodes without an edge.*limits\.ISOLATED"):
        read_graph(tmp_path / "g.npy")


def test_a_table_of_very_many_columns_is_refused_at_once(tmp_path: Path) -> None:
    names = ",".join(f"c{i}" for i in range(100_000))
    (tmp_path / "a.csv").write_text(f"{names}\n{names}\n")
    with pytest.raises(InvalidFile, match=r"line 1: it has 100000 columns, and the limit is 10000"):
        read_arms(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"reward": ' + "9" * 5_000 + "}", '[{"reward": NaN, "x": []}]']
)
def test_json_without_end_is_refused(text: str) -> None:
    with pytest.raises(InvalidFile, match=r"x\.json"):
        parse_rewards("x.json", text, PROBLEM)


@pytest.mark.parametrize("text", ["x = " + "[" * 100_000, "x = " + "9" * 5_000])
def test_toml_without_end_is_refused(text: str) -> None:
    with pytest.raises(InvalidFile, match="not TOML"):
        Document.of(Path("x.toml"), text)


def test_numerals_without_end_are_names(tmp_path: Path) -> None:
    long = "9" * 5_000
    (tmp_path / "g.csv").write_text(f"source,target\n{long},1\n1,2\n")
    assert long in read_graph(tmp_path / "g.csv").labels
    (tmp_path / "m.csv").write_text(f"{long}\n")
    with pytest.raises(InvalidFile, match="header but no data"):
        read_matrix(tmp_path / "m.csv")


@pytest.mark.parametrize("cell", ["1_0", "\u0661\u0662", "0x10", "1e", "--1", "1,5"])
def test_lookalikes_are_no_numbers(tmp_path: Path, cell: str) -> None:
    (tmp_path / "a.csv").write_text(f'name,x,y\nlow,"{cell}",0\nhigh,0,1\n', encoding="utf-8")
    with pytest.raises(InvalidFile, match="is not a finite number"):
        read_arms(tmp_path / "a.csv")


def save_parts(file: Path, **changes: Any) -> None:
    """A sparse matrix whose parts do not fit."""
    matrix = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    parts = {"indices": matrix.indices, "indptr": matrix.indptr, "data": matrix.data}
    parts |= {"format": np.array(b"csr"), "shape": np.array(matrix.shape)}
    np.savez(file, **(parts | {name: np.asarray(value) for name, value in changes.items()}))


@pytest.mark.parametrize(
    "changes",
    [
        {"indptr": [0, 4, 2, 6]},
        {"indptr": [0, 2, 4, 600]},
        {"indptr": [-2, 2, 4, 6]},
        {"indices": [1, 2, 0, 2, 0, 7]},
        {"indices": [1, 2, 0, 2, 0, -1]},
        {"indices": [1, 2]},
        {"shape": [3, 2]},
        {"shape": [3]},
        {"data": np.full(6, np.nan)},
        {"format": np.array(b"xyz")},
    ],
)
def test_a_sparse_matrix_that_does_not_fit_reaches_no_kernel(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    save_parts(tmp_path / "right.npz")
    assert read_graph(tmp_path / "right.npz").n_nodes == 3
    save_parts(tmp_path / "wrong.npz", **changes)
    with pytest.raises(InvalidFile, match=r"wrong\.npz"):
        read_graph(tmp_path / "wrong.npz")


def test_a_name_too_long_is_that_of_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="there is no such file"):
        read_graph(tmp_path / ("x" * 5_000 + ".csv"))


def test_an_archive_that_is_none(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("nonsense", b"x")
    with pytest.raises(InvalidFile, match="not a sparse matrix"):
        read_graph(tmp_path / "x.npz")


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("dense", [True, False])
def test_matrix_market_is_read_as_scipy_writes_it(
    tmp_path: Path, symmetry: str, dense: bool
) -> None:
    sign = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}[symmetry]
    lower = np.array([[0.0, 0, 0], [1.5, 0, 0], [-2.0, 3.0, 0]])
    matrix = lower + (sign * lower.T if sign else np.triu(np.full((3, 3), 7.0), 1))
    mmwrite(tmp_path / "x.mtx", matrix if dense else sp.coo_array(matrix), symmetry=symmetry)
    found = load_matrix_market(tmp_path / "x.mtx").toarray()
    assert np.array_equal(found, matrix)


@pytest.mark.parametrize("body", ["3 3 3\n2 1 1\n3 1 1\n3 2 1*", "3 3 1\n4 1 1\n", "3 3\n1 2 1\n"])
def test_a_damaged_matrix_market_file_does_not_end_the_interpreter(
    tmp_path: Path, body: str
) -> None:
    (tmp_path / "x.mtx").write_text(f"%%MatrixMarket matrix coordinate real symmetric\n%\n{body}")
    with pytest.raises(InvalidFile, match="not a Matrix Market file"):
        read_graph(tmp_path / "x.mtx")
