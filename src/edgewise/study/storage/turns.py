"""Writers of one file in one process: first come, first served.

SQLite lets writers poll with growing pauses, so that under load whoever has waited longest asks
least often. Threads of this process queue up here instead, and at most one of them polls.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Crowded(Exception):
    """A turn has not come in time."""


class Turns:
    """A lock that is handed on in the order of arrival."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._line: deque[threading.Lock] = deque()

    @contextmanager
    def one(self, patience: float) -> Iterator[None]:
        """A turn; Crowded if it has not come after so many seconds."""
        ticket = self._ticket()
        try:
            if not ticket.acquire(timeout=patience):
                raise Crowded
            yield
        finally:
            self._hand_on(ticket)

    def _ticket(self) -> threading.Lock:
        """What to wait for: a lock that is open when it is one's turn."""
        ticket = threading.Lock()
        with self._guard:
            if self._line:
                ticket.acquire()
            self._line.append(ticket)
        return ticket

    def _hand_on(self, ticket: threading.Lock) -> None:
        """Leave the line, at its head or before the turn came; the next one at the head goes on."""
        with self._guard:
            if ticket not in self._line:  # of the process this one was forked from
                return
            was_first = self._line[0] is ticket
            self._line.remove(ticket)
            if was_first and self._line:
                self._line[0].release()

    def forget(self) -> None:
        """In a forked process: whoever had the turn, or waited for it, is not here."""
        self._guard = threading.Lock()
        self._line = deque()


_TURNS: weakref.WeakValueDictionary[Path, Turns] = weakref.WeakValueDictionary()
_GUARD = threading.Lock()


def turns_of(path: Path) -> Turns:
    """The turns of a file: the same for all that have opened it in this process."""
    with _GUARD:
        return _TURNS.setdefault(path.resolve(), Turns())


def _forget_all() -> None:
    global _GUARD
    _GUARD = threading.Lock()
    for turns in list(_TURNS.values()):
        turns.forget()


os.register_at_fork(after_in_child=_forget_all)
