"""Arms, matrices, node terms and candidates from files."""

from pathlib import Path

import numpy as np
import pytest

from edgewise.errors import InvalidFile
from edgewise.formats import (
    read_arms,
    read_candidates,
    read_matrix,
    read_node_term,
    write_rows,
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def save(path: Path, array: object) -> Path:
    np.save(path, np.asarray(array))
    return path


# -- arms ------------------------------------------------------------------------------------


def test_arms_keep_their_names(tmp_path: Path) -> None:
    table = read_arms(write(tmp_path / "a.csv", "tilt,setting,power\n1,low,2.5\n-1e1,high,0\n"))
    assert table.arms.tolist() == [[1.0, 2.5], [-10.0, 0.0]]
    assert table.labels == ("low", "high")
    assert table.features == ("tilt", "power")


def test_arms_without_names_are_numbered(tmp_path: Path) -> None:
    assert read_arms(write(tmp_path / "a.csv", "x,y\n1,2\n3,4\n")).labels == (0, 1)
    table = read_arms(save(tmp_path / "a.npy", [[1, 2], [3, 4]]))
    assert table.labels == (0, 1)
    assert table.features is None
    assert table.arms.dtype == np.float64


def test_a_column_called_name_may_hold_numbers(tmp_path: Path) -> None:
    table = read_arms(write(tmp_path / "a.csv", "x,Name\n1,7\n2,5\n"))
    assert table.labels == (7, 5)
    assert table.arms.tolist() == [[1.0], [2.0]]


ARMS = {
    "name,x1,x2\na,1,2\nb,3,4\nc,5,6\nd,7,8\ne,1,1\nf,2,oops\n": (
        "line 7, column 'x2': 'oops' is not a finite number; write one with a decimal point"
    ),
    'x,y\n1,2\n1,"0,5"\n': "line 3, column 'y': '0,5' is not a finite number",
    "name,x\na,1\nb,nan\n": "line 3, column 'x': 'nan' is not a finite number",
    "name,x\na,1\nb,\n": "line 3, column 'x': an empty cell is not a finite number",
    "name,x,comment\na,1,fine\n": "line 2, column 'comment': 'fine' is not a finite number",
    "name,x\na,1\nb,1,2\n": r"line 3: 3 cell\(s\) where 2 are expected \(name, x\)",
    "name,x\na,1\nb,2\na,3\n": "line 4, column 'name': 'a' is also the name of line 2",
    "name,x\na,1\n,2\n": "line 3, column 'name': the cell is empty",
    "name\na\nb\n": "only column is 'name'",
    "low,1,2\nhigh,3,4\n": "line 1: the first line must name the columns, but '1' is a number",
    "0,1,2\n1,2,3\n": "line 1: the first line must name the columns",
}


@pytest.mark.parametrize(("text", "message"), ARMS.items())
def test_wrong_arms_are_refused_with_line_and_column(
    text: str, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "arms.csv", text)
    with pytest.raises(InvalidFile, match=message) as caught:
        read_arms(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\)"),
        (np.zeros((0, 2)), r"shape \(0, 2\)"),
        ([["a"]], "holds <U1, not numbers"),
        ([[1.0, np.inf]], r"entry \[0, 1\] is inf"),
        ([[1j]], "complex"),
    ],
)
def test_wrong_arm_arrays_are_refused(array: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=message):
        read_arms(save(tmp_path / "a.npy", array))


def test_arms_come_as_csv_or_npy_only(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"not that of an arms file; .*.csv, .npy"):
        read_arms(write(tmp_path / "a.json", "[]"))


# -- matrices --------------------------------------------------------------------------------


def test_matrices_with_and_without_header(tmp_path: Path) -> None:
    expected = [[1.0, 2.0], [3.0, 4.0]]
    for text in ("1,2\n3,4\n", "x,y\n1,2\n3,4\n"):
        assert read_matrix(write(tmp_path / "m.csv", text)).tolist() == expected
    assert read_matrix(save(tmp_path / "m.npy", expected)).tolist() == expected
    assert read_matrix(save(tmp_path / "m.npy", [expected] * 3)).shape == (3, 2, 2)


def test_matrices_are_matched_to_the_kinds_of_the_graph_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "x,kind,y\n1,near,2\n5,deep,6\n3,near,4\n7,deep,8\n")
    near, deep = [[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]
    assert read_matrix(path).tolist() == [near, deep]
    assert read_matrix(path, kinds=("deep", "near")).tolist() == [deep, near]
    numbered = write(tmp_path / "n.csv", "kind,x\n1,10\n0,20\n")
    assert read_matrix(numbered, kinds=range(2)).tolist() == [[[20.0]], [[10.0]]]


def test_a_header_in_another_order_than_the_features_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "y,x\n1,2\n3,4\n")
    with pytest.raises(InvalidFile, match="line 1: the columns are y, x, the arms' features x, y"):
        read_matrix(path, features=("x", "y"))
    assert read_matrix(path, features=("y", "x")).shape == (2, 2)
    assert read_matrix(path, features=("p", "q")).shape == (2, 2)


MATRICES = {
    "1,2\n3,4\n5,6\n": "3 x 2, not square; .* d lines of d numbers",
    "0,1\n1,2\n3,4\n": "3 x 2, not square",  # a header of numbers, as pandas writes it
    "1,2\n3\n": r"line 2: 1 cell\(s\) where 2 are expected",
    "1,2\n3,x\n": "line 2, column 'column 2': 'x' is not a finite number",
    "1,x\n3,4\n": "line 1, column 'column 2': 'x' is not a finite number",
    "kind,x\na,1\nb,2\nb,3\n": "kind 'a' has 1 line.*kind 'b' 2",
    "kind,x,y\na,1,2\nb,2,3\n": "1 x 2, not square",
}


@pytest.mark.parametrize(("text", "message"), MATRICES.items())
def test_wrong_matrices_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "matrix.csv", text)
    with pytest.raises(InvalidFile, match=message) as caught:
        read_matrix(path)
    assert str(path) in str(caught.value)


def test_kinds_that_the_graph_does_not_have_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.csv", "kind,x\nnear,1\nfar,2\n")
    with pytest.raises(InvalidFile, match="kinds are near, far, those of the graph's edges near,"):
        read_matrix(path, kinds=("near", "deep"))


def test_matrix_arrays_must_be_square(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="2 x 3, not square"):
        read_matrix(save(tmp_path / "m.npy", np.zeros((2, 3))))


def test_node_terms(tmp_path: Path) -> None:
    assert read_node_term(write(tmp_path / "b.csv", "1,2\n")).tolist() == [1.0, 2.0]
    by_kind = write(tmp_path / "k.csv", "kind,x,y\na,1,2\nb,3,4\n")
    assert read_node_term(by_kind, kinds=("b", "a")).tolist() == [[3.0, 4.0], [1.0, 2.0]]
    assert read_node_term(save(tmp_path / "b.npy", [1.0, 2.0])).tolist() == [1.0, 2.0]
    with pytest.raises(InvalidFile, match="2 lines of numbers; a node term is one line"):
        read_node_term(write(tmp_path / "b.csv", "1,2\n3,4\n"))
    with pytest.raises(InvalidFile, match=r"a node term is \(d,\)"):
        read_node_term(save(tmp_path / "b.npy", 1.0))


# -- candidates ------------------------------------------------------------------------------


def test_candidates_by_name_and_as_array(tmp_path: Path) -> None:
    path = write(tmp_path / "c.csv", "arm,node\nlow,7\nhigh,7\nlow,9\n")
    mask = read_candidates(path, nodes=(7, 8, 9), arms=("low", "mid", "high"))
    expected = [[True, False, True], [True, True, True], [True, False, False]]
    assert mask.tolist() == expected
    saved = save(tmp_path / "c.npy", expected)
    assert read_candidates(saved, nodes=(7, 8, 9), arms=("a", "b", "c")).tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("node,arm\n1,low\n5,low\n", "line 3, column 'node': there is no node called '5'"),
        ("node,arm\n1,loud\n", "line 2, column 'arm': there is no arm called 'loud'; the arms are"),
        ("node,x\n1,low\n", "line 1: the columns are node, x; one must be called 'arm'"),
    ],
)
def test_wrong_candidates_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=message):
        read_candidates(write(tmp_path / "c.csv", text), nodes=(1, 2), arms=("low", "high"))


def test_wrong_candidate_arrays_are_refused(tmp_path: Path) -> None:
    for array in (np.ones((2, 3), bool), np.full((2, 2), 2)):
        with pytest.raises(InvalidFile, match=r"candidates are \(2, 2\)"):
            read_candidates(save(tmp_path / "c.npy", array), nodes=(1, 2), arms=("a", "b"))


# -- writing ---------------------------------------------------------------------------------


def test_rows_come_back_as_written(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_rows(path, ("name", "weight"), [("a, b", 0.1), ("c", 1 / 3)])
    table = read_arms(path)
    assert table.labels == ("a, b", "c")
    assert table.arms[:, 0].tolist() == [0.1, 1 / 3]


def test_tables_are_written_as_csv_into_existing_folders(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"end the name in .csv"):
        write_rows(tmp_path / "out.json", ("a",), [])
    with pytest.raises(InvalidFile, match="does not exist; create it first"):
        write_rows(tmp_path / "no" / "out.csv", ("a",), [])
