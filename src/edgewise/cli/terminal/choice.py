"""Choosing by name on the command line: the words of the library for a name it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from edgewise.base.choice import pick


def one_of(what: str, options: Mapping[str, Any], *flags: str, text: str) -> Any:
    """An option that takes one of these names and gives what stands under it; ``text`` is its help.

    An Enum would do the same, but typer refuses unknown names in words of its own.
    """

    def chosen(name: str) -> Any:
        return pick(what, name, options)

    def completed() -> list[str]:
        return list(options)

    names = f"<{'|'.join(options)}>"
    return typer.Option(*flags, metavar=names, callback=chosen, autocompletion=completed, help=text)
