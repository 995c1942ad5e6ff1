"""Ties: when nothing is left to decide, the run ends and says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.core.ending import Ending
from edgewise.core.tie import Tie

PROBLEM = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2), noise=1.0)
TIED = np.eye(2)  # (0, 0) and (1, 1) are worth the same


def identified(matrix: Any, seed: int, **options: Any) -> ew.Report:
    world = ew.BilinearEnvironment(PROBLEM, matrix, rng=seed)
    return ew.identify(PROBLEM, world, rng=seed, **options)


@pytest.mark.parametrize("strategy", ["adaptive", "g-optimal"])
def test_a_tie_ends_the_run_with_the_tolerance_that_would_certify(strategy: str) -> None:
    report = identified(TIED, 0, strategy=strategy)
    assert report.ending is Ending.TIED
    assert not report.certified
    assert 200 <= report.rounds < 1000
    assert report.tie is not None
    assert f"epsilon = {report.tie.epsilon:.3g} would have certified" in report.guarantee
    # the same rounds, asked with the tolerance: certified with it, not with half of it
    for share, certified in ((1.001, True), (0.5, False)):
        again = identified(
            TIED, 0, strategy=strategy, epsilon=share * report.tie.epsilon, max_rounds=report.rounds
        )
        assert again.certified is certified or again.rounds < report.rounds


def test_a_difference_is_not_called_a_tie() -> None:
    """Gaps of 0.3: about 150 rounds; no run of twenty ends before its certificate."""
    endings = [identified(np.diag([1.0, 0.7]), seed).ending for seed in range(20)]
    assert endings == [Ending.CERTIFIED] * 20


def test_a_tie_that_the_budget_leaves_no_room_for() -> None:
    close = Tie(200, times=2, epsilon=0.1, further=5000)
    assert close.holds(max_rounds=1000)
    assert not close.holds(max_rounds=None)
    assert not close.holds(max_rounds=10_000)
    assert Tie(200, times=2, epsilon=0.1, further=20_000).holds(max_rounds=None)
    assert Tie(200, times=2, epsilon=0.1, further=None).holds(max_rounds=None)
    assert not Tie(200, times=1, further=None).holds(max_rounds=1000)


def test_replications_go_on_unless_told_otherwise() -> None:
    options: dict[str, Any] = {"repetitions": 4, "max_rounds": 3000, "strategy": "g-optimal"}
    plain = ew.simulation.replicate(PROBLEM, TIED, rng=0, **options)
    assert plain.rounds[~plain.certified].tolist() == [3000] * int((~plain.certified).sum())
    ended = ew.simulation.replicate(PROBLEM, TIED, rng=0, stop_at_ties=True, **options)
    assert (ended.rounds < 3000).any()
    assert not ended.certified[ended.rounds < plain.rounds].any()


def test_a_learner_says_so_and_goes_on_and_is_restored() -> None:
    world = ew.BilinearEnvironment(PROBLEM, TIED, rng=0)
    learner = ew.Learner(PROBLEM, strategy="g-optimal", rng=0)
    while learner.ending() is Ending.RUNNING:
        ticket = learner.ask()
        learner.tell(ticket, world(ticket.arms))
    assert learner.ending() is Ending.TIED
    back = ew.Learner.restore(PROBLEM, learner.save())
    assert back.ending() is Ending.TIED
    ticket = back.ask()
    back.tell(ticket, world(ticket.arms))
    assert back.rounds == learner.rounds + 1


def test_a_study_ends_and_can_be_extended() -> None:
    world = ew.BilinearEnvironment(PROBLEM, TIED, rng=0)
    study = ew.Study.create("tie", PROBLEM, strategy="g-optimal", rng=0, max_rounds=500)
    while not study.stopped:
        ticket = study.ask()
        study.tell(ticket, world(ticket.arms))
    assert study.status().ending is Ending.TIED
    assert "nothing is left to decide" in str(study.status())
    with pytest.raises(ew.errors.LearnerStopped, match=r"or a larger extend\(epsilon=...\)"):
        study.ask()
    study.extend(rounds=2)
    assert study.ask().round == study.status().rounds + 1
    report = study.report()
    assert report.tie is not None
    study.cancel(study.pending)  # type: ignore[arg-type]
    study.extend(epsilon=3.0 * report.tie.epsilon)
    assert study.status().certificates[-1].epsilon == 3.0 * report.tie.epsilon
