"""Requests are decided from values alone: no log, no clock, no storage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.study.farm import PROBLEM, endless, measure, run

import edgewise as ew
from edgewise.errors import UnknownTicket
from edgewise.study.log import decide
from edgewise.study.log.cursor import Cursor
from edgewise.study.log.events import Cancelled, Closed
from edgewise.study.log.fold import Round

ALL = np.arange(10)


@pytest.fixture
def at() -> Cursor:
    """Three rounds closed, the fourth out."""
    study = run(ew.Study.create("farm", PROBLEM, **endless(strategy="g-optimal")), 3)
    study.ask()
    return study.now().cursor


def nothing(first: int, last: int) -> Iterator[Round]:
    raise AssertionError(f"the rounds {first} to {last} were read without need")


def closed(at: Cursor, first: int, last: int) -> Iterator[Round]:
    """The closed rounds as the log would have them."""
    for number in range(first, last + 1):
        arms = at.setting.plan.joint_arm(PROBLEM, replace(at.state.learner, rounds=number - 1))
        yield Round(number, 1, arms, measure(number, arms))


def test_the_pending_round_is_answered_without_reading_the_log(at: Cursor) -> None:
    pending = at.state.pending
    assert pending is not None
    told = decide.tell(PROBLEM, at.state, nothing, "4", ALL, measure(4, pending.arms))
    assert told is not None
    assert told.arcs is None
    assert decide.close(at.state, nothing, 4) == Closed(4)
    assert decide.cancel(at.state, nothing, "4") == Cancelled(4, 1)
    corrected = decide.correct(at.setting, at.state, nothing, "4", ALL[:1], np.ones(1))
    assert corrected is not None
    assert corrected.revision is None


def test_a_correction_reads_the_phase_and_names_the_best_round_that_is_left(at: Cursor) -> None:
    def records(first: int, last: int) -> Iterator[Round]:
        return closed(at, first, last)

    best = int(np.argmax(at.state.totals)) + 1
    event = decide.correct(at.setting, at.state, records, best, ALL, np.full(10, -50.0))
    assert event is not None
    assert event.revision is not None
    others = [number for number in (1, 2, 3) if number != best]
    runner_up = max(others, key=lambda number: float(at.state.totals[number - 1]))
    (expected,) = closed(at, runner_up, runner_up)
    assert event.revision.total == -500.0
    assert np.array_equal(np.asarray(event.revision.best_arms), expected.arms)
    assert event.revision.statistics.information.sum() == 30


def test_a_round_that_is_none_is_refused_without_reading_the_log(at: Cursor) -> None:
    for name in (0, 5, "5", "4.2"):
        with pytest.raises(UnknownTicket):
            decide.close(at.state, nothing, name)
