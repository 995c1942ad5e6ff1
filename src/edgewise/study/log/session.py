"""One process's hold on a study: where it stands, as far as this process has read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from edgewise.study.log.cursor import Cursor
from edgewise.study.log.events import Event
from edgewise.study.storage.base import Journal, Storage

Request = Callable[[Journal, Cursor], Event | Sequence[Event] | None]
"""Makes of a study as it stands the event to append, or several; None if there is nothing to do."""


class Session:
    """Reads what is new in a log before anything is said about the study, or done to it.

    Threads may share it.
    """

    def __init__(self, name: str, storage: Storage, cursor: Cursor) -> None:
        self.name = name
        self.storage = storage
        self.cursor = cursor
        self._lock = threading.RLock()

    def change(self, request: Request, *, durable: bool = True) -> Cursor:
        """Append what a request makes of the study as it stands, in one transaction."""
        with self._lock:
            with self.storage.writing(self.name, durable=durable) as journal:
                cursor = self.cursor.catch_up(journal)
                found = request(journal, cursor) or ()
                for event in found if isinstance(found, Sequence) else (found,):
                    cursor = cursor.record(journal, event, at=time.time())
            self.cursor = cursor  # only now it is on record
            return cursor

    @contextmanager
    def reading(self) -> Iterator[tuple[Journal, Cursor]]:
        """The log, and the study as it stands, in one transaction."""
        with self._lock, self.storage.reading(self.name) as journal:
            self.cursor = self.cursor.catch_up(journal)
            yield journal, self.cursor

    def present(self) -> Cursor:
        """The study as it stands."""
        with self.reading() as (_, cursor):
            return cursor
