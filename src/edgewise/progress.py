"""A live line on standard error while rounds go by."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from edgewise.core.learner import Learner

_WIDTH = 24
_PATIENCE = 3.0
"""Seconds that a call may last before somebody who watches is told how far it is."""


class ProgressLine:
    """Shows rounds, the leading pair, and how far the evidence against its closest rival is.

    On a terminal and in a notebook the line is rewritten in place, some times a second; elsewhere
    a new line appears every few seconds. ``line`` says what is shown; the default is
    :func:`describe`. Nothing is shown before ``after`` seconds.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        line: Callable[[Learner], str] | None = None,
        *,
        after: float = 0.0,
    ) -> None:
        self._describe = describe if line is None else line
        self._stream = sys.stderr if stream is None else stream
        self._live = is_watched(self._stream)
        self._pause = 5.0 if not self._live else 0.1 if self._stream.isatty() else 0.5
        self._first = self._next = time.monotonic() + after
        self._last = ""

    def __call__(self, learner: Learner) -> None:
        """Redraw if it is time, or if the learner has just stopped."""
        now = time.monotonic()
        if now >= self._first and (learner.verdict.stop or now >= self._next):
            self._next = now + self._pause
            self._write(self._describe(learner))

    def close(self) -> None:
        """Leave the cursor on a fresh line."""
        if self._live and self._last:
            self._stream.write("\n")
            self._stream.flush()

    def _write(self, text: str) -> None:
        padding = " " * max(0, len(self._last) - len(text))
        self._stream.write(f"\r{text}{padding}" if self._live else f"{text}\n")
        self._stream.flush()
        self._last = text


def is_watched(stream: TextIO) -> bool:
    """Whether somebody sees a line change in place: on a terminal, or below a notebook's cell."""
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


def observer_for(
    progress: bool | Callable[[Learner], None] | None,
) -> Callable[[Learner], None] | None:
    """What to call after every round; by default a line for whoever watches a call that lasts."""
    if progress is None:
        return ProgressLine(after=_PATIENCE) if is_watched(sys.stderr) else None
    if progress is True:
        return ProgressLine()
    return progress or None


def describe(learner: Learner) -> str:
    """One line: bar, percentage, round, leader, estimate of the rounds still needed."""
    verdict = learner.verdict
    fraction = min(verdict.progress, 1.0)
    filled = round(_WIDTH * fraction)
    bar = "#" * filled + "." * (_WIDTH - filled)
    leader = " ".join(f"({k}, {l})" for k, l in verdict.pairs) or "not estimable yet"
    text = f"[{bar}] {fraction:4.0%}  round {learner.rounds}  leader {leader}"
    if not verdict.stop and fraction > 0.05:
        text += f"  about {max(1, round(learner.rounds * (1 / fraction - 1)))} more"
    return text
