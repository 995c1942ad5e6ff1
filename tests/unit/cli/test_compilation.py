"""``edgewise compile`` leaves nothing to compile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from edgewise.cli.app import app
from edgewise.cli.terminal.compiling import compilation_counted


def test_afterwards_a_demo_and_a_study_compile_nothing(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["compile", "--format", "json"])
    assert done.exit_code == 0, done.output
    program = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from edgewise.cli.app import app\n"
        "from edgewise.cli.terminal.compiling import compilation_counted\n"
        "with compilation_counted() as count:\n"
        "    done = CliRunner().invoke(app, ['demo', '--format', 'json', '--plot', sys.argv[1]])\n"
        "assert done.exit_code == 0, done.output\n"
        "print(count.compiled)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "demo.png")],
        capture_output=True, text=True, check=True, env=dict(os.environ),
    )  # fmt: skip
    assert json.loads(told.stdout) == 0


def test_what_is_compiled_is_counted() -> None:
    import numba

    with compilation_counted() as count:
        numba.njit(lambda x: x + 1)(1)
    assert count.compiled >= 1
