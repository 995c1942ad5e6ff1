"""The chain of a log: every entry carries a checksum over itself and the one before.

So an entry that was changed, moved, doubled or left out is noticed, and two processes can tell
whether they follow the same log. It protects from accidents, not from a forger who writes all
checksums anew. Entries of before format 2 carry none: theirs are computed, and an entry that
follows them vouches for all of them.
"""

from __future__ import annotations

import struct
import zlib
from hashlib import sha256
from typing import NamedTuple

from edgewise.errors import StorageError
from edgewise.study.storage.base import Entry

FORMAT = 2
"""Of entries and snapshots in a database; the first had no chain."""

_MARK = b"\xedew"
_DIGEST = 32
_HEAD = len(_MARK) + 1 + _DIGEST
_NUMBERS = struct.Struct("<QQd")
_CHECKSUM = struct.Struct("<I")


class Link(NamedTuple):
    """Where a log stands: the checksum of its last entry, and how that entry's data begin."""

    digest: bytes
    head: bytes = b""

    @property
    def is_stored(self) -> bool:
        """Whether the entry carries its checksum."""
        return self.head.startswith(_MARK)


START = Link(bytes(_DIGEST))
"""Before the first entry."""


def sealed(digest: bytes, body: bytes) -> bytes:
    """A body with the checksum of the entry it belongs to."""
    return _MARK + bytes([FORMAT]) + digest + body


def unsealed(data: bytes) -> tuple[bytes | None, bytes]:
    """Checksum and body; None where there is none, as was usual before format 2."""
    if not data.startswith(_MARK) or len(data) < _HEAD or _is_of_before(data):
        return None, data
    if data[len(_MARK)] != FORMAT:
        raise StorageError(
            f"the data are of format {data[len(_MARK)]}, and this edgewise reads formats up to "
            f"{FORMAT}; nothing was changed: upgrade edgewise"
        )
    return data[_HEAD - _DIGEST : _HEAD], data[_HEAD:]


def _is_of_before(data: bytes) -> bool:
    """Whether data without a chain begin like data with one, by chance: their own sum tells."""
    rest = memoryview(data)[_CHECKSUM.size :]
    return data[: _CHECKSUM.size] == _CHECKSUM.pack(zlib.crc32(rest))


def append_to(before: Link, entry: Entry) -> tuple[Entry, Link]:
    """An entry with its place in the chain, and where the log stands then."""
    digest = _digest(before, entry, entry.data)
    data = sealed(digest, entry.data)
    placed = Entry(entry.sequence, entry.round, entry.kind, entry.at, data)
    return placed, Link(digest, data[:_HEAD])


def follow(before: Link, entry: Entry) -> Link:
    """Where the log stands after an entry that was read; StorageError if it does not belong."""
    stored, body = unsealed(entry.data)
    digest = _digest(before, entry, body)
    if stored != digest and (stored is not None or before.is_stored):
        raise StorageError(
            f"entry {entry.sequence} of the log does not follow the one before (its checksum is "
            "wrong), so it was changed or moved; restore the storage from a backup or an export"
        )
    return Link(digest, entry.data[:_HEAD])


def is_at(link: Link, entry: Entry) -> bool:
    """Whether an entry is the one that a log stood at."""
    return entry.data[:_HEAD] == link.head


def _digest(before: Link, entry: Entry, body: bytes) -> bytes:
    numbers = _NUMBERS.pack(entry.sequence, entry.round, entry.at)
    kind = entry.kind.encode()
    return sha256(b"".join([before.digest, numbers, bytes([len(kind)]), kind, body])).digest()
