"""What happened in a study, in words: one row per round, or per other event."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

import numpy as np

from edgewise.base.wording import counted
from edgewise.core.setting import Setting
from edgewise.study.log.events import (
    Added,
    Asked,
    Cancelled,
    Closed,
    Corrected,
    Created,
    Event,
    Extended,
    Told,
    TrialBegan,
    TrialCorrected,
    TrialEnded,
    TrialRepeated,
    TrialTold,
)
from edgewise.study.log.history import event_of
from edgewise.study.storage.base import Entry, Journal


class Deed(NamedTuple):
    """One thing that happened."""

    at: float
    """Seconds since 1970, UTC."""
    text: str

    @property
    def when(self) -> str:
        """The time in UTC, to the second."""
        return datetime.fromtimestamp(self.at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def chronicle(
    log: Iterable[tuple[float, Event]], n_rewards: int, *, last: int
) -> tuple[list[Deed], int]:
    """The last things that happened, oldest first, and how many earlier ones were left out.

    ``log`` is what :meth:`Study.log` returns, ``n_rewards`` the rewards of a full round.
    """
    kept: deque[Deed] = deque(maxlen=last)
    count, narrator = 0, Narrator(n_rewards)
    for at, event in log:
        count += 1
        kept.append(Deed(at, narrator(event)))
    return list(kept), count - len(kept)


class Narrator:
    """Tells event by event, from the first, what happened."""

    def __init__(self, n_rewards: int) -> None:
        self._measured, self._n_rewards = 0, n_rewards

    def __call__(self, event: Event) -> str:
        """The next event in words."""
        self._measured = _measured(event, self._measured)
        return _told(event, self._measured, self._n_rewards)


class Excerpt(NamedTuple):
    """A part of what happened."""

    deeds: list[Deed]
    first: int
    """The number of the first of them in the log."""
    total: int
    """Events in all."""


def recent(journal: Journal, base: Setting, *, last: int, before: int | None = None) -> Excerpt:
    """The last things that happened (before an event, by its number); only they are read.

    ``base`` is the setting the study was created with.
    """
    total = journal.length
    end = total if before is None else min(before - 1, total)
    start = max(end - last, 0)
    deeds: list[Deed] = []
    measured = 0
    for entry in islice(journal.read(start), end - start):
        event = event_of(entry, base)
        if not deeds:
            measured = _measured_before(journal, base, entry)
        measured = _measured(event, measured)
        deeds.append(Deed(entry.at, _told(event, measured, base.problem.n_rewards)))
    return Excerpt(deeds, start + 1, total)


def _measured_before(journal: Journal, base: Setting, entry: Entry) -> int:
    """Rewards on record of an entry's round before it."""
    measured = 0
    for earlier in journal.read_rounds(entry.round, entry.round) if entry.round else ():
        if earlier.sequence >= entry.sequence:
            break
        measured = _measured(event_of(earlier, base), measured)
    return measured


def _measured(event: Event, before: int) -> int:
    """Rewards on record of the round that is out."""
    match event:
        case Asked():
            return 0
        case Told(values=values):
            return before + len(values)
        case Corrected(revision=None):
            return before + int(np.isnan(event.old).sum() - np.isnan(event.new).sum())
    return before


def _told(event: Event, measured: int, n_rewards: int) -> str:
    match event:
        case Created(past=past):
            return "study created" if past is None else f"study made from that of {past['study']}"
        case Asked(round=number, attempt=attempt):
            again = "" if attempt == 1 else f", attempt {attempt}"
            return f"round {number}{again} handed out"
        case Told(round=number, values=values):
            left = (
                "; it is closed" if measured >= n_rewards else f", {n_rewards - measured} missing"
            )
            return f"round {number}: {counted(len(values), 'measurement')} told{left}"
        case Closed(round=number):
            return f"round {number} closed with {measured} of {n_rewards} measurements"
        case Cancelled(round=number):
            return f"round {number} cancelled"
        case Corrected(round=number, arcs=arcs):
            return f"round {number}: {counted(len(arcs), 'measurement')} corrected"
        case Added(round=number, source=source):
            return f"round {number} added: {source}"
        case Extended():
            return _extension(event)
        case TrialBegan(trial=trial, design=design):
            return f"trial {trial} begun: {' against '.join(reversed(design['names']))}"
        case TrialTold(trial=trial, block=block, total=total):
            said = "a gap: the pair is repeated" if np.isnan(total) else f"{total:.6g} told"
            return f"trial {trial}, pair {block}: {said}"
        case TrialRepeated(trial=trial, block=block):
            return f"trial {trial}, pair {block}: begun again"
        case TrialCorrected(trial=trial, block=block, old=old, new=new):
            return f"trial {trial}, pair {block}: {old:.6g} corrected to {new:.6g}"
        case TrialEnded(trial=trial):
            return f"trial {trial} ended by hand"


def _extension(event: Extended) -> str:
    tolerance = "" if event.epsilon is None else f", epsilon = {event.epsilon:g}"
    until = f", at least {event.until} rounds" if event.until else ""
    return f"extended: delta = {event.delta:g}{tolerance}{until}"
