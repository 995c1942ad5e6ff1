"""The comparison of two releases: what it prints, and when it fails."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
COMPARE = ROOT / "benchmarks" / "compare.py"
HISTORY = sorted((ROOT / "benchmarks" / "history").glob("*.json"))


def record(path: Path, version: str, **seconds: float) -> str:
    kernels = {
        name: {"fastest": time, "median": 1.1 * time, "rounds": 5} for name, time in seconds.items()
    }
    machine = {"cpu": "abacus", "cores": 2, "load": 0.0, "python": "3.11", "libraries": {}}
    values: dict[str, Any] = {"version": version, "date": "2026-01-01", "machine": machine}
    path.write_text(json.dumps({**values, "kernels": kernels, "ratios": {"wisdom": 3.0}}))
    return str(path)


def compare(*names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(COMPARE), *names]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("seconds", "code"), [(0.019, 0), (0.021, 1)])
def test_twice_as_slow_is_an_error(tmp_path: Path, seconds: float, code: int) -> None:
    old = record(tmp_path / "old.json", "1.0", report=0.01, design=0.5, gone=1.0)
    new = record(tmp_path / "new.json", "1.1", report=seconds, design=0.25)
    result = compare(old, new)
    assert result.returncode == code, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "| kernel | 1.0 ms | 1.1 ms | new / old |"
    assert "| design | 500.000 | 250.000 | 0.50 |" in lines
    assert "| gone | 1000.000 | none |  |" in lines
    assert "| wisdom | 3 | 3 | |" in lines
    assert any(line.startswith("report takes at least 2 times as long") for line in lines) == code


def test_an_unknown_version_is_named(tmp_path: Path) -> None:
    result = compare("0.0.0", record(tmp_path / "new.json", "1.1", report=1.0))
    assert result.returncode == 1
    assert "0.0.0.json; on record: " in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("path", HISTORY, ids=lambda path: str(path.stem))
def test_a_release_equals_itself(path: Path) -> None:
    result = compare(path.stem, str(path))
    assert result.returncode == 0, result.stderr
    assert "| 1.00 |" in result.stdout


def test_there_is_a_history() -> None:
    assert len(HISTORY) >= 1
