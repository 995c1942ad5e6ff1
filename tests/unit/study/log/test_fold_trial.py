"""A log that tells of trials what cannot be is damaged, and is not believed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.study.farm import PROBLEM

import edgewise as ew
from edgewise.errors import InvalidArgument, StorageError
from edgewise.study.log.events import (
    TrialBegan,
    TrialCorrected,
    TrialEnded,
    TrialEvent,
    TrialRepeated,
    TrialTold,
)
from edgewise.study.log.fold_trial import fold_trial
from edgewise.trial.pairs import TrialRecord
from edgewise.trial.setup import set_up
from edgewise.trial.stored import stored_design, stored_record

DESIGN = set_up(PROBLEM, baseline=0, candidates={"candidate": 1}, rng=0)
BEGUN = (TrialRecord.start(DESIGN),)
FIRST = int(BEGUN[0].turns[0])


def test_events_fold_to_the_record() -> None:
    trials = fold_trial((), TrialBegan(1, DESIGN.to_tree()))
    trials = fold_trial(trials, TrialTold(1, 1, 1, FIRST, 2.0))
    trials = fold_trial(trials, TrialTold(1, 1, 1, 1 - FIRST, 3.0))
    trials = fold_trial(trials, TrialCorrected(1, 1, FIRST, 2.0, 2.5))
    assert trials[0].state.totals[0, FIRST] == 2.5
    assert fold_trial(trials, TrialEnded(1))[0].state.abandoned


@pytest.mark.parametrize(
    "event",
    [
        TrialBegan(3, DESIGN.to_tree()),
        TrialTold(2, 1, 1, 0, 1.0),
        TrialTold(1, 2, 1, 0, 1.0),
        TrialTold(1, 1, 2, 0, 1.0),
        TrialTold(1, 1, 1, 2, 1.0),
        TrialRepeated(1, 2, 1),
        TrialCorrected(1, 2, 5, 1.0, 2.0),
        TrialEnded(0),
    ],
)
def test_impossible_events_are_damage(event: TrialEvent) -> None:
    with pytest.raises(StorageError, match="damaged"):
        fold_trial(BEGUN, event)


def test_a_record_survives_its_tree() -> None:
    record = BEGUN[0].told(FIRST, 2.0)
    again = stored_record(PROBLEM, record.to_tree())
    assert again.to_tree().keys() == record.to_tree().keys()
    assert np.array_equal(again.state.current, record.state.current, equal_nan=True)
    assert np.array_equal(again.design.arms, DESIGN.arms)


@pytest.mark.parametrize(
    "change",
    [
        {"arms": np.array([[0, 0], [1, 1]])},
        {"arms": np.array([[0, 0, 0, 0], [9, 1, 1, 1]])},
        {"names": ("baseline",)},
        {"delta": 1.5},
        {"max_pairs": 0},
        {"seed": -1},
        {"goal": {"margin": -1.0, "width": None}},
        {"surprise": 1},
    ],
)
def test_stored_designs_are_checked(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        stored_design(PROBLEM, {**DESIGN.to_tree(), **change})


@pytest.mark.parametrize(
    "change",
    [
        {"totals": np.zeros((2, 3))},
        {"current": np.array([np.inf, 0.0])},
        {"attempt": 0},
        {"abandoned": "no"},
    ],
)
def test_stored_states_are_checked(change: dict[str, Any]) -> None:
    tree = BEGUN[0].to_tree()
    with pytest.raises(InvalidArgument):
        stored_record(PROBLEM, {**tree, "state": {**tree["state"], **change}})


def test_an_edited_export_is_refused(tmp_path: Any) -> None:
    study = ew.Study.create("farm", PROBLEM, rng=0)
    trial = study.confirm(baseline=0, candidate=1, rng=0)
    trial.tell(trial.ask(), 2.0)
    path = tmp_path / "farm.jsonl"
    study.export(path)
    lines = path.read_text(encoding="utf-8").replace(
        '"attempt":1,"candidate"', '"attempt":7,"candidate"'
    )
    path.write_text(lines, encoding="utf-8")
    with pytest.raises(ew.EdgewiseError):
        ew.Study.from_export(path, name="copy")
