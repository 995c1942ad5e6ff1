"""Colours, markers and lines that stay apart for colour-blind readers and in grey print."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from edgewise.base.wording import harmless

Dashes: TypeAlias = tuple[float, tuple[float, ...]]
Line: TypeAlias = Literal["-", "--", ":", "-."] | Dashes

# Okabe and Ito, "Color Universal Design", 2008; its yellow is left out: too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES: tuple[Line, ...] = (
    "-",
    "--",
    ":",
    "-.",
    (0.0, (5.0, 1.0, 1.0, 1.0, 1.0, 1.0)),
    (0.0, (3.0, 4.0)),
)
REFERENCE = "#666666"
REFERENCE_LINES = ((0.0, (8.0, 2.5)), (0.0, (2.0, 1.0)), (0.0, (12.0, 2.0, 2.0, 2.0)))
"""Dashes no group has: references stay apart in grey print too."""

_FIXED = {"circle": 0, "star": 1, "complete": 2, "matching": 3}
"""The paper's families look the same in every picture."""


def label_text(label: str) -> str:
    """A label of the user's as a picture shows it: never a formula, whatever it looks like."""
    return harmless(label).replace("$", r"\$")


def look_of(labels: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of every label; the paper's graph families keep theirs."""
    distinct = list(dict.fromkeys(labels))
    taken = {_FIXED[label] for label in distinct if label in _FIXED}
    free = [i for i in range(len(COLOURS)) if i not in taken] or list(range(len(COLOURS)))
    looks, used = {}, 0
    for label in distinct:
        if label in _FIXED:
            slot = _FIXED[label]
        else:
            slot, used = free[used % len(free)], used + 1
        looks[label] = COLOURS[slot], MARKERS[slot]
    return looks


def lines_of(groups: Iterable[str]) -> dict[str, Line]:
    """Line style of every group, in order of appearance; curves without a group are solid."""
    distinct = sorted(dict.fromkeys(groups), key=bool)
    return {group: LINES[i % len(LINES)] for i, group in enumerate(distinct)}
