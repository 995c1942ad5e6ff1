"""Why the first command takes long: kernels are compiled, once, and kept on disk."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_PAUSE = 8.0
"""Seconds between two lines about the same wait."""


@contextmanager
def compilation_announced(note: Callable[[str], None]) -> Iterator[None]:
    """Tell the user when kernels are compiled inside the block, and how many have been."""
    event: Any = importlib.import_module("numba.core.event")
    listener = _listener(event.Listener, note)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)


def _listener(base: Any, note: Callable[[str], None]) -> Any:
    """Numba is imported by the commands that need it, so its listener is made late."""

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
