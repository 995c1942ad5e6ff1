"""Following a log: the state after the last entry read, and how to get further."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, takewhile

from edgewise.core.setting import Setting
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.errors import DamagedSnapshot, EdgewiseError, StorageError, StudyReplaced
from edgewise.study.log.chain import START, Link, append_to, follow, is_at, sealed, unsealed
from edgewise.study.log.codec import kind_of, pack, to_tree
from edgewise.study.log.events import Created, Event, round_of
from edgewise.study.log.fold import StudyState, fold, setting_of, start
from edgewise.study.log.history import created_of, event_of
from edgewise.study.log.recipe import rebuild
from edgewise.study.log.snapshot import snapshot_of, state_of
from edgewise.study.storage.base import Entry, Journal

SNAPSHOT_EVERY = 64
"""A snapshot is kept after every so many entries: nobody replays more."""


@dataclass(frozen=True, eq=False)
class Cursor:
    """A study as of an entry of its log: how many there are, and the checksum of the last."""

    base: Setting
    """As created; see :attr:`setting` for the setting as it stands."""
    created: Created
    state: StudyState
    position: int
    """Sequence number of the last entry that is part of the state."""
    link: Link
    """The chain up to that entry."""
    identity: str
    """Of the study: the checksum of its creation, which no other study has."""
    lacks_snapshot: bool = False
    """Whether the snapshot of the log was found to be damaged."""

    @classmethod
    def first(cls, base: Setting, created: Created, link: Link) -> Cursor:
        """Right after creation."""
        return cls(base, created, start(base, created), 1, link, link.digest.hex())

    @property
    def setting(self) -> Setting:
        """The setting as it stands."""
        return setting_of(self.base, self.state)

    def catch_up(self, journal: Journal) -> Cursor:
        """After all entries of the log; from the snapshot, if many are new."""
        entries = journal.read(self.position - 1)
        self._require_same_log(next(entries, None))
        new = next(entries, None)
        if new is None:
            return self
        if journal.length - self.position > SNAPSHOT_EVERY:
            cursor = self.at_snapshot(journal)
            return cursor.after(journal.read(cursor.position))
        return self.after(chain([new], entries))

    def after(self, entries: Iterable[Entry]) -> Cursor:
        """After the entries that follow."""
        state, position, link = self.state, self.position, self.link
        for entry in entries:
            if entry.sequence != position + 1:
                raise StorageError(
                    f"entry {position + 1} of the log is missing, so the storage is damaged; "
                    "restore it from a backup or an export"
                )
            link = follow(link, entry)
            state, position = fold(self.base, state, event_of(entry, self.base)), entry.sequence
        return replace(self, state=state, position=position, link=link)

    def with_state(self, state: StudyState) -> Cursor:
        """The same entry, with numbers as another machine computed them."""
        return replace(self, state=state)

    def record(self, journal: Journal, event: Event, *, at: float) -> Cursor:
        """Append an event; now and then a snapshot."""
        state, position = fold(self.base, self.state, event), self.position + 1
        entry, link = append_to(self.link, entry_of(event, position, at))
        journal.append(entry)
        after = replace(self, state=state, position=position, link=link)
        if position % SNAPSHOT_EVERY and not self.lacks_snapshot:
            return after
        after.keep_snapshot(journal)
        return replace(after, lacks_snapshot=False)

    def keep_snapshot(self, journal: Journal) -> None:
        """Write the snapshot of the log anew."""
        journal.keep_snapshot(self.position, sealed(self.link.digest, snapshot_of(self.state)))

    def at_snapshot(self, journal: Journal) -> Cursor:
        """At the snapshot of the log, if that is further on and belongs to it."""
        kept = journal.snapshot()
        if kept is None or kept[0] <= self.position:
            return self
        position, data = kept
        try:
            digest, body = unsealed(data)
            link = self._link_at(journal, position)
            if digest not in (None, link.digest):
                raise StorageError("it was taken of another log")
            state = state_of(self.base, body)
        except EdgewiseError as error:
            warnings.warn(
                f"the snapshot after entry {position} cannot be used ({error}); the log was read "
                "instead, and the next entry brings a new snapshot",
                DamagedSnapshot,
                stacklevel=2,
            )
            return replace(self, lacks_snapshot=True)
        if state is None:  # of another edgewise
            return self
        return replace(self, state=state, position=position, link=link)

    def _link_at(self, journal: Journal, position: int) -> Link:
        """The chain at an entry further on; computed where entries do not carry it."""
        entry = next(journal.read(position - 1), None)
        if entry is None or entry.sequence != position:
            raise StorageError(f"the log has no entry {position}")
        stored, _ = unsealed(entry.data)
        if stored is not None:
            return Link(stored, entry.data[: len(self.link.head)])
        link = self.link
        until = takewhile(lambda one: one.sequence <= position, journal.read(self.position))
        for one in until:
            link = follow(link, one)
        return link

    def _require_same_log(self, entry: Entry | None) -> None:
        """Raise unless the log still has the entry that was read last."""
        if entry is None or entry.sequence != self.position or not is_at(self.link, entry):
            fact = "is gone" if entry is None else "is another"
            raise StudyReplaced(
                f"entry {self.position} of the log {fact} than this process has read: the storage "
                "was put back to an earlier state, or the study created anew; nothing was "
                "recorded: load the study again"
            )


def begin(journal: Journal, strategy: Strategy | None, stopping: StoppingRule | None) -> Cursor:
    """The cursor at the snapshot of a log, or else after its first entry."""
    first = next(journal.read_rounds(0, 0), None)
    return begin_at_first(first, strategy, stopping).at_snapshot(journal)


def begin_at_first(
    entry: Entry | None, strategy: Strategy | None, stopping: StoppingRule | None
) -> Cursor:
    """The cursor after the first entry of a log."""
    if entry is None or entry.sequence != 1:
        raise StorageError(
            "the log does not begin with the creation of the study, so the storage is damaged; "
            "restore it from a backup or an export"
        )
    created = created_of(entry)
    base = rebuild(created, strategy=strategy, stopping=stopping)
    return Cursor.first(base, created, follow(START, entry))


def begin_log(base: Setting, created: Created, at: float) -> tuple[Entry, Cursor]:
    """The first entry of a new log, and the cursor after it."""
    entry, link = append_to(START, entry_of(created, 1, at))
    return entry, Cursor.first(base, created, link)


def entry_of(event: Event, sequence: int, at: float) -> Entry:
    """An event as an entry that has no place in a chain yet."""
    return Entry(sequence, round_of(event), kind_of(event), at, pack(to_tree(event)))
