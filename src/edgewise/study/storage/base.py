"""What a study needs of a storage: append to a log, read it, keep one snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeGuard

from edgewise.base.choice import instead
from edgewise.errors import StudyExists, UnknownStudy


@dataclass(frozen=True)
class Entry:
    """One event as stored."""

    sequence: int
    """1, 2, 3, ... within the study."""
    round: int
    """The round it belongs to; 0 for the study as a whole."""
    kind: str
    at: float
    """When it was written: seconds since 1970, UTC."""
    data: bytes


class Journal(Protocol):
    """The log of one study, inside a transaction."""

    @property
    def length(self) -> int:
        """The sequence number of the last entry; 0 if there is none."""

    def read(self, after: int) -> Iterator[Entry]:
        """Entries after that sequence number, in order."""

    def read_rounds(self, first: int, last: int) -> Iterator[Entry]:
        """Entries of those rounds, round by round; within a round, in order."""

    def append(self, entry: Entry) -> None:
        """Add an entry with the next sequence number."""

    def snapshot(self) -> tuple[int, bytes] | None:
        """The snapshot, and the entry it was taken after."""

    def keep_snapshot(self, sequence: int, data: bytes) -> None:
        """Replace the snapshot. It is a cache: losing it loses nothing."""


class Storage(Protocol):
    """Holds the logs of studies.

    A transaction ends with its ``with`` block: everything in it is kept, or nothing if the block
    raises. Writers of a study wait for each other.
    """

    def names(self) -> list[str]:
        """The studies, in alphabetical order."""

    def creating(self, name: str) -> AbstractContextManager[Journal]:
        """A transaction that adds a study; StudyExists if there is one of that name."""

    def reading(self, name: str) -> AbstractContextManager[Journal]:
        """A transaction that changes nothing; UnknownStudy if there is none of that name."""

    def writing(self, name: str, *, durable: bool = True) -> AbstractContextManager[Journal]:
        """A transaction that appends, alone; UnknownStudy if there is none of that name.

        What is kept survives the death of the process; if ``durable``, also a loss of power.
        """


class TidyStorage(Storage, Protocol):
    """A storage whose studies can be renamed and deleted, which none need be."""

    def rename(self, name: str, new: str) -> None:
        """Call a study something else; UnknownStudy or StudyExists if that cannot be."""

    def delete(self, name: str) -> None:
        """Forget a study, its log included; UnknownStudy if there is none of that name."""


def is_tidy(storage: Storage) -> TypeGuard[TidyStorage]:
    """Whether its studies can be renamed and deleted."""
    return all(callable(getattr(storage, name, None)) for name in ("rename", "delete"))


def unknown_study(name: str, names: list[str], place: str) -> UnknownStudy:
    """The error about a name that no study of a storage has, with the nearest that one has."""
    remedy = instead(name, names) if names else "there are none: create it first"
    return UnknownStudy(f"no study is called {name!r} in {place}; {remedy}", name=name, names=names)


def study_exists(name: str, place: str) -> StudyExists:
    """The error about a name that is taken."""
    return StudyExists(
        f"there is a study called {name!r} in {place} already; load it, or choose another name"
    )
