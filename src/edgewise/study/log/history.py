"""Single rounds, read back from the log."""

from __future__ import annotations

from collections.abc import Iterator

from edgewise.study.log.codec import from_tree, unpack
from edgewise.study.log.events import Asked, Cancelled, Corrected, Event, Told
from edgewise.study.log.fold import Round
from edgewise.study.storage.base import Entry, Journal


def event_of(entry: Entry) -> Event:
    """The event an entry holds."""
    return from_tree(entry.kind, unpack(entry.data))


def read_rounds(journal: Journal, n_rewards: int, first: int, last: int) -> Iterator[Round]:
    """What is on record of the rounds ``first .. last``, one at a time; cancelled ones left out."""
    current: Round | None = None
    for entry in journal.read_rounds(first, last):
        if current is not None and entry.round != current.number:
            yield current
            current = None
        match event_of(entry):
            case Asked() as asked:
                current = Round.unanswered(asked, n_rewards)
            case Cancelled():
                current = None
            case Told(arcs=arcs, values=values) if current is not None:
                current = current.with_rewards(arcs, values)
            case Corrected(arcs=arcs, new=new) if current is not None:
                current = current.with_rewards(arcs, new)
    if current is not None:
        yield current
