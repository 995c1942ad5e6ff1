"""Sharp edges of the command line: encodings, keys, plural forms, layouts, readers who leave."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tests.unit.study.farm import PROBLEM, run

import edgewise as ew
from edgewise.cli.study.watching import view
from edgewise.errors import InvalidFile, InvalidProblem
from edgewise.formats import parse_rewards
from edgewise.formats.files import piped_text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_standard_input_may_begin_with_a_byte_order_mark(encoding: str) -> None:
    """As spreadsheets and PowerShell write it, whatever the locale of the terminal is."""
    content = "source,target,reward\na,b,0.5\n".encode(encoding)
    stream = io.TextIOWrapper(io.BytesIO(content), encoding="latin-1")
    read = parse_rewards("stdin", piped_text(stream), PROBLEM)
    assert dict(read.rewards) == {("a", "b"): 0.5}


def test_other_encodings_are_refused_in_words() -> None:
    stream = io.TextIOWrapper(io.BytesIO("Ärger".encode("latin-1")), encoding="latin-1")
    with pytest.raises(InvalidFile, match="stdin: byte 0 is not UTF-8 text; convert it"):
        piped_text(stream)


def test_the_tenth_attempt_is_not_the_first() -> None:
    text = '{"round": %s, "measurements": [{"source": "a", "target": "b", "reward": 1}]}'
    assert parse_rewards("x.json", text % '"1.10"', PROBLEM).round == "1.10"
    with pytest.raises(InvalidFile, match=r"would be 7\.1, the first"):
        parse_rewards("x.json", text % "1.10", PROBLEM)
    study = ew.Study.create("farm", PROBLEM, rng=0)
    for _ in range(9):
        study.cancel(study.ask())
    ticket = study.ask()
    assert ticket.key == "1.10"
    study.tell("1.10", np.ones(10))
    assert study.ticket("1.10").round == 1
    assert (
        parse_rewards("x.csv", "round,source,target,reward\n1.10,a,b,1\n", PROBLEM).round == "1.10"
    )


def test_one_measurement_is_not_plural() -> None:
    study = ew.Study.create("farm", PROBLEM, rng=0)
    study.tell(study.ask(), np.where(np.arange(10) == 3, np.nan, 1.0))
    assert "1 measurement missing" in str(study.status())
    study.tell("1", {("b", "c"): 1.0} if np.isnan(study.rewards(1)[2]) else _left(study))
    assert "Study 'farm': 1 round," in str(study.status())
    assert "after 1 round (" in study.report().headline


def _left(study: ew.Study) -> dict[object, float]:
    assert study.pending is not None
    return {study.pending.lacking()[0]: 1.0}


@pytest.mark.parametrize("width", [40, 80, 200])
def test_watching_keeps_labels_beside_their_texts(width: int) -> None:
    """No line is wider than the terminal, no label is broken, and nothing is cut off."""
    status = run(ew.Study.create("farm", PROBLEM, rng=0, delta=1e-300), 3).status()
    console = Console(width=width, file=io.StringIO(), highlight=False, force_terminal=True)
    console.print(view(status))
    text = re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= width
    for label, said in status.rows():
        assert any(line.startswith(label) for line in text.splitlines())
        assert said.split()[-1][:20] in text.replace("\n", " ") or width == 40


def test_noise_says_what_is_allowed() -> None:
    with pytest.raises(InvalidProblem) as caught:
        ew.Problem(PROBLEM.graph, np.eye(2), noise=np.ones(3))  # type: ignore[arg-type]
    said = str(caught.value)
    assert said.startswith("noise is of shape (3,); it must be one number")
    assert "one per arc (10), or one per kind of edge (1)" in said
    with pytest.raises(InvalidProblem, match=r"one per node \(4\)$"):
        ew.Problem(PROBLEM.graph, np.eye(2), measured="node", noise=[1.0, 2.0])  # type: ignore[arg-type]


def test_the_page_is_finished_even_if_the_reader_leaves(tmp_path: Path) -> None:
    place = f"sqlite:///{tmp_path}/farm.db"
    run(ew.Study.create("farm", PROBLEM, storage=place, rng=0), 2)
    page = tmp_path / "report.html"
    reader, writer = os.pipe()
    os.close(reader)  # nobody reads
    command = [str(Path(sys.executable).with_name("edgewise")), "study", "report"]
    subprocess.run(
        [*command, "--storage", place, "--html", str(page)], stdout=writer, check=False, timeout=120
    )
    os.close(writer)
    assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")


def test_the_gap_is_defined_where_it_is_printed(tmp_path: Path) -> None:
    """A complete graph of ten nodes and two arms: without a bound there is a gap."""
    edges = "".join(f"{i},{j}\n" for i in range(10) for j in range(i))
    (tmp_path / "graph.csv").write_text(f"source,target\n{edges}")
    (tmp_path / "arms.csv").write_text("arm,x,y\na,1,0\nb,0,1\n")
    (tmp_path / "matrix.csv").write_text("0,1\n1,0\n")
    command = [str(Path(sys.executable).with_name("edgewise")), "allocate"]
    files = ["graph.csv", "arms.csv", "matrix.csv"]
    for options, said in (
        (["--method", "greedy", "--bound", "none"], True),
        (["--method", "exact"], False),
    ):
        done = subprocess.run(
            [*command, *files, *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        assert ("0 is proved optimal" in done.stderr) is said
        assert ("--bound tight may prove much more" in done.stderr) is said
