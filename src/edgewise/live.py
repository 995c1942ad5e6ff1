"""A line that is rewritten in place while work goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO, TypeVar

_T = TypeVar("_T")

_PATIENCE = 3.0
"""Seconds that a call may last before somebody who watches is told how far it is."""


class LiveLine:
    """On a terminal and in a notebook rewritten some times a second; elsewhere a line now and then.

    Nothing is shown before ``after`` seconds.
    """

    def __init__(self, stream: TextIO | None = None, *, after: float = 0.0) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._live = is_watched(self._stream)
        self.pause = 5.0 if not self._live else 0.1 if self._stream.isatty() else 0.5
        self._first = self._next = time.monotonic() + after
        self._last = ""

    def show(self, text: Callable[[], str], *, at_last: bool = False) -> None:
        """Write what ``text`` says, if it is time; ``at_last`` there is no later time."""
        now = time.monotonic()
        if now >= self._first and (at_last or now >= self._next):
            self._next = now + self.pause
            self._write(text())

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


def line_for(progress: bool | None) -> LiveLine | None:
    """None: for whoever watches a call that lasts; True: at once; False: none."""
    if progress is None:
        return LiveLine(after=_PATIENCE) if is_watched(sys.stderr) else None
    return LiveLine() if progress else None


def counted(
    work: Iterable[_T], describe: Callable[[list[_T]], str], *, progress: bool | None
) -> Iterator[_T]:
    """The results of ``work`` one by one, with a line that describes those so far."""
    line, done = line_for(progress), list[_T]()
    try:
        for result in work:
            done.append(result)
            if line is not None:
                line.show(lambda: describe(done))
            yield result
    finally:
        if line is not None:
            line.close()
