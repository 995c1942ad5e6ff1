"""The command line: ``edgewise --help``. A thin shell; everything it does is in the library."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the ``edgewise`` command."""
    try:
        from edgewise.cli.app import app
        from edgewise.cli.terminal.shell import end_when_terminated
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich"}:
            raise
        sys.stderr.write(
            "The edgewise command needs typer and rich; install them with: "
            "pip install 'edgewise[cli]'\n"
        )
        raise SystemExit(2) from None
    end_when_terminated()
    app()
