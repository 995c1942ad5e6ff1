"""A trial as users run it: pairs, gaps, endings, wrong input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import InvalidArgument, InvalidRewards, LearnerStopped, UnknownTicket
from edgewise.trial import TrialEnding, TrialTicket

PROBLEM = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2), noise=0.1)
Measure = Callable[[TrialTicket], Any]


def new(**options: Any) -> ew.Trial:
    return ew.Trial(PROBLEM, **{"baseline": 0, "candidate": [1, 0, 1, 0], "rng": 0, **options})


def run(trial: ew.Trial, measure: Measure) -> ew.trial.TrialReport:
    while not trial.stopped:
        ticket = trial.ask()
        trial.tell(ticket, measure(ticket))
    return trial.report()


def noisy(gain: float, seed: int = 0, noise: float = 1.0) -> Measure:
    """A total that grows by ``gain`` for every node with arm 1."""
    rng = np.random.default_rng(seed)
    return lambda ticket: gain * ticket.arms.sum() + noise * rng.standard_normal()


def test_better_worse_and_what_to_deploy() -> None:
    better, worse = run(new(), noisy(2.0)), run(new(), noisy(-2.0))
    assert better.ending is TrialEnding.BETTER
    assert better.interval[0] > 0
    assert better.winner == "candidate"
    assert better.choice is not None
    assert better.choice.tolist() == [1, 0, 1, 0]
    assert worse.ending is TrialEnding.WORSE
    assert worse.interval[1] < 0
    assert worse.choice is not None
    assert worse.choice.tolist() == [0, 0, 0, 0]


def test_no_worse_than_a_margin() -> None:
    report = run(new(margin=2.0, max_pairs=200), noisy(0.0))
    assert report.ending is TrialEnding.NO_WORSE
    assert -2.0 < report.interval[0] <= 0
    assert report.winner == "candidate"
    assert run(new(margin=2.0), noisy(-3.0)).ending is TrialEnding.WORSE


def test_known_to_within_a_width() -> None:
    report = run(new(width=1.5, max_pairs=1000), noisy(2.0))
    assert report.ending is TrialEnding.KNOWN
    assert report.interval[1] - report.interval[0] <= 1.5
    assert report.winner == "candidate"


def test_the_budget_ends_undecided() -> None:
    report = run(new(max_pairs=5), noisy(0.0))
    assert (report.ending, report.pairs, report.winner) == (TrialEnding.BUDGET_SPENT, 5, None)
    assert report.choice is None


def test_every_pair_deploys_both_in_an_order_that_differs() -> None:
    trial = new(width=1e-9, max_pairs=40)
    seen: list[tuple[int, int, str]] = []

    def measure(ticket: TrialTicket) -> float:
        seen.append((ticket.block, ticket.place, ticket.candidate))
        return float(len(seen) % 7)

    run(trial, measure)
    first = [name for _, place, name in seen if place == 1]
    second = [name for _, place, name in seen if place == 2]
    assert all(a != b for a, b in zip(first, second, strict=True))
    assert 10 < first.count("candidate") < 30
    assert [(block, place) for block, place, _ in seen] == [
        (block, place) for block in range(1, 41) for place in (1, 2)
    ]


def test_asking_twice_gives_the_same_and_the_seed_decides() -> None:
    trial = new()
    assert trial.ask().key == trial.ask().key == "T1-1.1"
    orders = [[new(rng=seed).ask().candidate for _ in range(2)] for seed in range(8)]
    assert all(a == b for a, b in orders)
    assert len({first for first, _ in orders}) == 2


def test_rewards_are_summed_and_a_number_is_the_total() -> None:
    trial = new()
    first, total = trial.ask(), PROBLEM.n_rewards * 0.5
    trial.tell(first, np.full(PROBLEM.n_rewards, 0.5))
    trial.tell(first, total)  # the same again is harmless
    with pytest.raises(InvalidRewards, match=r"correct\(\)"):
        trial.tell(first, total + 1)
    trial.correct(first, 7.0)
    trial.tell(trial.ask(), 3.0)
    sign = 1 if first.candidate == "candidate" else -1
    assert trial.report().difference == sign * 4.0
    trial.correct(first.key, 8.0)
    assert trial.report().difference == sign * 5.0


@pytest.mark.parametrize("gap", [np.nan, None, [np.nan] + [0.0] * (PROBLEM.n_rewards - 1)])
@pytest.mark.parametrize("place", [1, 2])
def test_a_pair_with_a_gap_is_repeated_in_the_same_order(gap: Any, place: int) -> None:
    trial = new()
    order = [trial.ask().candidate]
    for _ in range(place - 1):
        trial.tell(trial.ask(), 1.0)
        order.append(trial.ask().candidate)
    trial.tell(trial.ask(), gap)
    again = trial.ask()
    assert (again.key, again.candidate) == ("T1-1.1-2", order[0])
    assert trial.report().pairs == 0
    trial.tell(again, 5.0)
    trial.tell(trial.ask(), 5.0)
    assert trial.report().difference == 0.0


def test_a_pair_can_be_repeated_and_old_answers_are_refused() -> None:
    trial = new()
    stale = trial.ask()
    trial.tell(stale, 1.0)
    trial.repeat()
    with pytest.raises(UnknownTicket, match="given up"):
        trial.tell(stale, 1.0)
    assert trial.ask().attempt == 2


@pytest.mark.parametrize("wrong", ["7", 7, "T1-1.2", "T1-2.1", "T2-1.1", "T1-0.1", None])
def test_rounds_that_were_not_asked_for_are_refused(wrong: Any) -> None:
    trial = new()
    with pytest.raises(UnknownTicket, match="nothing was recorded"):
        trial.tell(wrong, 1.0)
    assert trial.ask().key == "T1-1.1"


def test_a_ticket_of_a_learner_is_refused() -> None:
    ticket: Any = ew.Learner(PROBLEM, rng=0).ask()
    with pytest.raises(UnknownTicket, match="no round of the trial"):
        new().tell(ticket, 1.0)


@pytest.mark.parametrize("wrong", [np.inf, "much", [1.0, 2.0], 1e200])
def test_wrong_totals_are_refused_and_change_nothing(wrong: Any) -> None:
    trial = new()
    with pytest.raises(InvalidRewards, match="nothing was recorded"):
        trial.tell(trial.ask(), wrong)
    assert trial.ask().key == "T1-1.1"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"margin": -0.1}, "margin"),
        ({"margin": np.nan}, "margin"),
        ({"width": 0.0}, "width"),
        ({"width": 1.0, "margin": 1.0}, "width"),
        ({"max_pairs": 0}, "max_pairs"),
        ({"max_pairs": 2.5}, "max_pairs"),
        ({"delta": 0.0}, "delta"),
        ({"candidate": None}, "candidate"),
        ({"candidates": {"a": 1}}, "candidates"),
        ({"candidate": None, "candidates": {"baseline": 1}}, "candidates"),
        ({"candidate": None, "candidates": [1, 0, 1, 0]}, "candidates"),
        ({"candidate": [0, 1]}, "candidate"),
        ({"candidate": 2}, "candidate"),
    ],
)
def test_wrong_options_name_themselves(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        new(**options)
    assert caught.value.argument == named


def test_arms_that_a_node_may_not_have_are_refused() -> None:
    masks = np.array([[True, False], [True, True], [True, True], [True, True]])
    problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2), noise=0.1, candidates=masks)
    with pytest.raises(InvalidArgument, match="candidates"):
        ew.Trial(problem, baseline=0, candidate=1)


def test_a_candidate_equal_to_the_baseline_asks_for_nothing() -> None:
    trial = new(candidate=[0, 0, 0, 0])
    report = trial.report()
    assert trial.stopped
    assert (report.ending, report.pairs, report.difference) == (TrialEnding.SAME, 0, 0.0)
    assert "the candidate is the baseline" in str(report)
    with pytest.raises(LearnerStopped, match="the candidate is the baseline"):
        trial.ask()


def test_a_trial_that_is_over_takes_nothing_more() -> None:
    trial = new()
    trial.tell(trial.ask(), 1.0)
    trial.end()
    assert trial.ending is TrialEnding.ABANDONED
    with pytest.raises(LearnerStopped, match="by hand"):
        trial.ask()
    with pytest.raises(UnknownTicket):
        trial.tell("T1-1.2", 1.0)


def test_linear_drift_cancels_through_the_coin() -> None:
    """Drift of five deviations per round; the error of the mean over 60 trials is known."""
    gain, drift, noise, pairs = 1.0, 5.0, 1.0, 12

    def difference(seed: int) -> float:
        rng, clock = np.random.default_rng(seed + 10**6), iter(range(10**6))
        trial = new(rng=seed, candidate=1, max_pairs=pairs, width=1e-9)
        return run(
            trial,
            lambda t: gain * t.arms[0] + drift * next(clock) + noise * rng.standard_normal(),
        ).difference

    found = np.array([difference(seed) for seed in range(60)])
    error = np.sqrt((drift**2 + 2 * noise**2) / pairs / len(found))
    assert abs(found.mean() - gain) < 4.9 * error  # false alarm 1e-6
    in_one_order = gain + drift  # what measuring the candidate always second would find
    assert abs(found.mean() - in_one_order) > 4.9 * error


def test_a_warning_when_the_order_matters() -> None:
    rng = np.random.default_rng(0)
    trial = new(width=1e-9, max_pairs=30)
    report = run(trial, lambda t: 3.0 * t.place + rng.standard_normal())
    (found,) = report.comparisons
    assert found.order_matters
    assert found.order_effect == pytest.approx(3.0, abs=1.5)
    assert found.order_effect == pytest.approx(np.polyfit(found.orders, found.differences, 1)[0])
    assert "The order matters" in str(report)
    assert "The order matters" in report._repr_html_()
    low, high = report.interval
    assert low <= found.sign_interval[0] <= found.sign_interval[1] <= high
    assert not run(new(width=1e-9, max_pairs=30), noisy(2.0)).warnings


def test_a_tournament_finds_the_best_and_merges_twins() -> None:
    rng = np.random.default_rng(4)
    trial = new(
        candidate=None,
        candidates={"some": [1, 0, 1, 0], "all": 1, "seen": [1, 0, 1, 0], "today": 0},
    )
    report = run(trial, lambda t: 2.0 * t.arms.sum() + rng.standard_normal())
    assert report.names == ("baseline", "some = seen", "all")
    assert (report.ending, report.winner) == (TrialEnding.BETTER, "all")
    assert len(report.comparisons) == 3
    assert all(one.delta == pytest.approx(0.05 / 3) for one in report.comparisons)


def test_those_shown_to_be_worse_drop_out() -> None:
    rng = np.random.default_rng(5)
    value = {"baseline": 0.0, "bad": -30.0, "good": 0.6}
    trial = new(candidate=None, candidates={"bad": [1, 0, 1, 0], "good": 1}, max_pairs=500)
    report = run(trial, lambda t: value[t.candidate] + rng.standard_normal())
    dropped = np.isnan(report.totals[:, 1])
    assert report.winner == "good"
    assert not dropped[:3].any()
    assert dropped[dropped.argmax() :].all()
    assert not np.isnan(report.totals[:, [0, 2]]).any()


def test_a_plan_knows_the_noise() -> None:
    trial = new()
    plan = trial.plan(1.0)
    assert plan.deviation == pytest.approx(0.1 * np.sqrt(2 * PROBLEM.n_rewards))
    measure = noisy(0.0, noise=10.0)
    for _ in range(6):
        trial.tell(trial.ask(), measure(trial.ask()))
    assert trial.plan(1.0).deviation == pytest.approx(trial.report().comparisons[0].deviation)
    unknown = ew.Problem(PROBLEM.graph, np.eye(2), noise="estimate")
    with pytest.raises(InvalidArgument, match="noise="):
        ew.Trial(unknown, baseline=0, candidate=1).plan(1.0)
