"""Trials on the record of a study: on every storage, and what the answer makes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.study.conftest import Place
from tests.unit.study.farm import ARMS, GRAPH, PROBLEM, endless, kinds, measure, run, state_of

import edgewise as ew
from edgewise.core.claim import Confirmation
from edgewise.errors import InvalidArgument, InvalidRewards, LearnerStopped, UnknownTicket
from edgewise.study import StudyTrial
from edgewise.study.views.chronicle import chronicle
from edgewise.study.views.page import study_page
from edgewise.trial import TrialEnding

LOW = [0, 0, 0, 0]


def started(place: Place = "memory", n_rounds: int = 4, **options: Any) -> ew.Study:
    return run(ew.Study.create("farm", PROBLEM, storage=place, **endless(**options)), n_rounds)


def total(ticket: Any, gain: float) -> float:
    """A metered figure: ``gain`` for whatever is not the baseline, the same wherever measured."""
    noise = np.random.default_rng((ticket.block, ticket.place)).standard_normal()
    return 50.0 + (gain if any(ticket.arms) else 0.0) + float(noise)


def finish(trial: StudyTrial, gain: float) -> ew.trial.TrialReport:
    while not trial.stopped:
        ticket = trial.ask()
        trial.tell(ticket, total(ticket, gain))
    return trial.report()


def other(study: ew.Study) -> list[int]:
    """A joint arm that is neither the baseline nor the answer."""
    best = study.recommend().allocation
    assert best is not None
    return next(arms for arms in ([1, 1, 1, 1], [2, 2, 2, 2]) if arms != best.arms.tolist())


def answer(study: ew.Study) -> list[int]:
    found: list[int] = [row["arm"] for row in study.recommend().table()]  # type: ignore[misc]
    return found


# -- on record ---------------------------------------------------------------------------------


def test_every_process_sees_the_trial_and_goes_on(
    place: Place, drop_snapshot: Callable[[], None]
) -> None:
    study = started(place)
    trial: StudyTrial | None = study.confirm(
        baseline=LOW, candidate=1, width=1e-9, max_pairs=35, rng=3
    )
    for number in range(70):  # past a snapshot
        if number % 9 == 0:  # another process, mid-pair every other time
            trial = ew.Study.load("farm", storage=place).trial
        assert trial is not None
        ticket = trial.ask()
        trial.tell(ticket, total(ticket, 1.0))
        trial.tell(ticket, total(ticket, 1.0))  # repeating a request is harmless
    last = ew.Study.load("farm", storage=place)
    assert last.trial is not None
    assert last.trial.ending is TrialEnding.BUDGET_SPENT
    before = state_of(last)
    drop_snapshot()
    assert state_of(ew.Study.load("farm", storage=place)) == before
    alone = ew.Trial(PROBLEM, baseline=LOW, candidate=1, width=1e-9, max_pairs=35, rng=3)
    while not alone.stopped:
        ticket = alone.ask()
        alone.tell(ticket, total(ticket, 1.0))
    assert np.array_equal(alone.report().totals, last.trial.report().totals)


def test_an_export_carries_the_trial(tmp_path: Path) -> None:
    study = started()
    finish(study.confirm(baseline=LOW, candidate=1, rng=0), gain=4.0)
    study.export(tmp_path / "farm.jsonl")
    copy = ew.Study.from_export(tmp_path / "farm.jsonl", name="copy")
    assert copy.trial is not None
    assert copy.trial.ending is TrialEnding.BETTER
    assert state_of(copy) == state_of(study)


def test_gaps_repetitions_and_corrections_are_events() -> None:
    study = started()
    trial = study.confirm(baseline=LOW, candidate=1, rng=0)
    first = trial.ask()
    trial.tell(first, np.nan)
    assert trial.ask().key == "T1-1.1-2"
    trial.tell(trial.ask(), 50.0)
    trial.repeat()
    again = trial.ask()
    assert (again.key, again.candidate) == ("T1-1.1-3", first.candidate)
    trial.tell(again, 51.0)
    trial.correct(again, 52.0)
    trial.correct(again, 52.0)
    trial.end()
    trial.end()
    assert [kind for kind in kinds(study) if kind.startswith("Trial")] == [
        "TrialBegan",
        "TrialTold",
        "TrialTold",
        "TrialRepeated",
        "TrialTold",
        "TrialCorrected",
        "TrialEnded",
    ]
    deeds, _ = chronicle(study.log(), PROBLEM.n_rewards, last=7)
    assert [deed.text for deed in deeds] == [
        "trial 1 begun: candidate against baseline",
        "trial 1, pair 1: a gap: the pair is repeated",
        "trial 1, pair 1: 50 told",
        "trial 1, pair 1: begun again",
        "trial 1, pair 1: 51 told",
        "trial 1, pair 1: 51 corrected to 52",
        "trial 1 ended by hand",
    ]


def test_rewards_by_name_are_summed_and_must_be_complete() -> None:
    study = started()
    trial = study.confirm(baseline=LOW, candidate=1, rng=0)
    labels = GRAPH.labels
    named = {(labels[i], labels[j]): 0.5 for i, j in GRAPH.arcs.tolist()}
    some = dict(list(named.items())[:-2])
    with pytest.raises(InvalidRewards, match="2 of 10 measurements are not there"):
        trial.tell(trial.ask(), some)
    trial.tell(trial.ask(), named)
    trial.tell(trial.ask(), 4.0)
    assert abs(trial.report().difference) == 1.0


# -- rounds of the study and rounds of the trial -----------------------------------------------


def test_a_trial_begins_between_rounds_and_rounds_wait_for_it() -> None:
    study = started()
    ticket = study.ask()
    before = state_of(study)
    with pytest.raises(UnknownTicket, match="round 5 is out for measurement"):
        study.confirm(baseline=LOW)
    assert state_of(study) == before
    study.tell(ticket, measure(ticket.round, ticket.arms))
    trial = study.confirm(baseline=LOW, candidate=1)
    for request in (study.ask, lambda: study.confirm(baseline=LOW, candidate=1)):
        with pytest.raises(LearnerStopped, match="trial 1 is running"):
            request()
    trial.end()
    assert study.ask().round == 6


def test_answers_to_the_wrong_round_are_refused() -> None:
    study = started()
    closed = study.ticket(2)
    trial = study.confirm(baseline=LOW, candidate=1)
    before = state_of(study)
    for wrong in (closed, "2", 2):
        with pytest.raises(UnknownTicket, match="no round of the trial"):
            trial.tell(wrong, 50.0)  # type: ignore[arg-type]
    for ticket in (trial.ask(), trial.ask().key):
        with pytest.raises(UnknownTicket, match="a round of a trial"):
            study.tell(ticket, np.ones(PROBLEM.n_rewards))  # type: ignore[arg-type]
    assert state_of(study) == before


def test_a_second_trial_refuses_tickets_of_the_first() -> None:
    study = started()
    first = study.confirm(baseline=LOW, candidate=1)
    old = first.ask()
    first.end()
    second = study.confirm(baseline=LOW, candidate=2)
    with pytest.raises(UnknownTicket, match="belongs to trial 1"):
        second.tell(old, 1.0)
    with pytest.raises(LearnerStopped, match="trial 1 is over"):
        first.repeat()


# -- what the answer makes of it ---------------------------------------------------------------


def test_without_a_trial_the_answer_is_unconfirmed() -> None:
    study = started()
    assert study.trial is None
    assert study.recommend().confirmation is Confirmation.UNCONFIRMED
    assert study.report().measured == ""


def test_a_trial_confirms_the_answer() -> None:
    study = started()
    best, by_model = study.report().allocation, study.report()
    assert best is not None
    baseline = other(study)
    trial = study.confirm(baseline=baseline, rng=1)
    assert study.recommend().confirmation is Confirmation.UNCONFIRMED
    while not trial.stopped:
        ticket = trial.ask()
        better = np.array_equal(ticket.arms, best.arms)
        trial.tell(ticket, total(ticket, 0.0) + 5.0 * better)
    found = study.recommend()
    assert found.confirmation is Confirmation.CONFIRMED
    assert found.allocation is not None
    assert np.array_equal(found.allocation.arms, best.arms)
    assert found.guarantee == f"{study.report().measured} {by_model.guarantee}"
    assert found.guarantee.startswith("Confirmed by measurement: recommended minus baseline = +")


def test_contradicted_means_the_baseline_and_is_said_first() -> None:
    study = started()
    lost = study.report().allocation
    assert lost is not None
    baseline = other(study)
    trial = study.confirm(baseline=baseline, rng=1)
    while not trial.stopped:
        ticket = trial.ask()
        trial.tell(ticket, total(ticket, 0.0) + 5.0 * (ticket.candidate == "baseline"))
    found, report, status = study.recommend(), study.report(), study.status()
    assert found.confirmation is report.confirmation is Confirmation.CONTRADICTED
    names = list(PROBLEM.arm_labels or ())
    assert answer(study) == [names[arm] for arm in baseline]
    assert report.allocation is not None
    assert report.allocation.arms.tolist() == baseline
    assert report.baselines[0].name == "by the model"
    assert np.array_equal(report.baselines[0].arms, lost.arms)
    for text in (str(found), str(report), report.guarantee):
        assert text.startswith("Contradicted by measurement: deploy the baseline")
    assert not report.certified
    assert not found.certified
    assert "a trial contradicts the answer" in status.headline
    page = study_page(study)
    assert page.index("Contradicted by measurement") < page.index("4 rounds")


def test_a_contradiction_is_about_one_joint_arm() -> None:
    study = started()
    report = finish(study.confirm(baseline=LOW, candidate=other(study), rng=1), gain=-6.0)
    assert report.ending is TrialEnding.WORSE
    assert study.recommend().confirmation is Confirmation.UNCONFIRMED


def test_undecided_trials_leave_the_answer_unconfirmed() -> None:
    study = started()
    finish(study.confirm(baseline=other(study), rng=1, max_pairs=3), gain=0.0)
    found = study.recommend()
    assert found.confirmation is Confirmation.UNCONFIRMED
    assert found.guarantee.startswith("Not confirmed by measurement so far: recommended minus")


def test_a_recommended_baseline_is_kept_and_nothing_is_asked() -> None:
    study = started()
    best = study.recommend().allocation
    assert best is not None
    trial = study.confirm(baseline=best.arms)
    assert trial.ending is TrialEnding.SAME
    assert study.recommend().guarantee.startswith(
        "The recommended configuration is the baseline: keep today's setting."
    )
    with pytest.raises(LearnerStopped, match="the candidate is the baseline"):
        trial.ask()
    assert study.ask().round == 5


def test_a_tournament_of_what_the_report_knows() -> None:
    study = started()
    report = study.report()
    joint = {"recommended": report.allocation, **{row.name: row for row in report.baselines}}
    trial = study.confirm(baseline=other(study), candidates=list(joint), rng=2)
    ask = trial.ask()
    assert set(" = ".join(trial.report().names).split(" = ")) <= {"baseline", *joint}
    assert ask.candidate in trial.report().names
    with pytest.raises(InvalidArgument, match="no joint arm called 'best comon'"):
        started().confirm(baseline=LOW, candidates=["best comon"])


def test_nothing_estimable_needs_a_candidate() -> None:
    study = ew.Study.create("new", PROBLEM, rng=0)
    with pytest.raises(InvalidArgument, match="nothing is estimable yet"):
        study.confirm(baseline=LOW)
    with pytest.raises(InvalidArgument, match="difference="):
        study.pairs_needed(baseline=LOW, candidate=1)
    assert study.pairs_needed(baseline=LOW, candidate=1, difference=2.0).expected is not None


def test_the_plan_takes_difference_and_noise_from_the_study() -> None:
    study = started(n_rounds=8)
    report = study.report()
    best, noise = report.allocation, report.noise_estimate
    assert best is not None
    assert noise is not None
    baseline = other(study)
    arm = baseline[0]
    plan = study.pairs_needed(baseline=baseline)
    value = GRAPH.n_arcs * report.tables[0, arm, arm]  # the same arm at both ends of every arc
    assert plan.difference == pytest.approx(best.value - value)
    assert plan.deviation == pytest.approx(noise.deviation * np.sqrt(2 * PROBLEM.n_rewards))
    assert kinds(study).count("TrialBegan") == 0


def test_the_status_waits_for_the_trial() -> None:
    study = started()
    trial = study.confirm(baseline=LOW, candidate=1, rng=0)
    assert "round T1-1.1 of the trial" in str(study.status())
    trial.tell(trial.ask(), 1.0)
    status = study.status()
    assert status.trial_ticket is not None
    assert status.trial_ticket.key == "T1-1.2"
    assert "Measured against the baseline" in study_page(study)


def test_a_study_of_totals() -> None:
    problem = ew.Problem(GRAPH, ARMS, noise=0.5, measured="total")
    study = ew.Study.create("total", problem, rng=0)
    trial = study.confirm(baseline=0, candidate=1, rng=0)
    trial.tell(trial.ask(), [3.0])
    trial.tell(trial.ask(), {"total": 5.0})
    assert abs(trial.report().difference) == 2.0
