"""Docstrings for the API page: directives and roles become what Markdown knows."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import griffe

_API = Path(__file__).parent / "api.md"
_MATH_BLOCK = re.compile(
    r"^(?P<indent>[ ]*)\.\. math::[ ]*(?P<first>.*)"
    r"(?P<rest>(?:\n[ ]*(?=\n)|\n(?P=indent)[ ]+\S.*)*)",
    re.M,
)
_MATH = re.compile(r":math:`([^`]+)`", re.DOTALL)
_ROLE = re.compile(r":(?:func|class|meth|mod|attr|data):`(?P<short>~?)(?P<path>[^`]+)`")
_EXAMPLE = re.compile(r"^(?:>>>.*\n?)(?:.+\n?)*", re.M)
_EXAMPLES_SECTION = re.compile(r"^Examples\n-+\n", re.M)


class MarkdownDocstrings(griffe.Extension):  # type: ignore[misc]
    """Rewrites every docstring before it is rendered."""

    def __init__(self) -> None:
        self._documented = documented()

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value, self._documented)


def documented() -> dict[str, str]:
    """Where the page has each object: by its name there, and by the last part of it."""
    paths = re.findall(r"^::: (\S+)$", _API.read_text(encoding="utf-8"), re.M)
    return {name: path for path in paths for name in (path, path.rpartition(".")[2])}


def as_markdown(text: str, links: dict[str, str]) -> str:
    """A docstring with formulas, references and examples as Markdown has them."""
    text = _MATH_BLOCK.sub(_display, text)
    text = _MATH.sub(lambda match: rf"\({' '.join(match[1].split())}\)", text)
    text = _ROLE.sub(lambda match: _reference(match, links), text)
    section = _EXAMPLES_SECTION.search(text)  # fenced by the parser of sections
    head = text if section is None else text[: section.start()]
    return _EXAMPLE.sub(_fenced, head) + text[len(head) :]


def _display(match: re.Match[str]) -> str:
    lines = [match["first"], *match["rest"].splitlines()]
    formula = "\n".join(line.strip() for line in lines if line.strip())  # a blank line ends it
    return textwrap.indent(f"\n\\[\n{formula}\n\\]\n", match["indent"])


def _fenced(match: re.Match[str]) -> str:
    return f"```pycon\n{match[0].rstrip()}\n```\n"


def _reference(match: re.Match[str], links: dict[str, str]) -> str:
    path = match["path"]
    name = path.rpartition(".")[2] if match["short"] else path
    target = links.get(path) or links.get(path.rpartition(".")[2])
    return f"[`{name}`][{target}]" if target else f"`{name}`"
