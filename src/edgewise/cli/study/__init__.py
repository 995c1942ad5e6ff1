"""``edgewise study``: the method against a live network, one shell command at a time."""

from __future__ import annotations

from typing import Any

import typer

from edgewise.cli.study import (
    answering,
    asking,
    confirming,
    creating,
    looking,
    managing,
    moving,
    remodelling,
    reporting,
    tabling,
)
from edgewise.cli.study.options import in_commands
from edgewise.cli.terminal.shell import WRONG_INPUT, Group, note
from edgewise.errors import EdgewiseError

_HELP = """Run the method against a live network, over weeks.

A study lives in a database. Describe the network in a TOML file and create the study; then, round
by round, ask for the configuration to deploy, deploy it, and tell what was measured: in parts,
late, from several machines, all of that is fine. Every command is one transaction: what it
reported is on record, and repeating it is harmless.

The study is found by --storage and --name, or by the environment variables EDGEWISE_STORAGE and
EDGEWISE_STUDY; the name may be left out if the storage holds one study.

Example:
  $ edgewise study create examples/data/cells.toml --storage sqlite:///cells.db
"""


class StudyGroup(Group):
    """The commands of studies: remedies name commands where the library names methods."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except EdgewiseError as error:
            note(in_commands(error))
            raise typer.Exit(WRONG_INPUT) from None


def register(app: typer.Typer) -> None:
    """Add the group and its commands."""
    group = typer.Typer(cls=StudyGroup, no_args_is_help=True, rich_markup_mode=None, help=_HELP)
    for commands in (
        creating,
        asking,
        answering,
        looking,
        reporting,
        tabling,
        confirming,
        remodelling,
        managing,
        moving,
    ):
        commands.register(group)
    app.add_typer(group, name="study")
