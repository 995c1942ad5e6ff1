"""A table read from a file: named columns that remember where each cell came from."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edgewise.base.arrays import Array
from edgewise.errors import InvalidFile
from edgewise.formats.files import opened
from edgewise.formats.limits import DIGITS, refuse_beyond


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, and the line (or row) of the file that every record stands on."""

    file: Path
    columns: Mapping[str, Sequence[Any]]
    places: Sequence[int]
    unit: str = "line"
    """What ``places`` counts: the lines of a text file, or the rows of a binary one."""

    def at(self, record: int) -> str:
        """Where a record is, as messages begin: ``arms.csv, line 7``."""
        return f"{self.file}, {self.unit} {self.places[record]}"

    def find(self, *names: str) -> str | None:
        """The first of ``names`` that is a column, whatever its capitals."""
        by_name = {column.casefold(): column for column in self.columns}
        return next((by_name[name] for name in names if name in by_name), None)

    def numbers(self, name: str) -> Array:
        """A column as finite numbers."""
        cells = self.columns[name]
        try:
            values = np.asarray(cells, dtype=np.float64) if _is_plain(cells) else None
        except (TypeError, ValueError, OverflowError):
            values = None
        if values is None:
            values = np.array([number(cell) for cell in cells], np.float64)  # None becomes NaN
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise InvalidFile(
                f"{self.at(int(bad[0]))}, column {name!r}: {_shown(cells[bad[0]])} is not a finite "
                "number; write one with a decimal point, such as 0.5 or -1e3"
            )
        return values

    def texts(self, name: str) -> list[str]:
        """A column as text, no cell empty."""
        cells = [_as_named(str(cell).strip()) for cell in self.columns[name]]
        if "" in cells:
            raise InvalidFile(
                f"{self.at(cells.index(''))}, column {name!r}: the cell is empty; fill it in"
            )
        return cells

    def is_text(self, name: str) -> bool:
        """Whether a column has no number in it at all: one bad number does not make it text."""
        return all(number(cell) is None for cell in self.columns[name])


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


def _is_plain(cells: Sequence[Any]) -> bool:
    """Whether numpy reads the cells as :func:`number` does."""
    if isinstance(cells, np.ndarray):
        return cells.dtype.kind in "iuf"
    return all(not isinstance(cell, str) or (cell.isascii() and "_" not in cell) for cell in cells)


def csv_cell(value: Any) -> Any:
    """A cell as it is written: text that a spreadsheet would execute is quoted by an apostrophe."""
    if not isinstance(value, str):
        return value
    if value.startswith(_FORMULA) and number(value) is None:
        return f"'{value}"
    return value


def _as_named(cell: str) -> str:
    """The text that :func:`csv_cell` made a cell of."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


_NUMERAL = re.compile(r"\s*[+-]?(?:\d[\d.]*|\.\d+|nan|inf)[\de.+-]*\s*", re.ASCII | re.IGNORECASE)
"""What may be a number in a file: Python also takes 1_0 and the digits of other scripts."""


def number(cell: Any) -> float | None:
    """The cell as a number, or None: text in its usual spelling, no truth value, no bytes."""
    if isinstance(cell, bool | bytes | np.bool_):
        return None
    if isinstance(cell, str) and (len(cell) > DIGITS or not _NUMERAL.fullmatch(cell)):
        return None
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return None


def _shown(cell: Any) -> str:
    is_empty = cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell))
    return "an empty cell" if is_empty else repr(str(cell))


def read_csv(file: Path) -> Table:
    """A comma-separated table whose first line names the columns."""
    with opened(file) as stream:
        return csv_table(file, stream)


def csv_table(file: Path, stream: Iterable[str]) -> Table:
    """The same from lines that were opened already; ``file`` is what messages call them."""
    lines, records = _parsed(file, stream)
    numeric = next((cell for cell in records[0] if number(cell) is not None), None)
    if numeric is not None:
        raise InvalidFile(
            f"{file}, line {lines[0]}: the first line must name the columns, but {numeric!r} is a "
            "number; put a line of column names above the data"
        )
    return as_table(file, lines, records)


def read_records(file: Path) -> tuple[list[int], list[list[str]]]:
    """The line number and the cells of every line that is not blank; at least one."""
    with opened(file) as stream:
        return _parsed(file, stream)


def _parsed(file: Path, stream: Iterable[str]) -> tuple[list[int], list[list[str]]]:
    lines: list[int] = []
    records: list[list[str]] = []
    reader = csv.reader(stream, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                lines.append(reader.line_num)
                records.append([cell.strip() for cell in cells])
    except csv.Error as error:
        raise InvalidFile(
            f"{file}, line {reader.line_num}: not comma-separated text ({error}); close every "
            "quotation mark, and save the table as CSV"
        ) from error
    if not records:
        raise InvalidFile(f"{file}: the file has no lines with text; put a table into it")
    return lines, records


def as_table(file: Path, lines: list[int], records: list[list[str]]) -> Table:
    """The first record as header, the others under it, all of its length."""
    header, records = records[0], records[1:]
    _check_header(f"{file}, line {lines[0]}", header)
    for line, cells in zip(lines[1:], records, strict=True):
        if len(cells) != len(header):
            raise InvalidFile(
                f"{file}, line {line}: {len(cells)} cell(s) where {len(header)} are expected "
                f"({', '.join(header)}); give every line the same cells, separated by commas"
            )
    if not records:
        raise InvalidFile(f"{file}: there is a header but no data; add at least one line below it")
    columns = zip(*records, strict=True)
    return Table(file, dict(zip(header, map(list, columns), strict=True)), lines[1:])


def _check_header(place: str, header: list[str]) -> None:
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        found = "semicolons" if ";" in header[0] else "tabs"
        raise InvalidFile(
            f"{place}: columns are separated by {found}; save the table with commas "
            "between columns (and points in decimal numbers)"
        )
    refuse_beyond(place, "columns", len(header), "COLUMNS")
    seen: set[str] = set()
    for i, name in enumerate(map(str.casefold, header)):
        if not name or name in seen:
            fact = f"column {i + 1} has no name" if not name else f"two columns are called {name!r}"
            raise InvalidFile(f"{place}: {fact}; give every column a name of its own")
        seen.add(name)
