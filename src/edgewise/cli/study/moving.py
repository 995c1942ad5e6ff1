"""``edgewise study export``, ``import``: a study as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from edgewise.cli.study.options import StorageUrl, StudyName, checked_storage, find_study
from edgewise.cli.study.outputs import check_folder, status_output
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import Command, Format, emit, note
from edgewise.errors import InvalidFile

_OFTEN = 100
"""Events between two updates of the line that counts them."""


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command(cls=Command)(export)
    group.command(name="import", cls=Command)(import_study)


def export(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", show_default=False, help="Where to write it: .jsonl."),
    ],
    storage: StorageUrl = None,
    name: StudyName = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Write the whole study to a file of JSON Lines, one event a line.

    A backup, a way to another machine or database, and a log that anything can read. The file
    appears when it is complete.

    Example:
      $ edgewise study export farm.jsonl --storage sqlite:///farm.db

    Output: where the study stands, as in status. Exit code 0; 2 wrong input.
    """
    check_folder(file)
    study = find_study(storage, name)
    study.export(file)
    note(f"study {study.name!r} in {file}")
    emit(status_output(study), output)


def import_study(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", show_default=False, help="What export wrote."),
    ],
    storage: StorageUrl = None,
    name: Annotated[
        str | None, typer.Option(help="Another name for it.", show_default="its own")
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Add an exported study to a storage; it goes on bit for bit as it would have.

    All of it is imported, or nothing. A SQLite file is made if there is none.

    Example:
      $ edgewise study import farm.jsonl --storage sqlite:///copy.db --name yaw-copy

    Output: where the study stands, as in status. Exit code 0; 2 wrong input, nothing was changed.
    """
    from edgewise.study import Study

    if not file.is_file():  # before a database is made for it
        raise InvalidFile(f"{file}: there is no such file; pass one that export wrote")
    with _replayed() as progress:
        study = Study.from_export(
            file, storage=checked_storage(storage), name=name, progress=progress
        )
    emit(status_output(study), output)


@contextmanager
def _replayed() -> Iterator[Callable[[int], None]]:
    """A line on stderr that counts events; where that is no terminal, only the whole number."""
    from rich.console import Console

    console, events = Console(stderr=True, highlight=False), 0

    with console.status("replaying") as status:

        def progress(count: int) -> None:
            nonlocal events
            events = count
            if count % _OFTEN == 0:
                status.update(f"replaying: {count} events")

        yield progress
    note(f"{events} events replayed and compared")
