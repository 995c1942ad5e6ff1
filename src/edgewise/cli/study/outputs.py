"""What the commands of studies print, from :mod:`edgewise.study.views.outputs`, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from edgewise.cli.terminal.shell import Output, as_csv, as_json, note
from edgewise.errors import InvalidFile
from edgewise.writing import write_text

if TYPE_CHECKING:
    from edgewise.study import Study

_WRITERS = {".csv": as_csv, ".json": as_json}
CONFIGURATIONS = (".csv", ".json")
TABLES = (".csv", ".json", ".parquet")


def check_out(path: Path | None, formats: tuple[str, ...] = CONFIGURATIONS) -> None:
    """Refuse a file that could not be written before the work, not after it."""
    if path is None:
        return
    if path.suffix.lower() not in formats:
        known = f"{', '.join(formats[:-1])} or {formats[-1]}"
        raise InvalidFile(f"{path}: the extension chooses the format; end the name in {known}")
    check_folder(path)


def check_folder(path: Path) -> None:
    """Refuse a file in a folder that does not exist."""
    if not path.absolute().parent.is_dir():
        raise InvalidFile(f"{path}: the folder {path.parent} does not exist; create it first")


def write_out(answer: Output, path: Path | None, what: str) -> None:
    """Write the answer to a file, if one is wanted, and say so."""
    if path is None:
        return
    if path.suffix.lower() == ".parquet":
        from edgewise.formats.parquet import write_parquet

        write_parquet(path, answer.columns, answer.rows)
    else:
        write_text(path, _WRITERS[path.suffix.lower()](answer))
    note(f"{what} in {path}")


def status_output(study: Study, *, details: bool = False) -> Output:
    """Where the study stands, as last seen; with the tables of its page, if wanted."""
    from edgewise.study.views import outputs  # loads the compiler, which help does not need

    tables = study.seen.details() if details else None
    return outputs.status_output(study.seen.status(), study.problem, tables)
