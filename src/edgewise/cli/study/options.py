"""Options that the commands of studies share, and how they find the study."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from edgewise.errors import Call, EdgewiseError, InvalidArgument, UnknownTicket

if TYPE_CHECKING:
    from edgewise.study import Study, StudyTrial

STORAGE = "EDGEWISE_STORAGE"
NAME = "EDGEWISE_STUDY"


def _known_names(ctx: typer.Context) -> list[str]:
    """Names to complete; a shell has no place for errors."""
    from edgewise.study import Study

    try:
        return Study.names(ctx.params.get("storage") or os.environ.get(STORAGE, ""))
    except EdgewiseError:
        return []


StorageUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar=STORAGE,
        help="Where the study is: sqlite:///farm.db (four slashes before an absolute path) or "
        "postgresql://user@host/database.",
    ),
]
StudyName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        envvar=NAME,
        autocompletion=_known_names,
        help="Which study.",
        show_default="the only one",
    ),
]
RoundKey: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--round",
        metavar="KEY",
        help="Which round, as ask named it: 7, or 7.2 after a cancellation.",
        show_default="the one that is out",
    ),
]
MEASUREMENTS = typer.Argument(
    metavar="FILE",
    show_default=False,
    help="Measurements, .csv or .json: source,target,reward (node,reward or reward alone, if "
    "that is measured) and, better, round; - for stdin.",
)
RoundTotal: TypeAlias = Annotated[
    float | None,
    typer.Option("--total", help="Instead of a file: the figure of the round; nan if it was lost."),
]
TableFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write it here: .csv or .json."),
]


def checked_storage(url: str | None) -> str:
    """The storage that was named; one must be, and it must last longer than a command."""
    if not url:
        raise InvalidArgument(
            f"no storage was named; pass --storage sqlite:///farm.db, or set {STORAGE}"
        )
    if url == "memory":
        raise InvalidArgument(
            "storage 'memory' ends with the command; name a file: --storage sqlite:///farm.db"
        )
    return url


def find_study(storage: str | None, name: str | None) -> Study:
    """The study that was named, or the only one there is."""
    from edgewise.study import Study
    from edgewise.study.storage.opening import open_storage
    from edgewise.study.storage.secrets import masked

    place = open_storage(checked_storage(storage), create=False)
    if name is None:
        names = place.names()
        if len(names) != 1:
            known = ", ".join(map(repr, names)) or "none"
            remedy = "name one with --name" if names else "create one: edgewise study create"
            raise InvalidArgument(
                f"{masked(str(storage))} holds {len(names)} studies ({known}); {remedy}"
                + (f", or set {NAME}" if names else "")
            )
        name = names[0]
    return Study.load(name, storage=place)


def find_round(study: Study, *keys: str | None) -> str:
    """The key of the round that is meant: all ``keys`` given agree; without, the one that is out.

    Looks at the study as it was loaded: what a key means is decided with the request.
    """
    named = [key for key in keys if key is not None]
    if len(set(named)) > 1:
        raise UnknownTicket(
            f"--round says {named[0]} and the file says {named[1]}; nothing was recorded: check "
            "which round was measured"
        )
    if named:
        return named[0]
    pending = study.seen.trial_ticket or study.seen.pending
    if pending is None:
        raise UnknownTicket(
            "no round is out for measurement; nothing was changed: hand one out with ",
            Call("ask"),
            ", or name a closed one with --round",
        )
    return pending.key


def the_trial(study: Study) -> StudyTrial:
    """The trial begun last; there must be one."""
    trial = study.trial
    if trial is None:
        raise UnknownTicket(
            "this study has no trial; nothing was recorded: begin one with ", Call("confirm")
        )
    return trial


_IN_TRIALS = {"trial.ask": "ask", "trial.tell": "tell", "trial.end": "confirm --end"}
"""What the methods of a trial are as commands."""


def in_commands(error: EdgewiseError) -> str:
    """The message of an error, naming commands where the library names methods."""
    return error.phrased(_command)


_OPTIONS = {"accept_outliers": "accept"}
"""What options are called in the shell, where that differs."""


def _command(call: Call) -> str:
    option = f" --{_OPTIONS.get(call.option, call.option)}" if call.option else ""
    return f"'edgewise study {_IN_TRIALS.get(call.method, call.method)}{option}'"
