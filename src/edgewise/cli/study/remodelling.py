"""``edgewise study remodel``: the same measurements under another model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from edgewise.cli.study.options import StorageUrl, StudyName, checked_storage, find_study
from edgewise.cli.study.outputs import status_output
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import Command, Format, emit, note
from edgewise.errors import InvalidArgument


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command(cls=Command)(remodel)


def remodel(
    new: Annotated[
        str, typer.Argument(metavar="NEW", show_default=False, help="Name of the new study.")
    ],
    storage: StorageUrl = None,
    name: StudyName = None,
    measured: Annotated[
        str | None,
        typer.Option(help="What one reward is, computed from what was: arc, link, node or total."),
    ] = None,
    levels: Annotated[
        str | None, typer.Option(help="Unknown constants: none, channel, round or both.")
    ] = None,
    pooling: Annotated[
        str | None,
        typer.Option(help="How much edges of a kind share: shared, partial, none or auto."),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="Deviation of one measured number, or estimate; 0.1,0.2 where they differ."
        ),
    ] = None,
    own_term: Annotated[
        bool | None, typer.Option(help="Whether a node's own arm adds to its number.")
    ] = None,
    average: Annotated[
        bool | None, typer.Option(help="Whether a node shows the mean of its incoming arcs.")
    ] = None,
    node_term: Annotated[
        bool | None, typer.Option(help="Whether rewards depend on the sending arm alone, too.")
    ] = None,
    delta: Annotated[float | None, typer.Option(help="Largest probability of error.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Tolerance.")] = None,
    target: Annotated[str | None, typer.Option(help="pair or allocation.")] = None,
    strategy: Annotated[str | None, typer.Option(help="Name of a strategy.")] = None,
    stopping: Annotated[str | None, typer.Option(help="Name of a rule.")] = None,
    trust_model: Annotated[
        bool | None,
        typer.Option(help="Whether to certify whatever the data say against the model."),
    ] = None,
    max_rounds: Annotated[int | None, typer.Option(help="Round budget.")] = None,
    to_storage: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Keep the new study there.", show_default="the same"),
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Make a study that reads the same measurements under another model.

    The old study stays as it is; the new one has all its rounds, corrections included, and goes on
    from there. What is not named stays as it was. measured can be changed where the new numbers
    are sums of the old: arc to link, node or total; link to total; node without own term to total.
    The rounds were seen before the model was chosen: status, recommend and report say what that
    means for a certificate.

    Examples:
      $ edgewise study remodel yaw-levels --storage sqlite:///farm.db --levels channel
      $ edgewise study remodel yaw-edges --storage sqlite:///farm.db --name yaw-2026 --pooling none

    Output: where the new study stands, as in status. Exit code 0; 2 wrong input, nothing was made.
    """
    given: dict[str, Any] = {
        "measured": measured,
        "levels": levels,
        "pooling": pooling,
        "noise": None if noise is None else _noise(noise),
        "own_term": own_term,
        "average": average,
        "node_term": node_term,
        "delta": delta,
        "epsilon": epsilon,
        "target": target,
        "strategy": strategy,
        "stopping": stopping,
        "trust_model": trust_model,
        "max_rounds": max_rounds,
    }
    changes: Any = {option: value for option, value in given.items() if value is not None}
    if not changes:
        raise InvalidArgument("what is to change? Pass an option, such as --levels channel")
    old = find_study(storage, name)
    place = None if to_storage is None else checked_storage(to_storage)
    study = old.remodel(new, storage=place, **changes)
    note(f"study {new!r} reads the measurements of study {old.name!r}")
    emit(status_output(study), output)


def _noise(text: str) -> float | list[float] | str:
    """A number, several with commas between them, or as written."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        return text
    return numbers[0] if len(numbers) == 1 else numbers
