"""Data stored by other versions loads, and goes on as it would have gone on there.

The assets, a folder for every format that a version of edgewise wrote, and how they were written:
``tests/golden/legacy/write_assets.py``.
"""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import warnings
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.golden.legacy.facts import of_learner, of_log, of_study, plain
from tests.golden.legacy.problems import problems

import edgewise as ew
from edgewise.errors import Unverified
from edgewise.study.storage.schema import VERSION

_LEGACY = Path(__file__).with_name("legacy")
_EXPORTED = "eventful"


@dataclass(frozen=True)
class Assets:
    """What one version stored, and what it did next."""

    folder: Path
    export_format: int
    schema: int
    save: int

    @property
    def expected(self) -> dict[str, dict[str, Any]]:
        """By learner and by study."""
        found: dict[str, Any] = json.loads((self.folder / "expected.json").read_text("utf-8"))
        return found

    @property
    def learners(self) -> dict[str, Any]:
        """As they were saved, by title."""
        saved: dict[str, Any] = json.loads((self.folder / "learner.json").read_text("utf-8"))
        return {title: decoded(one) for title, one in saved.items()}


_UNCHAINED = Assets(_LEGACY, export_format=1, schema=2, save=2)
_CHAINED = Assets(_LEGACY / "chained", export_format=2, schema=3, save=3)
_ALL = {"unchained": _UNCHAINED, "chained": _CHAINED}
_LEARNERS = [(one, title) for one in _ALL for title in _ALL[one].expected["learners"]]
_STUDIES = [(one, name) for one in _ALL for name in _ALL[one].expected["studies"]]


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


def database_of(assets: Assets, tmp_path: Path) -> Path:
    """A copy of the database: opening it may write to it."""
    return Path(shutil.copy(assets.folder / "study.db", tmp_path))


@pytest.mark.parametrize("assets", _ALL.values(), ids=_ALL)
def test_the_assets_are_of_the_formats_they_stand_for(assets: Assets) -> None:
    first = (assets.folder / "study.jsonl").read_text("utf-8").splitlines()[0]
    assert json.loads(first)["edgewise_study"] == assets.export_format
    with closing(sqlite3.connect(assets.folder / "study.db")) as connection:
        about = dict(connection.execute("SELECT key, value FROM edgewise_about"))
    assert about["schema_version"] == str(assets.schema)
    assert {one["version"] for one in assets.learners.values()} == {assets.save}
    assert list(assets.learners) == list(assets.expected["learners"])


def test_what_this_version_writes_has_its_asset(tmp_path: Path) -> None:
    study = ew.Study.create("new", problems()["farm"], storage=f"sqlite:///{tmp_path}/new.db")
    study.export(tmp_path / "new.jsonl")
    line = (tmp_path / "new.jsonl").read_text("utf-8").splitlines()[0]
    newest = list(_ALL.values())[-1]
    assert json.loads(line)["edgewise_study"] == newest.export_format
    assert newest.schema == VERSION
    assert ew.Learner(problems()["farm"], rng=1).save()["version"] == newest.save


# -- learners --------------------------------------------------------------------------------


@pytest.mark.parametrize(("version", "title"), _LEARNERS)
def test_a_saved_learner_goes_on(version: str, title: str) -> None:
    expected = _ALL[version].expected["learners"][title]
    problem = problems()[expected["problem"]]
    learner = ew.Learner.restore(problem, _ALL[version].learners[title])
    assert not differences(of_learner(learner), _without(expected, "problem", "next"))
    for step in expected["next"]:
        ticket = learner.ask()
        assert (ticket.round, plain(ticket.arms)) == (step["round"], step["arms"])
        learner.tell(ticket, numbers(step["rewards"]))
        assert not differences(of_learner(learner), step["after"])


def _without(tree: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in tree.items() if key not in keys}


# -- studies ---------------------------------------------------------------------------------


def check(study: ew.Study, expected: dict[str, Any]) -> None:
    """Compare what a study says, and what it does next."""
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


@pytest.mark.parametrize("assets", _ALL.values(), ids=_ALL)
def test_the_database_lists_its_studies(assets: Assets, tmp_path: Path) -> None:
    url = f"sqlite:///{database_of(assets, tmp_path)}"
    assert ew.Study.names(url) == sorted(assets.expected["studies"])


@pytest.mark.parametrize(("version", "name"), _STUDIES)
def test_a_stored_study_goes_on(version: str, name: str, tmp_path: Path) -> None:
    assets = _ALL[version]
    url = f"sqlite:///{database_of(assets, tmp_path)}"
    check(ew.Study.load(name, storage=url), assets.expected["studies"][name])


@pytest.mark.parametrize(("version", "name"), _STUDIES)
def test_a_stored_study_goes_on_from_its_log_alone(version: str, name: str, tmp_path: Path) -> None:
    assets = _ALL[version]
    database = database_of(assets, tmp_path)
    with closing(sqlite3.connect(database)) as connection, connection:
        assert connection.execute("DELETE FROM edgewise_snapshots").rowcount >= 2
    study = ew.Study.load(name, storage=f"sqlite:///{database}")
    check(study, assets.expected["studies"][name])


def imported(assets: Assets, storage: str, name: str | None = None) -> ew.Study:
    """The exported study; one without checksums says so."""
    unverified = assets is _UNCHAINED
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        study = ew.Study.from_export(assets.folder / "study.jsonl", storage=storage, name=name)
    assert [one.category for one in said] == [Unverified] * unverified
    assert not unverified or "of format 1, without checksums" in str(said[0].message)
    return study


@pytest.mark.parametrize("assets", _ALL.values(), ids=_ALL)
@pytest.mark.parametrize("storage", ["memory", "sqlite:///{}/imported.db"])
def test_an_exported_study_goes_on(assets: Assets, storage: str, tmp_path: Path) -> None:
    study = imported(assets, storage.format(tmp_path))
    assert study.name == _EXPORTED
    check(study, assets.expected["studies"][_EXPORTED])


@pytest.mark.parametrize("assets", _ALL.values(), ids=_ALL)
def test_an_exported_study_can_join_the_database_it_came_from(
    assets: Assets, tmp_path: Path
) -> None:
    url, expected = f"sqlite:///{database_of(assets, tmp_path)}", assets.expected["studies"]
    check(imported(assets, url, name="again"), expected[_EXPORTED])
    check(ew.Study.load(_EXPORTED, storage=url), expected[_EXPORTED])


# -- the comparison --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "expected"),
    [(1, 2), (1.0, 1), (1.0, 1.0 + 1e-11), (None, 0.0), ([1], [1, 1]), ({"a": 1}, {"b": 1})],
)
def test_a_difference_is_noticed(found: Any, expected: Any) -> None:
    assert differences([found], [expected])
    assert not differences([found, {"a": 1.0}], [found, {"a": 1.0 + 1e-14}])
