"""A storage that lives as long as its object: for notebooks, tests and simulations."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from edgewise.study.storage.base import Entry, study_exists, unknown_study

_PLACE = "this memory (which ends with its storage: pass storage=study.storage to share it)"


@dataclass
class _Log:
    entries: list[Entry] = field(default_factory=list)
    kept: tuple[int, bytes] | None = None

    @property
    def length(self) -> int:
        return len(self.entries)

    def read(self, after: int) -> Iterator[Entry]:
        return iter(self.entries[after:])

    def read_rounds(self, first: int, last: int) -> Iterator[Entry]:
        some = [entry for entry in self.entries if first <= entry.round <= last]
        return iter(sorted(some, key=lambda entry: (entry.round, entry.sequence)))

    def append(self, entry: Entry) -> None:
        self.entries.append(entry)

    def snapshot(self) -> tuple[int, bytes] | None:
        return self.kept

    def keep_snapshot(self, sequence: int, data: bytes) -> None:
        self.kept = (sequence, data)


class MemoryStorage:
    """Studies in this process's memory. Threads may share it."""

    def __init__(self) -> None:
        self._logs: dict[str, _Log] = {}
        self._lock = threading.RLock()

    def names(self) -> list[str]:
        """The studies, in alphabetical order."""
        return sorted(self._logs)

    @contextmanager
    def creating(self, name: str) -> Iterator[_Log]:
        """A transaction that adds a study."""
        with self._lock:
            if name in self._logs:
                raise study_exists(name, _PLACE)
            log = _Log()
            yield log
            self._logs[name] = log

    @contextmanager
    def reading(self, name: str) -> Iterator[_Log]:
        """A transaction that changes nothing."""
        with self._lock:
            yield self._find(name)

    @contextmanager
    def writing(self, name: str, *, durable: bool = True) -> Iterator[_Log]:  # noqa: ARG002
        """A transaction that appends."""
        with self._lock:
            log = self._find(name)
            length, kept = log.length, log.kept
            try:
                yield log
            except BaseException:
                del log.entries[length:]
                log.kept = kept
                raise

    def rename(self, name: str, new: str) -> None:
        """Call a study something else."""
        with self._lock:
            log = self._find(name)
            if new in self._logs:
                raise study_exists(new, _PLACE)
            self._logs[new] = log
            del self._logs[name]

    def delete(self, name: str) -> None:
        """Forget a study."""
        with self._lock:
            self._find(name)
            del self._logs[name]

    def _find(self, name: str) -> _Log:
        if name not in self._logs:
            raise unknown_study(name, self.names(), _PLACE)
        return self._logs[name]
