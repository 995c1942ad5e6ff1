"""What a study promises, on every storage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.conftest import Place
from tests.unit.study.farm import GRAPH, PROBLEM, endless, kinds, measure, run, state_of

import edgewise as ew
from edgewise.core.ending import Ending
from edgewise.core.learner import Learner
from edgewise.core.strategies import Adaptive
from edgewise.errors import (
    InvalidArgument,
    InvalidRewards,
    LearnerStopped,
    StudyExists,
    UnknownStudy,
    UnknownTicket,
)
from edgewise.study.log.cursor import SNAPSHOT_EVERY
from edgewise.study.log.events import Corrected, Told

STRATEGIES = ("adaptive", "g-optimal")

METHODS: dict[str, dict[str, Any]] = {
    "adaptive": {"strategy": "adaptive"},
    "g-optimal": {"strategy": "g-optimal"},
    "allocation": {"strategy": "adaptive", "target": "allocation"},
    "g-allocation": {"strategy": "g-optimal", "target": "allocation"},
}
UNKNOWN_NOISE = replace(PROBLEM, noise="estimate")


def started(place: Place, n_rounds: int = 3, **options: Any) -> ew.Study:
    return run(ew.Study.create("farm", PROBLEM, storage=place, **endless(**options)), n_rounds)


def again(study: ew.Study, place: Place) -> ew.Study:
    """The study as another process would load it."""
    return ew.Study.load(study.name, storage=place)


# -- creating and loading --------------------------------------------------------------------


def test_everything_about_the_problem_is_stored(place: Place) -> None:
    graph = ew.Graph.from_edges(
        [(0, 1), (1, 2), (2, 0)],
        labels=["a", "b", ("c", 1)],
        directed=True,
        kinds=["near", "far", "near"],
        weights=[1.0, -0.5, 2.0],
    )
    candidates = np.array([[True, True, True], [True, True, False], [True, True, True]])
    problem = ew.Problem(
        graph,
        np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.9]]),
        noise=0.3,
        node_term=True,
        candidates=candidates,
        arm_labels=["x", 2, ("z", 3.5)],
    )
    made = ew.Study.create("all", problem, storage=place, strategy=Adaptive(growth=0.25), rng=1)
    found = again(made, place)
    assert found.problem.fingerprint == problem.fingerprint
    assert found.problem.graph.labels == graph.labels
    assert found.problem.graph.kind_labels == graph.kind_labels
    assert found.problem.arm_labels == problem.arm_labels
    assert repr(found._session.cursor.setting.strategy) == repr(Adaptive(growth=0.25))
    assert found.ask().table() == made.ask().table()


def test_names(place: Place) -> None:
    for name in ("north", "south", "Ärger"):
        ew.Study.create(name, PROBLEM, storage=place)
    assert ew.Study.names(place) == ["north", "south", "Ärger"]
    with pytest.raises(StudyExists, match=r"'south'.* load it, or choose another name"):
        ew.Study.create("south", PROBLEM, storage=place)
    with pytest.raises(
        UnknownStudy, match=r"'sotuh'.* did you mean 'south'\? .*'north', 'south'"
    ) as e:
        ew.Study.load("sotuh", storage=place)
    assert (e.value.name, e.value.names) == ("sotuh", ("north", "south", "Ärger"))


@pytest.mark.parametrize("name", ["", "  ", "x" * 256])
def test_a_name_must_be_usable(name: str) -> None:
    with pytest.raises(InvalidArgument, match="1 to 255 characters"):
        ew.Study.create(name, PROBLEM)


# -- ask and tell ----------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [PROBLEM, UNKNOWN_NOISE], ids=["stated", "estimate"])
@pytest.mark.parametrize("method", METHODS)
def test_a_study_resumed_every_time_equals_the_bare_learner(
    place: Place, method: str, problem: ew.Problem
) -> None:
    study = ew.Study.create("farm", problem, storage=place, **endless(**METHODS[method]))
    learner = Learner(problem, **endless(**METHODS[method]))
    for _ in range(6):
        ticket, expected = again(study, place).ask(), learner.ask()
        assert ticket.round == expected.round
        assert np.array_equal(ticket.arms, expected.arms)
        rewards = measure(ticket.round, ticket.arms)
        again(study, place).tell(ticket, rewards)
        learner.tell(expected, rewards)
    assert str(again(study, place).report()) == str(learner.report())
    assert state_of(again(study, place)) == state_of(study)


def test_asking_again_or_elsewhere_gives_the_pending_round(place: Place) -> None:
    study = started(place)
    first, second, third = study.ask(), study.ask(), again(study, place).ask()
    assert {ticket.key for ticket in (first, second, third)} == {"4"}
    assert np.array_equal(first.arms, third.arms)
    assert kinds(study).count("Asked") == 4
    found = study.ticket("4")
    assert np.array_equal(found.arms, first.arms)
    assert np.array_equal(study.ticket(4).arms, first.arms)


def test_the_ticket_speaks_in_labels(place: Place) -> None:
    ticket = started(place).ask()
    assert [row["node"] for row in ticket.table()] == ["a", "b", "c", "d"]
    assert {row["arm"] for row in ticket.table()} <= {"low", "high", "mixed"}


def test_rewards_come_as_array_mapping_or_data_frame_whole_or_in_parts(place: Place) -> None:
    study = started(place, 0)
    ticket = study.ask()
    rewards = measure(1, ticket.arms)
    arcs = [(GRAPH.labels[i], GRAPH.labels[j]) for i, j in GRAPH.arcs.tolist()]
    study.tell(ticket, {arcs[4]: rewards[4], arcs[0]: rewards[0]})
    frame = pd.DataFrame(
        [(*arcs[k], rewards[k]) for k in (7, 3, 0)], columns=["source", "target", "reward"]
    )
    study.tell(ticket, frame)
    status = again(study, place).status()
    assert (status.rounds, status.missing) == (0, 6)
    study.tell(ticket, pd.Series({arcs[k]: rewards[k] for k in (1, 2)}))
    partial = np.where(np.arange(10) < 9, rewards, np.nan)
    study.tell(ticket, partial)
    assert study.status().missing == 1
    study.tell(ticket, rewards)
    assert (study.status().rounds, study.status().pending) == (1, None)
    undivided = ew.Study.create("whole", PROBLEM, storage=place, **endless())
    undivided.tell(undivided.ask(), rewards)
    assert state_of(undivided) == state_of(again(study, place))
    assert np.array_equal(study.rewards(1), rewards)


def test_telling_the_same_again_is_harmless_and_another_value_is_refused(place: Place) -> None:
    study = started(place)
    ticket = study.ask()
    rewards = measure(4, ticket.arms)
    half = np.where(np.arange(10) < 5, rewards, np.nan)
    for open_round in (True, False):
        study.tell(ticket, half if open_round else rewards)
        before, events = state_of(study), len(kinds(study))
        study.tell(ticket, half)
        with pytest.raises(InvalidRewards, match=r"a -> b of round 4 was told .* correct\(\)"):
            study.tell(ticket, {("a", "b"): 17.0, ("c", "a"): 1.0})
        assert state_of(again(study, place)) == before
        assert len(kinds(study)) == events


BAD_REWARDS: list[tuple[Any, str]] = [
    (np.zeros(9), r"shape \(9,\)"),
    (np.full(10, np.inf), "arc 0 .a -> b. is inf"),
    ({("a", "b"): -np.inf}, "arc 0 .a -> b. is -inf"),
    ({("a", "b"): 1e200}, "at most 1e"),
    ({("a", "nobody"): 1.0}, "no node is called 'nobody'"),
    ({("b", "d"): 1.0}, "no arc goes from 'b' to 'd'"),
    ({"a": 1.0}, "'a' is not an arc"),
    ({("a", "b"): "high"}, "a -> b is 'high'"),
    ({("a", "c"): [1.0, 2.0]}, "must be a number"),
    (pd.DataFrame({"from": ["a"], "to": ["b"]}), "the columns are from, to"),
    (
        pd.DataFrame({"u": ["a", "a"], "v": ["b", "b"], "value": [1.0, 2.0]}),
        "has two values, 1.0 and 2.0",
    ),
    ("many", "a reward is 'many', a str; rewards are numbers"),
]


@pytest.mark.parametrize("case", range(len(BAD_REWARDS)))
def test_bad_rewards_change_nothing(place: Place, case: int) -> None:
    rewards, fact = BAD_REWARDS[case]
    study = started(place, 1)
    ticket = study.ask()
    before, events = state_of(study), len(kinds(study))
    for change in (ew.Study.tell, ew.Study.correct):
        with pytest.raises(InvalidRewards, match=fact) as caught:
            change(study, ticket, rewards)
        assert "nothing was recorded" in str(caught.value)
    assert (state_of(again(study, place)), len(kinds(study))) == (before, events)


def test_bad_tickets_change_nothing(place: Place) -> None:
    study = started(place)
    ticket = study.ask()
    stranger = replace(ticket, arms=(ticket.arms + 1) % 3)
    future = replace(ticket, round=9)
    old = study.ticket(2)
    other = replace(old, arms=(old.arms + 1) % 3)
    second = replace(old, attempt=2)
    before, events = state_of(study), len(kinds(study))
    cases: list[tuple[Any, str]] = [
        (stranger, "other arms"),
        (future, r"round 9 was not asked for \(round 4 is out\)"),
        (other, "other arms"),
        (second, r"attempt 2 at round 2 does not stand"),
        (ew.Ticket(4, ticket.arms), "a ticket from ask"),
        (4.0, "a ticket from ask"),
        (True, "a ticket from ask"),
        ("x", "'x' is no ticket"),
        ("4.2", "attempt 2 at round 4 does not stand"),
        (9, "round 9 was not asked for"),
        (None, "a ticket from ask"),
    ]
    for wrong, fact in cases:
        for change in (ew.Study.tell, ew.Study.correct):
            with pytest.raises(UnknownTicket, match=fact):
                change(study, wrong, np.zeros(10))
        for end in (ew.Study.close, ew.Study.cancel):
            with pytest.raises(UnknownTicket, match=fact):
                end(study, wrong)
    for key in (0, 5, -1, "x", "1.x", "4.2"):
        with pytest.raises(UnknownTicket):
            study.ticket(key)
    assert (state_of(again(study, place)), len(kinds(study))) == (before, events)


def test_a_ticket_of_another_study_is_refused_even_with_the_same_arms(place: Place) -> None:
    study = started(place, 1)
    twin = run(ew.Study.create("twin", PROBLEM, storage=place, **endless()), 1)
    ticket, other = study.ask(), twin.ask()
    assert np.array_equal(ticket.arms, other.arms)
    before = state_of(study)
    for change in (ew.Study.tell, ew.Study.correct):
        with pytest.raises(UnknownTicket, match=r"handed out by another study, called 'twin'"):
            change(study, other, np.zeros(10))
    for look in (ew.Study.close, ew.Study.cancel, ew.Study.rewards):
        with pytest.raises(UnknownTicket, match="handed out by another study"):
            look(study, other)
    quieter = replace(ticket, problem=replace(PROBLEM, noise=0.25))
    with pytest.raises(UnknownTicket, match="handed out by another study"):
        study.tell(quieter, np.zeros(10))
    assert state_of(again(study, place)) == before


def test_a_key_does_for_a_ticket(place: Place) -> None:
    study, twin = started(place, 1), ew.Study.create("twin", PROBLEM, storage=place, **endless())
    run(twin, 1)
    for by_key, one in ((True, study), (False, twin)):
        first = one.ask()
        one.cancel(first.key if by_key else first)
        second = one.ask()
        assert second.key == "2.2"
        one.tell(second.key if by_key else second, {("a", "b"): 1.0})
        one.correct(2 if by_key else second, {("a", "b"): 2.0})
        one.close(second.key if by_key else second)
    assert state_of(again(study, place)) == state_of(twin)


def test_the_pending_round_says_what_it_lacks(place: Place) -> None:
    study = started(place, 0)
    assert study.pending is None
    ticket = study.ask()
    assert (ticket.missing, len(ticket.lacking())) == (10, 10)
    study.tell(ticket, [*measure(1, ticket.arms)[:9].tolist(), None])
    pending = again(study, place).pending
    assert pending is not None
    assert (pending.key, pending.missing, study.status().missing) == ("1", 1, 1)
    assert pending.lacking() == [("c", "a")]
    assert ticket.missing == 10  # as it was when the ticket was looked up
    study.close("1")
    assert study.pending is None


def test_the_last_look_is_kept_until_the_next(place: Place) -> None:
    study = started(place, 1)
    other = again(study, place)
    run(other, 1)
    assert (study.seen.rounds, study.now().rounds, study.seen.rounds) == (1, 2, 2)
    assert str(study.seen.status()) == str(other.status())


# -- close and cancel ------------------------------------------------------------------------


def test_closing_counts_what_arrived(place: Place) -> None:
    study, learner = started(place, 0), Learner(PROBLEM, **endless(strategy="adaptive"))
    ticket = study.ask()
    some = np.where(np.arange(10) % 3 == 0, np.nan, measure(1, ticket.arms))
    study.tell(ticket, some)
    study.close(ticket)
    study.close(ticket)  # harmless
    learner.tell(learner.ask(), some)
    assert kinds(study) == ["Created", "Asked", "Told", "Closed"]
    assert np.array_equal(study.ask().arms, learner.ask().arms)
    assert np.array_equal(again(study, place).rewards("1"), some, equal_nan=True)
    with pytest.raises(InvalidRewards, match=r"closed without 4 .* a -> b; .* correct\(\)"):
        study.tell(ticket, measure(1, ticket.arms))


def test_a_cancelled_round_is_handed_out_again_and_counts_for_nothing(place: Place) -> None:
    study = started(place)
    before = study.ask()
    study.tell(before, {("a", "b"): 99.0}, accept_outliers=True)
    study.cancel(before)
    study.cancel(before)  # harmless
    ticket = again(study, place).ask()
    assert (before.key, ticket.key) == ("4", "4.2")
    assert np.array_equal(ticket.arms, before.arms)
    with pytest.raises(UnknownTicket, match="attempt 1 at round 4 was cancelled"):
        study.tell(before, np.zeros(10))
    study.tell(ticket, measure(4, ticket.arms))
    with pytest.raises(UnknownTicket, match="attempt 1 at round 4 does not stand"):
        study.tell(before, {("a", "b"): 99.0})
    with pytest.raises(UnknownTicket, match="closed and counts, so it cannot be cancelled"):
        study.cancel(ticket)
    undisturbed = ew.Study.create("other", PROBLEM, storage=place, **endless())
    assert state_of(run(undisturbed, 4)) == state_of(study)
    assert study.ask().key == "5"


# -- correcting ------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", [17.0, 1e70, np.nan])
def test_a_correction_equals_having_told_the_truth(place: Place, wrong: float) -> None:
    truth = run(ew.Study.create("true", PROBLEM, storage=place, **endless(strategy="g-optimal")), 5)
    study = ew.Study.create("farm", PROBLEM, storage=place, **endless(strategy="g-optimal"))
    study.extend(rounds=5)  # a gross error may convince the rule
    for number in range(1, 6):
        ticket = study.ask()
        rewards = measure(number, ticket.arms)
        told = np.where((number == 2) & (np.arange(10) == 3), wrong, rewards)
        study.tell(ticket, told, accept_outliers=True)
        study.close(ticket)
    right = float(measure(2, study.ticket(2).arms)[3])
    study.correct(study.ticket(2), {("c", "b"): right})
    study.correct(study.ticket(2), {("c", "b"): right})  # harmless
    events = [event for _, event in study.log() if isinstance(event, Corrected)]
    assert len(events) == 1
    assert np.array_equal(events[0].old, [wrong], equal_nan=True)
    assert np.array_equal(events[0].new, [right])
    mine, its = study._session.present().state, truth._session.present().state
    for name in ("rewards", "information", "squares", "observations"):
        assert np.array_equal(
            getattr(mine.learner.statistics, name), getattr(its.learner.statistics, name)
        )
    assert mine.learner.verdict == its.learner.verdict
    assert mine.learner.best_total == its.learner.best_total
    assert np.array_equal(mine.learner.best_arms, its.learner.best_arms)  # type: ignore[arg-type]
    assert np.array_equal(mine.totals, its.totals)
    assert state_of(again(study, place)) == state_of(study)


def test_the_pending_round_can_be_corrected_and_measurements_withdrawn(place: Place) -> None:
    study = started(place)
    ticket = study.ask()
    study.tell(ticket, {("a", "b"): 1.0, ("b", "a"): 2.0})
    study.correct(ticket, {("a", "b"): 3.0, ("b", "a"): None})
    expected = np.full(10, np.nan)
    expected[0] = 3.0
    assert np.array_equal(again(study, place).rewards("4"), expected, equal_nan=True)
    study.correct(ticket, measure(4, ticket.arms))  # complete: the round closes
    straight = ew.Study.create("straight", PROBLEM, storage=place, **endless())
    assert state_of(run(straight, 4)) == state_of(study)


def test_later_decisions_stand_when_an_early_round_is_corrected(place: Place) -> None:
    study = started(place, 8)
    before = study._session.present().state
    deployed = [study.ticket(number).arms for number in range(1, 9)]
    study.correct(study.ticket(1), np.zeros(10))
    after = again(study, place)._session.present().state
    assert after.phase_ends == before.phase_ends
    assert len(after.phase_ends) > 2
    assert all(np.array_equal(study.ticket(k + 1).arms, arms) for k, arms in enumerate(deployed))
    was, now = before.learner.closed.to_tree()["rewards"], after.learner.closed.to_tree()["rewards"]
    assert not np.array_equal(now[0], was[0])
    assert np.array_equal(now[1:], was[1:])
    assert run(study, 1).status().rounds == 9


def test_the_best_round_seen_survives_corrections(place: Place) -> None:
    study = started(place, 5)
    totals = [float(study.rewards(number).sum()) for number in range(1, 6)]
    best = int(np.argmax(totals)) + 1
    study.correct(study.ticket(best), np.full(10, -50.0))
    totals[best - 1] = -500.0
    runner_up = int(np.argmax(totals)) + 1
    learner = again(study, place)._session.present().state.learner
    assert learner.best_total == totals[runner_up - 1]
    assert np.array_equal(np.asarray(learner.best_arms), study.ticket(runner_up).arms)


# -- stopping and going on -------------------------------------------------------------------


def certified(place: Place, **options: Any) -> ew.Study:
    study = ew.Study.create("sure", PROBLEM, storage=place, rng=2, **options)
    while not study.stopped:
        run(study, 1)
    return study


@pytest.mark.parametrize("method", METHODS)
def test_after_the_stop_asking_needs_an_extension(place: Place, method: str) -> None:
    study = certified(place, **METHODS[method])
    rounds = study.status().rounds
    assert study.report().certified
    assert study.status().ending is Ending.CERTIFIED
    with pytest.raises(LearnerStopped, match=rf"stopped after round {rounds}.*extend\(rounds"):
        again(study, place).ask()
    study.extend(rounds=3)
    assert not again(study, place).stopped
    run(again(study, place), 3)
    status = study.status()
    assert status.rounds == rounds + 3
    (certificate,) = status.certificates
    assert certificate.round == rounds
    assert (certificate.arms is None) == ("target" not in METHODS[method])
    assert status.stopped == study._session.present().state.learner.verdict.stop


def test_a_smaller_delta_equals_having_asked_for_it_from_the_start(place: Place) -> None:
    study = certified(place, strategy="g-optimal")
    study.extend(delta=1e-12)
    assert not study.stopped
    while not study.stopped:
        run(study, 1)
    strict = ew.Study.create(
        "strict", PROBLEM, storage=place, rng=2, strategy="g-optimal", delta=1e-12
    )
    while not strict.stopped:
        run(strict, 1)
    assert strict.status().rounds == study.status().rounds > 1
    assert (
        strict._session.present().state.learner.verdict
        == study._session.present().state.learner.verdict
    )
    assert [one.delta for one in study.status().certificates] == [0.05, 1e-12]


def test_the_budget_is_an_ending_too(place: Place) -> None:
    study = run(ew.Study.create("farm", PROBLEM, storage=place, max_rounds=2, **endless()), 2)
    assert study.status().ending is Ending.BUDGET_SPENT
    assert study.report().ending is Ending.BUDGET_SPENT
    with pytest.raises(LearnerStopped, match="after round 2: the round limit was reached"):
        study.ask()
    study.extend(rounds=1)
    run(again(study, place), 1)
    assert study.stopped


def test_extensions_are_checked(place: Place) -> None:
    study = started(place, 1)
    bad: list[dict[str, Any]] = [
        {},
        {"rounds": 0},
        {"rounds": True},
        {"rounds": 1.5},
        {"delta": 0.0},
        {"epsilon": -1.0},
    ]
    for options in bad:
        with pytest.raises(InvalidArgument):
            study.extend(**options)
    assert kinds(study) == ["Created", "Asked", "Told"]


def test_a_correction_can_take_the_stop_back(place: Place) -> None:
    study = certified(place, strategy="adaptive")
    for number in range(1, study.status().rounds + 1):
        study.correct(study.ticket(number), np.zeros(10))
    status = again(study, place).status()
    assert not status.stopped
    assert status.certificates == ()
    run(study, 1)


# -- snapshots -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_dropping_the_snapshot_gives_the_same_state(
    place: Place, method: str, drop_snapshot: Callable[[], None]
) -> None:
    study = started(place, SNAPSHOT_EVERY // 2 + 3, **METHODS[method])
    study.correct(study.ticket(2), {("a", "b"): 0.125})
    study.tell(study.ask(), {("a", "b"): 1.0})
    with_snapshot = again(study, place)
    assert with_snapshot._session.cursor.position > SNAPSHOT_EVERY
    drop_snapshot()
    assert state_of(again(study, place)) == state_of(with_snapshot) == state_of(study)


def test_loading_replays_no_more_than_what_follows_the_snapshot(place: Place) -> None:
    study = started(place, SNAPSHOT_EVERY)
    with study.storage.reading("farm") as journal:
        kept = journal.snapshot()
        assert kept is not None
        assert journal.length - kept[0] < SNAPSHOT_EVERY


# -- the log ---------------------------------------------------------------------------------


def test_the_log_tells_the_whole_story(place: Place) -> None:
    study = started(place, 1)
    ticket = study.ask()
    study.tell(ticket, {("d", "a"): 4.0})
    study.close(ticket)
    study.extend(epsilon=0.1)
    assert kinds(study) == ["Created", "Asked", "Told", "Asked", "Told", "Closed", "Extended"]
    times = [at for at, _ in study.log()]
    assert times == sorted(times)
    told = [event for _, event in study.log() if isinstance(event, Told)]
    assert told[0].arcs is None
    assert told[1].arcs is not None
    assert (told[1].arcs.tolist(), told[1].values.tolist()) == ([6], [4.0])
