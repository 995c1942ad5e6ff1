"""Build hooks: formulas become MathML, and pages kept at the project's root are included."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL
)
_ROLE = re.compile(r":math:`([^`]+)`")
_ROOT = Path(__file__).parent.parent
_INCLUDED = {
    "index.md": "README.md",
    "notation.md": "NOTATION.md",
    "glossary.md": "GLOSSARY.md",
    "architecture.md": "ARCHITECTURE.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "results.md": "benchmarks/RESULTS.md",
}


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Let files at the project's root be the single source of their pages."""
    source = _INCLUDED.get(page.file.src_uri)
    if source is None:
        return markdown
    text = (_ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
    for name, path in _INCLUDED.items():
        text = text.replace(f"]({path})", f"]({name})")
    return text


def on_page_content(content: str, **_: Any) -> str:
    """Render formulas without any script: browsers show MathML themselves."""
    content = _ROLE.sub(lambda match: convert(html.unescape(match[1])), content)
    return _FORMULA.sub(_mathml, content)


def _mathml(match: re.Match[str]) -> str:
    display = "block" if match["tag"] == "div" else "inline"
    return str(convert(html.unescape(match["latex"]), display=display))
