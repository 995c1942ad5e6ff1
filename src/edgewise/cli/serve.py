"""``edgewise serve``: studies in the browser, and for programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from edgewise.cli.study.options import StorageUrl, checked_storage
from edgewise.cli.terminal.shell import Command


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(cls=Command)(serve)


def serve(
    storage: StorageUrl = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; one that others can reach needs a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port; 0 for any that is free.")
    ] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further name of the server, such as its proxy's."),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Lines 'read TOKEN' and 'write TOKEN'."),
    ] = None,
    max_upload: Annotated[int, typer.Option(min=1, help="Largest request, in MiB.")] = 32,
    rate: Annotated[
        float, typer.Option(min=1.0, help="Requests per second and address, in the long run.")
    ] = 200.0,
    browse: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
) -> None:
    r"""Show studies in the browser, and let programs ask and tell.

    Prints one link. On this machine alone, the link carries a fresh token and signs you in; other
    addresses are served only with tokens of yours, in the environment variables EDGEWISE_TOKEN
    (for writing) and EDGEWISE_READ_TOKEN, or in a file. Encryption is left to a reverse proxy:
    see the page on serving studies.

    Pages show where every study stands and change as measurements arrive; programs use /api/v1,
    described by /api/v1/openapi.json. Shells and other servers may work on the same storage.

    Examples:
      $ edgewise serve --storage sqlite:///farm.db
      $ EDGEWISE_TOKEN=... edgewise serve --storage sqlite:///farm.db --host 0.0.0.0 \
          --allow-host farm.example.org

    Output: the link. Exit code 2 wrong input; stopped by Ctrl-C 130, by SIGTERM 143.
    """
    url = checked_storage(storage)
    from edgewise.service import Limits, read_access
    from edgewise.service.serving import Place, Serving

    serving = Serving(
        url,
        Place(host, port, tuple(allow_host or ())),
        read_access(tokens, os.environ),
        Limits(body=max_upload * 2**20, rate=rate, burst=5 * rate),
    )
    serving.run(typer.echo, browse=browse)
