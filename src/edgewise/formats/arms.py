"""Arms from files: one row of features per arm, with a name."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.border import border
from edgewise.errors import InvalidFile
from edgewise.formats.files import FilePath, load_numbers, read_by_extension
from edgewise.formats.names import readable, require_distinct
from edgewise.formats.table import Table, read_csv

NAMES = ("name", "arm", "label", "id")
"""Columns that hold names even when these look like numbers."""


class ArmTable(NamedTuple):
    """Arms and what the user calls them."""

    arms: Array
    """(K, d)"""
    labels: tuple[Hashable, ...]
    """K names; 0, 1, ... when the file has none."""
    features: tuple[str, ...] | None = None
    """d names of the columns, where the file has them."""


@border(error=InvalidFile)
def read_arms(path: FilePath) -> ArmTable:
    """Arms from a CSV or NumPy file.

    ``.csv``
        A header, then one line per arm. A column called name, arm, label or id, or else the first
        column without a single number, holds the names; all others are features.
    ``.npy``
        (K, d) array.
    """
    return read_by_extension(path, {".csv": _from_csv, ".npy": _from_numpy}, "an arms file")


def _from_csv(file: Path) -> ArmTable:
    table = read_csv(file)
    names = _name_column(table)
    features = tuple(column for column in table.columns if column != names)
    if not features:
        raise InvalidFile(
            f"{file}, line 1: the only column is {names!r}, the names; an arm needs at least one "
            "feature: add a column of numbers"
        )
    arms = np.column_stack([table.numbers(feature) for feature in features])
    if names is None:
        return ArmTable(arms, tuple(range(len(arms))), features)
    labels = readable(table.texts(names))
    require_distinct(table, names, labels)
    return ArmTable(arms, tuple(labels), features)


def _name_column(table: Table) -> str | None:
    called = table.find(*NAMES)
    if called is not None:
        return called
    return next((column for column in table.columns if table.is_text(column)), None)


def _from_numpy(file: Path) -> ArmTable:
    arms = load_numbers(file, "the arms")
    if arms.ndim != 2 or arms.size == 0:
        raise InvalidFile(
            f"{file}: the array has shape {arms.shape}; arms are (K, d), one row per arm"
        )
    return ArmTable(arms, tuple(range(len(arms))))
