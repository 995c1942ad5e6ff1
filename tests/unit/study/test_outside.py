"""Rounds deployed before the study or outside of it, and studies beside a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.study.conftest import Place
from tests.unit.study.farm import PROBLEM, endless, kinds, measure, run, state_of

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.revision import sum_rounds
from edgewise.errors import (
    InvalidArgument,
    LearnerStopped,
    StudyExists,
    UnknownStudy,
    UnlikelyReward,
)
from edgewise.strategies import Adaptive
from edgewise.study.views.page import study_page

ARMS: Indices = np.random.default_rng(3).integers(0, 3, (6, 4))
REWARDS: Array = np.array([measure(500 + t, arms) for t, arms in enumerate(ARMS)])


def study(**options: Any) -> ew.Study:
    return ew.Study.create("farm", PROBLEM, **endless(**options))


def test_added_rounds_are_a_phase_of_their_own(place: Place) -> None:
    made = run(study(storage=place, strategy=Adaptive(growth=5.0)), 12)
    before = made.now().cursor
    assert before.state.learner.phase_rounds > 0  # a phase is running
    made.add(ARMS, REWARDS, source="baseline of 2025")
    now = made.now().cursor
    ends = before.state.phase_ends
    assert now.state.phase_ends == (*ends, 12, 18)
    added = now.state.learner.closed[-1]
    expected = sum_rounds(now.setting, zip(ARMS, REWARDS, strict=True))
    for name, values in expected.to_tree().items():
        assert np.array_equal(added.to_tree()[name], values)
    assert made.rewards(13).tolist() == REWARDS[0].tolist()
    assert made.ticket("18").arms.tolist() == ARMS[5].tolist()
    assert run(made, 1).ticket(19).key == "19"
    assert state_of(ew.Study.load("farm", storage=made.storage)) == state_of(made)


def test_what_is_deployed_and_the_budget_are_not_touched() -> None:
    made = study(max_rounds=3)
    made.add(ARMS, REWARDS)
    assert made.now().cursor.state.learner.deployed is None
    assert run(made, 3).status().ending is ew.Ending.BUDGET_SPENT
    assert made.status().rounds == 9


def test_adding_again_changes_nothing_and_another_source_does() -> None:
    made = study()
    for _ in range(2):
        made.add(ARMS, REWARDS, source="monday")
    assert made.status().rounds == 6
    made.add(ARMS, REWARDS, source="tuesday")
    assert made.status().rounds == 12


def test_one_round_by_label() -> None:
    made = study()
    made.add({"d": "high", "a": "low", "b": "low", "c": "mixed"}, {("a", "b"): 1.5})
    assert made.ticket(1).arms.tolist() == [0, 0, 2, 1]
    assert np.nansum(made.rewards(1)) == 1.5
    made.add(2, REWARDS[:3])  # the same in three rounds
    assert made.ticket(4).arms.tolist() == [2, 2, 2, 2]
    assert made.status().rounds == 4


@pytest.mark.parametrize("pooling", ["shared", "partial"])
def test_a_correction_leads_where_the_right_numbers_would_have(pooling: Any) -> None:
    problem = ew.Problem(PROBLEM.graph, PROBLEM.arms, noise=0.5, pooling=pooling)

    def made(rewards: Array) -> ew.Study:
        begun = run(ew.Study.create("farm", problem, **endless(strategy=Adaptive(growth=5.0))), 5)
        begun.add(ARMS, rewards, accept_outliers=True)
        return begun

    wrong = REWARDS.copy()
    wrong[2] += 1.0
    corrected, right = made(wrong), made(REWARDS)
    corrected.correct(8, REWARDS[2])
    was, now = (one.now().cursor.state for one in (right, corrected))
    assert now.phase_ends == was.phase_ends
    assert np.array_equal(now.totals, was.totals)
    for name, values in was.learner.closed.to_tree().items():
        assert np.array_equal(now.learner.closed.to_tree()[name], values)
    assert now.learner.watch is not None
    assert was.learner.watch is not None
    assert now.learner.watch.sums.count == was.learner.watch.sums.count
    if was.learner.watch.predictions is not None:
        tree = was.learner.watch.predictions.to_tree()
        assert repr(now.learner.watch.predictions.to_tree()) == repr(tree)  # type: ignore[union-attr]


def test_a_rule_that_knows_no_phases_counts_them_like_any_round() -> None:
    made = run(study(strategy="g-optimal", stopping="union"), 2)
    made.add(ARMS, REWARDS)
    state = made.now().cursor.state
    assert state.phase_ends == ()
    assert state.learner.phase_rounds == 8
    assert "by looking at any rewards" in made.report().guarantee
    mixed = run(study(strategy="g-optimal"), 2)  # the mixture rule
    mixed.add(ARMS, REWARDS)
    assert mixed.now().cursor.state.phase_ends == (2, 8)
    assert run(mixed, 2).now().cursor.state.phase_ends == (2, 8)


def test_the_guarantee_names_them_everywhere() -> None:
    made = run(study(), 1)
    made.add(ARMS, REWARDS, source="baseline of 2025")
    said = "rounds 2 to 7 (baseline of 2025); what rests on them holds if nobody chose their arms"
    assert said in made.report().guarantee
    assert said in str(made.status())
    assert said in made.recommend().guarantee
    assert said in study_page(made)
    assert said in made.copy("anew", delta=1e-250).report().guarantee
    assert "round 7 added: baseline of 2025" in study_page(made)


def test_evidence_from_outside_certifies() -> None:
    made = ew.Study.create("farm", PROBLEM, rng=5)
    arms = np.random.default_rng(0).integers(0, 3, (60, 4))
    made.add(arms, [measure(t, one) for t, one in enumerate(arms)])
    assert made.report().certified
    made.extend(rounds=2)  # the stop has not left the study inside the added phase
    assert run(made, 1).now().cursor.state.phase_ends[0] == 60


def test_an_export_brings_them_along(tmp_path: Path) -> None:
    made = run(study(), 3)
    made.add(ARMS, REWARDS)
    made.export(tmp_path / "farm.jsonl")
    back = ew.Study.from_export(tmp_path / "farm.jsonl")
    assert state_of(back) == state_of(made)
    assert kinds(back) == kinds(made)


def test_wrong_input_changes_nothing() -> None:
    made = study()
    with pytest.raises(InvalidArgument, match="6 joint arms and rewards of 5 rounds"):
        made.add(ARMS, REWARDS[:5])
    with pytest.raises(InvalidArgument, match="joint arm of round 2"):
        made.add([[0, 0, 0, 0], [0, 0, 0, 9]], REWARDS[:2])
    with pytest.raises(InvalidArgument, match="node 'd' has no arm"):
        made.add({"a": "low", "b": "low", "c": "low"}, REWARDS[0])
    with pytest.raises(InvalidArgument, match="no arm is called 'loww'; did you mean 'low'"):
        made.add({"a": "loww", "b": "low", "c": "low", "d": "low"}, REWARDS[0])
    with pytest.raises(InvalidArgument, match="source is ' '"):
        made.add(ARMS, REWARDS, source=" ")
    with pytest.raises(UnlikelyReward, match=r"add\(accept_outliers=...\)"):
        run(made, 3).add(ARMS[0], 1e6 + REWARDS[0])
    made.ask()
    with pytest.raises(LearnerStopped, match="round 4 is out"):
        made.add(ARMS, REWARDS)
    assert kinds(made) == ["Created"] + ["Asked", "Told"] * 3 + ["Asked"]


def test_the_first_phase_that_decides_the_pooling_is_not_cut() -> None:
    problem = ew.Problem(PROBLEM.graph, PROBLEM.arms, noise=0.5, pooling="auto")
    made = run(ew.Study.create("farm", problem, **endless()), 1)
    with pytest.raises(InvalidArgument, match="the first phase decides how edges are pooled"):
        made.add(ARMS, REWARDS)


# -- beside a study ----------------------------------------------------------------------------


def test_a_copy_asks_something_else_of_the_same_measurements(place: Place) -> None:
    old = run(study(storage=place), 8)
    new = old.copy("strict", delta=1e-250, target="allocation", max_rounds=20)
    assert new.rewards(5).tolist() == old.rewards(5).tolist()
    now = new.status()
    assert (now.target, now.delta, now.max_rounds, now.rounds) == ("allocation", 1e-250, 20, 8)
    said = "Rounds 1 to 8 were seen (in study 'farm') before delta and max_rounds and target were"
    assert said in str(now)
    assert run(new, 1).status().rounds == 9
    assert old.status().rounds == 8
    with pytest.raises(InvalidArgument, match="no option 'levels'"):
        old.copy("levels", levels="round")  # type: ignore[call-arg]
    with pytest.raises(StudyExists):
        old.copy("strict")


def test_a_copy_without_changes_is_the_same_study(place: Place) -> None:
    old = run(study(storage=place), 4)
    new = old.copy("twin", storage="memory")
    assert state_of(new) == state_of(old)
    assert kinds(new) == kinds(old)
    assert new.now().remodelled_from is None
    assert state_of(run(new, 3)) == state_of(run(old, 3))


def test_rename_and_delete(place: Place) -> None:
    old = run(study(storage=place), 2)
    other = old.copy("other")
    old.rename("yaw")
    assert ew.Study.names(old.storage) == ["other", "yaw"]
    assert run(old, 1).name == "yaw"
    with pytest.raises(StudyExists, match="'other'"):
        old.rename("other")
    with pytest.raises(InvalidArgument, match="name is ''"):
        old.rename("")
    other.delete()
    assert ew.Study.names(old.storage) == ["yaw"]
    with pytest.raises(UnknownStudy):
        other.status()
    assert run(old, 1).status().rounds == 4
    assert run(ew.Study.create("other", PROBLEM, storage=old.storage, rng=1), 1).pending is None


def test_a_storage_need_not_rename() -> None:
    class Bare:
        def __init__(self, inner: Any) -> None:
            for name in ("names", "creating", "reading", "writing"):
                setattr(self, name, getattr(inner, name))

    made = study(storage=Bare(study().storage.__class__()))
    with pytest.raises(InvalidArgument, match="does not rename or delete"):
        made.rename("yaw")
    with pytest.raises(InvalidArgument, match="export the study"):
        made.delete()
