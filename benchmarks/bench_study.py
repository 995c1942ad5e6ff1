"""What a study costs over the bare learner, and what a large one costs to open.

Run with ``python benchmarks/bench_study.py``; prints a markdown table. Takes a few minutes and
1 GB in the temporary folder; ``--rounds`` makes the large study smaller.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import edgewise as ew
from edgewise.base.arrays import Array

Row = tuple[str, str, str]

_MEMORY = Path("/dev/shm")
"""A file system in memory: what a study costs where the disk costs nothing."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--look", metavar="URL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.look:
        print(json.dumps(look(options.look)))
        return
    print("| what | figure | detail |\n|---|---|---|")
    if _MEMORY.is_dir():
        with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
            for strategy in ("g-optimal", "adaptive"):
                show(overhead_row(Path(folder), strategy, "file in memory"))
    with tempfile.TemporaryDirectory() as folder:
        for strategy in ("g-optimal", "adaptive"):
            show(overhead_row(Path(folder), strategy, "disk"))
        for row in large_rows(Path(folder), options.rounds):
            show(row)


def show(row: Row) -> None:
    """Print a row as soon as it is known."""
    print("| " + " | ".join(row) + " |", flush=True)


def overhead_row(folder: Path, strategy: str, medium: str) -> Row:
    """Ask + tell of a study on SQLite less ask + tell of a learner, round by round alternating."""
    arms, _ = ew.simulation.paper_instance(5, 0.1)
    problem = ew.Problem(ew.Graph.circle(n_edges=156), arms)
    rewards = np.random.default_rng(0).standard_normal((300, 156))
    url = f"sqlite:///{folder}/{strategy}.db"
    options: dict[str, Any] = {"strategy": strategy, "delta": 1e-300, "rng": 0}
    study = ew.Study.create("bench", problem, storage=url, **options)
    learner = ew.Learner(problem, **options)
    bare, recorded, disk = [], [], []
    for values in rewards:
        start = time.perf_counter()
        learner.tell(learner.ask(), values)
        bare.append(time.perf_counter() - start)
        start = time.perf_counter()
        study.tell(study.ask(), values)
        recorded.append(time.perf_counter() - start)
        disk.append(seconds_to_sync(folder / "probe"))
    overhead = [its - mine for its, mine in zip(recorded, bare, strict=True)]
    return (
        f"ask + tell over the bare learner, SQLite, {medium}; circle m = 156, d = 5, {strategy}",
        f"{milli(overhead)} ms",
        f"study {milli(recorded)} ms, learner {milli(bare)} ms; a write of 4 kB is confirmed in "
        f"{milli(disk)} ms",
    )


def seconds_to_sync(path: Path) -> float:
    """How long the disk takes to confirm a small write: every tell waits for one."""
    with path.open("ab", buffering=0) as file:
        start = time.perf_counter()
        file.write(bytes(4096))
        os.fdatasync(file.fileno())
        return time.perf_counter() - start


def large_rows(folder: Path, n_rounds: int) -> list[Row]:
    """A study of 10^4 arcs and many rounds, built through the public interface."""
    url = f"sqlite:///{folder}/large.db"
    arms, _ = ew.simulation.paper_instance(5, 0.1)
    problem = ew.Problem(ew.Graph.circle(n_edges=10_000), arms)
    study = ew.Study.create(
        "large", problem, storage=url, strategy="g-optimal", delta=1e-300, rng=0
    )
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    for _ in range(n_rounds):
        study.tell(study.ask(), rng.standard_normal(10_000))
    seconds = time.perf_counter() - start
    size = sum(file.stat().st_size for file in folder.glob("large.db*"))
    del study
    seen = json.loads(run([sys.executable, __file__, "--look", url]))
    what = f"{n_rounds} rounds x 10^4 arcs, SQLite"
    return [
        (
            f"{what}: ask + tell of a round",
            f"{1e3 * seconds / n_rounds:.1f} ms",
            f"file {size / 1e6:.0f} MB, {size / n_rounds / 10_000:.2f} bytes per measurement",
        ),
        (
            f"{what}: load + status in a new process",
            f"{seen['load'] + seen['status']:.2f} s",
            f"load {seen['load']:.2f} s, status {seen['status']:.3f} s, after "
            f"{seen['import']:.1f} s of imports",
        ),
        (f"{what}: ask in a new process", f"{seen['ask']:.3f} s", "a round is handed out"),
        (f"{what}: memory of that process", f"{seen['memory']:.0f} MB more than importing", ""),
        (
            f"{what}: correct the first round",
            f"{seen['correct']:.1f} s",
            f"reads all rounds of its phase, here all; {seen['correct_memory']:.0f} MB more than "
            "importing",
        ),
    ]


def look(url: str) -> dict[str, float]:
    """Body of the new process."""
    start = time.perf_counter()
    warm()
    found = {"import": time.perf_counter() - start}
    before = peak_megabytes()
    start = time.perf_counter()
    study = ew.Study.load("large", storage=url)
    found["load"] = time.perf_counter() - start
    start = time.perf_counter()
    study.status()
    found["status"] = time.perf_counter() - start
    start = time.perf_counter()
    study.ask()
    found["ask"] = time.perf_counter() - start
    found["memory"] = peak_megabytes() - before
    start = time.perf_counter()
    study.correct(study.ticket(1), {(0, 1): 0.5})
    found["correct"] = time.perf_counter() - start
    found["correct_memory"] = peak_megabytes() - before
    return found


def warm() -> None:
    """Import everything and load the kernels."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2))
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/warm.db"
        study = ew.Study.create("warm", problem, storage=url, strategy="g-optimal")
        for _ in range(3):
            study.tell(study.ask(), np.zeros(8))
        study.status()


def milli(values: list[float] | Array) -> str:
    """Median in milliseconds."""
    return f"{1e3 * statistics.median(values):.2f}"


def peak_megabytes() -> float:
    """Peak resident memory of this process since it started."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def run(command: list[str]) -> str:
    """Standard output of a command."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
