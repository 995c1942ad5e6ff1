"""What a request does to a trial: what to record, or an error that leaves everything as it was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from edgewise.core.evidence.rewards import LARGEST_REWARD, checked_rewards, refuse_absurd
from edgewise.core.model.problem import Problem
from edgewise.errors import Call, InvalidRewards, LearnerStopped, UnknownTicket
from edgewise.trial.pairs import TrialRecord
from edgewise.trial.rule import TrialEnding
from edgewise.trial.ticket import RoundOfTrial, TrialTicket, identity

_ASK, _CORRECT = Call("ask"), Call("correct")


@dataclass(frozen=True)
class Place:
    """A round of a trial that has been handed out."""

    block: int
    candidate: int
    attempt: int
    on_record: float
    """What was told of it; NaN if nothing was."""


def ticket_of(number: int, problem: Problem, record: TrialRecord) -> TrialTicket:
    """The round to deploy next; LearnerStopped if the trial is over."""
    design, state, ending = record.design, record.state, record.standing.ending
    if ending is not TrialEnding.RUNNING:
        raise LearnerStopped(
            f"the trial is over after {state.blocks} pairs: {ending.value}; read ",
            Call("report"),
        )
    order = record.turns
    place = int(np.isnan(state.current[order]).argmax())
    candidate = int(order[place])
    return TrialTicket(
        trial=number,
        block=state.blocks + 1,
        place=place + 1,
        attempt=state.attempt,
        candidate=design.names[candidate],
        arms=design.arms[candidate],
        problem=problem,
    )


def find(number: int, record: TrialRecord, ticket: RoundOfTrial) -> Place:
    """The round that a ticket names; UnknownTicket if it was not asked for."""
    state = record.state
    trial, block, place, attempt = identity(ticket)
    if trial != number:
        raise UnknownTicket(
            f"the ticket belongs to trial {trial}, and trial {number} is running; nothing was "
            "recorded: use the ticket that ",
            _ASK,
            " returned",
        )
    out = block == state.blocks + 1
    if out and attempt < state.attempt:
        raise UnknownTicket(
            f"attempt {attempt} at pair {block} was given up; nothing was recorded: ",
            _ASK,
            " for the next",
        )
    candidates = _handed_out(record, block)
    if not 1 <= place <= len(candidates) or (out and attempt != state.attempt):
        raise UnknownTicket(
            f"round {place} of pair {block} was not asked for ({state.blocks} pairs are complete); "
            "nothing was recorded: use the ticket that ",
            _ASK,
            " returned",
        )
    candidate = candidates[place - 1]
    row = state.current if out else state.totals[block - 1]
    return Place(block, candidate, attempt, float(row[candidate]))


def _handed_out(record: TrialRecord, block: int) -> list[int]:
    """The candidates that a block has deployed so far, in order; the last may be unanswered."""
    state = record.state
    if 1 <= block <= state.blocks:
        order = record.design.order(block)
        return [int(one) for one in order if not np.isnan(state.totals[block - 1, one])]
    if block != state.blocks + 1 or record.standing.ending is not TrialEnding.RUNNING:
        return []
    answered = int((~np.isnan(state.current)).sum())
    return [int(one) for one in record.turns[: answered + 1]]


def is_new(place: Place, total: float) -> bool:
    """Whether a total is to be recorded: not if it is on record; another one is refused."""
    if np.isnan(place.on_record):
        return True
    if np.isnan(total) or total == place.on_record:
        return False
    raise InvalidRewards(
        f"pair {place.block} has {place.on_record!r} on record for this round and {total!r} is "
        "told now; nothing was recorded: if the new value is right, ",
        _CORRECT,
        " it",
    )


def refuse_gap(place: Place, total: float) -> None:
    """Raise if a correction adds or takes away: a pair is complete or it is repeated."""
    if np.isnan(place.on_record):
        raise InvalidRewards(
            f"nothing is on record of this round of pair {place.block}; nothing was changed: ",
            Call("tell"),
            " it",
        )
    if np.isnan(total):
        raise InvalidRewards(
            "a correction gives the right value, and this one has none; nothing was changed: a "
            "pair whose measurement is lost counts as it stands, or the trial begins anew"
        )


def total_of(problem: Problem, measured: ArrayLike) -> float:
    """The figure of a round: a number as it is, rewards (m,) as their sum; NaN if one is missing.

    A number is any figure that is to be large: metered power, throughput, the total reward.
    """
    if np.ndim(measured) == 0:
        return _checked_total(measured)
    rewards = checked_rewards(measured, problem)
    refuse_absurd(problem, rewards)
    return float(rewards.sum())


def _checked_total(measured: ArrayLike) -> float:
    try:
        total = float(np.asarray(measured, float))  # None is NaN
    except (TypeError, ValueError) as error:
        raise InvalidRewards(
            f"the total is {measured!r}; give a number, NaN if it was not measured, or all rewards "
            "of the round; nothing was recorded"
        ) from error
    if abs(total) > LARGEST_REWARD:
        raise InvalidRewards(
            f"the total is {total}; it must be finite and at most {LARGEST_REWARD:g} in size, or "
            "NaN if it was not measured; nothing was recorded"
        )
    return total
