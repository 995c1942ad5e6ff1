"""Labels may be anything: they are stored as they are, and do no harm where they are shown."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import edgewise as ew
from edgewise.cli.app import app
from edgewise.formats import read_joint_arm, write_rows
from edgewise.plots import as_svg, figure_allocation, save

NASTY = [
    "tower\x1b[2J\x1b]0;owned\x07",
    "evil\u202etxt.exe",
    "$\\frac{$",
    "=HYPERLINK(1)",
    "@sum",
    "<script>alert(1)</script>",
    "line\nbreak",
]


def nasty_study(url: str) -> ew.Study:
    nodes = NASTY
    graph = ew.Graph.from_edges([(nodes[i], nodes[i - 1]) for i in range(len(nodes))])
    problem = ew.Problem(graph, np.eye(2), noise=0.1, arm_labels=["$\\frac{$", "=1+1\x1b[0m"])
    study = ew.Study.create("nasty", problem, storage=url, delta=1e-300, rng=0)
    environment = ew.BilinearEnvironment(problem, np.diag([2.0, 1.0]), rng=1)
    for _ in range(3):
        ticket = study.ask()
        study.tell(ticket, environment(ticket.arms))
    study.ask()
    return study


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["study", *arguments])


@pytest.fixture
def url(tmp_path: Path) -> str:
    place = f"sqlite:///{tmp_path}/nasty.db"
    nasty_study(place)
    return place


def test_labels_are_stored_as_they_are(url: str) -> None:
    study = ew.Study.load("nasty", storage=url)
    assert sorted(map(str, study.problem.graph.labels)) == sorted(NASTY)


@pytest.mark.parametrize("command", ["ask", "status", "report", "recommend"])
def test_no_command_steers_the_terminal(url: str, command: str) -> None:
    result = run(command, "--storage", url)
    assert result.exit_code in {0, 3}, result.output
    assert not set(result.output) & set("\x1b\x07\u202e")


STEERING = set("\x1b\x07\u202e")


def test_what_python_prints_steers_no_terminal(url: str) -> None:
    study = ew.Study.load("nasty", storage=url)
    report, graph = study.report(), study.problem.graph
    labels = study.problem.arm_labels
    assert labels is not None
    candidates = {"b\x1b[2J": np.zeros(7, int), "c\n\u202e": np.ones(7, int)}
    trial = ew.Trial(study.problem, baseline=[0, 1, 0, 1, 0, 1, 0], candidates=candidates, rng=0)
    said = [report, study.status(), study.recommend(), trial.report(), trial, trial.ask(), graph]
    texts = [*map(str, said), report.guarantee, report.pairs_text]
    assert str(labels[1]).encode("unicode_escape").decode() in str(report)
    assert not set("".join(texts)) & STEERING
    with pytest.raises(ew.EdgewiseError) as error:
        study.tell(study.ask(), np.full(14, 1e300))
    assert not set(str(error.value)) & STEERING


def test_pages_and_pictures_show_text(url: str, tmp_path: Path) -> None:
    result = run("report", "--storage", url, "--html", str(tmp_path / "x.html"))
    assert result.exit_code in {0, 3}, result.output
    page = (tmp_path / "x.html").read_text()
    assert "<script" not in page
    assert not set(page) & set("\x1b\x07\u202e")
    report = ew.Study.load("nasty", storage=url).report()
    figure = figure_allocation(report)
    assert b"\x1b" not in as_svg(figure)
    save(figure, tmp_path / "x.png")


def test_tables_execute_nothing_and_are_read_back(tmp_path: Path) -> None:
    rows = [(name, "=1+1") for name in NASTY]
    write_rows(tmp_path / "x.csv", ("node", "arm"), rows)
    cells = list(csv.reader(io.StringIO((tmp_path / "x.csv").read_text(), newline="")))
    assert not [cell for row in cells for cell in row if cell[:1] in "=+-@"]
    found = read_joint_arm(tmp_path / "x.csv", nodes=NASTY, arms=["5", "=1+1"])
    assert found.tolist() == [1] * len(NASTY)
    write_rows(tmp_path / "y.csv", ("node", "value"), [("a", -5.0), ("b", "-5")])
    assert (tmp_path / "y.csv").read_text() == "node,value\na,-5.0\nb,-5\n"
