"""What ``edgewise doctor`` finds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import edgewise as ew
from edgewise.cli import doctor
from edgewise.cli.app import app


def run(*arguments: str) -> tuple[int, dict[str, object]]:
    result = CliRunner().invoke(app, ["doctor", "--format", "json", *arguments])
    return result.exit_code, json.loads(result.stdout)


def test_a_whole_installation_is_ready() -> None:
    code, answer = run()
    assert code == 0
    assert answer["verdict"] == "ready, with all extras"
    assert answer["edgewise"] == ew.__version__
    assert {"cli", "plot", "study", "wind"} <= {row["extra"] for row in answer["extras"]}  # type: ignore[attr-defined]


def test_a_missing_extra_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    version = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: "" if name == "floris" else version(name))
    code, answer = run()
    assert code == 0
    assert "not installed: wind (pip install 'edgewise[wind]'" in str(answer["verdict"])


def test_tools_of_developers_are_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    tools, version = {"build", "mypy", "optuna", "mkdocs-material"}, doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: "" if name in tools else version(name))
    assert run()[1]["verdict"] == "ready, with all extras"


def test_a_storage_is_opened(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'farm.db'}"
    code, answer = run("--storage", url)
    assert code == 2
    assert str(answer["verdict"]).startswith("storage: ")
    assert not (tmp_path / "farm.db").exists()
    problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2))
    ew.Study.create("tilt", problem, storage=url, rng=0)
    assert run("--storage", url)[1]["storage"] == "reachable, 1 study"


def test_a_cache_that_cannot_be_kept_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    code, answer = run()
    assert code == 2
    assert "NUMBA_CACHE_DIR" in str(answer["verdict"])
