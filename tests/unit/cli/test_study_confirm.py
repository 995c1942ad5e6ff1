"""Trials by commands: begin, ask, tell, look, and wrong input that leaves everything as it was."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.cli.test_study import Desk

from edgewise.study.files.document import EXAMPLE


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """The study of the template after three rounds."""
    found = Desk(tmp_path)
    path = found.file("farm.toml", EXAMPLE.read_text(encoding="utf-8"))
    assert found.run("create", path).exit_code == 0
    found.take_rounds(3)
    return found


def labels(desk: Desk) -> list[str]:
    return [str(label) for label in desk.study.problem.arm_labels or ()]


def begin(desk: Desk, *options: str) -> Any:
    return desk.run("confirm", "--baseline-arm", labels(desk)[1], "--seed", "1", *options)


def measure(desk: Desk, gain: float) -> None:
    """Ask and tell until the trial is over; the recommended configuration gains."""
    rng = np.random.default_rng(0)
    while (ticket := desk.study.seen.trial_ticket) is not None:
        asked = desk.as_json("ask")
        assert asked["round"] == ticket.key == desk.as_json("list")["list"][0]["pending"]
        value = gain * (ticket.candidate != "baseline") + 0.1 * rng.standard_normal()
        result = desk.run("tell", "--total", f"{value}", "--round", ticket.key)
        assert result.exit_code == 0, result.output


def test_a_recommended_baseline_is_kept(desk: Desk) -> None:
    result = desk.run("confirm", "--baseline-arm", labels(desk)[0])
    assert result.exit_code == 0
    assert "no pairs: the candidate is the baseline" in result.stderr
    assert "there is nothing to measure" in result.stdout


def test_a_plan_begins_nothing(desk: Desk) -> None:
    before = desk.state()
    result = begin(desk, "--plan")
    assert result.exit_code == 0
    assert result.stdout.startswith("Expect about")
    assert "likely" in begin(desk, "--plan", "--format", "json").stdout
    assert desk.state() == before


def test_confirmed_by_commands(desk: Desk, tmp_path: Path) -> None:
    assert begin(desk).exit_code == 0
    assert "round T1-1.1 of the trial" in desk.run("status").stdout
    measure(desk, gain=3.0)
    found = desk.as_json("confirm")
    assert found["trial"] == "better"
    assert found["trial_low"] > 0
    assert found["comparisons"][0]["comparison"] == "recommended minus baseline"
    told = desk.as_json("recommend")
    assert told["confirmation"] == "confirmed"
    picture = tmp_path / "trial.svg"
    assert desk.run("confirm", "--plot", str(picture)).exit_code == 0
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    page = tmp_path / "page.html"
    desk.run("report", "--html", str(page))
    assert "Confirmed by measurement" in page.read_text(encoding="utf-8")


def test_contradicted_by_commands(desk: Desk, tmp_path: Path) -> None:
    assert begin(desk).exit_code == 0
    measure(desk, gain=-3.0)
    out = tmp_path / "best.csv"
    result = desk.run("recommend", "--out", str(out))
    assert result.exit_code == 3
    assert result.stdout.startswith("Contradicted by measurement: deploy the baseline")
    with out.open(encoding="utf-8") as file:
        assert {row["arm"] for row in csv.DictReader(file)} == {labels(desk)[1]}
    assert desk.run("report").stdout.startswith("Contradicted by measurement")
    assert desk.as_json("status")["confirmation"] == "contradicted"


def test_rewards_gaps_cancellations_and_corrections(desk: Desk) -> None:
    begin(desk)
    ticket = desk.study.seen.trial_ticket
    assert ticket is not None
    arcs = desk.study.problem.graph.arcs.tolist()
    names = desk.study.problem.graph.labels
    lines = [f"{ticket.key},{names[i]},{names[j]},0.5" for i, j in arcs]
    head = "round,source,target,reward"
    assert desk.run("tell", desk.file("m.csv", "\n".join([head, *lines]))).exit_code == 0
    assert desk.as_json("status")["trial_round"] == "T1-1.2"
    fixed = [line.replace("0.5", "0.75") for line in lines]
    path = desk.file("c.csv", "\n".join([head, *fixed]))
    assert desk.run("correct", path).exit_code == 0
    again = desk.run("correct", "--total", "4.5", "--round", ticket.key)
    assert again.exit_code == 0, again.output
    assert desk.run("correct", "--total", "4.5").exit_code == 2
    assert desk.run("cancel").exit_code == 0
    assert desk.as_json("status")["trial_round"] == "T1-1.1-2"
    assert desk.run("tell", "--total", "nan").exit_code == 0
    assert desk.as_json("status")["trial_round"] == "T1-1.1-3"
    ended = desk.run("confirm", "--end")
    assert ended.exit_code == 3
    assert "by hand" in ended.stdout


def test_wrong_input_changes_nothing(desk: Desk) -> None:
    desk.run("confirm", "--baseline-arm", labels(desk)[1])
    before = desk.state()
    for arguments, said in [
        (("tell",), "a file of measurements or --total"),
        (("tell", "--total", "5", "--round", "2"), "not an arc"),
        (("tell", "--total", "inf"), "finite"),
        (("tell", "--total", "5", "--round", "T1-9.1"), "was not asked for"),
        (("tell", "--total", "5", "--round", "T2-1.1"), "belongs to trial 2"),
        (("confirm", "--baseline-arm", "none such"), "no arm is called"),
        (("confirm", "--baseline-arm", labels(desk)[1]), "'edgewise study confirm --end'"),
        (("confirm", "--baseline-arm", labels(desk)[1], "--margin", "-1"), "margin is -1.0"),
    ]:
        result = desk.run(*arguments)
        assert result.exit_code == 2, (arguments, result.output)
        assert said in result.stderr, (arguments, result.stderr)
        assert desk.state() == before


def test_a_study_without_a_trial_says_how_to_begin(desk: Desk) -> None:
    result = desk.run("confirm")
    assert result.exit_code == 2
    assert "--baseline" in result.stderr
    assert desk.run("tell", "--total", "5", "--round", "T1-1.1").exit_code == 2
