"""Following a log: the state after the last entry read, and how to get further."""

from __future__ import annotations

from dataclasses import dataclass, replace

from edgewise.core.setting import Setting
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.errors import StorageError
from edgewise.study.log.codec import kind_of, pack, to_tree, unpack
from edgewise.study.log.events import Created, Event, round_of
from edgewise.study.log.fold import StudyState, fold, setting_of, start
from edgewise.study.log.history import event_of
from edgewise.study.log.recipe import rebuild
from edgewise.study.storage.base import Entry, Journal

SNAPSHOT_EVERY = 64
"""A snapshot is kept after every so many entries: nobody replays more."""

_FORMAT = 1
"""Of snapshots. One that this edgewise cannot read is ignored, and the log replayed."""


@dataclass(frozen=True, eq=False)
class Cursor:
    """A study as of an entry of its log."""

    base: Setting
    """As created; see :attr:`setting` for the setting as it stands."""
    created: Created
    state: StudyState
    position: int
    """Sequence number of the last entry that is part of the state."""

    @classmethod
    def first(cls, base: Setting, created: Created) -> Cursor:
        """Right after creation."""
        return cls(base, created, start(base, created), 1)

    @property
    def setting(self) -> Setting:
        """The setting as it stands."""
        return setting_of(self.base, self.state)

    def catch_up(self, journal: Journal) -> Cursor:
        """After all entries of the log; from the snapshot, if many are new."""
        length = journal.length
        cursor = self
        if length < self.position:  # the storage was put back to an earlier state
            cursor = Cursor.first(self.base, self.created)
        if length - cursor.position > SNAPSHOT_EVERY:
            cursor = cursor.at_snapshot(journal)
        if length == cursor.position:
            return cursor
        state, position = cursor.state, cursor.position
        for entry in journal.read(cursor.position):
            if entry.sequence != position + 1:
                raise StorageError(
                    f"entry {position + 1} of the log is missing, so the storage is damaged; "
                    "restore it from a backup or an export"
                )
            state, position = fold(self.base, state, event_of(entry)), entry.sequence
        return replace(cursor, state=state, position=position)

    def record(self, journal: Journal, event: Event, *, at: float) -> Cursor:
        """Append an event; now and then a snapshot."""
        after = replace(self, state=fold(self.base, self.state, event), position=self.position + 1)
        journal.append(entry_of(event, after.position, at))
        if after.position % SNAPSHOT_EVERY == 0:
            journal.keep_snapshot(after.position, snapshot_of(after.state))
        return after

    def at_snapshot(self, journal: Journal) -> Cursor:
        """At the snapshot of the log, if that is further on."""
        kept = journal.snapshot()
        if kept is None or kept[0] <= self.position:
            return self
        state = state_of(kept[1])
        return self if state is None else replace(self, state=state, position=kept[0])


def begin(journal: Journal, strategy: Strategy | None, stopping: StoppingRule | None) -> Cursor:
    """The cursor at the snapshot of a log, or else after its first entry."""
    first = next(journal.read_rounds(0, 0), None)
    created = None if first is None else event_of(first)
    if not isinstance(created, Created):
        raise StorageError(
            "the log does not begin with the creation of the study, so the storage is damaged; "
            "restore it from a backup or an export"
        )
    base = rebuild(created, strategy=strategy, stopping=stopping)
    return Cursor.first(base, created).at_snapshot(journal)


def entry_of(event: Event, sequence: int, at: float) -> Entry:
    """An event as an entry of the log."""
    return Entry(sequence, round_of(event), kind_of(event), at, pack(to_tree(event)))


def snapshot_of(state: StudyState) -> bytes:
    """A state as bytes."""
    return pack({"format": _FORMAT, "state": state.to_tree()})


def state_of(snapshot: bytes) -> StudyState | None:
    """The inverse of :func:`snapshot_of`; None if it was written by another edgewise."""
    tree = unpack(snapshot)
    return StudyState.from_tree(tree["state"]) if tree.get("format") == _FORMAT else None
