"""Signals end a command that is deep in compiled code, which looks at none."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """
import signal
from numba import njit
from edgewise.cli.terminal.ending import end_when_asked, leaving_at_once

@njit(nogil=True)
def spin(n):
    state = 1
    for i in range(n):
        state = (state * 6364136223846793005 + i) % 9223372036854775807
    return state

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
spin(1)
end_when_asked()
with leaving_at_once():  # the signal may come just before the kernel is entered
    print("inside", flush=True)
    spin(10**13)
"""


@pytest.mark.parametrize(("by", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_kernel_that_takes_hours_is_left(by: signal.Signals, code: int, tmp_path: Path) -> None:
    script = tmp_path / "kernel.py"
    script.write_text(KERNEL)
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert run.stdout.readline() == "inside\n"
        run.send_signal(by)
        assert run.wait(60) == code
        assert "Traceback" not in run.stderr.read()
