"""``edgewise study status``, ``list``: where studies stand."""

from __future__ import annotations

from typing import Annotated

import typer

from edgewise.cli.study.options import StorageUrl, StudyName, checked_storage, find_study
from edgewise.cli.study.outputs import status_output
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import Command, Format, Output, emit
from edgewise.errors import InvalidArgument


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command(cls=Command)(status)
    group.command(name="list", cls=Command)(list_studies)


def status(
    storage: StorageUrl = None,
    name: StudyName = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Refresh until the study stops, or Ctrl-C.")
    ] = False,
    interval: Annotated[
        float, typer.Option(min=0.1, help="Seconds between looks, with --watch.")
    ] = 2.0,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Say where the study stands.

    Rounds taken, the round that is out and what it lacks, the leading pair of arms, how much of
    the evidence needed there is, how many rounds are left (a guess, with a range), the noise as
    stated and as measured, and whether the bilinear model fits (a lack of fit below p = 0.001
    says that it does not).

    Examples:
      $ edgewise study status --storage sqlite:///farm.db
      $ edgewise study status --storage sqlite:///farm.db --format json

    Output: the facts; with --format csv the measurements still missing, with json both, and the
    tables of the report's page: pairs, configurations and channels.
    Exit code 0, whether or not the study has its certificate; 2 wrong input.
    """
    if watch and output is not Format.TABLE:
        raise InvalidArgument(
            f"--watch draws on the terminal, --format {output} is for programs; choose one"
        )
    study = find_study(storage, name)
    if watch:
        from edgewise.cli.study.watching import watch_study

        watch_study(study, interval)
    else:
        emit(status_output(study, details=output == Format.JSON), output)


def list_studies(
    storage: StorageUrl = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """List the studies of a storage.

    Example:
      $ edgewise study list --storage sqlite:///farm.db

    Output: one row per study. Exit code 0; 2 wrong input.
    """
    from edgewise.study import Study
    from edgewise.study.storage.opening import open_storage

    place = open_storage(checked_storage(storage), create=False)
    rows = []
    for name in place.names():
        found = Study.load(name, storage=place).seen
        out, trial = found.pending, found.trial_ticket
        key, missing = ("", 0) if out is None else (out.key, out.missing)
        if trial is not None:  # one figure is waited for
            key, missing = trial.key, 1
        rows.append((name, found.rounds, found.ending.name.lower(), key, missing))
    columns = ("study", "rounds", "ending", "pending", "missing")
    emit(Output({"studies": len(rows)}, "list", columns, rows), output)
