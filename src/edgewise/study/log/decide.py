"""What a request does to a study: the event to append, None if there is nothing to do, or an
error that leaves everything as it was. Pure.
"""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.ending import Ending
from edgewise.core.setting import Setting, check_confidence
from edgewise.errors import InvalidArgument, InvalidRewards, LearnerStopped, UnknownTicket
from edgewise.network.graph import Graph
from edgewise.study.files.measurements import arc_name
from edgewise.study.log.events import Asked, Cancelled, Closed, Extended, Told
from edgewise.study.log.fold import Round, StudyState

_WAYS_ON = {
    Ending.CERTIFIED: "extend(rounds=...), extend(epsilon=...) or extend(delta=...)",
    Ending.STALLED: "extend(rounds=...) or a larger extend(epsilon=...)",
    Ending.BUDGET_SPENT: "extend(rounds=...)",
}


def check_new(name: str, max_rounds: int | None) -> None:
    """Raise unless a study can be called that, and be given so many rounds."""
    if not 0 < len(name.strip()) <= len(name) <= 255:
        raise InvalidArgument(f"name is {name!r}; give a text of 1 to 255 characters")
    if max_rounds is not None and max_rounds < 1:
        raise InvalidArgument(f"max_rounds is {max_rounds}; it must be at least 1, or None")


def ask(setting: Setting, state: StudyState) -> Asked | None:
    """Hand out the next round, unless one is out."""
    if state.pending is not None:
        return None
    rounds = state.learner.rounds
    if state.ending is not Ending.RUNNING:
        raise LearnerStopped(
            f"the study stopped after round {rounds}: {state.ending.value}; read recommend() or "
            f"report(), or go on with {_WAYS_ON[state.ending]}"
        )
    arms = setting.plan.joint_arm(setting.problem, state.learner)
    return Asked(rounds + 1, state.attempts + 1, len(state.phase_ends), arms)


def was_cancelled(state: StudyState, number: int, attempt: int) -> bool:
    """Whether that attempt at the next round was given up."""
    return number == state.learner.rounds + 1 and 1 <= attempt <= state.attempts


def refuse_unknown(state: StudyState, number: int, attempt: int | None) -> None:
    """Raise unless the round is out, or closed."""
    pending, rounds = state.pending, state.learner.rounds
    if attempt is not None and was_cancelled(state, number, attempt):
        raise UnknownTicket(
            f"attempt {attempt} at round {number} was cancelled; nothing was recorded: ask() for "
            "the next"
        )
    if not 1 <= number <= rounds and (pending is None or number != pending.number):
        waiting = f"round {pending.number} is out" if pending else f"{rounds} rounds are closed"
        raise UnknownTicket(
            f"round {number} was not asked for ({waiting}); nothing was recorded: use the ticket "
            "that ask() returned"
        )


def tell(
    graph: Graph, state: StudyState, record: Round, arcs: Indices, values: Array
) -> Told | None:
    """Record what is new; what was told before must be told alike."""
    named = ~np.isnan(values)
    arcs, values = arcs[named], values[named]
    before = record.rewards[arcs]
    differs = np.flatnonzero(~np.isnan(before) & (before != values))
    if len(differs):
        first = int(differs[0])
        raise InvalidRewards(
            f"arc {arc_name(graph, int(arcs[first]))} of round {record.number} was told "
            f"{float(before[first])} before and {float(values[first])} now; nothing was recorded: "
            "if the new value is right, correct() it"
        )
    new = np.isnan(before)
    if not new.any():
        return None
    if not _is_pending(state, record):
        raise InvalidRewards(
            f"round {record.number} was closed without {int(new.sum())} of these measurements, the "
            f"first is {arc_name(graph, int(arcs[new][0]))}; nothing was recorded: add late ones "
            "with correct()"
        )
    everything = bool(new.all()) and len(arcs) == graph.n_arcs
    return Told(record.number, None if everything else arcs[new], values[new])


def close(state: StudyState, record: Round) -> Closed | None:
    """Close the round with what has arrived."""
    return Closed(record.number) if _is_pending(state, record) else None


def cancel(state: StudyState, record: Round) -> Cancelled:
    """Give up the pending round; a round that counts already stays."""
    if not _is_pending(state, record):
        raise UnknownTicket(
            f"round {record.number} is closed and counts, so it cannot be cancelled; nothing was "
            "changed: withdraw wrong measurements with correct(), giving NaN"
        )
    return Cancelled(record.number, record.attempt)


def extend(
    state: StudyState, *, rounds: int | None, delta: float | None, epsilon: float | None
) -> Extended:
    """Ask more of the study: further rounds, or another confidence."""
    if rounds is None and delta is None and epsilon is None:
        raise InvalidArgument("extend() by what? Give rounds=, delta= or epsilon=")
    if rounds is not None and (isinstance(rounds, bool) or int(rounds) != rounds or rounds < 1):
        raise InvalidArgument(f"rounds is {rounds!r}; it must be a whole number of at least 1")
    new_delta = state.delta if delta is None else delta
    new_epsilon = state.epsilon if epsilon is None else epsilon
    check_confidence(new_delta, new_epsilon)
    until = state.until if rounds is None else state.learner.rounds + int(rounds)
    limit = state.max_rounds
    return Extended(
        delta=float(new_delta),
        epsilon=None if new_epsilon is None else float(new_epsilon),
        until=until,
        max_rounds=None if limit is None else max(limit, until),
    )


def _is_pending(state: StudyState, record: Round) -> bool:
    return state.pending is not None and record.number == state.pending.number
