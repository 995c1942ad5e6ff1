"""Matrices and node terms from files, one for all edges or one per edge kind."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.border import border
from edgewise.errors import InvalidFile
from edgewise.formats.files import FilePath, load_numbers, read_by_extension
from edgewise.formats.names import encode
from edgewise.formats.table import Table, as_table, number, read_records


@border(error=InvalidFile)
def read_matrix(
    path: FilePath,
    *,
    kinds: Sequence[Hashable] = (),
    features: Sequence[str] | None = None,
) -> Array:
    """(d, d), or (q, d, d) with one matrix per edge kind.

    ``.csv``
        d lines of d numbers, with or without a header. With a header, a column ``kind`` makes it
        one block of d lines for each kind.
    ``.npy``
        (d, d) or (q, d, d).

    Parameters
    ----------
    path
        The file.
    kinds
        The graph's kinds: the order in which the matrices are returned. By default the file's own.
    features
        The arms' features: a header with the same names in another order is refused.
    """
    file = Path(path)

    def from_csv(file: Path) -> Array:
        values = _read_blocks(file, kinds, features)
        if values.shape[-1] != values.shape[-2]:
            raise _not_square(file, values.shape[-2:])
        return values

    def from_numpy(file: Path) -> Array:
        values = load_numbers(file, "the matrix")
        if values.ndim not in (2, 3) or values.shape[-1] != values.shape[-2]:
            raise _not_square(file, values.shape)
        return values

    return read_by_extension(file, {".csv": from_csv, ".npy": from_numpy}, "a matrix file")


@border(error=InvalidFile)
def read_node_term(
    path: FilePath,
    *,
    kinds: Sequence[Hashable] = (),
    features: Sequence[str] | None = None,
) -> Array:
    """(d,), or (q, d) with one vector per edge kind: files as for a matrix, with one line each."""

    def from_csv(file: Path) -> Array:
        values = _read_blocks(file, kinds, features)
        if values.shape[-2] != 1:
            raise InvalidFile(
                f"{file}: {values.shape[-2]} lines of numbers; a node term is one line of d "
                "numbers, or one line per kind with a column 'kind'"
            )
        return values[..., 0, :]

    def from_numpy(file: Path) -> Array:
        values = load_numbers(file, "the node term")
        if values.ndim not in (1, 2):
            raise InvalidFile(
                f"{file}: the array has shape {values.shape}; a node term is (d,), or (q, d) with "
                "one row per edge kind"
            )
        return values

    return read_by_extension(path, {".csv": from_csv, ".npy": from_numpy}, "a node term file")


def _not_square(file: Path, shape: tuple[int, ...]) -> InvalidFile:
    size = " x ".join(map(str, shape))
    return InvalidFile(
        f"{file}: the matrix is {size}, not square; M has one row and one column per feature "
        "of the arms: give d lines of d numbers (per kind, if there are several)"
    )


def _read_blocks(file: Path, kinds: Sequence[Hashable], features: Sequence[str] | None) -> Array:
    """(rows, d), or (q, rows, d) if the file has a column ``kind``."""
    lines, records = read_records(file)
    if any(number(cell) is not None for cell in records[0]):  # no header
        lines = [0, *lines]
        records = [[f"column {i + 1}" for i in range(len(records[0]))], *records]
        features = None
    table = as_table(file, lines, records)
    kind = table.find("kind")
    columns = [column for column in table.columns if column != kind]
    _check_order(table, columns, features)
    values = np.column_stack([table.numbers(column) for column in columns])
    if kind is None:
        return values
    return _stack(table, values, *encode(table.texts(kind)), kinds)


def _check_order(table: Table, columns: list[str], features: Sequence[str] | None) -> None:
    if features is None or columns == list(features) or set(columns) != set(features):
        return
    raise InvalidFile(
        f"{table.file}, line 1: the columns are {', '.join(columns)}, the arms' features "
        f"{', '.join(features)}; put rows and columns into the order of the features"
    )


def _stack(
    table: Table,
    values: Array,
    codes: Indices,
    found: tuple[Hashable, ...],
    kinds: Sequence[Hashable],
) -> Array:
    """The blocks of all kinds, in the graph's order of kinds."""
    wanted = list(kinds) or list(found)
    if set(map(str, wanted)) != set(map(str, found)):
        raise InvalidFile(
            f"{table.file}, column 'kind': the kinds are {_listed(found)}, those of the graph's "
            f"edges {_listed(wanted)}; give every kind of edge its own lines, under its name"
        )
    counts = np.bincount(codes)
    if (counts != counts[0]).any():
        other = int(np.flatnonzero(counts != counts[0])[0])
        raise InvalidFile(
            f"{table.file}: kind {found[0]!r} has {counts[0]} line(s), kind {found[other]!r} "
            f"{counts[other]}; give every kind the same number of lines"
        )
    position = {str(name): code for code, name in enumerate(found)}
    return np.stack([values[codes == position[str(name)]] for name in wanted])


def _listed(names: Sequence[Hashable]) -> str:
    return ", ".join(str(name) for name in names)
