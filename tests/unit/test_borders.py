"""No public function is entered with what it cannot use: the error names the argument."""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.unit.survey import WRONG, Call, calls

import edgewise as ew
from edgewise import cluster, formats, simulation, theory, trial

_OWN = {"method", "environment", "progress", "law", "function"}
"""Functions of the user's own: what they raise when they are called is theirs."""

_WORDS = {
    "start": "joint arm",
    "pairs": "edge|graph",
    "edges": "edge|graph",
    "matrix": "loop|n_nodes|symmetric",
    "graph": "nodes|arms|edges",
    "arm_labels": "label",
    "node_labels": "label",
    "labels": "label",
    "n_nodes": "nodes",
    "rewards": "arc|reward",
    "ticket": "ticket|round|attempt",
    "key": "ticket|round|attempt",
    "name": "study|called",
    "round_levels": "reward",
    "strategies": "strategy",
    "environment": "reward",
    "text": "data|line|column|header",
    "folder": "folder|graph",
    "path": "extension|file|CSV|folder|format",
    "url": "storage|file",
    "arms": "arm",
    "levels": "level",
    "weights": "law|weight",
    "tables": "table",
    "forms": "form",
    "covariates": "covariate",
    "columns": "column|list",
    "rows": "row|list",
}
"""What an error may say of an argument instead of its name."""


def names_it(error: ew.EdgewiseError, argument: str) -> bool:
    """Whether an error says which argument is wrong."""
    pattern = f"{re.escape(argument)}|{_WORDS.get(argument, re.escape(argument))}"
    return error.argument == argument or re.search(pattern, str(error)) is not None


def problems(name: str, call: Call) -> list[str]:
    """What is wrong with the border of a function."""
    found = []
    for argument in call.arguments:
        for label, make in WRONG.items():
            if argument in _OWN and label in {"class", "function"}:
                continue
            try:
                call.function(**{**call.arguments, argument: make()})
            except ew.EdgewiseError as error:
                if not names_it(error, argument):
                    found.append(f"{name}({argument}={label}): unnamed: {error}")
            except Exception as error:
                found.append(f"{name}({argument}={label}): {type(error).__name__}: {error}")
    return found


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Call]:
    return calls(tmp_path_factory.mktemp("survey"))


_PARTS = ("Graph", "Problem", "Learner", "Study", "theory", "simulation", "strategies", "trial")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", [*_PARTS, "other"])
def test_every_wrong_call_is_refused_in_words(
    surveyed: dict[str, Call], part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # any text is a right name of a file to write
    some = {
        name: call
        for name, call in surveyed.items()
        if (name.split(".")[0] == part) or (part == "other" and name.split(".")[0] not in _PARTS)
    }
    assert some
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [line for name, call in some.items() for line in problems(name, call)]
    assert found == []


def test_the_right_calls_work(surveyed: dict[str, Call]) -> None:
    for name, call in surveyed.items():
        if name != "study.upgrade":  # there is nothing to upgrade
            call.function(**call.arguments)


def test_the_survey_can_fail() -> None:
    def careless(number: Any) -> Any:
        return number + 1

    assert problems("careless", Call(careless, {"number": 1}))


_RETURNED = {
    "Allocation",
    "Design",
    "Earnings",
    "EdgewiseError",
    "Ending",
    "Report",
    "Study",
    "Verdict",
}
"""Values that edgewise makes, and users only read."""


def test_nothing_public_is_left_out(surveyed: dict[str, Call]) -> None:
    public = {name: getattr(ew, name) for name in ew.__all__ if name != "__version__"}
    wanted = {
        name
        for name, value in public.items()
        if callable(value) and name not in _RETURNED and not inspect.ismodule(value)
    }
    for module in (theory, simulation, formats, trial, cluster):
        short = module.__name__.removeprefix("edgewise.")
        wanted |= {
            f"{short}.{name}"
            for name in dir(module)
            if inspect.isfunction(getattr(module, name)) and not name.startswith("_")
        }
    wanted.remove("cluster.working_on")  # it would look for schedulers: see tests/unit/cluster
    assert sorted(wanted - set(surveyed)) == []


def test_values_have_a_border_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(ew.EdgewiseError, match="path is 3; it must be the path of a file"):
        formats.read_graph(3)  # type: ignore[arg-type]
    with pytest.raises(ew.EdgewiseError, match="max_rounds is"):
        ew.Study.create("farm", calls(tmp_path)["identify"].arguments["problem"], max_rounds=2.5)  # type: ignore[arg-type]
