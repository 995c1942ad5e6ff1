"""What a study says, and what holds whatever the storage."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.study.farm import GRAPH, PROBLEM, endless, kinds, measure, run, state_of

import edgewise as ew
from edgewise.core.model.problem import Problem
from edgewise.core.strategies import GOptimal
from edgewise.errors import InvalidArgument, IsolatedNodes, UnknownStudy
from edgewise.study import MemoryStorage


def created(**options: Any) -> ew.Study:
    return ew.Study.create("farm", PROBLEM, storage="memory", **endless(**options))


# -- any order, any parts --------------------------------------------------------------------


@settings(max_examples=25)
@given(order=st.permutations(range(10)), cuts=st.sets(st.integers(1, 9)), late=st.integers(0, 9))
def test_how_measurements_arrive_changes_nothing(
    order: list[int], cuts: set[int], late: int
) -> None:
    straight, study = run(created(), 3), created()
    for _ in range(3):
        ticket = study.ask()
        rewards = measure(ticket.round, ticket.arms)
        parts = np.split(np.array(order), sorted(cuts))
        for part in parts:
            told = np.full(10, np.nan)
            told[part] = rewards[part]
            study.tell(ticket, told)
            study.tell(ticket, {_arc(late): rewards[late]})  # someone repeats one, or is early
    assert state_of(study) == state_of(straight)


def _arc(arc: int) -> tuple[Any, Any]:
    i, j = GRAPH.arcs[arc].tolist()
    return GRAPH.labels[i], GRAPH.labels[j]


# -- status and recommendation ---------------------------------------------------------------


def test_status_before_the_first_round() -> None:
    status = created(max_rounds=7).status()
    assert str(status) == (
        "Study 'farm': 0 rounds of at most 7, still collecting; the answer is the current leader, "
        "not certified\n"
        "  waiting for    nothing\n"
        "  leader         not estimable yet\n"
        "  evidence       0% of what delta = 1e-300 needs"
    )
    assert (status.forecast, status.noise_estimate, status.lack_of_fit) == (None, None, None)
    recommendation = created().recommend()
    assert (recommendation.table(), recommendation.certified) == ([], False)
    assert "No recommendation yet" in str(recommendation)


def test_status_on_the_way() -> None:
    study = run(created(delta=1e-9), 6)
    study.tell(study.ask(), {("a", "b"): 1.0})
    status = study.status()
    assert (status.rounds, status.missing, status.stopped) == (6, 9, False)
    assert status.pending is not None
    assert status.pending.key == "7"
    assert status.leaders[0][0] in ("low", "high", "mixed")
    text = str(status)
    assert "round 7: 9 measurements missing" in text
    assert "rounds left    about" in text
    assert "stated 0.5, measured" in text
    assert 0 <= status.progress < 1


def test_status_shows_lack_of_fit() -> None:
    arms, matrix = ew.simulation.paper_instance(3, 0.4)
    problem = ew.Problem(ew.Graph.circle(n_edges=24), arms)
    study = ew.Study.create("farm", problem, **endless())
    environment = ew.BilinearEnvironment(problem, matrix, rng=0)
    for _ in range(6):
        ticket = study.ask()
        study.tell(ticket, environment(ticket.arms))
    assert study.report().lack_of_fit == study.status().lack_of_fit is not None
    assert "lack of fit    p =" in str(study.status())


def test_status_says_why_the_fit_is_not_tested() -> None:
    graph = ew.Graph.from_edges([(i, (i + 1) % 6) for i in range(6)], directed=True)
    study = ew.Study.create("farm", ew.Problem(graph, np.eye(2), measured="node"), **endless())
    assert "lack of fit" not in str(study.status())
    study.tell(study.ask(), np.zeros(6))
    assert study.status().lack_of_fit is None
    assert "not tested yet: a number is a sum over several edges" in str(study.status())


def test_status_of_a_certified_allocation() -> None:
    study = ew.Study.create("farm", PROBLEM, target="allocation", epsilon=1.0, rng=1)
    while not study.stopped:
        run(study, 1)
    status, report = study.status(), study.report()
    assert report.regret is not None
    assert status.regret is not None
    assert status.regret.bound == report.regret.bound <= 1.0
    assert f"regret         at most {status.regret.bound:.4g} of global reward" in str(status)
    (certificate,) = status.certificates
    assert certificate.regret == status.regret.bound
    assert report.allocation is not None
    assert certificate.arms is not None
    assert certificate.arms.tolist() == report.allocation.arms.tolist()


def test_the_recommendation_speaks_in_labels() -> None:
    study = run(created(), 8)
    recommendation = study.recommend()
    report = study.report()
    assert report.allocation is not None
    assert [row["node"] for row in recommendation.table()] == ["a", "b", "c", "d"]
    arms = [("low", "high", "mixed")[k] for k in report.allocation.arms]
    assert [row["arm"] for row in recommendation.table()] == arms
    assert recommendation.guarantee == report.guarantee
    assert "Not certified" in str(recommendation)


def test_history_of_totals_and_progress() -> None:
    study = run(created(), 5)
    history = study.history()
    assert history.totals.tolist() == [float(study.rewards(k).sum()) for k in range(1, 6)]
    assert history.progress[-1] == study.status().progress
    assert len(history.progress) == 5
    assert len(history.phase_ends) == study.status().phase


# -- what is stored and what is not ----------------------------------------------------------


@dataclass(frozen=True)
class Own:
    """A strategy that is not part of edgewise."""

    tolerance: float = 1e-6
    name: str = "own"

    def __call__(self, problem: Problem, /) -> Any:
        return GOptimal(self.tolerance)(problem)


def test_methods_of_the_users_own_are_passed_again() -> None:
    study = run(created(strategy=Own(1e-4)), 2)
    with pytest.raises(InvalidArgument, match=r"strategy=Own\(tolerance=0.0001.*pass strategy="):
        ew.Study.load("farm", storage=study.storage)
    with pytest.raises(InvalidArgument, match="as it was"):
        ew.Study.load("farm", storage=study.storage, strategy=Own(1e-3))
    found = ew.Study.load("farm", storage=study.storage, strategy=Own(1e-4))
    assert state_of(found) == state_of(study)
    plain = created()
    with pytest.raises(InvalidArgument, match="pass strategy= as it was"):
        ew.Study.load("farm", storage=plain.storage, strategy=GOptimal())


def test_bad_settings_create_nothing() -> None:
    storage = MemoryStorage()
    bad: list[tuple[dict[str, Any], str]] = [
        ({"delta": 0.0}, "delta"),
        ({"strategy": "nonsense"}, "no strategy"),
        ({"max_rounds": 0}, "max_rounds"),
    ]
    for options, fact in bad:
        with pytest.raises(InvalidArgument, match=fact):
            ew.Study.create("farm", PROBLEM, storage=storage, **options)
    labels: list[Hashable] = [frozenset({1}), "b", "c"]
    odd = Problem(GRAPH, PROBLEM.arms, arm_labels=labels)
    with pytest.raises(InvalidArgument, match="frozenset, which cannot be stored"):
        ew.Study.create("farm", odd, storage=storage)
    assert storage.names() == []


def test_memory_is_not_shared_by_accident() -> None:
    created()
    with pytest.raises(UnknownStudy, match=r"pass storage=study\.storage"):
        ew.Study.load("farm", storage="memory")


def test_isolated_nodes_are_mentioned_once() -> None:
    with pytest.warns(IsolatedNodes):
        graph = ew.Graph.from_edges([(0, 1)], n_nodes=3)
    study = ew.Study.create("lonely", Problem(graph, np.eye(2)), storage="memory")
    ew.Study.load("lonely", storage=study.storage)  # no warning: warnings are errors here


def test_extending_while_a_round_is_out_keeps_it() -> None:
    study = run(created(strategy="adaptive"), 3)
    ticket = study.ask()
    study.extend(delta=1e-200, rounds=2)
    assert study.ask().key == ticket.key
    run(study, 2)
    assert kinds(study).count("Asked") == 5


# -- extras ----------------------------------------------------------------------------------


def python(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return result.stdout


def test_memory_needs_no_extra_and_databases_name_theirs() -> None:
    output = python(
        "import sys\n"
        "sys.modules['sqlalchemy'] = sys.modules['psycopg'] = None\n"  # as if not installed
        "import numpy as np, edgewise as ew\n"
        "problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2))\n"
        "study = ew.Study.create('x', problem, storage='memory')\n"
        "study.tell(study.ask(), np.zeros(8))\n"
        "print(study.status().rounds)\n"
        "try:\n"
        "    ew.Study.create('x', problem, storage='sqlite:///nowhere.db')\n"
        "except ew.EdgewiseError as error:\n"
        "    print(error)\n"
    )
    rounds, message = output.splitlines()
    assert rounds == "1"
    assert "pip install 'edgewise[study]'" in message


def test_postgresql_names_its_extra() -> None:
    output = python(
        "import sys\n"
        "sys.modules['psycopg'] = None\n"
        "import edgewise as ew\n"
        "try:\n"
        "    ew.Study.load('x', storage='postgresql://server/db')\n"
        "except ew.EdgewiseError as error:\n"
        "    print(error)\n"
    )
    assert "pip install 'edgewise[postgres]'" in output
