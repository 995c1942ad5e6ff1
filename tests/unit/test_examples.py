"""Every example runs, as a user would run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_EXAMPLES = Path(__file__).parents[2] / "examples"


# live_network.py needs files to read and write: tests/unit/study/test_tutorial.py runs it
_ALONE = {path.name for path in _EXAMPLES.glob("*.py")} - {"live_network.py"}


@pytest.mark.parametrize("name", sorted(_ALONE))
def test_example_runs(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(_EXAMPLES / name)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
