"""Matrix Market files, read in Python: the compiled reader of scipy dies of damaged ones.

A banner ``%%MatrixMarket matrix coordinate real general``, comments, the size, then entries
``row column value`` with rows and columns from 1; or ``array`` and all values column by column.
"""

from __future__ import annotations

import warnings
from itertools import dropwhile
from pathlib import Path
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.formats.files import opened
from edgewise.formats.limits import refuse_beyond, refuse_nodes

_FIELDS = ("real", "integer", "pattern")
_SIGNS = {"general": 0.0, "symmetric": 1.0, "skew-symmetric": -1.0}
"""What stands above the diagonal, as a multiple of what stands below."""


def load_matrix_market(file: Path) -> Any:
    """A sparse matrix; ValueError if the file is not as the format says."""
    from scipy.sparse import coo_array

    with opened(file) as stream:
        words = stream.readline().lower().split()
        if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
            raise ValueError("it does not begin with %%MatrixMarket matrix")
        layout, kind, symmetry = words[2:]
        if layout not in ("coordinate", "array") or kind not in _FIELDS or symmetry not in _SIGNS:
            raise ValueError(f"{layout} {kind} {symmetry} is not a matrix of real numbers")
        size = _size(next(dropwhile(_is_comment, stream), ""))
        entries = size[2] if len(size) == 3 else size[0] * size[1]
        refuse_nodes(file, max(size[:2]), entries)
        numbers = _numbers(stream)
    read = _listed if layout == "coordinate" else _dense
    row, column, value = read(size, numbers, symmetry)
    mirrored = (row != column) & (_SIGNS[symmetry] != 0.0)
    rows = np.concatenate([row, column[mirrored]])
    columns = np.concatenate([column, row[mirrored]])
    values = np.concatenate([value, _SIGNS[symmetry] * value[mirrored]])
    return coo_array((values, (rows, columns)), shape=tuple(size[:2]))


def _is_comment(line: str) -> bool:
    return not line.strip() or line.startswith("%")


def _size(line: str) -> list[int]:
    words = line.split()
    if len(words) not in (2, 3) or not all(word.isdecimal() and len(word) < 19 for word in words):
        raise ValueError(f"{line.strip()[:40]!r} is not the size of a matrix")
    return [int(word) for word in words]


def _numbers(stream: Any) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there may be none
        return np.loadtxt(stream, comments="%", ndmin=2, dtype=float)


def _listed(size: list[int], numbers: Array, _: str) -> tuple[Indices, Indices, Array]:
    """Entry by entry."""
    if len(size) != 3 or len(numbers) != size[2]:
        raise ValueError(f"{size[2:]} entries are announced, {len(numbers)} follow")
    if not len(numbers):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    if numbers.shape[1] not in (2, 3):
        raise ValueError("an entry is a row, a column and a value")
    places = numbers[:, :2]
    if (places != np.rint(places)).any() or (places < 1).any() or (places > size[:2]).any():
        raise ValueError("an entry lies outside the matrix")
    values = numbers[:, 2] if numbers.shape[1] == 3 else np.ones(len(numbers))
    row, column = places.astype(np.int64).T - 1
    return row, column, values


def _dense(size: list[int], numbers: Array, symmetry: str) -> tuple[Indices, Indices, Array]:
    """Column by column; of a symmetric matrix what is on the diagonal and below."""
    rows, columns = size[:2]
    refuse_beyond("the matrix", "cells", rows * columns, "CELLS")
    column, row = np.indices((columns, rows)).reshape(2, -1)
    if symmetry != "general":
        below = row > column if symmetry == "skew-symmetric" else row >= column
        row, column = row[below], column[below]
    if numbers.size != len(row):
        raise ValueError(f"{len(row)} values are announced, {numbers.size} follow")
    return row, column, numbers.ravel()
