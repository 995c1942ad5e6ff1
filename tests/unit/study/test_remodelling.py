"""Modelling anew: the same measurements under another model, and what is said about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.study.conftest import Place
from tests.unit.study.farm import GRAPH, MATRIX, PROBLEM, kinds, run, state_of
from tests.unit.study.test_measured import aggregated, problem
from tests.unit.study.test_measured import run as run_measured

import edgewise as ew
from edgewise.errors import InvalidArgument, InvalidGraph, InvalidProblem, StudyExists
from edgewise.strategies import GOptimal
from edgewise.study.log.codec import pack
from edgewise.study.log.past import Past
from edgewise.study.views.page import study_page


def started(n_rounds: int = 6, **options: Any) -> ew.Study:
    options = {"rng": 5, "delta": 1e-300, **options}
    return run(ew.Study.create("farm", PROBLEM, **options), n_rounds)


def test_the_new_study_has_the_rounds_of_the_old_and_goes_on(place: Place) -> None:
    old = started(storage=place)
    before = state_of(old)
    new = old.remodel("anew", levels="round")
    assert state_of(old) == before
    assert ew.Study.names(old.storage) == ["anew", "farm"]
    assert new.status().rounds == 6
    for number in range(1, 7):
        assert np.array_equal(new.ticket(number).arms, old.ticket(number).arms)
        assert np.array_equal(new.rewards(number), old.rewards(number))
    loaded = ew.Study.load("anew", storage=old.storage)
    assert state_of(loaded) == state_of(new)
    assert run(loaded, 3).status().rounds == 9
    assert new.problem.levels == "round"


def test_trials_are_carried_over_and_go_on() -> None:
    old = started()
    first = old.confirm(baseline=0, candidate=1, max_pairs=2, rng=0)
    for figure in (5.0, 7.0, 5.5, 7.5):
        first.tell(first.ask(), figure)
    running = old.confirm(baseline=0, candidate=2, max_pairs=9, rng=1)
    running.tell(running.ask(), 4.0)
    new = old.remodel("anew", levels="round")
    assert kinds(new)[-7:] == kinds(old)[-7:]
    assert new.trial is not None
    assert new.trial.ask().key == running.ask().key
    assert np.array_equal(new.trial.ask().arms, running.ask().arms)
    kept, before = new.now().cursor.state.trials, old.now().cursor.state.trials
    assert [pack(one.to_tree()) for one in kept] == [pack(one.to_tree()) for one in before]
    new.trial.tell(new.trial.ask(), 4.5)
    assert new.trial.report().pairs == running.report().pairs + 1


def test_nothing_changed_but_delta_leaves_what_was_learnt() -> None:
    old = started(8)
    new = old.remodel("anew", delta=1e-250)
    was, now = old.now().cursor.state, new.now().cursor.state
    assert now.phase_ends == was.phase_ends
    for name, values in was.learner.closed.to_tree().items():
        assert np.array_equal(now.learner.closed.to_tree()[name], values)
    assert now.learner.rounds == was.learner.rounds
    assert now.delta == 1e-250


@pytest.mark.parametrize("measured", ["link", "node", "total"])
def test_sums_of_arcs_are_computed(measured: Any) -> None:
    old = started(5)
    new = old.remodel("anew", measured=measured)
    for number in range(1, 6):
        np.testing.assert_allclose(
            new.rewards(number), aggregated(measured, old.rewards(number)), rtol=1e-15
        )
    assert new.problem.measured == measured
    assert new.problem.own_term is False
    parts = (
        np.bincount(GRAPH.arcs[:, 1])
        if measured == "node"
        else np.array([2, 10][measured == "total"])
    )
    np.testing.assert_allclose(np.array(new.problem.noise), 0.5 * np.sqrt(parts))
    run_measured(new, 1)


def test_the_mean_of_incoming_arcs_has_less_noise() -> None:
    with pytest.raises(InvalidProblem, match="average=True on an undirected graph"):
        started(3).remodel("anew", measured="node", average=True)
    graph = ew.Graph.from_edges([("a", "c"), ("b", "c"), ("c", "a")], directed=True)
    old = ew.Study.create("one way", ew.Problem(graph, np.eye(2), noise=0.5), rng=1)
    ticket = old.ask()
    old.tell(ticket, [1.0, 3.0, 7.0])
    new = old.remodel("anew", measured="node", average=True)
    assert new.rewards(1).tolist()[:2] == [7.0, 2.0]
    np.testing.assert_allclose(np.array(new.problem.noise)[:2], [0.5, 0.5 / np.sqrt(2.0)])


def test_noise_per_kind_is_added_up() -> None:
    graph = ew.Graph.from_edges([("a", "b"), ("b", "c")], kinds=["near", "far"])
    made = ew.Problem(graph, np.eye(2), noise=(3.0, 4.0))
    old = ew.Study.create("kinds", made, rng=1)
    assert old.remodel("nodes", measured="node").problem.noise == (3.0, 5.0, 4.0)
    assert old.remodel("links", measured="link").problem.noise == (18**0.5, 32**0.5)
    assert old.remodel("stated", measured="node", noise=2.0).problem.noise == 2.0
    unknown = ew.Study.create("unknown", ew.Problem(graph, np.eye(2), noise="estimate"), rng=1)
    assert unknown.remodel("nodes", measured="total").problem.noise == "estimate"


def test_a_part_that_is_missing_makes_the_sum_missing() -> None:
    old = started(2)
    ticket = old.ask()
    old.tell(ticket, np.where(np.arange(10) == 0, np.nan, 1.0))
    out = old.remodel("out", measured="node")  # the round that is out stays so
    assert out.pending is not None
    assert out.pending.lacking() == ["b"]
    old.close(ticket)
    new = old.remodel("anew", measured="node")
    assert np.isnan(new.rewards(3)).tolist() == [False, True, False, False]
    assert kinds(new)[-3:] == ["Asked", "Told", "Closed"]
    old.remodel("none", measured="total").rewards(3)
    assert old.remodel("total", measured="total").status().rounds == 3


def test_corrections_are_part_of_it_and_can_go_on() -> None:
    old = started(5)
    old.correct("2", np.zeros(10))
    new = old.remodel("anew", measured="node", levels="channel")
    assert new.rewards("2").tolist() == [0.0] * 4
    new.correct("3", {"a": 7.0})
    assert new.rewards("3")[0] == 7.0
    assert run_measured(new, 1).status().rounds == 6


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("link", "arc", "the two directions of a link were measured together"),
        ("link", "node", "does not say what each of its two nodes got"),
        ("node", "link", "does not say which link brought how much"),
        ("node", "total", "own terms are part of their numbers"),
        ("total", "node", "does not say which node got how much"),
    ],
)
def test_what_does_not_follow_is_refused_with_the_reason(old: str, new: Any, message: str) -> None:
    study = ew.Study.create("farm", problem(old), rng=1)
    with pytest.raises(InvalidArgument, match=f"measured='{new}' does not follow.*{message}"):
        study.remodel("anew", measured=new)
    assert ew.Study.names(study.storage) == ["farm"]


def test_totals_follow_from_links_and_from_nodes_without_own_terms() -> None:
    for measured, options in (("link", {}), ("node", {"own_term": False})):
        study = ew.Study.create("farm", problem(measured, **options), rng=1)
        run_measured(study, 2)
        total = study.remodel("anew", measured="total")
        assert total.rewards(2).tolist() == pytest.approx([study.rewards(2).sum()])
    graph = ew.Graph.from_edges([("a", "b"), ("b", "a")], directed=True)
    mean = ew.Problem(graph, np.eye(2), measured="node", own_term=False, average=True)
    with pytest.raises(InvalidArgument, match="means of their arcs"):
        ew.Study.create("means", mean, rng=1).remodel("anew", measured="total")


def test_wrong_changes_make_nothing() -> None:
    study = started(2)
    with pytest.raises(InvalidArgument, match="nothing is to change"):
        study.remodel("anew")
    with pytest.raises(InvalidArgument, match=r"no option 'level'; .*levels"):
        study.remodel("anew", level="channel")  # type: ignore[call-arg]
    with pytest.raises(InvalidProblem, match="levels is 'chanel'"):
        study.remodel("anew", levels="chanel")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="max_rounds is 0"):
        study.remodel("anew", max_rounds=0)
    with pytest.raises(StudyExists):
        study.remodel("farm", levels="round")
    with pytest.raises(
        InvalidArgument, match="rewards decided what was deployed, and rule 'union'"
    ):
        study.remodel("anew", strategy="g-optimal", stopping="union")
    assert ew.Study.names(study.storage) == ["farm"]


def test_phases_stay_where_they_were_so_that_proofs_hold() -> None:
    old = started(9)
    ends = old.history().phase_ends
    assert len(ends) > 3
    new = old.remodel("anew", strategy="g-optimal", pooling="none")
    assert new.history().phase_ends == tuple(sorted({*ends, 9}))
    run(new, 2)
    assert new.history().phase_ends[-1] == 9
    static = started(9, strategy="g-optimal").remodel("anew", strategy="adaptive")
    assert static.history().phase_ends == (9,)
    both = started(9, strategy="g-optimal").remodel("anew", strategy="g-optimal", noise=0.6)
    assert both.history().phase_ends == ()


def test_with_levels_all_rounds_are_one_phase_and_that_is_said() -> None:
    new = started(9).remodel("anew", levels="channel")
    assert new.history().phase_ends == (9,)
    assert new.now().cursor.state.learner.closed[0].freedom > 0  # type: ignore[union-attr]
    assert "their joint arms followed what was seen" in str(new.status())


def test_status_recommendation_and_report_say_what_was_seen_before() -> None:
    old = run(ew.Study.create("farm", PROBLEM, rng=5), 0)
    while not old.stopped:
        run(old, 1)
    rounds = old.status().rounds
    new = old.remodel("anew", noise=0.45)
    assert new.report().certified
    sentence = f"Rounds 1 to {rounds} were seen (in study 'farm') before this model was chosen; a"
    past = new.status().remodelled_from
    assert past is not None
    assert (past.study, past.rounds) == ("farm", rounds)
    assert new.recommend().remodelled_from == past
    texts = [str(new.status()), str(new.recommend()), str(new.report()), new.report().guarantee]
    assert all(sentence in text for text in texts)
    page = study_page(new)
    assert "before this model was chosen" in page
    assert "study made from that of farm" in page
    assert old.status().remodelled_from is None
    assert "seen before" not in str(old.status())


def test_it_is_said_while_nothing_can_be_estimated() -> None:
    old = started(1, strategy="g-optimal")
    new = old.remodel("anew", levels="channel")
    assert new.recommend().allocation is None
    assert "Round 1 was seen (in study 'farm')" in str(new.recommend())
    assert "Round 1 was seen (in study &#x27;farm&#x27;)" in study_page(new)


def test_a_stop_on_the_way_does_not_join_phases() -> None:
    old = started(30)
    new = old.remodel("anew", delta=0.5, noise=0.45)
    assert new.status().certificates
    assert new.status().certificates[0].round < 30
    assert set(old.history().phase_ends) <= {*new.history().phase_ends, 30}


def test_an_export_keeps_where_it_came_from(tmp_path: Path) -> None:
    new = started(7).remodel("anew", measured="node", levels="both")
    run_measured(new, 2)
    new.export(tmp_path / "anew.jsonl")
    moved = ew.Study.from_export(tmp_path / "anew.jsonl")
    assert state_of(moved) == state_of(new)
    assert moved.status().remodelled_from == new.status().remodelled_from
    assert state_of(run_measured(moved, 2)) == state_of(run_measured(new, 2))
    again = moved.remodel("third", levels="none")
    assert again.status().rounds == 11
    past = again.status().remodelled_from
    assert past is not None
    assert past.study == "anew"


def test_into_another_storage_and_before_the_first_round(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/new.db"
    old = ew.Study.create("farm", PROBLEM, rng=5, delta=1e-300)
    new = old.remodel("anew", storage=url, levels="round", max_rounds=9)
    assert ew.Study.names(url) == ["anew"]
    assert new.status().max_rounds == 9
    assert "before the first round of study 'farm'" in str(new.status())
    assert run(new, 1).status().rounds == 1


def test_covariates_can_be_added_and_taken_away() -> None:
    old = started(4)
    new = old.remodel("anew", covariates={"distance": [1.0, 2.0, 3.0, 4.0, 6.0]})
    assert new.problem.graph.covariate_names == ("distance",)
    assert new.remodel("plain", covariates=None).problem.is_plain
    with pytest.raises(InvalidGraph, match="'distance' is 1 for every edge"):
        old.remodel("other", covariates={"distance": np.ones(5)})


def test_what_one_round_means_in_words() -> None:
    assert str(Past.of("farm", PROBLEM, 1, ())).startswith("Round 1 was seen (in study 'farm')")


def test_forgotten_levels_are_mended_by_modelling_anew() -> None:
    levels = np.linspace(-20.0, 20.0, GRAPH.n_arcs)
    old = ew.Study.create("farm", PROBLEM, rng=3, max_rounds=40, strategy=GOptimal(even=0.5))
    network = ew.BilinearEnvironment(PROBLEM, MATRIX, rng=4, noise=0.05)
    old.extend(rounds=40)
    for _ in range(40):
        ticket = old.ask()
        old.tell(ticket, network(ticket.arms) + levels, accept_outliers=True)
    symmetric = (MATRIX + MATRIX.T) / 2
    new = old.remodel("anew", levels="channel", noise=0.05)
    assert np.abs(old.report().matrix - symmetric).max() > 0.5
    assert np.abs(new.report().matrix - symmetric).max() < 0.1


def test_nodes_computed_from_arcs_teach_what_nodes_told_would_have() -> None:
    old = started(8, strategy="g-optimal")
    new = old.remodel("anew", measured="node", noise=0.7)
    told = ew.Study.create(
        "nodes",
        problem("node", own_term=False, noise=0.7),
        rng=5,
        delta=1e-300,
        strategy="g-optimal",
        target=new.status().target,
    )
    for number in range(1, 9):
        ticket = told.ask()
        assert np.array_equal(ticket.arms, old.ticket(number).arms)
        told.tell(ticket, aggregated("node", old.rewards(number)))
    np.testing.assert_allclose(new.report().tables, told.report().tables, rtol=1e-9)
