"""What files say about nodes: the arms each may be given, its arm, its kind."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np

from edgewise.base.arrays import Indices, Mask
from edgewise.base.border import border
from edgewise.errors import InvalidFile
from edgewise.formats.files import FilePath, load_array, read_by_extension
from edgewise.formats.names import encode
from edgewise.formats.table import Table, read_csv


@border(error=InvalidFile)
def read_candidates(path: FilePath, *, nodes: Sequence[Hashable], arms: Sequence[Hashable]) -> Mask:
    """(n, K) boolean, True where the node may be given the arm.

    ``.csv``
        Columns node and arm: one line per allowed combination, by name. A node that is not
        mentioned may be given every arm.
    ``.npy``
        (n, K) array of booleans, or of 0 and 1.
    """

    def from_csv(file: Path) -> Mask:
        table = read_csv(file)
        rows, columns = _codes(table, "node", nodes), _codes(table, "arm", arms)
        mask = np.zeros((len(nodes), len(arms)), np.bool_)
        mask[rows, columns] = True
        mask[~mask.any(axis=1)] = True
        return mask

    def from_numpy(file: Path) -> Mask:
        array = load_array(file, "the candidates")
        if array.shape != (len(nodes), len(arms)) or not np.isin(array, (0, 1)).all():
            raise InvalidFile(
                f"{file}: the array has shape {array.shape} and type {array.dtype}; candidates are "
                f"({len(nodes)}, {len(arms)}) for these nodes and arms, True or False"
            )
        return array.astype(np.bool_)

    return read_by_extension(path, {".csv": from_csv, ".npy": from_numpy}, "a candidates file")


@border(error=InvalidFile)
def read_joint_arm(
    path: FilePath, *, nodes: Sequence[Hashable], arms: Sequence[Hashable]
) -> Indices:
    """(n,) the arm of every node, from a ``.csv`` with the columns node and arm, a line per node.

    That is what ``edgewise study ask --out`` and ``edgewise study recommend --out`` write.
    """

    def from_csv(file: Path) -> Indices:
        return joint_arm_of(read_csv(file), nodes, arms)

    return read_by_extension(path, {".csv": from_csv}, "a joint arm")


def joint_arm_of(table: Table, nodes: Sequence[Hashable], arms: Sequence[Hashable]) -> Indices:
    """(n,) the arm of every node that a table gives."""
    rows, columns = _codes(table, "node", nodes), _codes(table, "arm", arms)
    _require_one_line_each(table.file, rows, nodes, "its arm")
    return columns[np.argsort(rows)]


@border(error=InvalidFile)
def read_node_kinds(path: FilePath, *, nodes: Sequence[Hashable]) -> Indices:
    """(n,) the kind of every node, 0, 1, ..., from a ``.csv`` with the columns node and kind."""

    def from_csv(file: Path) -> Indices:
        table = read_csv(file)
        rows = _codes(table, "node", nodes, other="kind")
        _require_one_line_each(file, rows, nodes, "its kind")
        kinds, _ = encode(table.texts(_column(table, "kind", "node and kind")))
        return kinds[np.argsort(rows)]

    return read_by_extension(path, {".csv": from_csv}, "kinds of nodes")


def _require_one_line_each(file: Path, rows: Indices, nodes: Sequence[Hashable], what: str) -> None:
    times = np.bincount(rows, minlength=len(nodes))
    if (times != 1).any():
        wrong = int(np.argmax(times != 1))
        raise InvalidFile(
            f"{file}: node {str(nodes[wrong])!r} stands on {times[wrong]} lines; give every "
            f"node one line, with {what}"
        )


def _column(table: Table, column: str, both: str) -> str:
    found = table.find(column)
    if found is None:
        raise InvalidFile(
            f"{table.file}, line 1: the columns are {', '.join(table.columns)}; one must be called "
            f"{column!r}: name the columns {both}"
        )
    return found


def _codes(table: Table, column: str, names: Sequence[Hashable], *, other: str = "arm") -> Indices:
    found = _column(table, column, f"node and {other}")
    index = {str(name): i for i, name in enumerate(names)}
    for record, name in enumerate(table.texts(found)):
        if name not in index:
            raise InvalidFile(
                f"{table.at(record)}, column {found!r}: there is no {column} called {name!r}; "
                f"the {column}s are {', '.join(list(index)[:8])}{', ...' * (len(index) > 8)}"
            )
    return np.array([index[name] for name in table.texts(found)])
