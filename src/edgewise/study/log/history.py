"""Single rounds, read back from the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

from edgewise.core.setting import Setting
from edgewise.errors import InvalidArgument, InvalidRewards, StorageError
from edgewise.study.log.chain import unsealed
from edgewise.study.log.codec import created_from_tree, from_tree, unpack
from edgewise.study.log.events import (
    Added,
    Asked,
    Cancelled,
    Closed,
    Corrected,
    Created,
    Event,
    Told,
    TrialEvent,
    round_of,
)
from edgewise.study.log.fold import Round
from edgewise.study.storage.base import Entry, Journal


def event_of(entry: Entry, base: Setting) -> Event:
    """The event an entry holds, checked against the setting of its study."""
    with _blaming(entry):
        event = from_tree(entry.kind, _tree(entry), base)
    if round_of(event) != entry.round:
        raise StorageError(
            f"entry {entry.sequence} of the log is kept under round {entry.round} and belongs to "
            f"round {round_of(event)}, so it was moved; restore the storage from a backup"
        )
    return event


def created_of(entry: Entry) -> Created:
    """The creation of a study, which the first entry holds."""
    with _blaming(entry):
        return created_from_tree(entry.kind, _tree(entry))


def _tree(entry: Entry) -> dict[str, Any]:
    return unpack(unsealed(entry.data)[1])


@contextmanager
def _blaming(entry: Entry) -> Iterator[None]:
    try:
        yield
    except (InvalidArgument, InvalidRewards) as error:
        raise StorageError(
            f"entry {entry.sequence} of the log ({entry.kind}) cannot be used: {error}; if it was "
            "not written by a newer edgewise, restore the storage from a backup or an export"
        ) from error


class Dated(NamedTuple):
    """A round, and when it was handed out and last answered: seconds since 1970, UTC."""

    round: Round
    asked: float
    told: float


def read_rounds(journal: Journal, base: Setting, first: int, last: int) -> Iterator[Round]:
    """What is on record of the rounds ``first .. last``, one at a time; cancelled ones left out."""
    return (dated.round for dated in read_dated(journal, base, first, last))


def read_dated(journal: Journal, base: Setting, first: int, last: int) -> Iterator[Dated]:
    """The same, with their times."""
    current: Dated | None = None
    for entry in journal.read_rounds(first, last):
        if current is not None and entry.round != current.round.number:
            yield current
            current = None
        match event_of(entry, base):
            case Asked() as asked:
                round_ = Round.unanswered(asked, base.problem.n_rewards)
                current = Dated(round_, entry.at, entry.at)
            case Added(round=number, attempt=attempt, arms=arms, rewards=values):
                current = Dated(Round(number, attempt, arms, values), entry.at, entry.at)
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


def read_trials(journal: Journal, base: Setting) -> Iterator[tuple[float, TrialEvent]]:
    """What is on record of trials, in order, with its time."""
    for entry in islice(journal.read_rounds(0, 0), 1, None):  # the first is the creation
        event = event_of(entry, base)
        if isinstance(event, TrialEvent):
            yield entry.at, event
