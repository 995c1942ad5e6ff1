"""What a command of studies costs: transactions of the database, and statuses computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

import edgewise as ew
from edgewise.cli.app import app
from edgewise.study.files.document import EXAMPLE as TEMPLATE
from edgewise.study.storage.engines import Database
from edgewise.study.views.status import status_of

MEASURED = "source,target,reward\nA1,A2,0.5\n"
CORRECTED = "round,source,target,reward\n1,A1,A2,0.25\n"

COSTS = {
    "status": (("status",), 1, 1),
    "list": (("list",), 2, 0),
    "ask": (("ask",), 2, 0),
    "tell": (("tell", "m.csv"), 2, 1),
    "tell by key": (("tell", "m.csv", "--round", "2"), 2, 1),
    "tell a closed round again": (("tell", "c.csv", "--round", "1"), 2, 1),
    "close": (("close",), 2, 1),
    "cancel": (("cancel",), 2, 1),
    "correct": (("correct", "c.csv"), 2, 1),
    "extend": (("extend", "--rounds", "3"), 2, 1),
    "recommend": (("recommend",), 1, 0),
    "report": (("report",), 1, 0),
}
"""The command, its transactions when the study is named, its statuses."""


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A study with one round closed and one out, and files that answer both."""
    monkeypatch.chdir(tmp_path)
    Path("farm.toml").write_text(TEMPLATE.read_text(encoding="utf-8"), encoding="utf-8")
    Path("m.csv").write_text(MEASURED, encoding="utf-8")
    Path("c.csv").write_text(CORRECTED, encoding="utf-8")
    place = f"sqlite:///{tmp_path}/farm.db"
    assert run(place, "create", "farm.toml").exit_code == 0
    study = ew.Study.load("yaw-2026", storage=place)
    study.tell(study.ask(), {("A1", "A2"): 0.25})
    study.close("1")
    study.ask()
    return place


def run(place: str, *arguments: str) -> Any:
    return CliRunner().invoke(app, ("study", *arguments), env={"EDGEWISE_STORAGE": place})


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts from now on, below every storage and every view."""
    found: Counter[str] = Counter()
    begin = Database.transaction

    @contextmanager
    def transaction(database: Database, **options: bool) -> Iterator[sa.Connection]:
        found["transactions"] += 1
        with begin(database, **options) as connection:
            yield connection

    def status(*arguments: Any) -> Any:
        found["statuses"] += 1
        return status_of(*arguments)

    monkeypatch.setattr(Database, "transaction", transaction)
    monkeypatch.setattr("edgewise.study.views.moment.status_of", status)
    return found


@pytest.mark.parametrize("case", COSTS)
def test_a_command_looks_once_and_acts_once(url: str, case: str, count: Counter[str]) -> None:
    arguments, transactions, statuses = COSTS[case]
    named = () if case == "list" else ("--name", "yaw-2026")
    result = run(url, *arguments, *named)
    assert result.exit_code in {0, 3}, result.output
    assert (count["transactions"], count["statuses"]) == (transactions, statuses)


def test_finding_the_only_study_costs_one_look_more(url: str, count: Counter[str]) -> None:
    assert run(url, "tell", "m.csv").exit_code == 0
    assert (count["transactions"], count["statuses"]) == (3, 1)


def test_what_a_command_reports_is_what_it_left(url: str) -> None:
    result = run(url, "tell", "m.csv", "--format", "json")
    told = ew.Study.load("yaw-2026", storage=url)
    assert f'"missing": {told.status().missing},' in result.stdout
    assert "1 measurement of round 2 is on record; 7 are still missing" in result.stderr
