"""A live line on standard error while rounds go by."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from edgewise.core.learner import Learner
from edgewise.live import LiveLine, line_for

_WIDTH = 24


class ProgressLine:
    """Shows rounds, the leading pair, and how far the evidence against its closest rival is.

    ``line`` says what is shown; the default is :func:`describe`.
    """

    def __init__(
        self,
        stream: TextIO | LiveLine | None = None,
        line: Callable[[Learner], str] | None = None,
    ) -> None:
        self._describe = describe if line is None else line
        self._line = stream if isinstance(stream, LiveLine) else LiveLine(stream)

    def __call__(self, learner: Learner) -> None:
        """Redraw if it is time, or if the learner has just stopped."""
        self._line.show(lambda: self._describe(learner), at_last=learner.verdict.stop)

    def close(self) -> None:
        """Leave the cursor on a fresh line."""
        self._line.close()


def observer_for(
    progress: bool | Callable[[Learner], None] | None,
) -> Callable[[Learner], None] | None:
    """What to call after every round; by default a line for whoever watches a call that lasts."""
    if callable(progress):
        return progress
    line = line_for(progress)
    return None if line is None else ProgressLine(line)


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
