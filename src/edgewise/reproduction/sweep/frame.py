"""Rows of finished cells as one table, and selecting from it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import asdict

import numpy as np

from edgewise.base.arrays import Array
from edgewise.reproduction.sweep.cell import Cell, Row, Value


def table_of(cells: Iterable[Cell], results: Mapping[str, list[Row]]) -> list[Row]:
    """One row per run, with the coordinates of its point, in an order fixed by the cells alone.

    Coordinates that are lists (the sizes of a variance point) are columns of the rows already.
    """
    rows: list[Row] = []
    for cell in cells:
        fields = asdict(cell.point)  # type: ignore[call-overload]
        point = {name: value for name, value in fields.items() if np.ndim(value) == 0}
        rows += [{**point, **row} for row in results[cell.key]]
    columns = list(rows[0]) if rows else []
    rows.sort(key=lambda row: tuple(row[name] for name in columns))
    return rows


def select(rows: Iterable[Row], **wanted: Value) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def column(rows: Iterable[Row], name: str) -> Array:
    """A column as numbers."""
    return np.array([row[name] for row in rows], dtype=float)


def as_csv(rows: Iterable[Row]) -> str:
    """CSV text; numbers are written so that reading them gives the same bits."""
    table = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(table[0]) if table else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _text(value) for name, value in row.items()} for row in table)
    return text.getvalue()


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
