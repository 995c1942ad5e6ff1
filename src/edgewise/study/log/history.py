"""Single rounds, read back from the log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from edgewise.study.log.codec import from_tree, unpack
from edgewise.study.log.events import Asked, Cancelled, Closed, Corrected, Event, Told
from edgewise.study.log.fold import Round
from edgewise.study.storage.base import Entry, Journal


def event_of(entry: Entry) -> Event:
    """The event an entry holds."""
    return from_tree(entry.kind, unpack(entry.data))


class Dated(NamedTuple):
    """A round, and when it was handed out and last answered: seconds since 1970, UTC."""

    round: Round
    asked: float
    told: float


def read_rounds(journal: Journal, n_rewards: int, first: int, last: int) -> Iterator[Round]:
    """What is on record of the rounds ``first .. last``, one at a time; cancelled ones left out."""
    return (dated.round for dated in read_dated(journal, n_rewards, first, last))


def read_dated(journal: Journal, n_rewards: int, first: int, last: int) -> Iterator[Dated]:
    """The same, with their times."""
    current: Dated | None = None
    for entry in journal.read_rounds(first, last):
        if current is not None and entry.round != current.round.number:
            yield current
            current = None
        match event_of(entry):
            case Asked() as asked:
                current = Dated(Round.unanswered(asked, n_rewards), entry.at, entry.at)
            case Cancelled():
                current = None
            case Told(arcs=arcs, values=values) if current is not None:
                told = current.round.with_rewards(arcs, values)
                current = Dated(told, current.asked, entry.at)
            case Closed() if current is not None:
                current = current._replace(told=entry.at)
            case Corrected(arcs=arcs, new=new) if current is not None:
                current = current._replace(round=current.round.with_rewards(arcs, new))
    if current is not None:
        yield current
