"""Commands of studies that measure nodes, links or totals, and of studies modelled anew."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.unit.cli.test_study import Desk

import edgewise as ew
from edgewise.study.files.document import EXAMPLE as TEMPLATE


def created(folder: Path, *lines: str) -> Desk:
    """The study of the template with further settings."""
    desk = Desk(folder)
    text = TEMPLATE.read_text(encoding="utf-8")
    text = text.replace("noise = 0.2\n", "\n".join(["noise = 0.2", *lines, ""]))
    result = desk.run("create", desk.file("farm.toml", text))
    assert result.exit_code == 0, result.output
    return desk


@pytest.mark.parametrize(
    ("measured", "first", "rest", "columns", "lacking"),
    [
        (
            "node",
            "node,reward\nA1,1.0\nB2,2.0\n",
            "node,reward\nA2,1\nA3,1\nB1,1\n",
            "node",
            ["A2", "A3", "B1"],
        ),
        (
            "link",
            "source,target,reward\nA2,A1,1.0\n",
            "source,target,reward\nA2,A3,1\nB1,B2,1\nB2,A2,1\n",
            "source,target",
            ["A2,A3", "B1,B2", "A2,B2"],
        ),
        ("total", "reward\n\n", "reward\n3.5\n", "measured", ["total"]),
    ],
)
def test_rounds_are_told_by_what_is_measured(
    measured: str, first: str, rest: str, columns: str, lacking: list[str], tmp_path: Path
) -> None:
    desk = created(tmp_path, f'measured = "{measured}"')
    assert desk.run("ask").exit_code == 0
    if measured != "total":
        told = desk.run("tell", desk.file("m.csv", first), "--format", "csv")
        assert told.exit_code == 0, told.output
    shown = desk.run("status", "--format", "csv").stdout.split()
    assert shown == [columns, *lacking]
    told = desk.run("tell", "-", text=rest)
    assert told.exit_code == 0, told.output
    assert desk.as_json("status")["rounds"] == 1
    corrected = desk.run("correct", desk.file("m.csv", rest.replace("1\n", "2\n")), "--round", "1")
    assert corrected.exit_code == 0, corrected.output


def test_creating_says_how_the_study_is_modelled(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    text = TEMPLATE.read_text(encoding="utf-8")
    plain = desk.as_json("create", desk.file("farm.toml", text))
    assert "measured" not in plain
    text = text.replace("noise = 0.2\n", 'noise = 0.2\nmeasured = "node"\nlevels = true\n')
    answer = desk.as_json("create", desk.file("farm.toml", text), "--name", "other")
    assert (answer["rewards_per_round"], answer["measured"]) == (5, "node")
    assert (answer["levels"], answer["pooling"]) == ("channel", "shared")


def test_rewards_per_arc_are_refused_where_nodes_are_measured(tmp_path: Path) -> None:
    desk = created(tmp_path, 'measured = "node"')
    desk.run("ask")
    before = desk.state()
    result = desk.run("tell", desk.file("m.csv", "source,target,reward\nA1,A2,1\n"))
    assert result.exit_code == 2
    assert "one number is measured per node, so one must be called node" in result.output
    assert desk.state() == before


def test_every_setting_of_the_template_can_be_written_as_it_stands_there(tmp_path: Path) -> None:
    text = TEMPLATE.read_text(encoding="utf-8")
    names = ("own_term", "average", "levels", "pooling")
    for name in names:
        assert f"\n# {name} = " in text
        text = text.replace(f"\n# {name} = ", f"\n{name} = ")
    text = text.replace('# measured = "arc"', 'measured = "node"')
    desk = Desk(tmp_path)
    assert desk.run("create", desk.file("farm.toml", text)).exit_code == 0
    problem = desk.study.problem
    assert (problem.measured, problem.levels, problem.own_term) == ("node", "channel", True)


def test_remodel_makes_a_study_and_says_what_was_seen(tmp_path: Path) -> None:
    desk = created(tmp_path)
    desk.take_rounds(4)
    before = desk.state()
    answer = desk.as_json("remodel", "anew", "--measured", "node", "--levels", "round")
    assert desk.state() == before
    assert (answer["study"], answer["rounds"]) == ("anew", 4)
    assert (answer["remodelled_from"], answer["rounds_seen_before"]) == ("yaw-2026", 4)
    assert "before this model was chosen" in answer["remodelled"]
    new = ew.Study.load("anew", storage=desk.url)
    assert (new.problem.measured, new.problem.levels) == ("node", "round")
    np.testing.assert_allclose(new.rewards(1).sum(), desk.study.rewards(1).sum())
    shown = desk.run("status", "--name", "anew").stdout
    assert "seen before    Rounds 1 to 4 were seen (in study 'yaw-2026')" in shown
    for command in ("recommend", "report"):
        result = desk.run(command, "--name", "anew", "--format", "json")
        found = json.loads(result.stdout)
        assert found["remodelled_from"] == "yaw-2026"
        assert "Rounds 1 to 4 were seen" in found["guarantee"] + found["remodelled"]


def test_remodel_takes_options_of_creating_and_another_storage(tmp_path: Path) -> None:
    desk = created(tmp_path)
    url = f"sqlite:///{tmp_path}/other.db"
    options = ["--noise", "estimate", "--epsilon", "0.5", "--max-rounds", "7", "--to-storage", url]
    result = desk.run("remodel", "anew", *options, "--strategy", "g-optimal")
    assert result.exit_code == 0, result.output
    status = ew.Study.load("anew", storage=url).status()
    assert (status.noise, status.epsilon, status.max_rounds) == ("estimate", 0.5, 7)


def test_noise_may_differ_from_node_to_node(tmp_path: Path) -> None:
    desk = created(tmp_path)
    noise = "0.1,0.2,0.3,0.4,0.5"
    assert desk.run("remodel", "anew", "--measured", "node", "--noise", noise).exit_code == 0
    problem = ew.Study.load("anew", storage=desk.url).problem
    assert problem.noise == (0.1, 0.2, 0.3, 0.4, 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--noise", "1,2,3"], "noise is of shape (3,); it must be one number"),
        ([], "what is to change? Pass an option, such as --levels channel"),
        (["--levels", "chanel"], "levels is 'chanel'; did you mean 'channel'?"),
        (["--noise", "much"], "noise is 'much'; it must be a number"),
        (["--average"], "average=True with measured='arc'"),
        (["--stopping", "no"], "no stopping rule is called 'no'"),
    ],
)
def test_wrong_changes_make_nothing(options: list[str], message: str, tmp_path: Path) -> None:
    desk = created(tmp_path)
    result = desk.run("remodel", "anew", *options)
    assert result.exit_code == 2
    assert message in result.output
    assert ew.Study.names(desk.url) == ["yaw-2026"]


def test_what_cannot_be_computed_is_refused(tmp_path: Path) -> None:
    desk = created(tmp_path, 'measured = "link"')
    result = desk.run("remodel", "anew", "--measured", "arc")
    assert result.exit_code == 2
    assert "measured together" in result.output
