"""The notebooks run from the first cell to the last, and show what they make."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

_EXAMPLES = Path(__file__).parents[2] / "examples"
_SOURCES = Path(__file__).parents[2] / "src"


def executed(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """What the cells of a notebook put out, in order."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(_SOURCES), *filter(None, sys.path)]))
    notebook = nbformat.read(_EXAMPLES / name, as_version=4)  # type: ignore[no-untyped-call]
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [output for cell in code for output in cell.outputs]


def shown(outputs: list[dict[str, Any]]) -> set[str]:
    return {kind for one in outputs for kind in one.get("data", {})}


def test_the_tutorial_shows_report_figure_and_frame(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    outputs = executed("tutorial.ipynb", monkeypatch, tmp_path)
    assert {"text/html", "image/png"} <= shown(outputs)
    assert "Certified after" in str(outputs)
    assert not [one for one in outputs if one.get("name") == "stderr"]


def test_the_wind_farm_gains(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    outputs = executed("wind.ipynb", monkeypatch, tmp_path)
    assert "MW" in str(outputs)


def test_the_radio_network_is_confirmed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    outputs = executed("cells.ipynb", monkeypatch, tmp_path)
    assert "the best common tilt" in str(outputs)


@pytest.mark.parametrize("path", sorted(_EXAMPLES.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_are_stored_without_outputs(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:  # type: ignore[no-untyped-call]
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
