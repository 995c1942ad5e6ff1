"""The command line: ``edgewise --help``. A thin shell; everything it does is in the library."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the ``edgewise`` command."""
    from edgewise.cli.terminal.ending import INTERRUPTED, TERMINATED, Terminated, end_when_asked

    end_when_asked()
    try:
        from edgewise.cli.app import app
    except Terminated:
        raise SystemExit(TERMINATED) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich"}:
            raise
        sys.stderr.write(
            "The edgewise command needs typer and rich; install them with: "
            "pip install 'edgewise[cli]'\n"
        )
        raise SystemExit(2) from None
    app()
