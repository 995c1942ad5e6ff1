"""Tables from Parquet files, for edge lists too large for text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from edgewise.base.extras import required
from edgewise.errors import InvalidFile
from edgewise.formats.limits import refuse_beyond
from edgewise.formats.table import Table
from edgewise.writing import replacing


def read_parquet(file: Path) -> Table:
    """A table whose numeric columns stay arrays."""
    fact = "Parquet files need pyarrow"
    pa = required("pyarrow", fact, "parquet")
    parquet = required("pyarrow.parquet", fact, "parquet")
    try:
        about = parquet.read_metadata(file)
        refuse_beyond(file, "columns", about.num_columns, "COLUMNS")
        refuse_beyond(file, "cells", about.num_rows * about.num_columns, "CELLS")
        table = parquet.read_table(file)
        columns = {name: _cells(table.column(name), pa.types) for name in table.column_names}
    except InvalidFile:
        raise
    except Exception as error:  # of a damaged file pyarrow raises anything
        raise InvalidFile(
            f"{file}: it cannot be read as Parquet ({error}); write it again, e.g. with "
            "pandas.DataFrame.to_parquet"
        ) from error
    if table.num_rows == 0:
        raise InvalidFile(f"{file}: the table has no rows; add at least one")
    return Table(file, columns, range(1, table.num_rows + 1), unit="row")


def write_parquet(path: Path, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table; names of nodes and arms as text, unless all are numbers."""
    fact = "Parquet files need pyarrow"
    pa = required("pyarrow", fact, "parquet")
    parquet = required("pyarrow.parquet", fact, "parquet")
    cells = [_alike([row[k] for row in rows]) for k in range(len(columns))]
    table = pa.table(dict(zip(columns, cells, strict=True)))
    with replacing(path) as place:
        parquet.write_table(table, place)


def _alike(cells: list[Any]) -> list[Any]:
    """A column of one type."""
    known = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known):
        return cells
    return [None if cell is None else str(cell) for cell in cells]


def _cells(column: Any, types: Any) -> Any:
    """Numbers as an array; anything else, or a column with gaps, as a list: gaps become ''."""
    is_number = types.is_integer(column.type) or types.is_floating(column.type)
    if is_number and column.null_count == 0:
        return column.to_numpy()
    return ["" if cell is None else cell for cell in column.to_pylist()]
