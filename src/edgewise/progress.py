"""A live line on standard error while rounds go by."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

from edgewise.core.learner import Learner

_WIDTH = 24


class ProgressLine:
    """Shows rounds, the leading pair, and how far the evidence against its closest rival is.

    On a terminal the line is rewritten in place, about ten times a second; elsewhere a new line
    appears every few seconds. ``line`` says what is shown; the default is :func:`describe`.
    """

    def __init__(
        self, stream: TextIO | None = None, line: Callable[[Learner], str] | None = None
    ) -> None:
        self._describe = describe if line is None else line
        self._stream = sys.stderr if stream is None else stream
        self._live = self._stream.isatty()
        self._pause = 0.1 if self._live else 5.0
        self._next = time.monotonic()
        self._last = ""

    def __call__(self, learner: Learner) -> None:
        """Redraw if it is time, or if the learner has just stopped."""
        if learner.verdict.stop or time.monotonic() >= self._next:
            self._next = time.monotonic() + self._pause
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
