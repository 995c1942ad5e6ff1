"""What a request does to the trials of a study: pure, as :mod:`edgewise.study.log.decide` is."""

from __future__ import annotations

from edgewise.errors import Call, LearnerStopped, UnknownTicket
from edgewise.study.log.decide import refuse_in_trial
from edgewise.study.log.events import (
    TrialBegan,
    TrialCorrected,
    TrialEnded,
    TrialRepeated,
    TrialTold,
)
from edgewise.study.log.fold import StudyState
from edgewise.trial.answers import find, is_new, refuse_gap
from edgewise.trial.pairs import TrialDesign, TrialRecord
from edgewise.trial.rule import TrialEnding
from edgewise.trial.ticket import RoundOfTrial


def begin(state: StudyState, design: TrialDesign) -> TrialBegan:
    """Begin a trial, unless a round or another trial is out."""
    if state.pending is not None:
        raise UnknownTicket(
            f"round {state.pending.number} is out for measurement, and a trial begins between "
            "rounds; nothing was changed: ",
            Call("tell"),
            ", ",
            Call("close"),
            " or ",
            Call("cancel"),
            " it first",
        )
    refuse_in_trial(state)
    return TrialBegan(len(state.trials) + 1, design.to_tree())


def tell(state: StudyState, number: int, ticket: RoundOfTrial, total: float) -> TrialTold | None:
    """Record the figure of a round; what was told before must be told alike."""
    place = find(number, state.trials[number - 1], ticket)
    if not is_new(place, total):
        return None
    return TrialTold(number, place.block, place.attempt, place.candidate, total)


def correct(
    state: StudyState, number: int, ticket: RoundOfTrial, total: float
) -> TrialCorrected | None:
    """Replace the figure of a round; None if nothing changes."""
    place = find(number, state.trials[number - 1], ticket)
    refuse_gap(place, total)
    if total == place.on_record:
        return None
    return TrialCorrected(number, place.block, place.candidate, place.on_record, total)


def repeat(state: StudyState, number: int) -> TrialRepeated:
    """Begin the pair that is out again."""
    trial = _running(state, number)
    return TrialRepeated(number, trial.state.blocks + 1, trial.state.attempt)


def end(state: StudyState, number: int) -> TrialEnded | None:
    """Take no further pair; None if the trial is over."""
    over = state.trials[number - 1].standing.ending is not TrialEnding.RUNNING
    return None if over else TrialEnded(number)


def _running(state: StudyState, number: int) -> TrialRecord:
    trial = state.trials[number - 1]
    if trial.standing.ending is not TrialEnding.RUNNING:
        raise LearnerStopped(
            f"trial {number} is over ({trial.standing.ending.value}); nothing was changed: begin "
            "another with ",
            Call("confirm"),
        )
    return trial
