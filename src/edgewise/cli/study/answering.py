"""``edgewise study tell``, ``correct``, ``close``, ``cancel``: what became of a round."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from edgewise.base.wording import counted
from edgewise.cli.study.options import (
    MEASUREMENTS,
    RoundKey,
    RoundTotal,
    StorageUrl,
    StudyName,
    find_round,
    find_study,
    the_trial,
)
from edgewise.cli.study.outputs import status_output
from edgewise.cli.terminal.options import OutputFormat
from edgewise.cli.terminal.shell import Command, Format, emit, note
from edgewise.errors import InvalidArgument
from edgewise.formats import RoundRewards, parse_rewards, read_rewards
from edgewise.formats.channels import TOTAL
from edgewise.formats.files import piped_text

if TYPE_CHECKING:
    from edgewise.study import Study


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command(cls=Command)(tell)
    group.command(cls=Command)(close)
    group.command(cls=Command)(cancel)
    group.command(cls=Command)(correct)


def tell(
    file: Annotated[Path | None, MEASUREMENTS] = None,
    storage: StorageUrl = None,
    name: StudyName = None,
    key: RoundKey = None,
    accept: Annotated[
        bool, typer.Option("--accept", help="Record values that can hardly be right as well.")
    ] = False,
    total: RoundTotal = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Record what was measured.

    A file may hold some of the measurements; more may follow, and the round closes when none is
    missing. An undirected edge has two, one per direction, unless the study measures links; one
    that measures nodes reads the columns node and reward, one that measures totals a reward alone.
    An empty reward is a missing one. A column round says which round was measured, and others are
    refused. Telling the same again is harmless; another value for what was measured is refused:
    see correct. A value that can hardly be right (12 deviations of the noise outside its
    prediction interval, or 1,000 times the others of a first round) is refused unless --accept is
    given.
    A round of a trial (see confirm) is told at once: all its rewards in a file, or
    --total, any figure that is to be large; a missing one begins the pair again.

    Examples:
      $ edgewise study tell measurements.csv --storage sqlite:///farm.db
      $ edgewise study tell - --storage sqlite:///farm.db < measurements.csv
      $ edgewise study tell --total 41.7 --storage sqlite:///farm.db --round T1-3.2

    Output: where the study stands, as in status; with --format csv or json also the measurements
    still missing. Exit code 0; 2 wrong input, and nothing was recorded.
    """
    study = find_study(storage, name)
    read = _told(file, total, study)
    number = find_round(study, key, read.round)
    if _is_of_trial(number):
        the_trial(study).tell(number, read.rewards if total is None else total)
        note(f"round {number} is on record")
        emit(status_output(study), output)
        return
    study.tell(number, read.rewards, accept_outliers=accept)
    told = sum(value == value for value in read.rewards.values())  # NaN differs from itself
    are = "is" if told == 1 else "are"
    said = f"{counted(told, 'measurement')} of round {number} {are} on record"
    note(f"{said}; {_left(study, number)}")
    emit(status_output(study), output)


def close(
    storage: StorageUrl = None,
    name: StudyName = None,
    key: RoundKey = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Close the round with what has arrived; the rest counts as missing.

    For rounds some of whose measurements will never come. Those that come after all can be added
    with correct.

    Example:
      $ edgewise study close --storage sqlite:///farm.db

    Output: where the study stands, as in status. Exit code 0; 2 wrong input, nothing was changed.
    """
    _end_round(lambda study, at: study.close(at), storage, name, key, output)


def cancel(
    storage: StorageUrl = None,
    name: StudyName = None,
    key: RoundKey = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Forget the round that is out, with all that was told of it.

    For a deployment that went wrong. ask hands the same configuration out again, under a new key
    (7.2 after 7), so that measurements of the failed attempt are refused. While a trial runs, its
    pair begins again, in the same order.

    Example:
      $ edgewise study cancel --storage sqlite:///farm.db

    Output: where the study stands, as in status. Exit code 0; 2 wrong input, nothing was changed.
    """
    _end_round(_give_up, storage, name, key, output)


def correct(
    file: Annotated[Path | None, MEASUREMENTS] = None,
    storage: StorageUrl = None,
    name: StudyName = None,
    key: RoundKey = None,
    total: RoundTotal = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Replace measurements that were wrong, or add late ones to a closed round.

    The file names what to correct, as in tell; an empty reward withdraws a measurement. The
    round must be named, by the column round or by --round. The old values stay in the log; what
    was deployed since stays as it was, and the evidence is judged anew. A round of a trial is
    corrected by --total, or by a file with all its rewards.

    Example:
      $ edgewise study correct correction.csv --storage sqlite:///farm.db --round 1

    Output: where the study stands, as in status. Exit code 0; 2 wrong input, nothing was changed.
    """
    study = find_study(storage, name)
    read = _told(file, total, study)
    if key is None and read.round is None:
        raise InvalidArgument(
            f"{file or '--total'} does not say which round it corrects; nothing was changed: pass "
            "--round, or add a column round"
        )
    number = find_round(study, key, read.round)
    if _is_of_trial(number):
        the_trial(study).correct(number, read.rewards if total is None else total)
    else:
        study.correct(number, read.rewards)
    emit(status_output(study), output)


def _end_round(
    end: Callable[[Study, str], None],
    storage: str | None,
    name: str | None,
    key: str | None,
    output: str,
) -> None:
    study = find_study(storage, name)
    end(study, find_round(study, key))
    emit(status_output(study), output)


def _give_up(study: Study, key: str) -> None:
    """Forget a round; of a trial, the pair that is out."""
    if _is_of_trial(key):
        the_trial(study).repeat()
    else:
        study.cancel(key)


def _told(file: Path | None, total: float | None, study: Study) -> RoundRewards:
    """What a file says, or the one figure."""
    if (file is None) == (total is None):
        raise InvalidArgument(
            "a file of measurements or --total is needed, one of them; nothing was recorded"
        )
    if file is not None:
        return _read(file, study)
    return RoundRewards(None, {TOTAL: cast(float, total)})


def _read(file: Path, study: Study) -> RoundRewards:
    if str(file) != "-":
        return read_rewards(file, study.problem)
    return parse_rewards("stdin", piped_text(sys.stdin), study.problem)


def _left(study: Study, key: str) -> str:
    pending = study.seen.pending
    if pending is None or pending.key != key:
        return "the round is closed"
    return f"{pending.missing} {'is' if pending.missing == 1 else 'are'} still missing"


def _is_of_trial(key: str) -> bool:
    """Trials need the compiler, whose import help does not wait for."""
    from edgewise.trial.ticket import is_key

    return is_key(key)
