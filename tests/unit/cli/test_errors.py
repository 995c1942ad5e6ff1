"""Wrong input: one line on stderr, exit code 2, nothing on stdout, no traceback."""

import sys
from pathlib import Path

import pytest
from tests.instances import CELLS, DATA, EASY
from typer.testing import CliRunner, Result

from edgewise.cli.app import app


def refused(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("design", "nowhere.csv"), "nowhere.csv: there is no such file"),
        (("design", "paper:x:0.1"), "write for instance paper:5:0.1"),
        (("design", "papr:5:0.1"), "no instance is called 'papr'; did you mean 'paper'?"),
        (("design", "paper:1:0.1"), "at least 2"),
        (("design", CELLS[1], "--tolerance", "0"), "tolerance is 0.0"),
        (("design", CELLS[1], "--tolerance", "small"), "--tolerance"),
        (("design", CELLS[1], "--method", "magic"), "'magic'"),
        (("design", CELLS[1], "--plot", "figure.gif"), ".png, .svg, .pdf"),
        (("design", CELLS[1], "--plot", "no/such/folder.png"), "does not exist"),
        (
            ("design", CELLS[1], "--format", "jsn"),
            "no output format is called 'jsn'; did you mean 'json'?",
        ),
        (("allocate", "circle:155", *EASY[1:]), "the nearest valid values are 154 and 156"),
        (("allocate", "circle:many", *EASY[1:]), "write for instance circle:156"),
        (
            ("allocate", "cirle:156", *EASY[1:]),
            "no graph family is called 'cirle'; did you mean 'circle'?",
        ),
        (("allocate", *EASY[:2], "paper:3:1.5"), "matrix has shape (3, 3)"),
        (("allocate", *EASY[:2], "papr:2"), "no instance is called 'papr'"),
        (("allocate", *EASY, "--method", "magic"), "no allocation method is called 'magic'"),
        (("allocate", *EASY, "--time-limit", "-1"), "time_limit"),
        (("allocate", *EASY, "--out", "answer.json"), "end the name in .csv"),
        (("allocate", *EASY, "--seed", "-1"), "--seed"),
        (("simulate", *EASY, "--strategy", "magic"), "no strategy is called 'magic'"),
        (("simulate", *EASY, "--stopping", "magic"), "no stopping rule is called 'magic'"),
        (("simulate", *EASY, "--delta", "2"), "delta"),
        (("simulate", *EASY, "--noise", "0"), "noise"),
        (("simulate", *EASY, "--repetitions", "0"), "repetitions is 0"),
        (("simulate", *EASY, "--max-rounds", "0"), "max_rounds is 0"),
        (("theory", str(DATA / "wakes.csv"), str(DATA / "yaw.csv")), "the graph is directed"),
        (("theory", *EASY[:2], "--rounds", "0"), "rounds is 0"),
        (("demo", "paper", "--edges", "155"), "154 and 156"),
        (("demo", "paper", "--dimension", "1"), "at least 2"),
        (
            ("demo", "paper", "--graph", "stat"),
            "no graph family is called 'stat'; did you mean 'star'?",
        ),
        (("allocate", *EASY, "--bound", "tigt"), "did you mean 'tight'?"),
        (("reproduce", "fig3"), "no experiment is called 'fig3'; did you mean 'fig2'?"),
        (("reproduce", "fig2", "--graphs", "star,torus"), "no graph family is called 'torus'"),
        (("reproduce", "fig2", "--methods", "adaptve"), "did you mean 'adaptive'?"),
        (("reproduce", "fig2", "--graphs", "star,star"), "each once"),
        (("fly",), "fly"),
    ],
)
def test_wrong_arguments_are_named_with_a_remedy(arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(*arguments).stderr


def test_wrong_files_are_named_with_line_and_remedy(tmp_path: Path) -> None:
    bad = tmp_path / "arms.csv"
    bad.write_text("name,x,y\na,1,0\nb,O,1\n")
    message = refused("design", str(bad)).stderr
    assert message == (
        f"edgewise: {bad}, line 3, column 'x': 'O' is not a finite number; write one with a "
        "decimal point, such as 0.5 or -1e3\n"
    )


def test_a_folder_in_the_place_of_the_output_is_wrong_input(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    result = CliRunner().invoke(app, ("allocate", *EASY, "--out", str(tmp_path / "out.csv")))
    assert result.exit_code == 2
    assert "out.csv" in result.stderr
    assert "Traceback" not in result.stderr


def test_isolated_nodes_are_said_not_raised(tmp_path: Path) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("3 1\n1 2 1\n")
    result = CliRunner().invoke(app, ("allocate", str(path), *EASY[1:], "--format", "csv"))
    assert result.exit_code == 0
    assert "1 of 3 nodes have no edge (3)" in result.stderr
    assert len(result.stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("g.parquet", "pyarrow", "parquet"), ("g.graphml", "networkx", "networkx")],
)
def test_a_missing_extra_is_named(
    name: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text("x")
    monkeypatch.setitem(sys.modules, module, None)
    message = refused("theory", str(tmp_path / name), EASY[1]).stderr
    assert f"pip install 'edgewise[{extra}]'" in message
