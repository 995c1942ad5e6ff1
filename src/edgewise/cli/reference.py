"""The reference part of docs/cli.md, made from the help of the commands.

``python -m edgewise.cli.reference docs/cli.md`` brings the page up to date; a test checks it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from edgewise.cli.app import app

MARKER = "<!-- Generated from here on: python -m edgewise.cli.reference docs/cli.md -->"


def commands() -> dict[str, Any]:
    """Every command by name; those below another by both names."""
    root: Any = typer.main.get_command(app)
    found: dict[str, Any] = {}
    for name, command in root.commands.items():
        found[name] = command
        found |= {f"{name} {sub}": below for sub, below in getattr(command, "commands", {}).items()}
    return found


def reference() -> str:
    """The help of all commands, as Markdown."""
    return "\n".join(_sections())


def with_reference(page: str) -> str:
    """The page with its generated part renewed."""
    written = page.partition(MARKER)[0]
    return f"{written}{MARKER}\n\n{reference()}"


def _sections() -> Iterator[str]:
    group = typer.main.get_command(app)
    parent = typer.Context(group, info_name="edgewise", **_WIDTH)
    yield f"## All commands\n\n```text\n{group.get_help(parent)}\n```\n"
    for name, command in commands().items():
        context = typer.Context(command, parent=parent, info_name=name, **_WIDTH)
        yield f"### edgewise {name}\n\n```text\n{command.get_help(context)}\n```\n"


_WIDTH: dict[str, Any] = {"terminal_width": 100, "max_content_width": 100}


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(with_reference(target.read_text(encoding="utf-8")), encoding="utf-8")
