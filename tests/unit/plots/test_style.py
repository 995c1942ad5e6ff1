"""Looks that stay apart."""

from __future__ import annotations

from edgewise.plots.style import REFERENCE_LINES, lines_of


def test_six_methods_have_six_lines() -> None:
    """As many as the reproduction compares; paper and contrast once looked the same."""
    methods = ["paper", "union", "mixture", "adaptive", "contrast", "rivalwise"]
    lines = list(lines_of(methods).values())
    assert len(set(lines)) == len(methods)
    assert not set(lines) & set(REFERENCE_LINES)
