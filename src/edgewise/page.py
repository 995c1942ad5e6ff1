"""Pieces of HTML pages that stand alone: one file, nothing to fetch."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from edgewise.base.html import escape as escape
from edgewise.base.html import table as table

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
img { max-width: 100%; }
figcaption { color: #555; font-size: 0.9rem; }
figure { margin: 1.5rem 0; }
table { border-collapse: collapse; font-size: 0.9rem; margin: 0.7rem 0; }
th, td { padding: 0.25rem 0.7rem; border-bottom: 1px solid #ddd; text-align: left;
         vertical-align: top; }
.confirmed { color: #00664b; font-weight: 600; }
.not { color: #a33f00; font-weight: 600; }
.wide { overflow-x: auto; }
"""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole document; ``parts`` are HTML."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def figure(svg: bytes, *, alt: str, caption: str) -> str:
    """A picture inside the page."""
    image = base64.b64encode(svg).decode()
    return (
        f'<figure><img alt="{escape(alt)}" src="data:image/svg+xml;base64,{image}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text; ``kind`` is ``"confirmed"`` or ``"not"`` to colour it."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"
