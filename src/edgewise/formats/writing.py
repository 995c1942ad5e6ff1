"""Tables to files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from edgewise.base.border import border
from edgewise.base.wording import shown
from edgewise.errors import InvalidFile
from edgewise.formats.files import FilePath
from edgewise.formats.table import csv_cell
from edgewise.writing import replacing_text


@border(error=InvalidFile)
def check_writable(path: FilePath) -> Path:
    """Raise unless a table can be written to ``path``: to be asked before the work, not after."""
    file = Path(path)
    if file.suffix.lower() != ".csv":
        raise InvalidFile(f"{file}: tables are written as CSV; end the name in .csv")
    if not file.absolute().parent.is_dir():
        raise InvalidFile(f"{file}: the folder {file.parent} does not exist; create it first")
    return file


@border(error=InvalidFile)
def write_rows(path: FilePath, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV table, such as the arm of every node, with a header."""
    with replacing_text(check_writable(path)) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(csv_cell, columns))
        writer.writerows(map(csv_cell, _cells(row)) for row in rows)


def _cells(row: Any) -> Sequence[Any]:
    if not isinstance(row, Sequence) or isinstance(row, str):
        raise InvalidFile(f"rows has the entry {shown(row)}; every row must be a list of cells")
    return row
