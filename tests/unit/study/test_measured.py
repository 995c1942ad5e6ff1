"""What is measured: arcs, links, nodes or totals; tells, corrections and files follow it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.farm import ARMS, GRAPH, MATRIX, PROBLEM, state_of

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.base.wording import counted
from edgewise.errors import InvalidFile, InvalidRewards
from edgewise.formats import parse_rewards, read_rewards
from edgewise.study.log.codec import pack
from edgewise.study.views.chronicle import chronicle
from edgewise.study.views.page import study_page


def problem(measured: Any, **options: Any) -> ew.Problem:
    options = {"noise": 0.5, "arm_labels": PROBLEM.arm_labels, "measured": measured, **options}
    return ew.Problem(GRAPH, ARMS, **options)


def aggregated(measured: str, rewards: Array) -> Array:
    """Rewards per arc as what is measured instead."""
    if measured == "link":
        return np.asarray(rewards.reshape(-1, 2).sum(axis=1))
    if measured == "node":
        return np.bincount(GRAPH.arcs[:, 1], rewards, minlength=GRAPH.n_nodes).astype(float)
    return rewards if measured == "arc" else np.array([rewards.sum()])


def shown(measured: str, number: int, arms: Indices) -> Array:
    return aggregated(measured, ew.BilinearEnvironment(PROBLEM, MATRIX, rng=number)(arms))


def run(study: ew.Study, n_rounds: int) -> ew.Study:
    for _ in range(n_rounds):
        ticket = study.ask()
        study.tell(ticket, shown(study.problem.measured, ticket.round, ticket.arms))
    return study


def new(measured: str, **options: Any) -> ew.Study:
    return ew.Study.create("farm", problem(measured, **options), rng=5, delta=1e-300)


def learnt(study: ew.Study) -> bytes:
    """What rounds have taught; progress as known then and when one looked are not part of it."""
    learner = study.now().cursor.state.learner
    watch = None if learner.watch is None else replace(learner.watch, looked=0)
    return pack(replace(learner, watch=watch, extra_looks=0).to_tree())


NAMED: dict[str, dict[Any, float]] = {
    "link": {("b", "a"): 1.0, ("b", "c"): 2.0, ("d", "c"): 3.0, ("d", "a"): 4.0, ("a", "c"): 5.0},
    "node": {"d": 4.0, "a": 1.0, "b": 2.0, "c": 3.0},
    "total": {"total": 1.0},
}
FRAMES = {
    "link": pd.DataFrame(
        [(u, v, value) for (u, v), value in NAMED["link"].items()], columns=["u", "v", "value"]
    ),
    "node": pd.DataFrame(NAMED["node"].items(), columns=["Node", "Reward"]),
    "total": pd.DataFrame({"reward": [1.0]}),
}


@pytest.mark.parametrize("measured", ["link", "node", "total"])
def test_arrays_mappings_and_frames_say_the_same(measured: str) -> None:
    array = np.arange(1.0, problem(measured).n_rewards + 1)
    states = set()
    for rewards in (array, NAMED[measured], FRAMES[measured]):
        study = new(measured)
        study.tell(study.ask(), rewards)
        assert study.status().rounds == 1
        assert study.rewards(1).tolist() == array.tolist()
        states.add(state_of(study))
    assert len(states) == 1


def test_a_total_is_a_number() -> None:
    study = new("total")
    study.tell(study.ask(), 3.5)
    assert study.rewards(1).tolist() == [3.5]
    study.tell(study.ask(), None)
    assert study.pending is not None
    assert study.pending.lacking() == ["total"]
    study.close("2")
    assert study.status().rounds == 2


@pytest.mark.parametrize(
    ("measured", "part", "lacking"),
    [
        ("link", {("a", "b"): 1.0}, [("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")]),
        ("node", {"b": 1.0, "d": 0.0}, ["a", "c"]),
    ],
)
def test_tickets_and_history_name_what_is_lacking(
    measured: str, part: dict[Any, float], lacking: list[Any]
) -> None:
    study = new(measured)
    ticket = study.ask()
    study.tell(ticket, part)
    pending = study.pending
    assert pending is not None
    assert pending.lacking() == lacking
    assert f"round 1: {len(lacking)} measurements missing" in str(study.status())
    deeds, _ = chronicle(study.log(), study.problem.n_rewards, last=9)
    assert (
        deeds[-1].text
        == f"round 1: {counted(len(part), 'measurement')} told, {len(lacking)} missing"
    )
    study.close(ticket)
    assert f"closed with {len(part)} of {study.problem.n_rewards} measurements" in study_page(study)


@pytest.mark.parametrize(
    ("measured", "rewards", "message"),
    [
        ("node", np.zeros(10), r"shape \(10,\); one per node is needed, \(4,\)"),
        ("link", np.zeros(10), r"shape \(10,\); one per undirected edge is needed, \(5,\)"),
        ("arc", np.zeros(4), r"shape \(4,\); one per arc is needed, \(10,\)"),
        ("total", np.zeros(10), r"shape \(10,\); one per round is needed, \(1,\)"),
        ("node", {("a", "b"): 1.0}, r"\('a', 'b'\) names two nodes; one number is measured per"),
        ("node", {"x": 1.0}, "no node is called 'x'"),
        ("link", {("b", "d"): 1.0}, "no link joins 'b' and 'd'"),
        ("link", {("a", "b"): 1.0, ("b", "a"): 2.0}, "link a - b has two values"),
        ("link", {"a": 1.0}, "'a' is not a link; name it by its two nodes"),
        ("link", {("a", "x"): 1.0}, "no node is called 'x'"),
        ("total", {"a": 1.0}, "'a' is not the total; one number is measured per round"),
        ("node", {"a": "high"}, "the value of node a is 'high'"),
        ("node", {"a": np.inf}, "reward of node a is inf"),
        ("total", np.inf, "reward of the round is inf"),
        ("node", FRAMES["link"], "columns are u, v, value; there must be node, as this study"),
        ("link", FRAMES["node"], "there must be source and target or .* nodes of a link, and"),
        ("total", pd.DataFrame({"sum": [1.0]}), r"there must be reward \(or value\)"),
    ],
)
def test_wrong_tells_say_what_is_measured_and_record_nothing(
    measured: str, rewards: Any, message: str
) -> None:
    study = new(measured)
    ticket = study.ask()
    before = state_of(study)
    with pytest.raises(InvalidRewards, match=message):
        study.tell(ticket, rewards)
    assert state_of(study) == before


def test_other_values_for_what_was_measured_are_refused() -> None:
    study = new("node")
    ticket = study.ask()
    study.tell(ticket, {"a": 1.0})
    with pytest.raises(InvalidRewards, match=r"node a of round 1 was told 1\.0 before and 2"):
        study.tell(ticket, {"a": 2.0})
    study.close(ticket)
    with pytest.raises(InvalidRewards, match="without 1 of these measurements, the first is node"):
        study.tell(ticket, {"b": 2.0})


@pytest.mark.parametrize("measured", ["arc", "link", "node", "total"])
@pytest.mark.parametrize("levels", ["none", "channel", "both"])
def test_a_correction_leaves_what_the_right_value_would_have(measured: str, levels: str) -> None:
    noise = 0.5 * np.sqrt({"arc": 1, "link": 2, "node": 3, "total": 10}[measured])
    made = problem(measured, levels=levels, noise=noise)

    def told(wrong: bool) -> ew.Study:
        study = ew.Study.create("farm", made, rng=5, delta=1e-300, strategy="g-optimal")
        for _ in range(6):
            ticket = study.ask()
            rewards = shown(measured, ticket.round, ticket.arms)
            bad = wrong and ticket.round == 2
            study.tell(ticket, rewards + 3.0 if bad else rewards)
        return study

    study = told(wrong=True)
    study.correct("2", shown(measured, 2, study.ticket("2").arms))
    right = told(wrong=False)
    assert learnt(study) == learnt(right)
    looks = [one.now().cursor.state.learner.extra_looks for one in (study, right)]
    assert looks == [1, 0]
    np.testing.assert_array_equal(study.history().totals, right.history().totals)


@pytest.mark.parametrize("measured", ["link", "node", "total"])
def test_loading_and_exporting_keep_every_option(measured: str, tmp_path: Path) -> None:
    options = {"levels": "channel"}
    if measured == "node":
        options |= {"node_kinds": [0, 1, 0, 1]}  # type: ignore[dict-item]
    if measured == "link":
        options |= {"noise": (0.6, 0.7, 0.8, 0.9, 1.0)}  # type: ignore[dict-item]
    made = replace(problem(measured), **options)  # type: ignore[arg-type]
    url = f"sqlite:///{tmp_path}/farm.db"
    study = run(ew.Study.create("farm", made, storage=url, rng=5, delta=1e-300), 9)
    study.correct("3", shown(measured, 99, study.ticket("3").arms))
    study.export(tmp_path / "farm.jsonl")
    loaded = ew.Study.load("farm", storage=url)
    moved = ew.Study.from_export(tmp_path / "farm.jsonl")
    for other in (loaded, moved):
        assert other.problem.fingerprint == made.fingerprint
        assert state_of(other) == state_of(study)
        assert str(other.report()) == str(study.report())
    assert state_of(run(loaded, 2)) == state_of(run(moved, 2))


@pytest.mark.parametrize(
    ("measured", "text", "rewards"),
    [
        ("link", "source,target,reward\nb,a,1.5\nc,d,\n", {("a", "b"): 1.5, ("c", "d"): np.nan}),
        ("node", "node,reward\nd,1.5\n", {"d": 1.5}),
        ("node", '[{"node": "d", "reward": 1.5}]', {"d": 1.5}),
        ("total", "reward\n1.5\n", {"total": 1.5}),
        ("total", '{"reward": 1.5}', {"total": 1.5}),
        ("total", '{"measurements": [{"value": null}]}', {"total": np.nan}),
    ],
)
def test_files_name_what_is_measured(
    measured: str, text: str, rewards: dict[Any, float], tmp_path: Path
) -> None:
    read = parse_rewards("stdin", text, problem(measured))
    np.testing.assert_equal(dict(read.rewards), rewards)
    file = tmp_path / ("m.json" if text[0] in "[{" else "m.csv")
    file.write_text(text)
    np.testing.assert_equal(dict(read_rewards(file, problem(measured)).rewards), rewards)


def test_a_file_of_a_total_may_name_its_round() -> None:
    assert parse_rewards("stdin", '{"reward": 2, "round": 7}', problem("total")).round == "7"
    assert parse_rewards("stdin", "round,reward\n7,2\n", problem("total")).round == "7"


@pytest.mark.parametrize(
    ("measured", "text", "message"),
    [
        ("node", "source,target,reward\na,b,1\n", "source, target, reward; one number is measured"),
        ("node", "node,reward\nx,1\n", "line 2: no node is called 'x'; the nodes are a, b, c, d"),
        (
            "node",
            "node,reward\na,1\na,2\n",
            "line 3: node a is 2 here and 1 on line 2; .* node one",
        ),
        ("link", "node,reward\na,1\n", "two of them must be called source and target"),
        ("link", "u,v,reward\nb,d,1\n", "line 2: no link joins b and d"),
        ("link", "u,v,reward\na,b,1\nb,a,2\n", "line 3: link a - b is 2 here and 1 on line 2"),
        ("total", "reward\n1\n2\n", "line 3: the total is 2 here and 1 on line 2"),
        ("total", "sum\n1\n", r"one must be called reward \(or value\)"),
    ],
)
def test_faults_of_such_files_are_told_by_line(measured: str, text: str, message: str) -> None:
    with pytest.raises(InvalidFile, match=message):
        parse_rewards("stdin", text, problem(measured))
