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


SWALLOWED = """
import signal, time
from edgewise.cli.terminal.ending import end_when_asked, leaving_at_once

class Busy:
    def __del__(self):  # as of the compiler: an exception here is ignored
        print("inside", flush=True)
        time.sleep(60)

signal.signal(signal.SIGINT, signal.default_int_handler)
end_when_asked()
with leaving_at_once():
    busy = Busy()
    del busy
    time.sleep(60)
"""


ENDINGS = pytest.mark.parametrize(
    ("by", "code", "said"),
    [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")],
)


def ended(script: str, by: signal.Signals, folder: Path) -> tuple[int, str]:
    """Exit code and errors of a script that is signalled once it says that it is inside."""
    (folder / "script.py").write_text(script)
    with subprocess.Popen(
        [sys.executable, folder / "script.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        assert run.stdout.readline() == "inside\n"
        run.send_signal(by)
        return run.wait(60), run.stderr.read()


@ENDINGS
def test_a_kernel_that_takes_hours_is_left(
    by: signal.Signals, code: int, said: str, tmp_path: Path
) -> None:
    found, errors = ended(KERNEL, by, tmp_path)
    assert found == code
    assert errors in ("", f"edgewise: {said}\n")  # nothing if the signal came too early


@ENDINGS
def test_a_signal_that_is_swallowed_ends_the_command_with_a_word(
    by: signal.Signals, code: int, said: str, tmp_path: Path
) -> None:
    assert ended(SWALLOWED, by, tmp_path) == (code, f"edgewise: {said}\n")
