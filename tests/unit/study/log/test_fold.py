"""Logs that cannot be true are refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from tests.unit.study.farm import PROBLEM, endless, run

import edgewise as ew
from edgewise.errors import StorageError
from edgewise.study.log.cursor import Cursor
from edgewise.study.log.events import Asked, Cancelled, Closed, Corrected, Event, Revision, Told
from edgewise.study.log.fold import fold

NOTHING, NONE = np.zeros(0, np.int32), np.zeros(0)
REVISION = Revision(7, cast(Any, None), 0.0, None)


def present() -> Cursor:
    study = run(ew.Study.create("farm", PROBLEM, storage="memory", **endless()), 3)
    study.ask()
    return study._session.present()


def test_a_log_of_other_arithmetic_is_not_replayed() -> None:
    cursor = present()
    pending = cursor.state.pending
    assert pending is not None
    phase = len(cursor.state.phase_ends)
    right = Asked(4, 1, phase, pending.arms)
    without = replace(cursor.state, pending=None)
    assert fold(cursor.base, without, right).pending is not None
    with pytest.raises(
        StorageError, match=rf"phase {phase + 1} by the log.*go on with the study there"
    ):
        fold(cursor.base, without, replace(right, phase=phase + 1))


@pytest.mark.parametrize("event", [Closed(4), Told(4, None, np.zeros(10))], ids=["close", "tell"])
def test_answers_without_a_question_are_refused(event: Event) -> None:
    cursor = present()
    without = replace(cursor.state, pending=None)
    with pytest.raises(StorageError, match="which is not out, so it is damaged"):
        fold(cursor.base, without, event)


@pytest.mark.parametrize(
    ("event", "fact"),
    [
        (Asked(4, 1, 0, np.zeros(4, np.int32)), "hands out round 4"),  # it is out already
        (Asked(9, 1, 0, np.zeros(4, np.int32)), "hands out round 9"),
        (Closed(3), "answers round 3, which is not out"),
        (Cancelled(5, 1), "answers round 5, which is not out"),
        (Corrected(2, NOTHING, NONE, NONE, None), "answers round 2, which is not out"),
        (Corrected(4, NOTHING, NONE, NONE, REVISION), "corrects round 4 of phase 7"),
        (Corrected(2, NOTHING, NONE, NONE, REVISION), "corrects round 2 of phase 7"),
    ],
)
def test_events_of_another_round_are_refused(event: Event, fact: str) -> None:
    cursor = present()
    with pytest.raises(StorageError, match=fact):
        fold(cursor.base, cursor.state, event)


def test_a_study_is_created_once() -> None:
    cursor = present()
    with pytest.raises(StorageError, match="creates the study twice"):
        fold(cursor.base, cursor.state, cursor.created)
