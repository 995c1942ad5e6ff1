"""Studies by commands, on a SQLite file: what they do, and that wrong input leaves it untouched."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import edgewise as ew
from edgewise.cli.app import app
from edgewise.cli.terminal.ending import Terminated
from edgewise.study.files.document import EXAMPLE as TEMPLATE
from edgewise.study.log.snapshot import snapshot_of
from edgewise.study.views.chronicle import chronicle
from edgewise.study.views.page import fit_in_words, study_page

COMMAND = str(Path(sys.executable).with_name("edgewise"))
MATRIX = np.array([[1.0, 0.2], [0.2, -0.5]])


class Desk:
    """A folder with a study in it, and the command line pointed at it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder}/farm.db"

    def run(self, *arguments: str, text: str | None = None) -> Result:
        environment = {"EDGEWISE_STORAGE": self.url, "EDGEWISE_STUDY": None}
        return CliRunner().invoke(app, ("study", *arguments), input=text, env=environment)

    def as_json(self, *arguments: str, exit_code: int = 0) -> dict[str, Any]:
        result = self.run(*arguments, "--format", "json")
        assert result.exit_code == exit_code, result.output
        document: dict[str, Any] = json.loads(result.stdout)
        return document

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    @property
    def study(self) -> ew.Study:
        return ew.Study.load("yaw-2026", storage=self.url)

    def state(self) -> tuple[bytes, int]:
        """Everything on record."""
        return snapshot_of(self.study._session.present().state), len(list(self.study.log()))

    def measured(self, ticket: Any, *, column: bool = True) -> list[str]:
        """Lines of a measurements file: the header, then one per arc."""
        problem = self.study.problem
        rewards = ew.BilinearEnvironment(problem, MATRIX, rng=ticket.round)(ticket.arms)
        labels = problem.graph.labels
        head = "round,source,target,reward" if column else "source,target,reward"
        start = f"{ticket.key}," if column else ""
        return [head] + [
            f"{start}{labels[i]},{labels[j]},{reward}"
            for (i, j), reward in zip(problem.graph.arcs.tolist(), rewards.tolist(), strict=True)
        ]

    def take_rounds(self, number: int) -> None:
        for _ in range(number):
            ticket = self.study.ask()
            path = self.file("m.csv", "\n".join(self.measured(ticket)))
            assert self.run("tell", path).exit_code == 0


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """The study of the template, right after its creation."""
    found = Desk(tmp_path)
    path = found.file("farm.toml", TEMPLATE.read_text(encoding="utf-8"))
    result = found.run("create", path)
    assert result.exit_code == 0, result.output
    return found


def test_the_printed_template_makes_a_study_beside_the_file(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    printed = desk.run("create", "--example").stdout
    assert printed == TEMPLATE.read_text(encoding="utf-8")
    answer = desk.as_json("create", desk.file("farm.toml", printed))
    assert (answer["study"], answer["nodes"], answer["rewards_per_round"]) == ("yaw-2026", 5, 8)
    assert answer["storage"] == desk.url  # seen from the folder of the file
    problem = desk.study.problem
    assert problem.arm_labels == ("ahead", "left", "right")
    assert problem.candidates is not None
    row = list(problem.graph.labels).index("A3")
    assert problem.candidates[row].tolist() == [True, True, False]


def test_the_safe_strategy_of_the_template_keeps_to_the_baseline(tmp_path: Path) -> None:
    text = TEMPLATE.read_text(encoding="utf-8").replace(
        '# baseline = "ahead"', 'baseline = "ahead"'
    )
    table = text[text.index("# [strategy]") :].partition("\n#\n")[0]
    desk = Desk(tmp_path)
    path = desk.file("farm.toml", text + table.replace("\n# ", "\n").removeprefix("# "))
    assert desk.run("create", path).exit_code == 0
    arms = [row["arm"] for row in desk.as_json("ask")["nodes"]]
    assert len(arms) == 5
    assert arms.count("ahead") >= 4  # a node touches two arcs or more, and each may lose 0.5
    desk.take_rounds(3)
    assert desk.as_json("report", exit_code=3)["strategy"] == "safe"


def test_the_table_in_the_documentation_makes_a_study(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "study.md").read_text(encoding="utf-8")
    (written,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    top, table = written[: written.index("[strategy]")], written[written.index("[strategy]") :]
    desk = Desk(tmp_path)
    desk.file(
        "today.csv", "node,arm\n" + "".join(f"{n},ahead\n" for n in ["A1", "A2", "A3", "B1", "B2"])
    )
    text = TEMPLATE.read_text(encoding="utf-8")
    assert desk.run("create", desk.file("farm.toml", top + text + table)).exit_code == 0
    strategy = desk.study._session.cursor.setting.strategy
    assert (strategy.name, repr(strategy.strategy)) == (  # type: ignore[attr-defined]
        "safe",
        "Adaptive(growth=0.2, power=4.0, name='adaptive', even=0, doubt=1.5)",
    )


def test_a_study_from_commands_is_the_study_of_the_library(desk: Desk) -> None:
    status = desk.study.status()
    twin = ew.Study.create(
        "twin",
        desk.study.problem,
        delta=status.delta,
        epsilon=status.epsilon,
        target=status.target,
        max_rounds=200,
        rng=1,
    )
    for _ in range(3):
        rows = desk.as_json("ask")["nodes"]
        ticket = twin.ask()
        assert [(row["node"], row["arm"]) for row in rows] == [
            (row["node"], row["arm"]) for row in ticket.table()
        ]
        lines = desk.measured(ticket)
        rewards = {tuple(line.split(",")[1:3]): float(line.split(",")[3]) for line in lines[1:]}
        twin.tell(ticket, rewards)
        assert desk.run("tell", desk.file("m.csv", "\n".join(lines))).exit_code == 0
    assert snapshot_of(desk.study._session.present().state) == snapshot_of(
        twin._session.present().state
    )


def test_asking_twice_gives_the_same_round_in_every_format(desk: Desk) -> None:
    rows = desk.as_json("ask")["nodes"]
    printed = list(csv.DictReader(io.StringIO(desk.run("ask", "-f", "csv").stdout)))
    assert printed == rows
    for name in ("c.csv", "c.json"):
        result = desk.run("ask", "--out", str(desk.folder / name))
        assert (result.exit_code, result.stdout) == (0, "")
    with (desk.folder / "c.csv").open() as stream:
        assert list(csv.DictReader(stream)) == rows
    assert json.loads((desk.folder / "c.json").read_text())["nodes"] == rows


def test_partial_files_json_and_stdin_add_up(desk: Desk) -> None:
    ticket = desk.study.ask()
    head, *lines = desk.measured(ticket, column=False)
    first = desk.run("tell", desk.file("m.csv", "\n".join([head, *lines[:3], "A2,B2,"])))
    assert "3 measurements of round 1 are on record; 5 are still missing" in first.stderr
    missing = desk.as_json("status")["lacking"]
    assert len(missing) == 5
    objects = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines[3:6]]
    for entry in objects:
        entry["reward"] = float(entry["reward"])  # type: ignore[assignment]
    document = json.dumps({"round": "1", "measurements": objects})
    assert desk.as_json("tell", desk.file("m.json", document))["missing"] == 2
    last = desk.run("tell", "-", text="\n".join([head, *lines[6:]]))
    assert "the round is closed" in last.stderr
    assert desk.study.status().rounds == 1
    again = desk.run("tell", str(desk.folder / "m.csv"), "--round", "1")
    assert again.exit_code == 0  # the same again is harmless


def test_close_cancel_correct_and_extend(desk: Desk) -> None:
    ticket = desk.study.ask()
    lines = desk.measured(ticket)
    desk.run("tell", desk.file("m.csv", "\n".join(lines[:4])))
    assert desk.as_json("close")["rounds"] == 1
    late = desk.as_json("correct", desk.file("late.csv", "\n".join([lines[0], *lines[4:]])))
    assert late["rounds"] == 1
    assert not np.isnan(desk.study.rewards(1)).any()
    withdrawn = f"round,source,target,reward\n1,{','.join(lines[1].split(',')[1:3])},\n"
    desk.as_json("correct", desk.file("none.csv", withdrawn))
    assert np.isnan(desk.study.rewards(1)).sum() == 1
    desk.run("ask")
    assert desk.as_json("cancel")["pending"] is None
    assert desk.as_json("ask")["round"] == "2.2"
    assert desk.as_json("extend", "--delta", "0.01")["delta"] == 0.01


def test_a_stopped_study_says_so_and_can_go_on(desk: Desk) -> None:
    assert desk.as_json("recommend", exit_code=3)["nodes"] == []
    desk.study.extend(epsilon=5.0)
    desk.take_rounds(1)
    while not desk.study.stopped:
        desk.take_rounds(1)
    stopped = desk.run("ask")
    assert (stopped.exit_code, stopped.stdout) == (4, "")
    assert "read 'edgewise study recommend' or 'edgewise study report'" in stopped.stderr
    assert "'edgewise study extend --rounds'" in stopped.stderr
    best = desk.as_json("recommend", "--out", str(desk.folder / "best.csv"))
    assert best["certified"] is True
    assert [row["node"] for row in best["nodes"]] == list(desk.study.problem.graph.labels)
    assert (desk.folder / "best.csv").read_text().startswith("node,arm\n")
    assert desk.as_json("report")["certified"] is True
    assert desk.as_json("extend", "--rounds", "2")["ending"] == "running"
    assert desk.run("ask").exit_code == 0
    assert desk.as_json("report", exit_code=3)["certified"] is False


def test_studies_move_and_are_listed(desk: Desk) -> None:
    desk.take_rounds(2)
    assert desk.run("export", str(desk.folder / "farm.jsonl")).exit_code == 0
    copy = ("--name", "copy")
    assert desk.as_json("import", str(desk.folder / "farm.jsonl"), *copy)["rounds"] == 2
    rows = desk.as_json("list")["list"]
    assert [(row["study"], row["rounds"]) for row in rows] == [("copy", 2), ("yaw-2026", 2)]
    unclear = desk.run("status")
    assert unclear.exit_code == 2
    assert "holds 2 studies ('copy', 'yaw-2026'); name one with --name" in unclear.stderr
    assert desk.as_json("status", *copy)["study"] == "copy"


@pytest.mark.parametrize(("ending", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
def test_watching_ends_as_every_command_does(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, ending: type[BaseException], code: int
) -> None:
    def stop(_: float) -> None:
        raise ending

    monkeypatch.setattr("edgewise.cli.study.watching.time.sleep", stop)
    assert desk.run("status", "--watch").exit_code == code


def test_an_import_says_how_far_it_is(desk: Desk) -> None:
    desk.take_rounds(2)
    path = str(desk.folder / "farm.jsonl")
    assert desk.run("export", path).exit_code == 0
    imported = desk.run("import", path, "--name", "copy", "--format", "json")
    events = len(list(desk.study.log()))
    assert f"edgewise: {events} events replayed and compared\n" in imported.stderr
    assert json.loads(imported.stdout)["study"] == "copy"


def test_the_page_stands_alone_and_says_what_the_report_says(desk: Desk) -> None:
    early = desk.folder / "early.html"
    assert desk.run("report", "--html", str(early)).exit_code == 3
    assert "None yet." in early.read_text(encoding="utf-8")
    desk.take_rounds(3)
    result = desk.run("report", "--html", str(desk.folder / "report.html"))
    assert result.exit_code in {0, 3}
    text = (desk.folder / "report.html").read_text(encoding="utf-8")
    assert text == study_page(desk.study)
    outside = re.findall(r'(?:src|href)="(?!data:)|<script|<link|@import|url\(', text)
    assert outside == []
    assert text.count("data:image/svg+xml") == 3  # the graph, the evidence, what exploring cost
    for row in desk.study.recommend().table():
        assert f"<td>{row['node']}</td><td>{row['arm']}</td>" in text
    assert "round 3: 8 measurements told; it is closed" in text


def test_the_page_tells_a_wrong_model_in_plain_words() -> None:
    from edgewise.core.gate.lack_of_fit import LackOfFit

    assert "does not hold" in fit_in_words(LackOfFit(9.0, 1e-5, (3, 20)))
    assert "Nothing speaks against" in fit_in_words(LackOfFit(1.0, 0.4, (3, 20)))
    assert "Too little" in fit_in_words(None)


def test_the_chronicle_keeps_the_last_and_counts_the_rest(desk: Desk) -> None:
    desk.take_rounds(2)
    deeds, earlier = chronicle(desk.study.log(), 8, last=2)
    assert earlier == 3
    assert [deed.text for deed in deeds] == [
        "round 2 handed out",
        "round 2: 8 measurements told; it is closed",
    ]


WRONG = [
    (("ask", "--out", "c.txt"), "end the name in .csv or .json"),
    (("ask", "--out", "no/such/c.csv"), "does not exist"),
    (("ask", "--name", "nobody"), "no study is called 'nobody'"),
    (("ask", "--name", "yaw2026"), "did you mean 'yaw-2026'?"),
    (("ask", "--storage", "sqlit:///farm.db"), "did you mean 'sqlite'?"),
    (("ask", "--storage", "memory"), "ends with the command"),
    (("ask", "--storage", "mysql://x"), "sqlite:///file.db"),
    (("ask", "--storage", "sqlite:///nowhere.db"), "there is no such file"),
    (("tell", "nowhere.csv"), "nowhere.csv: there is no such file"),
    (("tell", "{m.txt}"), "'.txt'"),
    (("tell", "{stranger.csv}"), "line 2: no node is called 'Z9'; the nodes are A1"),
    (("tell", "{noarc.csv}"), "line 2: no arc goes from A1 to B2"),
    (("tell", "{text.csv}"), "line 2, column 'reward': 'high' is not a finite number"),
    (("tell", "{inf.csv}"), "is not a finite number"),
    (("tell", "{twice.csv}"), "line 3: A1 -> A2 is 2 here and 1 on line 2"),
    (("tell", "{columns.csv}"), "one must be called reward"),
    (("tell", "{old.csv}"), "round 7 was not asked for"),
    (("tell", "{mixed.csv}"), "a file holds one round"),
    (
        ("tell", "{other.csv}"),
        "0.5 before and 0.6 now; nothing was recorded: if the new value is right, 'edgewise study",
    ),
    (("tell", "{told.csv}", "--round", "2"), "--round says 2 and the file says 1"),
    (("tell", "{broken.json}"), "line 1: not JSON"),
    (("tell", "{empty.json}"), "there is no list of measurements"),
    (("close", "--round", "5"), "round 5 was not asked for"),
    (("close", "--round", "x"), "'x' is no ticket"),
    (("cancel", "--round", "5"), "round 5 was not asked for"),
    (("correct", "{nameless.csv}"), "does not say which round it corrects"),
    (("correct", "{old.csv}"), "round 7 was not asked for"),
    (("extend",), "Pass --rounds, --delta or --epsilon"),
    (("extend", "--rounds", "0"), "rounds is 0"),
    (("extend", "--delta", "2"), "delta is 2"),
    (("status", "--watch", "--format", "json"), "choose one"),
    (("report", "--html", "report.pdf"), "end the name in .html"),
    (("recommend", "--out", "best.txt"), "end the name in .csv or .json"),
    (("export", "no/such/file.jsonl"), "does not exist"),
    (("import", "nowhere.jsonl"), "there is no such file"),
    (("import", "{told.csv}"), "line 1"),
    (("create", "{farm.toml}"), "there is a study called 'yaw-2026'"),
    (("create",), "--example prints one"),
]
FILES = {
    "m.txt": "source,target,reward\n",
    "stranger.csv": "source,target,reward\nA1,Z9,1\n",
    "noarc.csv": "source,target,reward\nA1,B2,1\n",
    "text.csv": "source,target,reward\nA1,A2,high\n",
    "inf.csv": "source,target,reward\nA1,A2,inf\n",
    "twice.csv": "source,target,reward\nA1,A2,1\nA1,A2,2\n",
    "columns.csv": "source,target,power\nA1,A2,1\n",
    "old.csv": "round,source,target,reward\n7,A1,A2,1\n",
    "mixed.csv": "round,source,target,reward\n1,A1,A2,1\n2,A2,A1,1\n",
    "other.csv": "round,source,target,reward\n1,A1,A2,0.6\n",
    "told.csv": "round,source,target,reward\n1,A1,A2,0.5\n",
    "nameless.csv": "source,target,reward\nA1,A2,0.5\n",
    "broken.json": "[{",
    "empty.json": "[]",
}


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A study whose first round is out and partly measured, with all the wrong files."""
    desk = Desk(tmp_path_factory.mktemp("used"))
    desk.run("create", desk.file("farm.toml", TEMPLATE.read_text(encoding="utf-8")))
    desk.run("ask")
    for name, text in FILES.items():
        desk.file(name, text)
    assert desk.run("tell", str(desk.folder / "told.csv")).exit_code == 0
    return desk


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_wrong_input_is_named_and_changes_nothing(
    used: Desk, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(used.folder)
    before = used.state()
    filled = [re.sub(r"\{(.*)\}", rf"{used.folder}/\1", word) for word in arguments]
    result = used.run(*filled)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert used.state() == before


def test_without_a_storage_the_remedy_is_named() -> None:
    environment = {"EDGEWISE_STORAGE": None, "EDGEWISE_STUDY": None}
    result = CliRunner().invoke(app, ("study", "ask"), env=environment)
    assert result.exit_code == 2
    assert "EDGEWISE_STORAGE" in result.stderr


def test_the_live_view_says_what_the_status_says(desk: Desk) -> None:
    from rich.console import Console

    from edgewise.cli.study.watching import view

    desk.take_rounds(2)
    status = desk.study.status()
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(view(status))
    seen = console.export_text()
    labels = [label for label, _ in status.rows()]
    assert labels[:3] == ["waiting for", "leader", "evidence"]
    for word in (status.headline, *labels, *(text for _, text in status.rows())):
        assert word in seen
        assert word in str(status)


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal on POSIX systems")
def test_watching_ends_with_130_after_ctrl_c(desk: Desk) -> None:
    with subprocess.Popen(
        [COMMAND, "study", "status", "--watch", "--interval", "0.1", "--storage", desk.url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"},  # a terminal, as far as it knows
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        seen = ""
        while "ends watching" not in seen:
            seen += process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "yaw-2026" in seen
    assert (process.returncode, errors) == (130, "edgewise: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="the shell under test is bash")
def test_names_of_studies_are_completed_in_bash(desk: Desk) -> None:
    words = "edgewise study ask --name y"
    result = subprocess.run(
        [COMMAND],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "EDGEWISE_STORAGE": desk.url,
            "_EDGEWISE_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        },
    )
    assert result.stdout.split() == ["yaw-2026"]
