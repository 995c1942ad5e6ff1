"""A study as a file of JSON Lines: one line per event, readable by anything, and back.

The first line names the format. Every event carries the checksum of its place in the chain of the
log (:mod:`edgewise.study.log.chain`), so that an edit is noticed. The last line counts the events
and carries the state: importing replays the log and compares, then goes on from the state's very
numbers, even where this machine's arithmetic rounds differently.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from edgewise import __version__
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Strategy
from edgewise.errors import DamagedSnapshot, EdgewiseError, InvalidFile, Unverified
from edgewise.formats.files import FilePath, is_file, opened
from edgewise.study.log.chain import START, Link, append_to, follow, unsealed
from edgewise.study.log.codec import pack, pack_line, unpack, unpack_line
from edgewise.study.log.cursor import Cursor, begin_at_first
from edgewise.study.log.decide import check_name
from edgewise.study.log.snapshot import (
    first_difference,
    snapshot_of,
    state_from_tree,
)
from edgewise.study.storage.base import Entry, Journal, Storage
from edgewise.writing import replacing_text

_FORMAT = 2
_WITHOUT_CHAIN = 1
"""The format before: lines without checksums."""

_Line = tuple[int, dict[str, Any]]
"""The number of a line, and what it says."""

Progress: TypeAlias = Callable[[int], None]
"""Is told how many events have been replayed."""


# -- writing ---------------------------------------------------------------------------------


def write_export(path: FilePath, name: str, journal: Journal, cursor: Cursor) -> None:
    """Write a study; the file appears when it is complete."""
    with replacing_text(path) as stream:
        stream.writelines(line + "\n" for line in _lines(name, journal, cursor))


def _lines(name: str, journal: Journal, cursor: Cursor) -> Iterator[str]:
    yield pack_line({"edgewise_study": _FORMAT, "name": name, "written_by": __version__})
    stored, link = START, START
    for entry in journal.read(0):
        stored = follow(stored, entry)
        tree = unpack(unsealed(entry.data)[1])
        _, link = append_to(link, _packed(entry, tree))
        head = {"sequence": entry.sequence, "round": entry.round, "kind": entry.kind}
        yield pack_line({**head, "at": entry.at, "event": tree, "chain": link.digest.hex()})
    snapshot = unpack(snapshot_of(cursor.state))
    chain = _snapshot_link(link, cursor.position, snapshot).digest.hex()
    yield pack_line({"events": cursor.position, "snapshot": snapshot, "chain": chain})


def _packed(entry: Entry, tree: dict[str, Any]) -> Entry:
    """The entry with its data packed anew: alike before it is written and after it is read."""
    return Entry(entry.sequence, entry.round, entry.kind, entry.at, pack(tree))


def _snapshot_link(last: Link, events: int, snapshot: dict[str, Any]) -> Link:
    return append_to(last, Entry(events + 1, 0, "snapshot", 0.0, pack(snapshot)))[1]


# -- reading ---------------------------------------------------------------------------------


def read_export(
    path: FilePath,
    storage: Storage,
    name: str | None,
    *,
    strategy: Strategy | None = None,
    stopping: StoppingRule | None = None,
    progress: Progress | None = None,
) -> tuple[str, Cursor]:
    """Add the study of a file to a storage, all of it or nothing; its name there, and its state."""
    file = Path(path)
    if not is_file(file):
        raise InvalidFile(f"{file}: there is no such file; pass one that export() wrote")
    with opened(file) as stream:
        lines = _parsed(file, stream)
        number, head = next(lines)
        chained = _is_chained(file, number, head)
        chosen = check_name(head.get("name") if name is None else name)
        with storage.creating(chosen) as journal:
            replay = _Replay(file, journal, chained, strategy, stopping)
            cursor = replay.run(lines, progress)
            cursor.keep_snapshot(journal)
    return chosen, cursor


def _is_chained(file: Path, number: int, head: dict[str, Any]) -> bool:
    """Whether the lines carry checksums, by the format that the first line names."""
    found = head.get("edgewise_study")
    if found == _WITHOUT_CHAIN:
        warnings.warn(
            f"{file}: the export is of format {found}, without checksums; its log was replayed and "
            "compared with its last line, but changed measurements cannot be noticed",
            Unverified,
            stacklevel=4,
        )
        return False
    if isinstance(found, int) and found > _FORMAT:
        by = head.get("written_by", "a newer version")
        raise InvalidFile(
            f"{file}: the export is of format {found}, written by edgewise {by}; this is edgewise "
            f"{__version__}, which reads formats up to {_FORMAT}: upgrade edgewise"
        )
    if found != _FORMAT:
        raise _wrong(file, number, f"does not begin an export of format {_FORMAT}")
    return True


class _Replay:
    """A log that is read line by line, folded, and appended to a journal."""

    def __init__(
        self,
        file: Path,
        journal: Journal,
        chained: bool,
        strategy: Strategy | None,
        stopping: StoppingRule | None,
    ) -> None:
        self._file, self._journal, self._chained = file, journal, chained
        self._methods = strategy, stopping
        self._link = START
        self._cursor: Cursor | None = None

    def run(self, lines: Iterator[_Line], progress: Progress | None) -> Cursor:
        """The cursor after the last line."""
        for count, (number, tree) in enumerate(lines):
            if "events" in tree:
                if tree["events"] != count or next(lines)[1] or self._cursor is None:
                    raise self._wrong(number, f"should end the export after {count} events")
                return self._with_snapshot(number, tree, self._cursor)
            entry = self._entry(number, tree, count + 1)
            self._cursor = self._after(number, entry)
            self._journal.append(entry)
            if progress is not None:
                progress(count + 1)
        raise AssertionError("the lines end with one that says nothing")

    def _entry(self, number: int, tree: dict[str, Any], sequence: int) -> Entry:
        """The entry that a line holds, with its place in the chain."""
        if tree.get("sequence") != sequence and "sequence" in tree:
            fact = f"is event {tree['sequence']}, where event {sequence} belongs"
            raise self._wrong(number, fact)
        try:
            at, kind, event = float(tree["at"]), str(tree["kind"]), dict(tree["event"])
            # format 1 did not write the round: all events but two have it among their fields
            round_ = int(tree["round"] if "round" in tree else event.get("round", 0))
            bare = Entry(int(tree["sequence"]), round_, kind, at, pack(event))
            entry, self._link = append_to(self._link, bare)
        except Exception as error:  # nothing is known of a line from outside
            raise self._wrong(number, "is not an event of a study") from error
        if self._chained and tree.get("chain") != self._link.digest.hex():
            raise self._wrong(number, "does not follow the line before (its checksum is wrong)")
        return entry

    def _after(self, number: int, entry: Entry) -> Cursor:
        """The state after one more entry."""
        try:
            if self._cursor is None:
                return begin_at_first(entry, *self._methods)
            return self._cursor.after([entry])
        except EdgewiseError as error:
            raise self._wrong(number, f"cannot be replayed ({error})") from error

    def _with_snapshot(self, number: int, tree: dict[str, Any], replayed: Cursor) -> Cursor:
        """The cursor with the numbers of the snapshot, if its log leads to them."""
        try:
            snapshot = dict(tree["snapshot"])
            state = state_from_tree(replayed.base, snapshot)
        except Exception as error:  # nothing is known of a line from outside
            self._say_replaced(number, str(error))
            return replayed
        if state is None:  # of another edgewise
            return replayed
        difference = first_difference(snapshot, replayed.state)
        if difference is not None:
            raise self._wrong(number, f"says what does not follow from the log: {difference}")
        link = _snapshot_link(self._link, replayed.position, snapshot)
        if self._chained and tree.get("chain") != link.digest.hex():
            self._say_replaced(number, "its checksum is wrong")
            return replayed
        return replayed.with_state(state)

    def _say_replaced(self, number: int, reason: str) -> None:
        warnings.warn(
            f"{self._file}, line {number}: the state cannot be used ({reason}); the log was "
            "replayed instead, and nothing is lost",
            DamagedSnapshot,
            stacklevel=6,
        )

    def _wrong(self, number: int, fact: str) -> InvalidFile:
        return _wrong(self._file, number, fact)


def _parsed(file: Path, stream: Iterator[str]) -> Iterator[_Line]:
    """Line by line; after the last, one that says nothing."""
    number = 0
    for number, line in enumerate(stream, start=1):
        try:
            tree = unpack_line(line)
        except ValueError as error:
            raise _wrong(file, number, "is not JSON as export() writes it") from error
        yield number, tree
    yield number + 1, {}


def _wrong(file: Path, number: int, fact: str) -> InvalidFile:
    return InvalidFile(
        f"{file}, line {number} {fact}; the file was cut off or edited, and nothing was imported: "
        "export the study again"
    )
