"""The help teaches, the page is current, and every example runs as written."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from edgewise.allocation.allocate import METHODS
from edgewise.cli.reference import commands, with_reference
from edgewise.core.design.g_optimal import g_optimal
from edgewise.core.stopping import RULES
from edgewise.core.strategies import STRATEGIES

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "cli.md"
COMMAND = Path(sys.executable).with_name("edgewise")
_EXAMPLE = re.compile(r"^\s*(?:\$|Example:) (edgewise .*)$", re.MULTILINE)


def examples(text: str) -> list[str]:
    return _EXAMPLE.findall(re.sub(r"\\\n\s*", "", text))


def own_commands() -> list[str]:
    """Commands tested here; reproduce and serve have tests of their own."""
    return [name for name in commands() if name not in {"reproduce", "serve"}]


def all_examples() -> list[str]:
    written = PAGE.read_text(encoding="utf-8").partition("<!-- Generated")[0]
    helps = [commands()[name].help for name in own_commands()]
    return list(dict.fromkeys(line for text in (written, *helps) for line in examples(text)))


def test_the_reference_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_reference(page), "run: python -m edgewise.cli.reference docs/cli.md"


@pytest.mark.parametrize("name", commands())
def test_every_command_and_option_is_documented(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"### edgewise {name}\n" in page
    section = page.partition(f"### edgewise {name}\n")[2].partition("\n### ")[0]
    for parameter in commands()[name].params:
        assert parameter.help, f"{name} {parameter.name} has no help"
        for option in parameter.opts:
            assert option in section or option.upper() in section


@pytest.mark.parametrize("name", commands())
def test_the_help_of_every_command_has_an_example_and_exit_codes(name: str) -> None:
    text = commands()[name].help
    words = ["edgewise", *name.split()]
    assert any(line.split()[: len(words)] == words for line in examples(text))
    assert "Exit code" in text


def test_every_method_strategy_and_rule_is_named_in_the_help() -> None:
    page = PAGE.read_text(encoding="utf-8")
    sections = {
        name: page.partition(f"### edgewise {name}\n")[2].partition("\n### ")[0]
        for name in ("allocate", "simulate", "design")
    }
    assert [method for method in METHODS if method not in sections["allocate"]] == []
    for choice in (*STRATEGIES, *RULES):
        assert choice in sections["simulate"]
    for solver in ("newton", "frank-wolfe"):
        assert g_optimal([[1.0]], method=solver).gap == 0.0
        assert solver in sections["design"]


@pytest.fixture(scope="session")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the examples of studies mention: two rounds closed, the third out."""
    import edgewise as ew
    from edgewise.study.files.config import read_config
    from edgewise.study.files.document import EXAMPLE as TEMPLATE

    folder = tmp_path_factory.mktemp("farm")
    config = read_config(TEMPLATE)
    study = config.create(name="yaw-2026", storage=f"sqlite:///{folder}/farm.db")
    network = ew.BilinearEnvironment(study.problem, [[1.0, 0.2], [0.2, -0.5]], rng=1, noise=0.2)
    for _ in range(2):
        ticket = study.ask()
        study.tell(ticket, network(ticket.arms))
    study.ask()
    study.export(folder / "farm.jsonl")
    (folder / "measurements.csv").write_text("round,source,target,reward\n3,A1,A2,0.7\n")
    (folder / "measured.csv").write_text("source,target,reward\nA1,A2,0.7\nA2,A1,0.6\n")
    deployed = "".join(f"{row['node']},{row['arm']}\n" for row in study.ticket(1).table())
    (folder / "deployed.csv").write_text(f"node,arm\n{deployed}")
    (folder / "correction.csv").write_text("source,target,reward\nA1,A2,0.8\n")
    return folder


def prepare_trial(folder: Path, *, begun: bool) -> None:
    """The study of the folder without a round out; in the third pair of a trial, if begun."""
    import edgewise as ew

    study = ew.Study.load("yaw-2026", storage=f"sqlite:///{folder}/farm.db")
    study.cancel("3")
    if begun:
        trial = study.confirm(baseline=1, rng=0)
        for total in (3.0, 1.0, 2.0, 3.0, 1.0):
            trial.tell(trial.ask(), total)


@pytest.mark.parametrize("example", all_examples())
def test_examples_run_as_written(example: str, tmp_path: Path, farm: Path) -> None:
    """In a folder like the project's, with the command that users have, through the shell."""
    if example.startswith("edgewise study"):
        shutil.copytree(farm, tmp_path, dirs_exist_ok=True)
    if "confirm" in example or " T1-" in example or "study add" in example:
        prepare_trial(tmp_path, begun="--baseline" not in example and "study add" not in example)
    before = set(tmp_path.iterdir())
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    line = example.replace("edgewise", shlex.quote(str(COMMAND)), 1)
    result = subprocess.run(
        line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    # the study has no certificate yet
    expected = 3 if re.match("edgewise study (recommend|report)", example) else 0
    assert result.returncode == expected, result.stderr
    assert "Traceback" not in result.stderr
    written = [path for path in set(tmp_path.iterdir()) - before if path.name != "examples"]
    assert result.stdout or any(path.stat().st_size for path in written)
