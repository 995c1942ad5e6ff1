"""Why the first command takes long: kernels are compiled, once, and kept on disk."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

_PAUSE = 8.0
"""Seconds between two lines about the same wait."""


class Count(Protocol):
    """What has been compiled."""

    compiled: int


def compilation_announced(note: Callable[[str], None]) -> AbstractContextManager[Count]:
    """Tell the user when kernels are compiled inside the block, and how many have been."""
    return _listening(lambda base: _announcing(base, note))


def compilation_counted() -> AbstractContextManager[Count]:
    """Count the kernels that are compiled inside the block."""
    return _listening(_counting)


@contextmanager
def _listening(made: Callable[[Any], Any]) -> Iterator[Count]:
    """Numba is imported by the commands that need it, so its listener is made late."""
    event: Any = importlib.import_module("numba.core.event")
    listener = made(event.Listener)
    event.register("numba:compile", listener)
    try:
        yield listener
    finally:
        event.unregister("numba:compile", listener)


def _counting(base: Any) -> Any:
    class Counting(base):  # type: ignore[misc]
        def __init__(self) -> None:
            self.compiled = 0

        def on_start(self, event: Any) -> None:
            pass

        def on_end(self, event: Any) -> None:  # noqa: ARG002
            self.compiled += 1

    return Counting()


def _announcing(base: Any, note: Callable[[str], None]) -> Any:
    class Announcing(base):  # type: ignore[misc]
        def __init__(self) -> None:
            self.compiled, self.depth, self.next = 0, 0, 0.0

        def on_start(self, event: Any) -> None:  # noqa: ARG002
            if self.compiled == self.depth == 0:
                note("compiling kernels, once: up to a minute; later commands start at once")
                self.next = time.monotonic() + _PAUSE
            self.depth += 1

        def on_end(self, event: Any) -> None:  # noqa: ARG002
            self.depth, self.compiled = self.depth - 1, self.compiled + 1
            if time.monotonic() >= self.next:
                note(f"{self.compiled} kernel{'s' * (self.compiled > 1)} compiled so far")
                self.next = time.monotonic() + _PAUSE

    return Announcing()
