"""``edgewise study measurements``, ``configurations``, ``rounds``, ``log``: data out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from edgewise.cli.study.options import StorageUrl, StudyName, find_study
from edgewise.cli.study.outputs import TABLES, check_out, write_out
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import Command, Format, emit

DataFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write it here instead: .csv, .json or .parquet."),
]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command(cls=Command)(measurements)
    group.command(cls=Command)(configurations)
    group.command(cls=Command)(rounds)
    group.command(cls=Command)(log)


def measurements(
    storage: StorageUrl = None,
    name: StudyName = None,
    out: DataFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Print every measured number, with its round and the arms that showed it.

    A missing one is empty. The columns are those that tell and add read.

    Example:
      $ edgewise study measurements --storage sqlite:///farm.db --format csv

    Output: one row per number. Exit code 0; 2 wrong input.
    """
    _print("measurements", storage, name, out, output)


def configurations(
    storage: StorageUrl = None,
    name: StudyName = None,
    out: DataFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Print what every round deployed: an arm for every node.

    Example:
      $ edgewise study configurations --storage sqlite:///farm.db --out configurations.csv

    Output: one row per round and node. Exit code 0; 2 wrong input.
    """
    _print("configurations", storage, name, out, output)


def rounds(
    storage: StorageUrl = None,
    name: StudyName = None,
    out: DataFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Print the rounds: phase, where from, times (UTC), what is missing, total and progress.

    Example:
      $ edgewise study rounds --storage sqlite:///farm.db --out rounds.parquet

    Output: one row per round. Exit code 0; 2 wrong input.
    """
    _print("rounds", storage, name, out, output)


def log(
    storage: StorageUrl = None,
    name: StudyName = None,
    out: DataFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Print everything that happened, in words.

    Example:
      $ edgewise study log --storage sqlite:///farm.db

    Output: one row per event. Exit code 0; 2 wrong input.
    """
    _print("log", storage, name, out, output)


def _print(what: str, storage: str | None, name: str | None, out: Path | None, output: str) -> None:
    check_out(out, TABLES)
    from edgewise.study.views.tables import table_of

    found = table_of(find_study(storage, name), what)
    if out is None:
        emit(found, output)
    write_out(found, out, what)
