"""What a request does to a study: the event to append, None if there is nothing to do, or an
error that leaves everything as it was. Pure: what the log has on record is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.checks import whole
from edgewise.base.wording import shown
from edgewise.core.ending import Ending
from edgewise.core.evidence.by_edge import (
    by_edge_after,
    has_unequal_edges,
    nothing_by_edge,
    sum_by_edge,
)
from edgewise.core.gate.outliers import outliers, screened
from edgewise.core.gate.watch import Told as Watched
from edgewise.core.gate.watch import Watch, nothing_watched, watch_round, watch_rounds
from edgewise.core.learner import next_arms
from edgewise.core.local.normal_equations import Phase
from edgewise.core.model.problem import Problem
from edgewise.core.revision import sum_rounds
from edgewise.core.setting import Setting, check_confidence
from edgewise.errors import (
    Call,
    InvalidArgument,
    InvalidRewards,
    LearnerStopped,
    UnknownTicket,
    UnlikelyReward,
)
from edgewise.formats.channels import channel_text
from edgewise.study.log.events import (
    Asked,
    Cancelled,
    Closed,
    Corrected,
    Extended,
    Revision,
    Told,
)
from edgewise.study.log.fold import Round, StudyState
from edgewise.study.views.ticket import RoundName, StudyTicket, identity
from edgewise.trial.rule import TrialEnding

Records: TypeAlias = Callable[[int, int], Iterator[Round]]
"""What is on record of the rounds first .. last, closed or out, one at a time."""

_ASK, _CORRECT = Call("ask"), Call("correct")
_MORE, _LOOSER = Call("extend", "rounds"), Call("extend", "epsilon")
_MEND = (_CORRECT, " if a value is wrong, ", Call("remodel"), " if the model is, or ", _MORE)
_WAYS_ON: dict[Ending, tuple[str | Call, ...]] = {
    Ending.CERTIFIED: (_MORE, ", ", _LOOSER, " or ", Call("extend", "delta")),
    Ending.CONTRADICTED: _MEND,
    Ending.SETTLED: (_MORE, " or a smaller ", _LOOSER),
    Ending.STALLED: (_MORE, " or a larger ", _LOOSER),
    Ending.TIED: (_MORE, " or a larger ", _LOOSER),
    Ending.BUDGET_SPENT: (_MORE,),
}


def check_name(name: object) -> str:
    """What a study is to be called; InvalidArgument unless it can be."""
    if not isinstance(name, str) or not 0 < len(name.strip()) <= len(name) <= 255:
        raise InvalidArgument(
            f"name is {shown(name)}; give a text of 1 to 255 characters", argument="name"
        )
    if not name.isprintable():
        raise InvalidArgument(
            f"name is {shown(name)}; it has characters that cannot be printed: leave them out",
            argument="name",
        )
    return name


def check_budget(max_rounds: object) -> int | None:
    """Rounds that a study is given; None for no limit."""
    return None if max_rounds is None else whole("max_rounds", max_rounds, least=1)


def ask(setting: Setting, state: StudyState) -> Asked | None:
    """Hand out the next round, unless one is out."""
    if state.pending is not None:
        return None
    refuse_in_trial(state)
    rounds = state.learner.rounds
    if state.ending is not Ending.RUNNING:
        raise LearnerStopped(
            f"the study stopped after round {rounds}: {state.ending.value}; read ",
            Call("recommend"),
            " or ",
            Call("report"),
            ", or go on with ",
            *_WAYS_ON[state.ending],
        )
    arms = next_arms(setting, state.learner)
    return Asked(rounds + 1, state.attempts + 1, len(state.phase_ends), arms)


def refuse_in_trial(state: StudyState) -> None:
    """Raise while a trial is running: rounds in between would come between its pairs."""
    number = len(state.trials)
    if number and state.trials[-1].standing.ending is TrialEnding.RUNNING:
        raise LearnerStopped(
            f"trial {number} is running, after {state.trials[-1].state.blocks} pairs; ask and tell "
            "the trial (",
            Call("trial.ask"),
            "), or end it with ",
            Call("trial.end"),
        )


# -- which round is meant --------------------------------------------------------------------


def find(state: StudyState, records: Records, ticket: RoundName) -> Round:
    """What is on record of a round, out or closed; UnknownTicket if it is none of this study."""
    number, attempt = identity(ticket)
    _refuse_unknown(state, number, attempt)
    found = state.pending
    if found is None or found.number != number:
        found = next(records(number, number))
    if attempt is not None and attempt != found.attempt:
        raise UnknownTicket(
            f"attempt {attempt} at round {number} does not stand (attempt {found.attempt} does); "
            "nothing was recorded"
        )
    if isinstance(ticket, StudyTicket) and not np.array_equal(ticket.arms, found.arms):
        raise UnknownTicket(
            f"round {number} was asked for with other arms, so the ticket belongs to another "
            "study; nothing was recorded: use the ticket that ",
            _ASK,
            " returned",
        )
    return found


def _refuse_unknown(state: StudyState, number: int, attempt: int | None) -> None:
    """Raise unless the round is out, or closed."""
    pending, rounds = state.pending, state.learner.rounds
    if _was_cancelled(state, number, attempt):
        raise UnknownTicket(
            f"attempt {attempt} at round {number} was cancelled; nothing was recorded: ",
            _ASK,
            " for the next",
        )
    if not 1 <= number <= rounds and (pending is None or number != pending.number):
        waiting = f"round {pending.number} is out" if pending else f"{rounds} rounds are closed"
        raise UnknownTicket(
            f"round {number} was not asked for ({waiting}); nothing was recorded: use the ticket "
            "that ",
            _ASK,
            " returned",
        )


def _was_cancelled(state: StudyState, number: int, attempt: int | None) -> bool:
    """Whether that attempt at the next round was given up."""
    next_round = number == state.learner.rounds + 1
    return next_round and attempt is not None and 1 <= attempt <= state.attempts


def _is_pending(state: StudyState, record: Round) -> bool:
    return state.pending is not None and record.number == state.pending.number


# -- answers ---------------------------------------------------------------------------------


def tell(
    problem: Problem,
    state: StudyState,
    records: Records,
    ticket: RoundName,
    arcs: Indices,
    values: Array,
    *,
    accept_outliers: bool = False,
) -> Told | None:
    """Record what is new; what was told before must be told alike.

    A value that can hardly be right is refused, unless outliers are accepted.
    """
    record = find(state, records, ticket)
    named = ~np.isnan(values)
    arcs, values = arcs[named], values[named]
    before = record.rewards[arcs]
    differs = np.flatnonzero(~np.isnan(before) & (before != values))
    if len(differs):
        first = int(differs[0])
        raise InvalidRewards(
            f"{channel_text(problem, int(arcs[first]))} of round {record.number} was told "
            f"{float(before[first])} before and {float(values[first])} now; nothing was recorded: "
            "if the new value is right, ",
            _CORRECT,
            " it",
        )
    new = np.isnan(before)
    if not new.any():
        return None
    if not _is_pending(state, record):
        raise InvalidRewards(
            f"round {record.number} was closed without {int(new.sum())} of these measurements, the "
            f"first is {channel_text(problem, int(arcs[new][0]))}; nothing was recorded: add "
            "late ones with ",
            _CORRECT,
        )
    if not accept_outliers:
        _refuse_outliers(problem, state, record, arcs[new], values[new])
    everything = bool(new.all()) and len(arcs) == problem.n_rewards
    return Told(record.number, None if everything else arcs[new], values[new])


def _refuse_outliers(
    problem: Problem, state: StudyState, record: Round, arcs: Indices, values: Array
) -> None:
    """Raise if one of the new values can hardly be right."""
    rewards = record.with_rewards(arcs, values).rewards
    found = outliers(problem, state.learner.watch, record.arms, rewards)
    new = [one for one in found if one.position in set(arcs.tolist())]
    if new:
        more = f" (and {len(new) - 1} more are as strange)" if len(new) > 1 else ""
        raise UnlikelyReward(
            f"round {record.number}: {new[0].in_words(problem)}{more}; nothing was recorded: "
            "correct the value, leave it out, or, if it is right, ",
            Call("tell", "accept_outliers", "True"),
        )


def close(state: StudyState, records: Records, ticket: RoundName) -> Closed | None:
    """Close the round with what has arrived."""
    record = find(state, records, ticket)
    return Closed(record.number) if _is_pending(state, record) else None


def cancel(state: StudyState, records: Records, ticket: RoundName) -> Cancelled | None:
    """Give up the pending round, unless that was done; a round that counts already stays."""
    if _was_cancelled(state, *identity(ticket)):
        return None
    record = find(state, records, ticket)
    if not _is_pending(state, record):
        raise UnknownTicket(
            f"round {record.number} is closed and counts, so it cannot be cancelled; nothing was "
            "changed: withdraw wrong measurements with ",
            _CORRECT,
            ", giving NaN",
        )
    return Cancelled(record.number, record.attempt)


def correct(
    setting: Setting,
    state: StudyState,
    records: Records,
    ticket: RoundName,
    arcs: Indices,
    values: Array,
) -> Corrected | None:
    """Replace measurements of a round; None if nothing changes.

    For a closed round all rounds of its phase are read, one at a time.
    """
    record = find(state, records, ticket)
    old = record.rewards[arcs]
    changed = ~((old == values) | (np.isnan(old) & np.isnan(values)))
    if not changed.any():
        return None
    arcs, old, new = arcs[changed], old[changed], values[changed]
    if _is_pending(state, record):
        return Corrected(record.number, arcs, old, new, None)
    right = record.with_rewards(arcs, new)
    return Corrected(record.number, arcs, old, new, _revision(setting, state, records, right))


def _revision(setting: Setting, state: StudyState, records: Records, right: Round) -> Revision:
    """What follows from the right record of a closed round."""
    phase = state.phase_of(right.number)
    told = _counted(setting, records, right, *state.phase_rounds(phase))
    statistics = sum_rounds(setting, ((one.arms, one.rewards) for one in told))
    totals = state.totals.copy()
    totals[right.number - 1] = total = float(right.rewards.sum())
    best = None
    if not np.isnan(totals).all():
        number = int(np.nanargmax(totals)) + 1
        best = right if number == right.number else next(records(number, number))
    return Revision(
        phase,
        statistics,
        total,
        None if best is None else best.arms,
        *_by_edge(setting, state, records, right),
        _watch(setting, state, records, right),
    )


def _counted(
    setting: Setting, records: Records, right: Round, first: int, last: int
) -> Iterator[Round]:
    """The rounds ``first .. last`` as they count, with the right record of one of them."""
    watch = nothing_watched(setting.problem, None) if setting.robust else None
    for one in records(1 if setting.robust else first, last):
        this = right if one.number == right.number else one
        if setting.robust:
            rewards = screened(setting.problem, watch, this.arms, this.rewards)
            this = replace(this, rewards=rewards)
            told = Watched(this.number, 0, this.arms, rewards, None)
            watch = watch_round(setting.problem, None, watch, told)
        if this.number >= first:
            yield this


def _watch(setting: Setting, state: StudyState, records: Records, right: Round) -> Watch | None:
    """What the gate finds in all rounds, from the first."""
    if state.learner.watch is None:
        return None
    problem = setting.problem

    def told() -> Iterator[Watched]:
        seen, before = nothing_by_edge(problem), None
        for this in _counted(setting, records, right, 1, state.learner.rounds):
            seen = by_edge_after(problem, seen, this.arms, this.rewards)
            phase, over = state.phase_of(this.number), this.number in state.phase_ends
            pooling = (state.learner.pooling if phase or over else None) or problem.pooling
            yield Watched(this.number, phase, this.arms, this.rewards, seen, before, over, pooling)
            if over and has_unequal_edges(problem, state.learner.pooling):
                before = seen

    return watch_rounds(problem, setting.gate, told())


def _by_edge(
    setting: Setting, state: StudyState, records: Records, right: Round
) -> tuple[Phase | None, Phase | None]:
    """What the edges showed one by one: over all rounds, and over the phases that are over."""
    learner = state.learner
    if learner.by_edge is None:
        return None, None

    def until(last: int) -> Phase | None:
        told = _counted(setting, records, right, 1, last)
        return sum_by_edge(setting.problem, ((one.arms, one.rewards) for one in told))

    closed = None if learner.by_edge_closed is None else until(state.phase_ends[-1])
    return until(learner.rounds), closed


# -- going on --------------------------------------------------------------------------------


def extend(
    state: StudyState, *, rounds: int | None, delta: float | None, epsilon: float | None
) -> Extended:
    """Ask more of the study: further rounds, or another confidence."""
    if rounds is None and delta is None and epsilon is None:
        raise InvalidArgument(Call("extend"), " by what? Give rounds=, delta= or epsilon=")
    more = None if rounds is None else whole("rounds", rounds, least=1)
    new_delta = state.delta if delta is None else delta
    new_epsilon = state.epsilon if epsilon is None else epsilon
    check_confidence(new_delta, new_epsilon)
    until = state.until if more is None else state.learner.rounds + more
    limit = state.max_rounds
    return Extended(
        delta=float(new_delta),
        epsilon=None if new_epsilon is None else float(new_epsilon),
        until=until,
        max_rounds=None if limit is None else max(limit, until),
    )
