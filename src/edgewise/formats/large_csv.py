"""Large edge lists as text: whole numbers, parsed column by column."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from edgewise.errors import SlowReading
from edgewise.formats.table import Table

LARGE = 32 * 2**20
"""Bytes from which a CSV file is read by pyarrow, if it is installed."""

_UNUSUAL = re.compile(rb'["\t ]|[,\n\r]\+?0\d')
"""Quotation marks, blanks, and numbers such as 007, which are names."""


def read_large_csv(file: Path, counts: Collection[str]) -> Table | None:
    """The table, if the file is large and all its columns hold numbers, those in ``counts`` whole
    ones from 0 on.

    None otherwise: whatever is small, unusual or wrong is left to the careful reader, which knows
    names of every kind and the line of every mistake.
    """
    if not file.is_file() or file.stat().st_size < LARGE:
        return None
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        warnings.warn(
            f"{file} is large and read line by line, at about 15 s and 400 MB per million edges; "
            "pip install 'edgewise[parquet]' makes it ten times as fast",
            SlowReading,
            stacklevel=2,
        )
        return None
    if _is_unusual(file):
        return None
    try:
        table = csv.read_csv(file)
    except (pa.ArrowException, OSError):
        return None
    if len(set(table.column_names)) < table.num_columns:
        return None
    columns = {name: table.column(name) for name in table.column_names}
    if not all(_is_plain(column, name.casefold() in counts) for name, column in columns.items()):
        return None
    arrays = {name: column.to_numpy() for name, column in columns.items()}
    return Table(file, arrays, range(2, table.num_rows + 2))


def _is_unusual(file: Path) -> bool:
    with file.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as text:
        data = text.find(b"\n")  # names of columns may be quoted
        return data < 0 or _UNUSUAL.search(text, data) is not None


def _is_plain(column: Any, is_count: bool) -> bool:
    """Whether a column holds numbers without a gap, from 0 on if they are counts."""
    if column.null_count or not len(column):
        return False
    if str(column.type) == "int64":
        return not is_count or column.to_numpy().min() >= 0
    return str(column.type) == "double" and not is_count
