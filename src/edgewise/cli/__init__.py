"""The command line: ``edgewise --help``. A thin shell; everything it does is in the library."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the ``edgewise`` command."""
    from edgewise.cli.terminal.ending import end_when_asked, leaving_at_once

    end_when_asked()
    with leaving_at_once():
        try:
            from edgewise.cli.app import app
        except ModuleNotFoundError as error:
            if error.name not in {"typer", "rich"}:
                raise
            sys.stderr.write(
                "The edgewise command needs typer and rich; install them with: "
                "pip install 'edgewise[cli]'\n"
            )
            raise SystemExit(2) from None
        app()
