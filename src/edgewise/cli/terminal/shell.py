"""What all commands share: an answer in three formats, notes on stderr, errors as exit codes."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from enum import StrEnum
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from edgewise.base.wording import harmless
from edgewise.cli.terminal.compiling import compilation_announced
from edgewise.cli.terminal.ending import INTERRUPTED, TERMINATED, Terminated, end_workers
from edgewise.errors import DamagedSnapshot, EdgewiseError, IsolatedNodes, SlowReading, Unverified
from edgewise.formats.output import Output as Output
from edgewise.formats.output import as_csv as as_csv
from edgewise.formats.output import as_json as as_json
from edgewise.formats.output import plain

WRONG_INPUT = 2
"""Exit code when a file, an argument or an option is wrong."""
UNCERTIFIED = 3
"""Exit code when the work ended without the certificate asked for; the answer is printed."""
STOPPED = 4
"""Exit code when a study takes no further rounds: there is nothing to deploy."""
_NOTES = (DamagedSnapshot, IsolatedNodes, SlowReading, Unverified)
"""Warnings that are meant for users."""


_LINES = "\n\t"
"""What may divide a text that is shown."""


class Format(StrEnum):
    """How an answer is written to stdout."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def emit(answer: Output, chosen: str) -> None:
    """Write the answer to stdout. CSV is the rows alone: the facts then go to stderr."""
    if chosen == Format.JSON:
        typer.echo(as_json(answer), nl=False)
    elif chosen == Format.CSV:
        note(", ".join(f"{name} {_shown(value)}" for name, value in answer.facts.items()))
        typer.echo(as_csv(answer).encode("utf-8", errors="replace").decode(), nl=False)
    else:
        _print_for_people(answer)


def note(message: str) -> None:
    """Tell the user something that is not the answer: on stderr."""
    if message:
        typer.echo(f"edgewise: {harmless(message, keep=_LINES)}", err=True)


class Group(TyperGroup):
    """A command with commands below it, whose help keeps the lines of its docstring."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Keep the lines of the docstring."""
        _write_lines(self.help, formatter)


class Shell(Group):
    """The root command: help as written, foreseeable errors without fuss."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The demo first: typer would list what has commands below it last."""
        return sorted(super().list_commands(ctx), key=lambda name: name != "demo")

    def invoke(self, ctx: Any) -> Any:
        """Run a command; wrong input becomes one line on stderr and an exit code."""
        try:
            with _warnings_as_notes(), _waits_announced():
                return super().invoke(ctx)
        except EdgewiseError as error:
            note(str(error))
            raise typer.Exit(WRONG_INPUT) from None
        except Terminated:
            end_workers()
            note("terminated")
            raise typer.Exit(TERMINATED) from None
        except KeyboardInterrupt:
            end_workers()
            note("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except OSError as error:
            if isinstance(error, BrokenPipeError) or error.filename is None:
                raise
            note(f"{error.filename}: {error.strerror}; choose a path that can be used")
            raise typer.Exit(WRONG_INPUT) from None


class Command(TyperCommand):
    """A command whose help keeps the lines of its docstring, so that examples can be copied."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Keep the lines of the docstring."""
        _write_lines(self.help, formatter)


def _write_lines(text: str | None, formatter: Any) -> None:
    formatter.write("\n")
    for line in inspect.cleandoc(text or "").splitlines():
        formatter.write(f"  {line}".rstrip() + "\n")


def _waits_announced() -> AbstractContextManager[object]:
    """Somebody who sits at a terminal is told why a first command takes long; logs are not."""
    return compilation_announced(note) if sys.stderr.isatty() else nullcontext()


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    with warnings.catch_warnings():
        for category in _NOTES:
            warnings.simplefilter("always", category)
        show = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
            if issubclass(category, _NOTES):
                note(str(message))
            else:
                show(message, category, *rest, **more)

        warnings.showwarning = tell
        yield


def _shown(value: Any) -> str:
    value = plain(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else harmless(value)


def _print_for_people(answer: Output) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    # A file or a pipe has no width: 100 columns, as a page has.
    out = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 100)
    if answer.text is not None:
        out.print(harmless(answer.text, keep=_LINES), soft_wrap=True)
    width = max(map(len, answer.facts), default=0)
    for name, value in answer.facts.items() if answer.text is None else ():
        out.print(f"{name:<{width}}  {_shown(value)}", soft_wrap=True)
    rows = answer.rows[: answer.shown]
    if rows:
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for i, column in enumerate(answer.columns):
            numeric = isinstance(plain(rows[0][i]), int | float)
            table.add_column(column, justify="right" if numeric else "left")
        for row in rows:
            table.add_row(*map(_shown, row))
        out.print()
        out.print(table)
        if len(answer.rows) > len(rows):
            note(f"{len(rows)} of {len(answer.rows)} {answer.name} shown; --format csv has all")
