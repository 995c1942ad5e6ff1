"""The installed command as a process: streams, exit codes, interruption, completion."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.instances import EASY

COMMAND = str(Path(sys.executable).with_name("edgewise"))


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_stdout_holds_the_answer_and_nothing_else() -> None:
    document = run(
        "demo", "paper", "--edges", "12", "--dimension", "2", "--omega", "1.5", "-f", "json"
    )
    assert document.returncode == 0
    assert json.loads(document.stdout)["certified"] is True
    assert "round" in document.stderr  # progress
    table = run("simulate", *EASY, "-n", "3", "-f", "csv")
    assert table.returncode == 0
    assert len(list(csv.reader(io.StringIO(table.stdout)))) == 4


def test_exit_codes_and_no_traceback() -> None:
    wrong = run("design", "nowhere.csv")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.count("\n") == 1
    spent = run("simulate", *EASY, "--max-rounds", "1", "-n", "1")
    assert spent.returncode == 3
    assert spent.stdout
    assert "Traceback" not in wrong.stderr + spent.stderr


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal on POSIX systems")
def test_an_interrupted_command_ends_with_130() -> None:
    # Two arms so close that no run ends in this test's lifetime.
    hopeless = ("simulate", "circle:12", "paper:2:1e-4", "paper:2:1e-4", "--max-rounds")
    run(*hopeless, "600", "-n", "1")  # compiles: numba swallows a Ctrl-C that meets it at work
    with interruptible(*hopeless, "1000000000") as process:
        assert process.stderr is not None
        process.stderr.readline()  # the graph is read: the work begins
        errors = interrupted(process, within=60.0)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors


@pytest.mark.skipif(os.name != "posix", reason="SIGTERM is a signal on POSIX systems")
def test_a_terminated_command_ends_with_143_and_leaves_nothing() -> None:
    hopeless = ("simulate", "circle:12", "paper:2:1e-4", "paper:2:1e-4", "--max-rounds")
    before = set(Path("/dev/shm").iterdir()) if Path("/dev/shm").is_dir() else set()
    with interruptible(*hopeless, "1000000000") as process:
        assert process.stderr is not None
        process.stderr.readline()  # the graph is read: the work begins
        errors = interrupted(process, within=60.0, by=signal.SIGTERM)
    assert process.returncode == 143
    assert "terminated" in errors
    assert "Traceback" not in errors
    if before:
        left = {path.name for path in set(Path("/dev/shm").iterdir()) - before}
        assert not [name for name in left if f"_{process.pid}_" in name]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are read from /proc")
@pytest.mark.parametrize(("by", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_command_that_ends_early_leaves_no_worker(by: signal.Signals, code: int) -> None:
    hopeless = ("simulate", "circle:12", "paper:2:1e-4", "paper:2:1e-4", "--max-rounds")
    with interruptible(*hopeless, "1000000000", "-n", "100000", "--jobs", "2") as process:
        end = time.monotonic() + 60.0
        while len(workers := children(process.pid)) < 2 and time.monotonic() < end:
            time.sleep(0.2)
        errors = interrupted(process, within=60.0, by=by)
    assert len(workers) >= 2
    assert process.returncode == code
    assert "Traceback" not in errors
    while any(Path(f"/proc/{one}").exists() for one in workers) and time.monotonic() < end + 30.0:
        time.sleep(0.2)
    assert not [one for one in workers if Path(f"/proc/{one}").exists()]
    assert not [path for path in Path("/dev/shm").iterdir() if str(process.pid) in path.name]


def children(parent: int) -> list[int]:
    """The processes that a process has started and that are still there."""
    path = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(one) for one in path.read_text().split()] if path.exists() else []


@contextmanager
def interruptible(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command at work; whatever happens to the test, it does not outlive it."""
    with subprocess.Popen(
        [COMMAND, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that starts the tests in the background makes its children ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def interrupted(
    process: subprocess.Popen[str], *, within: float, by: signal.Signals = signal.SIGINT
) -> str:
    """What the command says when Ctrl-C is pressed, again and again as people do."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        time.sleep(1.0)  # past the imports: what meets them has nothing to say yet
        process.send_signal(by)
        try:
            return process.communicate(timeout=5.0)[1]
        except subprocess.TimeoutExpired:
            continue
    pytest.fail(f"still at work {within:.0f} seconds after Ctrl-C")


@pytest.mark.skipif(os.name != "posix", reason="the shell under test is bash")
def test_completion_in_bash() -> None:
    def completed(words: str) -> list[str]:
        count = str(len(words.split(" ")) - 1)
        result = run(_EDGEWISE_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=count)
        return result.stdout.split()

    assert completed("edgewise des") == ["design"]
    assert completed("edgewise simulate --strategy g-") == ["g-optimal"]
    script = run(_EDGEWISE_COMPLETE="source_bash").stdout
    assert "complete " in script
    assert "edgewise" in script


def test_the_version() -> None:
    import edgewise

    assert run("--version").stdout.strip() == edgewise.__version__


def test_help_starts_without_the_compiler() -> None:
    code = (
        "import sys, edgewise.cli.app;"
        "print([m for m in ('numba', 'scipy', 'networkx', 'matplotlib') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
