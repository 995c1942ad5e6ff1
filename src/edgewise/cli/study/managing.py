"""``edgewise study add``, ``copy``, ``rename``, ``delete``: bring what there is, and keep order."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from edgewise.cli.study.options import StorageUrl, StudyName, checked_storage, find_study
from edgewise.cli.study.outputs import status_output
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import Command, Format, Output, emit, note
from edgewise.errors import InvalidArgument
from edgewise.formats.rounds import read_deployed


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command(cls=Command)(add)
    group.command(cls=Command)(copy)
    group.command(cls=Command)(rename)
    group.command(cls=Command)(delete)


def add(
    configurations: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIGURATIONS.csv",
            show_default=False,
            help="What was deployed: node,arm and, for several rounds, round.",
        ),
    ],
    measurements: Annotated[
        Path,
        typer.Argument(
            metavar="MEASUREMENTS.csv",
            show_default=False,
            help="What was measured, as in tell, with the same column round.",
        ),
    ],
    storage: StorageUrl = None,
    name: StudyName = None,
    source: Annotated[
        str, typer.Option(help="Where they come from; reports name it.")
    ] = "deployed outside of the study",
    accept: Annotated[
        bool, typer.Option("--accept", help="Record values that can hardly be right as well.")
    ] = False,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Put rounds on record that were deployed before the study, or outside of it.

    They count as evidence, as a phase of their own, and cost no budget. What is proved holds if
    nobody chose their arms, or left rounds out, by looking at their rewards; status, recommend and
    report say so. Adding the same rounds of the same source again changes nothing.

    Example:
      $ edgewise study add deployed.csv measured.csv --storage sqlite:///farm.db --source 2025

    Output: where the study stands, as in status. Exit code 0; 2 wrong input, nothing was recorded.
    """
    study = find_study(storage, name)
    arms, rewards = read_deployed(configurations, measurements, study.problem)
    study.add(arms, rewards, source=source, accept_outliers=accept)
    note(f"{len(arms)} rounds are on record: {source}")
    emit(status_output(study), output)


def copy(
    new: Annotated[
        str, typer.Argument(metavar="NEW", show_default=False, help="Name of the new study.")
    ],
    storage: StorageUrl = None,
    name: StudyName = None,
    delta: Annotated[float | None, typer.Option(help="Largest probability of error.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Tolerance.")] = None,
    target: Annotated[str | None, typer.Option(help="pair or allocation.")] = None,
    strategy: Annotated[str | None, typer.Option(help="Name of a strategy.")] = None,
    stopping: Annotated[str | None, typer.Option(help="Name of a rule.")] = None,
    max_rounds: Annotated[int | None, typer.Option(help="Round budget.")] = None,
    to_storage: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Keep the new study there.", show_default="the same"),
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Make a study that asks something else of the same measurements.

    The old study stays as it is. What was chosen after the rounds were seen is said in the new
    one's reports. Without options it is the same study under another name, trials included; for
    another model see remodel.

    Example:
      $ edgewise study copy yaw-strict --storage sqlite:///farm.db --delta 0.01

    Output: where the new study stands, as in status. Exit code 0; 2 wrong input, nothing was made.
    """
    given: dict[str, Any] = {
        "delta": delta,
        "epsilon": epsilon,
        "target": target,
        "strategy": strategy,
        "stopping": stopping,
        "max_rounds": max_rounds,
    }
    changes: Any = {option: value for option, value in given.items() if value is not None}
    old = find_study(storage, name)
    place = None if to_storage is None else checked_storage(to_storage)
    study = old.copy(new, storage=place, **changes)
    note(f"study {new!r} has the measurements of study {old.name!r}")
    emit(status_output(study), output)


def rename(
    new: Annotated[str, typer.Argument(metavar="NEW", show_default=False, help="The new name.")],
    storage: StorageUrl = None,
    name: StudyName = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Call a study something else.

    Example:
      $ edgewise study rename yaw-2027 --storage sqlite:///farm.db --name yaw-2026

    Output: where the study stands, as in status. Exit code 0; 2 wrong input, nothing was changed.
    """
    study = find_study(storage, name)
    study.rename(new)
    emit(status_output(study), output)


def delete(
    storage: StorageUrl = None,
    name: StudyName = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Delete a study with its log, for good.

    Asks first, on a terminal; elsewhere --yes is needed. Export it first if in doubt.

    Example:
      $ edgewise study delete --storage sqlite:///farm.db --name yaw-2026 --yes

    Output: what was deleted. Exit code 0; 2 wrong input, or not confirmed: nothing was deleted.
    """
    study = find_study(storage, name)
    rounds = study.seen.rounds
    if not yes and not _is_confirmed(study.name, rounds):
        raise InvalidArgument(f"study {study.name!r} was not deleted; pass --yes to delete it")
    study.delete()
    emit(Output({"deleted": study.name, "rounds": rounds}, "studies", (), ()), output)


def _is_confirmed(name: str, rounds: int) -> bool:
    if not sys.stdin.isatty():
        return False
    return typer.confirm(f"Delete study {name!r} with {rounds} rounds for good?", err=True)
