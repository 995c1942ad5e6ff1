"""Values as small pieces of HTML, for notebooks and pages: text is escaped, nothing is fetched."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape as _escape

from edgewise.base.wording import harmless

_SIZE = 220
"""Width and height of a drawing, in pixels."""


def escape(text: str) -> str:
    """A text as HTML shows it: no markup, and nothing that turns it around."""
    return _escape(harmless(text, keep="\n\t"))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts, as wide as it needs."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows
    )
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def summary(headline: str, rows: Iterable[tuple[str, str]]) -> str:
    """A headline, and facts by name below it.

    >>> summary("Certified", [("best pair", "(0, 0)")])
    '<p><strong>Certified</strong></p><table><tr><th>best pair</th><td>(0, 0)</td></tr></table>'
    """
    body = "".join(
        f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows
    )
    return f"<p><strong>{escape(headline)}</strong></p>" + (f"<table>{body}</table>" * bool(body))


def ring(n_nodes: int, edges: Iterable[tuple[int, int]], names: Sequence[str]) -> str:
    """A graph with its nodes on a circle, as SVG; a node's name shows under the pointer."""
    radius, middle = 0.42 * _SIZE, _SIZE / 2
    turns = [2 * math.pi * i / max(n_nodes, 1) for i in range(n_nodes)]
    spots = [(middle + radius * math.sin(t), middle - radius * math.cos(t)) for t in turns]
    lines = "".join(
        f'<line x1="{spots[i][0]:.1f}" y1="{spots[i][1]:.1f}" x2="{spots[j][0]:.1f}" '
        f'y2="{spots[j][1]:.1f}" stroke="#8a8a8a"/>'
        for i, j in edges
    )
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#0072B2"><title>{escape(name)}</title>'
        "</circle>"
        for (x, y), name in zip(spots, names, strict=True)
    )
    return f'<svg width="{_SIZE}" height="{_SIZE}" role="img">{lines}{dots}</svg>'
