"""The gallery shows every kind of figure, and its lines draw the pictures it shows."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

import edgewise as ew

_DOCS = Path(__file__).parents[3] / "docs"
_TEXT = (_DOCS / "gallery.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SHOWN = re.findall(r"!\[[^\]]+\]\(img/([\w-]+\.png)\)", _TEXT)
PICTURES = os.environ.get("EDGEWISE_SCREENSHOTS")
"""Where to put the pictures: ``make screenshots`` sets it."""

_ELSEWHERE = {"figure_curves", "figure_farm", "figure_graph", "figure_radio"}
"""Shown on the pages of the reproduction, the wind farm and the radio network, or by another."""


def test_its_lines_draw_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(PICTURES).absolute() if PICTURES else tmp_path
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    for block in _BLOCK.findall(_TEXT):
        exec(compile(block, "gallery.md", "exec", dont_inherit=True), names)
    assert all((folder / name).stat().st_size > 5_000 for name in _SHOWN)
    assert len(_SHOWN) == len(set(_SHOWN)) == _TEXT.count("ew.plots.save(") - 1


def test_the_pictures_are_in_the_documentation() -> None:
    assert [name for name in _SHOWN if not (_DOCS / "img" / name).exists()] == []


def test_it_shows_every_kind_of_figure() -> None:
    figures = {name for name in dir(ew.plots) if name.startswith("figure_")} - _ELSEWHERE
    assert [name for name in sorted(figures) if f"ew.plots.{name}(" not in _TEXT] == []
