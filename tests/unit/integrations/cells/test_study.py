"""Tilts by files and shell commands only, as an operator would choose them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]

SCRIPT = """
set -e
python examples/live_cells.py prepare .
edgewise study create study.toml --storage sqlite:///tilts.db
export EDGEWISE_STORAGE=sqlite:///tilts.db
for round in 1 2 3; do
  edgewise study ask --out configuration.csv
  python examples/live_cells.py measure configuration.csv measurements.csv
  edgewise study tell measurements.csv
done
edgewise study recommend --out best.csv || [ $? = 3 ]  # estimated, not certified
"""


def test_an_operator_needs_files_and_commands_only(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", SCRIPT],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    rows = (tmp_path / "best.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 10
    assert "deg" in rows[1]
