"""Data stored before the house was rebuilt loads, and goes on as it would have gone on there.

The assets, and how they were written: ``tests/golden/legacy/write_assets.py``.
"""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.golden.legacy.facts import of_learner, of_log, of_study, plain
from tests.golden.legacy.problems import problems

import edgewise as ew
from edgewise.errors import Unverified

_LEGACY = Path(__file__).with_name("legacy")
_EXPECTED = json.loads((_LEGACY / "expected.json").read_text(encoding="utf-8"))
_LEARNERS: dict[str, Any] = _EXPECTED["learners"]
_STUDIES: dict[str, Any] = _EXPECTED["studies"]
_EXPORTED = "eventful"


def decoded(value: Any) -> Any:
    """A saved state out of JSON: arrays, tuples and numbers that JSON lacks are tagged."""
    if isinstance(value, list):
        return [decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "$array" in value:
        values = [math.nan if one is None else one for one in value["values"]]
        return np.array(values, np.dtype(value["$array"])).reshape(value["shape"])
    if "$tuple" in value:
        return tuple(decoded(value["$tuple"]))
    if "$number" in value:
        return float(value["$number"])
    return {key: decoded(one) for key, one in value.items()}


def differences(found: Any, expected: Any, where: str = "") -> list[str]:
    """Where two trees differ: numbers with a point by more than 1e-12 of them, all else at all."""
    if isinstance(expected, dict) and isinstance(found, dict) and found.keys() == expected.keys():
        names = list(expected)
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        names = list(range(len(expected)))
    else:
        same = type(found) is type(expected) and found == expected
        if isinstance(found, float) and isinstance(expected, float):
            same = math.isclose(found, expected, rel_tol=1e-12)
        return [] if same else [f"{where}: {found!r}, not {expected!r}"]
    return [
        line
        for name in names
        for line in differences(found[name], expected[name], f"{where}/{name}")
    ]


def numbers(rewards: list[float | None]) -> list[float]:
    return [math.nan if one is None else one for one in rewards]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A copy of the database: opening it may write to it."""
    return Path(shutil.copy(_LEGACY / "study.db", tmp_path))


# -- learners --------------------------------------------------------------------------------


@pytest.mark.parametrize("title", _LEARNERS)
def test_a_saved_learner_goes_on(title: str) -> None:
    saved = json.loads((_LEGACY / "learner.json").read_text(encoding="utf-8"))
    expected = _LEARNERS[title]
    problem = problems()[expected["problem"]]
    learner = ew.Learner.restore(problem, decoded(saved[title]))
    assert not differences(of_learner(learner), _without(expected, "problem", "next"))
    for step in expected["next"]:
        ticket = learner.ask()
        assert (ticket.round, plain(ticket.arms)) == (step["round"], step["arms"])
        learner.tell(ticket, numbers(step["rewards"]))
        assert not differences(of_learner(learner), step["after"])


def test_every_saved_learner_is_checked() -> None:
    saved = json.loads((_LEGACY / "learner.json").read_text(encoding="utf-8"))
    assert list(saved) == list(_LEARNERS)


def _without(tree: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in tree.items() if key not in keys}


# -- studies ---------------------------------------------------------------------------------


def check(study: ew.Study, name: str) -> None:
    """Compare what a study says, and what it does next."""
    expected = _STUDIES[name]
    same_problem(study.problem, problems()[expected["problem"]])
    assert not differences(of_study(study), expected["status"])
    assert not differences(of_log(study), expected["log"])
    if expected["extend"]:
        study.extend(rounds=expected["extend"])
    for step in expected["next"]:
        ticket = study.ask()
        assert (ticket.key, plain(ticket.arms)) == (step["key"], step["arms"])
        study.tell(ticket, numbers(step["rewards"]))
        assert not differences(of_study(study), step["after"])


def same_problem(found: ew.Problem, expected: ew.Problem) -> None:
    """Labels are no part of the fingerprint."""
    assert found.fingerprint == expected.fingerprint
    assert list(found.graph.labels) == list(expected.graph.labels)
    assert found.graph.kind_labels == expected.graph.kind_labels
    assert found.arm_labels == expected.arm_labels


def test_the_database_lists_its_studies(database: Path) -> None:
    assert ew.Study.names(f"sqlite:///{database}") == sorted(_STUDIES)


@pytest.mark.parametrize("name", _STUDIES)
def test_a_stored_study_goes_on(name: str, database: Path) -> None:
    check(ew.Study.load(name, storage=f"sqlite:///{database}"), name)


@pytest.mark.parametrize("name", _STUDIES)
def test_a_stored_study_goes_on_from_its_log_alone(name: str, database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        assert connection.execute("DELETE FROM edgewise_snapshots").rowcount == 2
    check(ew.Study.load(name, storage=f"sqlite:///{database}"), name)


@pytest.mark.parametrize("storage", ["memory", "sqlite:///{}/imported.db"])
def test_an_exported_study_goes_on(storage: str, tmp_path: Path) -> None:
    with pytest.warns(Unverified, match="of format 1, without checksums"):
        study = ew.Study.from_export(_LEGACY / "study.jsonl", storage=storage.format(tmp_path))
    assert study.name == _EXPORTED
    check(study, _EXPORTED)


def test_an_exported_study_can_join_the_database_it_came_from(database: Path) -> None:
    url = f"sqlite:///{database}"
    with pytest.warns(Unverified):
        again = ew.Study.from_export(_LEGACY / "study.jsonl", storage=url, name="again")
    check(again, _EXPORTED)
    check(ew.Study.load(_EXPORTED, storage=url), _EXPORTED)


# -- the comparison --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "expected"),
    [(1, 2), (1.0, 1), (1.0, 1.0 + 1e-11), (None, 0.0), ([1], [1, 1]), ({"a": 1}, {"b": 1})],
)
def test_a_difference_is_noticed(found: Any, expected: Any) -> None:
    assert differences([found], [expected])
    assert not differences([found, {"a": 1.0}], [found, {"a": 1.0 + 1e-14}])
