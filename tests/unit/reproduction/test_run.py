import csv
import json
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import edgewise.cli.app
from edgewise.errors import InvalidArgument, MissingExtra
from edgewise.reproduction import Reproduction, Settings, reproduce

TINY = Settings(
    quick=True, repetitions=2, graphs=("star", "circle"), methods=("mixture",), omegas=(1.5,)
)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return reproduce("all", TINY, out=tmp_path_factory.mktemp("all"))


def test_every_file_is_written(result: Reproduction) -> None:
    names = {path.name for path in result.files}
    figures = ("fig1-edges", "fig1-dimension", "table1", "fig2", "beyond", "beyond-random")
    assert names >= {f"{name}.{kind}" for name in figures for kind in ("png", "svg")}
    assert names >= {"report.html", "fig1-edges.csv", "table1-variance.csv", "table1-loss.csv"}
    assert names >= {"beyond.csv", "beyond-random.csv", "beyond-designs.csv"}
    assert all(path.stat().st_size > 100 for path in result.files)


def test_the_report_needs_nothing_from_outside(result: Reproduction) -> None:
    page = result.report.read_text()
    sources = re.findall(r'(?:src|href)\s*=\s*"([^"]*)"', page)
    assert len(sources) == 6
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert not re.search(r"https?://|<script|<link|@import|url\(", page)


def test_the_report_states_every_claim_with_its_test(result: Reproduction) -> None:
    page = result.report.read_text()
    for outcome in result.outcomes:
        for claim in outcome.claims:
            assert claim.statement.split("<")[0].split(">")[0].split("'")[0] in page
            assert claim.status.value in page
    assert "two one-sided" in page
    assert "level 0.05" in page


def test_tables_are_tidy(result: Reproduction) -> None:
    with result.report.with_name("fig1-edges.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 3 * 2  # graphs, sizes, repetitions
    assert set(rows[0]) == {
        "omega", "graph", "n_edges", "dimension", "method", "delta", "repetition", "rounds",
        "certified", "correct",
    }  # fmt: skip
    assert {row["certified"] for row in rows} <= {"true", "false"}
    keys = [(row["graph"], int(row["n_edges"]), int(row["repetition"])) for row in rows]
    assert keys == sorted(keys)


def test_an_unknown_experiment_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidArgument, match="no experiment is called 'fig3'; did you mean 'fig2'"
    ):
        reproduce("fig3", TINY, out=tmp_path)


def test_without_matplotlib_nothing_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra):
        reproduce("fig2", TINY, out=tmp_path)
    assert not (tmp_path / "cells.jsonl").exists()


@pytest.fixture
def app() -> typer.Typer:
    return edgewise.cli.app.app


ARGUMENTS = [
    "reproduce", "fig2", "--quick", "--repetitions", "2", "--graphs", "star, circle", "--jobs", "1",
    "--out",
]  # fmt: skip


def test_the_command_prints_claims_as_json(app: typer.Typer, tmp_path: Path) -> None:
    outcome = CliRunner().invoke(app, [*ARGUMENTS, str(tmp_path), "--format", "json"])
    assert outcome.exit_code == 0
    told = json.loads(outcome.stdout)
    assert {row["experiment"] for row in told["claims"]} == {"fig2"}
    assert str(tmp_path / "report.html") in told["files"]
    assert "report:" in outcome.stderr


@pytest.mark.parametrize("form", ["csv", "table"])
def test_the_command_prints_claims_otherwise(app: typer.Typer, tmp_path: Path, form: str) -> None:
    outcome = CliRunner().invoke(app, [*ARGUMENTS, str(tmp_path), "--format", form])
    assert outcome.exit_code == 0
    assert "fig2" in outcome.stdout
    if form == "csv":
        rows = list(csv.DictReader(outcome.stdout.splitlines()))
        assert {row["experiment"] for row in rows} == {"fig2"}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--graphs", "torus"], "no graph family is called 'torus'"),
        (["--methods", "magic"], "no method is called 'magic'"),
        (["--delta", "2"], "delta is 2"),
        (["--omega", "0"], "omega is 0"),
        (["--jobs", "0"], "jobs is 0"),
    ],
)
def test_wrong_input_ends_with_2_and_a_remedy(
    app: typer.Typer, tmp_path: Path, options: list[str], told: str
) -> None:
    outcome = CliRunner().invoke(app, [*ARGUMENTS, str(tmp_path), *options])
    assert outcome.exit_code == 2
    assert told in " ".join(outcome.stderr.split())
    assert "Traceback" not in outcome.stderr
