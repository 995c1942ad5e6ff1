"""What the benchmarks gave, release by release: one JSON file per version in ``history/``.

``python benchmarks/history.py`` (``make bench-record``) measures the version at hand and writes its
file; ``compare.py`` reads them. Seconds are of the machine noted in the file; ratios were taken
against a reference in the same run, and can be compared between machines.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from importlib.metadata import version
from pathlib import Path

import bench_allocation
import bench_design
import bench_engine
import edgewise as ew

FOLDER = Path(__file__).parent / "history"
_KERNELS = Path(__file__).parent / "test_kernels.py"
ATTEMPTS = 3
"""Kernels are timed so often: other work on the machine makes them slow, never fast."""
_LIBRARIES = ("numpy", "scipy", "numba")


@dataclass(frozen=True)
class Timing:
    """One kernel."""

    fastest: float
    """Seconds of the fastest round: other work on the machine can only add to it."""
    median: float
    """Seconds."""
    rounds: int


@dataclass(frozen=True)
class Machine:
    """Where and with what it was measured."""

    cpu: str
    cores: int
    load: float
    """Processes waiting for a core when the measurement began, averaged over a minute."""
    python: str
    libraries: dict[str, str]


@dataclass(frozen=True)
class Record:
    """The figures of one version."""

    version: str
    date: str
    machine: Machine
    kernels: dict[str, Timing]
    ratios: dict[str, float]
    """Against named references, see ``RESULTS.md``; empty where only kernels were timed."""


def timed_kernels() -> Record:
    """The kernels of the version at hand, measured now."""
    machine = _machine()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.json"
        options = ["-q", "--benchmark-only", f"--benchmark-json={path}", "-p", "no:cacheprovider"]
        command = [sys.executable, "-m", "pytest", str(_KERNELS), *options]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"the kernels could not be timed\n{done.stdout}{done.stderr}")
        measured = json.loads(path.read_text(encoding="utf-8"))["benchmarks"]
    kernels = {
        one["name"].removeprefix("test_"): Timing(
            _short(one["stats"]["min"]), _short(one["stats"]["median"]), one["stats"]["rounds"]
        )
        for one in measured
    }
    today = datetime.now(tz=UTC).date().isoformat()
    return Record(ew.__version__, today, machine, kernels, {})


def faster(first: Record, second: Record) -> Record:
    """The first record with each kernel as fast as in the better of the two."""
    kernels = {
        name: min(timing, second.kernels[name], key=lambda one: one.fastest)
        for name, timing in first.kernels.items()
    }
    return replace(first, kernels=kernels)


def ratios() -> dict[str, float]:
    """Speed and quality against references of the same run."""
    rows = {name: bench_design.in_subprocess(name) for name in ("edgewise 1000x10", "scs 1000x10")}
    graph = bench_allocation.pentagon_graph(20_000, 100_000)
    planted = bench_allocation.solve(graph, bench_allocation.pentagon_table(), "auto")
    found = {
        "paper mode, times faster than the transcription": bench_engine.paper_mode().ratio,
        "import edgewise / import numpy": bench_engine.imports().ratio,
        "design 1000 x 10, times faster than cvxpy with SCS": bench_design.speedup(rows),
        "allocation, planted pentagon of 10^5 edges, value / bound": (
            planted.value / planted.upper_bound
        ),
    }
    return {name: _short(value) for name, value in found.items()}


def write(record: Record) -> Path:
    """Keep a record; one of the same version is replaced."""
    path = FOLDER / f"{record.version}.json"
    path.write_text(json.dumps(asdict(record), indent=2) + "\n", encoding="utf-8")
    return path


def read(path: Path) -> Record:
    """A record that was kept."""
    values = json.loads(path.read_text(encoding="utf-8"))
    kernels = {name: Timing(**timing) for name, timing in values["kernels"].items()}
    machine = Machine(**values["machine"])
    return Record(values["version"], values["date"], machine, kernels, values["ratios"])


def latest() -> Path:
    """The record made last."""
    paths = sorted(FOLDER.glob("*.json"), key=lambda path: read(path).date)
    if not paths:
        raise SystemExit(f"there is no record in {FOLDER}; make one with: make bench-record")
    return paths[-1]


def _short(value: float) -> float:
    """Four digits: more is noise."""
    return float(f"{value:.4g}")


def _machine() -> Machine:
    return Machine(
        cpu=_cpu(),
        cores=os.cpu_count() or 1,
        load=round(os.getloadavg()[0], 1),
        python=platform.python_version(),
        libraries={name: version(name) for name in _LIBRARIES},
    )


def _cpu() -> str:
    """Model of the processor; what Python knows of it where there is no /proc."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def main() -> None:
    """Measure everything and write the file of this version."""
    kernels = reduce(faster, [timed_kernels() for _ in range(ATTEMPTS)])
    print(f"wrote {write(replace(kernels, ratios=ratios()))}")


if __name__ == "__main__":
    main()
