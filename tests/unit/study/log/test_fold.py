"""Logs that cannot be true are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.study.farm import PROBLEM, endless, run

import edgewise as ew
from edgewise.errors import StorageError
from edgewise.study.log.cursor import Cursor
from edgewise.study.log.events import Asked, Closed, Event, Told
from edgewise.study.log.fold import fold


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
    with pytest.raises(StorageError, match=rf"phase {phase + 1} by the log.*export"):
        fold(cursor.base, without, replace(right, phase=phase + 1))


@pytest.mark.parametrize("event", [Closed(4), Told(4, None, np.zeros(10))], ids=["close", "tell"])
def test_answers_without_a_question_are_refused(event: Event) -> None:
    cursor = present()
    without = replace(cursor.state, pending=None)
    with pytest.raises(StorageError, match="not asked for, so it is damaged"):
        fold(cursor.base, without, event)


def test_a_study_is_created_once() -> None:
    cursor = present()
    with pytest.raises(StorageError, match="creates the study twice"):
        fold(cursor.base, cursor.state, cursor.created)
