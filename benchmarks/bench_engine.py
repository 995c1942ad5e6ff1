"""Speed and memory of the engine, as ratios against references measured in the same run.

Run with ``python benchmarks/bench_engine.py``; prints a markdown table.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from transcription import Transcription

Row = tuple[str, str, str]


@dataclass(frozen=True)
class Against:
    """Seconds of ours and of a reference, measured alternately."""

    ours: float
    """Median."""
    theirs: float
    """Median."""
    ratios: tuple[float, ...]
    """One per pair of measurements."""

    @property
    def ratio(self) -> float:
        """Their median."""
        return median(list(self.ratios))


def paper_mode() -> Against:
    """Seconds per round of paper mode against the transcription; ratio: times faster."""
    arms, matrix = ew.simulation.paper_instance(5, 0.1)
    problem = ew.Problem(ew.Graph.circle(n_edges=156), arms)
    reference = Transcription(
        arms=arms,
        arcs=[(i, j) for i, j in problem.graph.arcs.tolist()],
        n_nodes=problem.graph.n_nodes,
        weights=ew.g_optimal(arms).weights,
        matrix=matrix,
        noise=1.0,
        delta=0.05,
        rng=np.random.default_rng(0),
    ).rounds()
    ratios, ours, theirs = [], [], []
    replicate(problem, matrix, 0)
    for repetition in range(7):
        start = time.perf_counter()
        for _ in range(100):
            next(reference)
        theirs.append((time.perf_counter() - start) / 100)
        start = time.perf_counter()
        rounds = replicate(problem, matrix, repetition)
        ours.append((time.perf_counter() - start) / rounds)
        ratios.append(theirs[-1] / ours[-1])
    return Against(median(ours), median(theirs), tuple(ratios))


def paper_mode_row() -> Row:
    """Paper mode against the transcription."""
    measured = paper_mode()
    figure = f"{measured.ratio:.0f}x faster"
    detail = (
        f"{1e6 * measured.ours:.1f} us against {1e6 * measured.theirs:.0f} us "
        f"a round (ratios {min(measured.ratios):.0f} to {max(measured.ratios):.0f})"
    )
    return "paper mode, circle m = 156, d = 5, checked every round, simulated", figure, detail


def replicate(problem: ew.Problem, matrix: Array, seed: int) -> int:
    """Rounds simulated by a few paper-mode runs."""
    runs = ew.simulation.replicate(problem, matrix, repetitions=2, strategy="paper", rng=seed)
    return int(runs.rounds.sum())


def ask_tell_row() -> Row:
    """One ask + tell of the live learner, default strategy."""
    arms, _ = ew.simulation.paper_instance(5, 0.1)
    problem = ew.Problem(ew.Graph.circle(n_edges=156), arms)
    rewards = np.random.default_rng(0).standard_normal(156)
    learner = ew.Learner(problem, rng=0)
    times = []
    for _ in range(300):
        start = time.perf_counter()
        learner.tell(learner.ask(), rewards)
        times.append(time.perf_counter() - start)
    return "ask + tell, circle m = 156, d = 5, mixture rule", f"{1e6 * median(times):.0f} us", ""


def large_round_row() -> Row:
    """Draw and statistics of one round on 10^7 arcs, one core, and peak memory per arc."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edges.npy"
        np.save(path, random_edges(10**6, 5 * 10**6))
        output = run_here("large", str(path))
    values = json.loads(output)
    return (
        "one round (draw + statistics), 10^7 arcs, 10^6 nodes, one core",
        f"{values['draw'] + values['measure']:.1f} ns per arc",
        f"draw {values['draw']:.1f}, statistics and checks {values['measure']:.1f}, the same with "
        f"1 % missing {values['missing']:.1f}; draw and count (count_rounds) "
        f"{values['count']:.1f}; two threads: {values['speedup']:.2f}x as fast; peak memory "
        f"{values['bytes']:.0f} bytes per arc, graph, rewards and graph building included",
    )


def large_round(path: str) -> None:
    """Body of the subprocess: memory is counted above what imports and kernels take.

    Seconds of the processor, not of the clock, but for the two threads.
    """
    from edgewise.core.evidence.measuring import measure
    from edgewise.core.evidence.statistics import count_rounds
    from edgewise.core.strategies import GOptimal

    warnings.simplefilter("ignore")
    arms, _ = ew.simulation.paper_instance(5, 0.1)
    rng = np.random.default_rng(0)

    def prepare(edges: Indices, n_nodes: int) -> tuple[Array, dict[str, Callable[[], object]]]:
        problem = ew.Problem(ew.Graph.from_edges(edges, n_nodes=n_nodes), arms)
        plan = GOptimal()(problem)
        rewards = rng.standard_normal(problem.graph.n_arcs)
        joint = plan.laws.draw(seed=1, round=1)
        graph, cells, laws = problem.graph, plan.cells, plan.laws
        return rewards, {
            "draw": lambda: laws.draw(seed=1, round=1),
            "measure": lambda: measure(problem, cells, joint, rewards),
            "count": lambda: count_rounds(graph, cells, laws, seed=1, first_round=1, n_rounds=1),
        }

    for warm in prepare(np.array([[0, 1], [1, 2]], np.int32), 3)[1].values():
        warm()
    before = peak_bytes()
    edges = np.load(path)
    rewards, parts = prepare(edges, 10**6)
    n_arcs = 2 * len(edges)
    found = {name: 1e9 * seconds(part, time.process_time) / n_arcs for name, part in parts.items()}
    found["bytes"] = (peak_bytes() - before) / n_arcs
    alone = seconds(parts["measure"], time.perf_counter)
    with ew.using_threads(2):
        found["speedup"] = alone / seconds(parts["measure"], time.perf_counter)
    rewards[7::100] = np.nan
    found["missing"] = 1e9 * seconds(parts["measure"], time.process_time) / n_arcs
    sys.stdout.write(json.dumps(found))


def seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Median of seven."""
    times = []
    for _ in range(7):
        start = clock()
        work()
        times.append(clock() - start)
    return median(times)


def imports() -> Against:
    """``import edgewise`` against ``import numpy``, fresh processes; ratio: part of its time."""
    seconds: dict[str, list[float]] = {"numpy": [], "edgewise": []}
    for _ in range(11):
        for module, times in seconds.items():
            body = f"t = now(); import {module}; print(now() - t)"
            code = f"from time import perf_counter as now; {body}"
            times.append(float(run([sys.executable, "-c", code])))
    ours, theirs = median(seconds["edgewise"]), median(seconds["numpy"])
    return Against(ours, theirs, (ours / theirs,))


def import_row() -> Row:
    """``import edgewise`` against ``import numpy``."""
    measured = imports()
    return (
        "`import edgewise` against `import numpy`",
        f"{measured.ratio:.2f} of its time",
        f"{1e3 * measured.ours:.1f} ms against {1e3 * measured.theirs:.0f} ms; everything used, "
        f"numpy included, {1e3 * float(run_here('use')):.0f} ms",
    )


def use() -> None:
    """Time from nothing to every public name resolved."""
    start = time.perf_counter()
    for name in ew.__all__:
        getattr(ew, name)
    sys.stdout.write(str(time.perf_counter() - start))


def warm_start_row() -> Row:
    """Kernels compiled by a second process that identifies once: must be none."""
    code = (
        "import numpy as np, edgewise as ew;"
        "a, M = ew.simulation.paper_instance(2, 1.0);"
        "p = ew.Problem(ew.Graph.circle(n_edges=12), a);"
        "print(ew.identify(p, ew.BilinearEnvironment(p, M, rng=1), rng=2).rounds);"
        "import numba.core.event as e"
    )
    run([sys.executable, "-c", code])
    listener = (
        "import numba, numba.core.event as e;"
        "r = e.RecordingListener(); e.register('numba:compile', r);"
        f"{code};"
        "print(len([1 for _, x in r.buffer if x.is_start]))"
    )
    compiled = int(run([sys.executable, "-c", listener]).split()[-1])
    start = time.perf_counter()
    run([sys.executable, "-c", code])
    seconds = time.perf_counter() - start
    return (
        "kernels compiled by the second process",
        str(compiled),
        f"a process that identifies on 12 arcs takes {seconds:.1f} s in all",
    )


def random_edges(n_nodes: int, n_edges: int) -> Indices:
    """Distinct undirected pairs, sorted."""
    rng = np.random.default_rng(0)
    keys = np.zeros(0, np.int64)
    while len(keys) < n_edges:
        pairs = np.sort(rng.integers(n_nodes, size=(n_edges // 5, 2)), axis=1)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        keys = np.unique(np.concatenate([keys, pairs[:, 0] * n_nodes + pairs[:, 1]]))
    keys = np.sort(rng.permutation(keys)[:n_edges])
    return np.column_stack(np.divmod(keys, n_nodes)).astype(np.int32)


def median(values: list[float]) -> float:
    """Middle value: robust against a noisy machine."""
    return statistics.median(values)


def peak_bytes() -> int:
    """Peak resident memory of this process since it started (ru_maxrss inherits the parent's)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def run(command: list[str]) -> str:
    """Standard output of a command."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def run_here(*arguments: str) -> str:
    """Standard output of this script with arguments."""
    return run([sys.executable, __file__, *arguments])


def main() -> None:
    """Print the table."""
    print("| what | figure | detail |\n|---|---|---|")
    for row in (paper_mode_row, ask_tell_row, large_round_row, import_row, warm_start_row):
        print("| " + " | ".join(row()) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["large"]:
        large_round(sys.argv[2])
    elif sys.argv[1:2] == ["use"]:
        use()
    else:
        main()
