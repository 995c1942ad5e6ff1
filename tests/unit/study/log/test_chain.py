"""An entry that was changed, moved or left out does not fit the chain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgewise.errors import StorageError
from edgewise.study.log.chain import START, Link, append_to, follow, is_at, unsealed
from edgewise.study.log.codec import pack
from edgewise.study.storage.base import Entry


def log(length: int, *, old: int = 0) -> list[Entry]:
    """A log whose first entries are of before format 2."""
    link, entries = START, []
    for number in range(1, length + 1):
        bare = Entry(number, number // 2, "told", 0.5 * number, pack({"number": number}))
        if number <= old:
            entry, link = bare, follow(link, bare)
        else:
            entry, link = append_to(link, bare)
        entries.append(entry)
    return entries


def read(entries: list[Entry]) -> Link:
    link = START
    for entry in entries:
        link = follow(link, entry)
    return link


@pytest.mark.parametrize("old", [0, 1, 4, 6])
def test_a_whole_log_is_accepted_whoever_wrote_it(old: int) -> None:
    entries = log(6, old=old)
    assert is_at(read(entries), entries[-1])
    assert not is_at(read(entries), entries[-2])
    assert [unsealed(entry.data)[0] is None for entry in entries] == [k < old for k in range(6)]


CHANGES: dict[str, Any] = {
    "sequence": 9,
    "round": 9,
    "kind": "closed",
    "at": 9.0,
    "data": pack({"number": 9}),
}


@pytest.mark.parametrize("old", [0, 4])
@pytest.mark.parametrize("field", CHANGES)
def test_a_changed_entry_is_noticed_at_the_latest_by_the_next_with_a_checksum(
    field: str, old: int
) -> None:
    entries = log(6, old=old)
    entries[2] = replace(entries[2], **{field: CHANGES[field]})
    with pytest.raises(StorageError, match="does not follow the one before"):
        read(entries)


@given(st.permutations(range(6)), st.integers(0, 5))
def test_moved_and_lost_entries_are_noticed(order: list[int], kept: int) -> None:
    entries = log(6)
    chosen = [entries[k] for k in order[: kept + 1]]
    if chosen == entries[: kept + 1]:
        read(chosen)
        return
    with pytest.raises(StorageError, match="does not follow the one before"):
        read(chosen)


def test_an_entry_without_checksum_after_one_with_is_refused() -> None:
    entries = log(3)
    entries[2] = replace(entries[2], data=unsealed(entries[2].data)[1])
    with pytest.raises(StorageError, match="does not follow the one before"):
        read(entries)


def test_a_newer_format_says_so() -> None:
    data = bytearray(log(1)[0].data)
    data[3] = 7
    with pytest.raises(StorageError, match="of format 7, and this edgewise reads formats up to 2"):
        unsealed(bytes(data))
