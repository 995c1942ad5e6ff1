"""The ``edgewise`` command: one module per subcommand, each adding itself."""

from __future__ import annotations

from typing import Annotated

import typer

import edgewise as ew
from edgewise.cli import (
    allocate,
    compilation,
    demo,
    design,
    doctor,
    identify,
    reproduce,
    serve,
    simulate,
    study,
    theory,
)
from edgewise.cli.terminal.shell import Shell

app = typer.Typer(
    name="edgewise",
    cls=Shell,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(ew.__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Find the best joint configuration of a network, with a proof, in few deployments.

    Answers go to stdout, as a table, JSON or CSV (--format); notes and progress go to stderr.

    Exit code 0: done. 2: a file, an argument or an option is wrong, the message says how to
    mend it. 3: ended without the certificate asked for. 4: the study takes no further rounds.
    130: interrupted. 143: terminated.
    """


for command in (
    demo,
    design,
    allocate,
    simulate,
    identify,
    theory,
    reproduce,
    study,
    serve,
    doctor,
    compilation,
):
    command.register(app)
