"""Large networks on Dask: a round, a sweep, and what Dask adds, on two worker processes.

Run with ``python benchmarks/bench_cluster.py [ARCS [FOLDER]]`` (default 10^8; 10^9 needs 30 GB of
disk; what is prepared in the folder is used again), or
``bench_cluster.py quality [NODES]`` for how good sweeps are; prints a markdown table.
"""

from __future__ import annotations

import pickle
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import edgewise as ew
from edgewise import cluster
from edgewise.base.arrays import Array, Indices
from edgewise.cluster.allocation.work import Work
from edgewise.cluster.partitions.preparing import SUMMARY

STEPS = 10
"""Edges that a node begins."""
SIZE = 1 << 22
"""Edges of a partition."""


@dataclass(frozen=True)
class Circulant:
    """Node i meets i + s for ten random steps s: no pair twice, ends all over the memory."""

    n_nodes: int

    @property
    def n_partitions(self) -> int:
        """Of about the size above."""
        return -(-self.n_nodes * STEPS // SIZE)

    def __call__(self, number: int) -> Indices:
        """The edges that some successive nodes begin."""
        steps = np.random.default_rng(0).choice(self.n_nodes // 2 - 1, STEPS, replace=False) + 1
        first = -(-self.n_nodes // self.n_partitions) * number
        last = min(first + -(-self.n_nodes // self.n_partitions), self.n_nodes)
        i = np.arange(first, last)
        ends = (i[:, None] + steps) % self.n_nodes
        return np.column_stack([np.repeat(i, STEPS), ends.ravel()]).astype(np.int32)


def tables(n_arms: int) -> Array:
    """A table whose best pair is of two different arms."""
    rng = np.random.default_rng(1)
    W = rng.normal(size=(n_arms, n_arms))
    W = 0.5 * (W + W.T)
    W[np.diag_indices(n_arms)] -= 2.0
    return W[None]


@contextmanager
def timed(client: Any = None) -> Iterator[dict[str, float]]:
    """Seconds of the clock and of all processes."""
    found: dict[str, float] = {}
    wall, cpu = time.perf_counter(), _cpu(client)
    yield found
    found["wall"] = time.perf_counter() - wall
    found["cpu"] = _cpu(client) - cpu


def _cpu(client: Any) -> float:
    workers = 0.0 if client is None else sum(client.run(time.process_time).values())
    return time.process_time() + workers


def peak_memory() -> float:
    """GB resident at most in this process, mapped files included."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return float(status.split("VmHWM:")[1].split()[0]) / 1e6


def own_memory() -> float:
    """GB resident now in this process that no file backs."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return float(status.split("RssAnon:")[1].split()[0]) / 1e6


def a_round(learner: cluster.PartitionedLearner, client: Any) -> dict[str, float]:
    environment = cluster.SimulatedRewards(tables(10), 1.0)
    learner.run_round(environment)  # compiles
    with timed(client) as found:
        learner.run_round(environment)
    return found


def sweeps(work: Work, client: Any) -> dict[str, dict[str, float]]:
    """A sweep of annealing, then one of best response."""
    rng = np.random.default_rng(0)
    arms: Indices = rng.integers(10, size=work.graph.n_nodes, dtype=np.uint8)
    arms = work.anneal(arms, 1)  # compiles
    with timed(client) as stirring:
        arms = work.anneal(arms, 1)
    work._step(arms, work.steps(0)[0])
    with timed(client) as responding:
        for step in work.steps(1):
            arms, _, _ = work._step(arms, step)
    return {"annealing": stirring, "best response": responding}


@dataclass(frozen=True)
class Random:
    """Pairs of nodes drawn at random: almost a tree near every node."""

    n_nodes: int

    @property
    def n_partitions(self) -> int:
        """Of about the size above."""
        return -(-self.n_nodes * STEPS // SIZE)

    def __call__(self, number: int) -> Indices:
        """Distinct pairs; the number of the first node tells the partition."""
        rng = np.random.default_rng(number)
        width = -(-self.n_nodes // self.n_partitions)
        first, size = width * number, min(width, self.n_nodes - width * number)
        i = first + rng.integers(size, size=2 * size * STEPS)
        j = rng.integers(self.n_nodes, size=2 * size * STEPS)
        keys = np.unique((i * self.n_nodes + j)[i < j])
        return np.column_stack(np.divmod(keys, self.n_nodes)).astype(np.int32)


def quality(made: Any, folder: Path) -> dict[int, float]:
    """Part of the value that one machine reaches, by how often every node looks."""
    graph = cluster.PartitionedGraph.from_function(made, folder, n_partitions=made.n_partitions)
    W = tables(10)
    alone = ew.allocate_table(graph.load(), W, bound=None).value
    return {
        sweeps: cluster.allocate_table(graph, W, sweeps=sweeps, bound=None).value / alone
        for sweeps in (10, 20, 40)
    }


def said(times: dict[str, float], n_arcs: int) -> str:
    per_arc = 1e9 * times["cpu"] / n_arcs
    return f"{times['wall']:.1f} s of the clock, {per_arc:.1f} ns of processors per arc"


def main(n_arcs: int, folder: Path) -> None:
    """Prepare the graph unless the folder has it, and print the table."""
    made = Circulant(n_arcs // (2 * STEPS))
    rows: list[tuple[str, str]] = []
    with cluster.working_on("local", workers=2) as engine:
        client = engine.client  # type: ignore[attr-defined]
        if (folder / SUMMARY).exists():
            graph = cluster.PartitionedGraph.open(folder)
        else:
            with timed(client) as took:
                graph = cluster.PartitionedGraph.from_function(
                    made, folder, n_partitions=made.n_partitions, dask=client
                )
            rows.append(("preparing", said(took, graph.n_arcs)))
        rows += rounds(graph, client)
        for name, took in sweeps(Work(engine, graph, tables(10), 0), client).items():
            rows.append((f"a sweep of {name}, K = 10", said(took, graph.n_arcs)))
        rows.append(("peak of a worker, mapped edges included", peak(client, peak_memory)))
        rows.append(("the same without files that it maps", peak(client, own_memory)))
        rows.append(("processor time of the idle cluster", f"{idle(client):.1%} of the clock"))
    size = f"{graph.n_arcs:.1e} arcs, {graph.n_nodes:.1e} nodes"
    print(f"{size}, {len(graph.partitions)} partitions\n\n| what | measured |\n|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def rounds(graph: cluster.PartitionedGraph, client: Any) -> list[tuple[str, str]]:
    """A round on the workers, and the same in this process."""
    problem = ew.Problem(graph, np.random.default_rng(0).normal(size=(10, 3)), noise=1e6)
    there = cluster.PartitionedLearner(problem, strategy="g-optimal", rng=0, dask=client)
    here = cluster.PartitionedLearner(problem, strategy="g-optimal", rng=0)
    on_dask, alone = a_round(there, client), a_round(here, None)
    mine, its = (one.state.statistics.to_tree() for one in (here, there))
    return [
        ("a round on two workers", said(on_dask, graph.n_arcs)),
        ("the same in one process", said(alone, graph.n_arcs)),
        ("processor time that Dask adds", f"{on_dask['cpu'] / alone['cpu'] - 1.0:+.1%}"),
        ("the same bits", str(np.array_equal(mine["rewards"], its["rewards"]))),
        ("bytes to the client per round", str(len(pickle.dumps(its)))),
        ("peak of a worker in rounds, mapped edges included", peak(client, peak_memory)),
    ]


def peak(client: Any, memory: Any) -> str:
    """Of all workers."""
    return f"{max(client.run(memory).values()):.2f} GB"


def idle(client: Any) -> float:
    """What client, scheduler and workers cost while nothing is done."""
    with timed(client) as found:
        time.sleep(5.0)
    return found["cpu"] / found["wall"]


def compare(n_nodes: int) -> None:
    """Print how near sweeps come to one machine's search."""
    print("| graph | " + " | ".join(f"{s} sweeps" for s in (10, 20, 40)) + " |\n|---|---|---|---|")
    for made in (Circulant(n_nodes), Random(n_nodes)):
        with tempfile.TemporaryDirectory() as folder:
            reached = quality(made, Path(folder)).values()
        print(f"| {made} | " + " | ".join(f"{one:.1%}" for one in reached) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["quality"]:
        compare(int(float(sys.argv[2])) if len(sys.argv) > 2 else 10**6)
    elif len(sys.argv) > 2:
        main(int(float(sys.argv[1])), Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**8, Path(temporary))
