"""``edgewise study ask``, ``extend``: what to deploy next, and going on after the stop."""

from __future__ import annotations

from typing import Annotated

import typer

from edgewise.cli.study.options import StorageUrl, StudyName, TableFile, find_study, in_commands
from edgewise.cli.study.outputs import check_out, status_output, write_out
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import STOPPED, Command, Format, emit, note
from edgewise.errors import InvalidArgument, LearnerStopped


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command(cls=Command)(ask)
    group.command(cls=Command)(extend)


def ask(
    storage: StorageUrl = None,
    name: StudyName = None,
    out: TableFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Print the configuration to deploy: an arm for every node.

    That is the round that is out for measurement or else, once it is closed, the next one: asking
    twice gives the same. Every row names the round; copy that column to the measurements, and
    they cannot be taken for those of another round. While a trial runs (see confirm), it is the
    next round of the trial, such as T1-3.2: trial 1, pair 3, second round.

    Examples:
      $ edgewise study ask --storage sqlite:///farm.db
      $ edgewise study ask --storage sqlite:///farm.db --name yaw-2026 --out configuration.csv

    Output: one row per node. Exit code 0; 2 wrong input; 4 the study has stopped, there is nothing
    to deploy: read recommend, or go on with extend.
    """
    check_out(out)
    from edgewise.study.views.outputs import ticket_output

    study = find_study(storage, name)
    try:
        ticket = study.seen.trial_ticket or study.ask()
    except LearnerStopped as error:
        note(in_commands(error))
        raise typer.Exit(STOPPED) from None
    answer = ticket_output(ticket)
    if out is None:
        emit(answer, output)
    write_out(answer, out, f"configuration of round {ticket.key}")


def extend(
    storage: StorageUrl = None,
    name: StudyName = None,
    rounds: Annotated[
        int | None, typer.Option(help="Take so many more rounds, whatever the rule says.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Judge by this probability of error from now on.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Judge by this tolerance from now on.")
    ] = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Go on after the stop, or after the round budget.

    More rounds, or another confidence: a smaller delta or epsilon takes more rounds. What was
    certified before stays so.

    Example:
      $ edgewise study extend --storage sqlite:///farm.db --rounds 10

    Output: where the study stands, as in status. Exit code 0; 2 wrong input, nothing was changed.
    """
    if rounds is None and delta is None and epsilon is None:
        raise InvalidArgument("extend by what? Pass --rounds, --delta or --epsilon")
    study = find_study(storage, name)
    study.extend(rounds=rounds, delta=delta, epsilon=epsilon)
    emit(status_output(study), output)
