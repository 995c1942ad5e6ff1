"""docs/large.md does what it says, on two worker processes with 10^6 edges."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "large.md"


def test_the_tutorial_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "tutorial.py").write_text(code, "utf-8")
    done = subprocess.run(
        [sys.executable, "tutorial.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "2000000 400.0" in done.stdout  # arcs; every node has 20 neighbours
    assert "Certified after" in done.stdout
    assert "Allocation(n_nodes=100000" in done.stdout
    assert (tmp_path / "run.json").exists()
