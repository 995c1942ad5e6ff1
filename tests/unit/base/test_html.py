"""What notebooks show."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.base.html import ring, summary, table


def parsed(html: str) -> ET.Element:
    """As a browser would: every tag closed, every text escaped."""
    return ET.fromstring(f"<div>{html}</div>")


PROBLEM = ew.Problem(ew.Graph.from_edges([("<b>", "&"), ("&", "c")]), np.eye(2), noise=0.5)


def _report() -> ew.Report:
    environment = ew.BilinearEnvironment(PROBLEM, np.eye(2), rng=0)
    return ew.identify(PROBLEM, environment, max_rounds=3, rng=0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_report, "Budget spent after 3 rounds"),
        (lambda: PROBLEM.graph, "n_nodes=3"),
        (lambda: ew.Graph.circle(n_nodes=100), "n_nodes=100"),
        (lambda: ew.g_optimal(np.eye(3)), "0.3333"),
        (lambda: ew.allocate_table(PROBLEM.graph, np.diag([1.0, 2.0])), "proved optimal"),
        (lambda: ew.allocate_table(ew.Graph.circle(n_nodes=40), np.eye(2)), "(10 more)"),
        (lambda: ew.Study.create("a<i>", PROBLEM, storage="memory", rng=0).status(), "a<i>"),
    ],
    ids=["report", "graph", "large graph", "design", "allocation", "large allocation", "status"],
)
def test_values_show_themselves(make: Callable[[], Any], words: str) -> None:
    html = make()._repr_html_()
    assert words in "".join(parsed(html).itertext())


def test_small_graphs_are_drawn_with_escaped_names() -> None:
    drawing = parsed(PROBLEM.graph._repr_html_()).find("svg")
    assert drawing is not None
    assert len(drawing.findall("line")) == 2
    assert [circle.findtext("title") for circle in drawing.findall("circle")] == ["<b>", "&", "c"]
    assert parsed(ew.Graph.circle(n_nodes=61)._repr_html_()).find("svg") is None


def test_pieces_escape_their_texts() -> None:
    for html in (table(["<a>"], [["<b>"]]), summary("<a>", [("<b>", "&")]), ring(1, [], ["<a>"])):
        assert "<a>" not in html
        assert "<b>" not in html
        parsed(html)
