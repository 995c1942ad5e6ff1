"""A study as a file of JSON Lines: one line per event, readable by anything, and back.

The first line names the format, the last counts the events and carries the state, so that another
machine goes on from the very same numbers, even where its arithmetic rounds differently.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from edgewise.errors import InvalidFile, StorageError
from edgewise.formats.files import FilePath, opened
from edgewise.study.log.codec import from_tree, pack, pack_line, to_tree, unpack, unpack_line
from edgewise.study.log.cursor import Cursor, entry_of, snapshot_of
from edgewise.study.log.history import event_of
from edgewise.study.storage.base import Journal, Storage

_FORMAT = 1

_Line = tuple[int, dict[str, Any]]
"""The number of a line, and what it says."""


def write_export(path: FilePath, name: str, journal: Journal, cursor: Cursor) -> None:
    """Write a study; the file appears when it is complete."""
    file = Path(path)
    draft = file.with_name(f"{file.name}.partial")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(line + "\n" for line in _lines(name, journal, cursor))
        draft.replace(file)
    except StorageError:
        draft.unlink()
        raise
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InvalidFile(
            f"{file}: it cannot be written ({error.strerror}); check the folder and the disk"
        ) from error


def _lines(name: str, journal: Journal, cursor: Cursor) -> Iterator[str]:
    yield pack_line({"edgewise_study": _FORMAT, "name": name})
    for entry in journal.read(0):
        head = {"sequence": entry.sequence, "kind": entry.kind, "at": entry.at}
        yield pack_line({**head, "event": to_tree(event_of(entry))})
    yield pack_line({"events": cursor.position, "snapshot": unpack(snapshot_of(cursor.state))})


def read_export(path: FilePath, storage: Storage, name: str | None) -> str:
    """Add the study of a file to a storage, all of it or nothing; the name it has there."""
    file = Path(path)
    if not file.is_file():
        raise InvalidFile(f"{file}: there is no such file; pass one that export() wrote")
    with opened(file) as stream:
        lines = _parsed(file, stream)
        number, head = next(lines)
        if head.get("edgewise_study") != _FORMAT:
            raise _wrong(file, number, f"does not begin an export of format {_FORMAT}")
        chosen = str(head.get("name")) if name is None else name
        with storage.creating(chosen) as journal:
            _copy(file, lines, journal)
    return chosen


def _copy(file: Path, lines: Iterator[_Line], journal: Journal) -> None:
    """Append all events, and the snapshot of the last line."""
    for count, (number, tree) in enumerate(lines):
        if "events" in tree:
            if tree["events"] != count or next(lines)[1]:
                raise _wrong(file, number, f"should end the export after {count} events")
            journal.keep_snapshot(count, pack(tree["snapshot"]))
            return
        try:
            event = from_tree(tree["kind"], tree["event"])
            at, sequence = float(tree["at"]), tree["sequence"]
        except (KeyError, TypeError, ValueError) as error:
            raise _wrong(file, number, "is not an event of a study") from error
        if sequence != count + 1:
            raise _wrong(file, number, f"is event {sequence}, where event {count + 1} belongs")
        journal.append(entry_of(event, sequence, at))


def _parsed(file: Path, stream: Iterator[str]) -> Iterator[_Line]:
    """Line by line; after the last, one that says nothing."""
    number = 0
    for number, line in enumerate(stream, start=1):
        try:
            tree = unpack_line(line)
        except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            raise _wrong(file, number, "is not JSON as export() writes it") from error
        yield number, tree
    yield number + 1, {}


def _wrong(file: Path, number: int, fact: str) -> InvalidFile:
    return InvalidFile(
        f"{file}, line {number} {fact}; the file was cut off or edited, and nothing was imported: "
        "export the study again"
    )
