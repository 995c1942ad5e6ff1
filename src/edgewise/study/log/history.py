"""Single rounds, read back from the log."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.model.problem import Problem
from edgewise.core.revision import sum_rounds
from edgewise.core.setting import Setting
from edgewise.errors import UnknownTicket
from edgewise.study.log.codec import from_tree, unpack
from edgewise.study.log.decide import cancel, refuse_unknown, was_cancelled
from edgewise.study.log.events import Asked, Cancelled, Corrected, Event, Revision, Told
from edgewise.study.log.fold import Round, StudyState
from edgewise.study.storage.base import Entry, Journal
from edgewise.study.views.ticket import StudyTicket, identity


def event_of(entry: Entry) -> Event:
    """The event an entry holds."""
    return from_tree(entry.kind, unpack(entry.data))


def read_rounds(journal: Journal, n_arcs: int, first: int, last: int) -> Iterator[Round]:
    """What is on record of the rounds ``first .. last``, one at a time; cancelled ones left out."""
    current: Round | None = None
    for entry in journal.read_rounds(first, last):
        if current is not None and entry.round != current.number:
            yield current
            current = None
        match event_of(entry):
            case Asked() as asked:
                current = Round.unanswered(asked, n_arcs)
            case Cancelled():
                current = None
            case Told(arcs=arcs, values=values) if current is not None:
                current = current.with_rewards(arcs, values)
            case Corrected(arcs=arcs, new=new) if current is not None:
                current = current.with_rewards(arcs, new)
    if current is not None:
        yield current


def find_ticket(
    journal: Journal, problem: Problem, state: StudyState, ticket: StudyTicket
) -> Round:
    """What is on record of a ticket; UnknownTicket if it is none of this study."""
    found = find_round(journal, problem, state, *identity(ticket))
    if not np.array_equal(ticket.arms, found.arms):
        raise UnknownTicket(
            f"round {ticket.round} was asked for with other arms, so the ticket belongs to another "
            "study; nothing was recorded: use the ticket that ask() returned"
        )
    return found


def find_round(
    journal: Journal, problem: Problem, state: StudyState, number: int, attempt: int | None
) -> Round:
    """What is on record of a round, out or closed; ``attempt`` None: the one that stands."""
    refuse_unknown(state, number, attempt)
    found = state.pending
    if found is None or found.number != number:
        found = next(read_rounds(journal, problem.graph.n_arcs, number, number))
    if attempt is not None and attempt != found.attempt:
        raise UnknownTicket(
            f"attempt {attempt} at round {number} does not stand (attempt {found.attempt} does); "
            "nothing was recorded"
        )
    return found


def cancellation(
    journal: Journal, problem: Problem, state: StudyState, ticket: StudyTicket
) -> Cancelled | None:
    """The event that gives up a ticket's round, None if that was done already."""
    if was_cancelled(state, *identity(ticket)):
        return None
    return cancel(state, find_ticket(journal, problem, state, ticket))


def correction(
    journal: Journal,
    setting: Setting,
    state: StudyState,
    ticket: StudyTicket,
    arcs: Indices,
    values: Array,
) -> Corrected | None:
    """The event that corrects a ticket's round, None if nothing changes.

    For a closed round all rounds of its phase are read, one at a time.
    """
    record = find_ticket(journal, setting.problem, state, ticket)
    old = record.rewards[arcs]
    changed = ~((old == values) | (np.isnan(old) & np.isnan(values)))
    if not changed.any():
        return None
    arcs, old, new = arcs[changed], old[changed], values[changed]
    if record.number > state.learner.rounds:
        return Corrected(record.number, arcs, old, new, None)
    right = record.with_rewards(arcs, new)
    return Corrected(record.number, arcs, old, new, _revision(journal, setting, state, right))


def _revision(journal: Journal, setting: Setting, state: StudyState, right: Round) -> Revision:
    """What follows from the right record of a closed round."""
    n_arcs = setting.problem.graph.n_arcs
    phase = state.phase_of(right.number)
    told = (
        right if one.number == right.number else one
        for one in read_rounds(journal, n_arcs, *state.phase_rounds(phase))
    )
    statistics = sum_rounds(setting, ((one.arms, one.rewards) for one in told))
    totals = state.totals.copy()
    totals[right.number - 1] = total = float(right.rewards.sum())
    best = None
    if not np.isnan(totals).all():
        number = int(np.nanargmax(totals)) + 1
        same = number == right.number
        best = right if same else next(read_rounds(journal, n_arcs, number, number))
    return Revision(phase, statistics, total, None if best is None else best.arms)
