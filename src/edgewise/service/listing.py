"""The studies of a server, each in a line."""

from __future__ import annotations

from typing import NamedTuple

from edgewise.core.claim import Confirmation
from edgewise.core.ending import Ending
from edgewise.formats.output import Output
from edgewise.service.desk import Desk, View
from edgewise.service.names import slug

_ENDED = {Ending.SETTLED: "estimated", Ending.BUDGET_SPENT: "budget spent"}


class Line(NamedTuple):
    """A study in the list."""

    study: str
    id: str
    rounds: int
    state: str
    """See :func:`state_of`."""
    pending: str | None
    missing: int
    since: float | None
    """When the pending round was handed out: seconds since 1970, UTC."""
    progress: float
    events: int
    """How many are on record."""


def state_of(view: View) -> str:
    """In a word: waiting for measurements, ready for a round, in trial, or how it ended."""
    moment = view.moment
    ending = moment.ending
    if moment.trial_ticket is not None:
        return "in trial"
    if moment.cursor.state.trials and view.status.confirmation is not Confirmation.UNCONFIRMED:
        return str(view.status.confirmation)
    if ending is not Ending.RUNNING:
        return _ENDED.get(ending, ending.name.lower().replace("_", " "))
    return "ready" if moment.pending is None else "waiting"


def line_of(desk: Desk, name: str) -> Line:
    """A study as it stands; nothing is estimated for it."""
    view = desk.view(name)
    moment = view.moment
    pending, trial = moment.pending, moment.trial_ticket
    since = None
    if trial is not None:  # what was done last has handed it out
        since = view.once("since", lambda: desk.excerpt(name, last=1).deeds[-1].at)
    elif pending is not None:
        since = view.once("since", lambda: handed_out(desk, name, pending.round))
    return Line(
        name,
        slug(name),
        moment.rounds,
        state_of(view),
        trial.key if trial is not None else None if pending is None else pending.key,
        1 if trial is not None else 0 if pending is None else pending.missing,
        since,
        moment.cursor.state.learner.verdict.progress,
        view.position,
    )


def handed_out(desk: Desk, name: str, number: int) -> float | None:
    """When the attempt at a round that stands was handed out."""
    with desk.storage.reading(name) as journal:
        times = [e.at for e in journal.read_rounds(number, number) if e.kind == "asked"]
    return times[-1] if times else None


def list_output(desk: Desk) -> Output:
    """All studies."""
    rows = [tuple(line_of(desk, name)) for name in desk.names()]
    return Output({"studies": len(rows)}, "list", Line._fields, rows)
