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
    """Every command by the words that call it, such as ``study ask``.

    Groups that do something of their own, such as ``demo``, are commands too.
    """
    return dict(_commands(typer.main.get_command(app), ""))


def _commands(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        is_group = hasattr(command, "commands")
        if not is_group or command.invoke_without_command:
            yield f"{before}{name}", command
        if is_group:
            yield from _commands(command, f"{before}{name} ")


def reference() -> str:
    """The help of all commands, as Markdown."""
    return "\n".join(_sections())


def with_reference(page: str) -> str:
    """The page with its generated part renewed."""
    written = page.partition(MARKER)[0]
    return f"{written}{MARKER}\n\n{reference()}"


def _sections() -> Iterator[str]:
    root = typer.main.get_command(app)
    context = typer.Context(root, info_name="edgewise", **_WIDTH)
    yield f"## All commands\n\n```text\n{root.get_help(context)}\n```\n"
    yield from _helps(root, context)


def _helps(group: Any, parent: typer.Context) -> Iterator[str]:
    """The help of every command of a group; a group among them before its own commands."""
    for name, command in group.commands.items():
        context = typer.Context(command, parent=parent, info_name=name, **_WIDTH)
        yield f"### {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
        if hasattr(command, "commands"):
            yield from _helps(command, context)


_WIDTH: dict[str, Any] = {"terminal_width": 100, "max_content_width": 100}


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(with_reference(target.read_text(encoding="utf-8")), encoding="utf-8")
