"""The trials of a study: a fold over its events, as :mod:`edgewise.study.log.fold`."""

from __future__ import annotations

from edgewise.errors import StorageError
from edgewise.study.log.events import (
    TrialBegan,
    TrialCorrected,
    TrialEnded,
    TrialEvent,
    TrialRepeated,
    TrialTold,
)
from edgewise.trial.pairs import TrialDesign, TrialRecord

Trials = tuple[TrialRecord, ...]


def fold_trial(trials: Trials, event: TrialEvent) -> Trials:
    """The trials after an event."""
    expected = len(trials) + isinstance(event, TrialBegan)
    if event.trial != expected or not expected:
        raise _damaged(f"tells of trial {event.trial}, where trial {expected} belongs")
    if isinstance(event, TrialBegan):
        return (*trials, TrialRecord.start(TrialDesign.from_tree(event.design)))
    return (*trials[:-1], _after(trials[-1], event))


def _after(
    trial: TrialRecord, event: TrialTold | TrialRepeated | TrialCorrected | TrialEnded
) -> TrialRecord:
    match event:
        case TrialTold(candidate=candidate, total=total):
            _require_out(trial, event.block, event.attempt)
            if candidate not in trial.turns:
                raise _damaged(f"tells of candidate {candidate} of a trial, who is not deployed")
            return trial.told(candidate, total)
        case TrialRepeated():
            _require_out(trial, event.block, event.attempt)
            return trial.repeated()
        case TrialCorrected(block=block, candidate=candidate, new=new):
            if block > trial.state.blocks + 1 or candidate >= trial.design.n_candidates:
                raise _damaged(f"corrects pair {block} of a trial, which there is not")
            return trial.corrected(block, candidate, new)
        case TrialEnded():
            return trial.ended()


def _require_out(trial: TrialRecord, block: int, attempt: int) -> None:
    if (block, attempt) != (trial.state.blocks + 1, trial.state.attempt):
        raise _damaged(f"tells of pair {block} of a trial, attempt {attempt}, which is not out")


def _damaged(fact: str) -> StorageError:
    return StorageError(f"the log {fact}, so it is damaged; restore it from a backup or an export")
