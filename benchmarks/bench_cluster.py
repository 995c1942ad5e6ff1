"""Large networks on Dask: a round, a sweep, and what Dask adds, on two worker processes.

Run with ``python benchmarks/bench_cluster.py [ARCS]`` (default 10^8; 10^9 needs 16 GB of disk);
prints a markdown table. Times are those of the processors unless they say otherwise.
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
from edgewise.cluster.allocating import Work
from edgewise.cluster.sweeps import Step

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


def a_round(learner: cluster.PartitionedLearner, client: Any) -> dict[str, float]:
    environment = cluster.SimulatedRewards(tables(10), 1.0)
    learner.run_round(environment)  # compiles
    with timed(client) as found:
        learner.run_round(environment)
    return found


def a_sweep(work: Work, client: Any) -> dict[str, float]:
    arms: Indices = np.zeros(work.graph.n_nodes, np.uint8)
    arms, _, _ = work._step(arms, Step(0, 0, 4, 0))
    with timed(client) as found:
        for part in range(4):
            arms, _, _ = work._step(arms, Step(0, 1 + part, 4, part))
    return found


def quality(folder: Path, n_nodes: int) -> tuple[float, float]:
    """Part of the range that one machine reaches that ten sweeps reach; and best response."""
    made = Circulant(n_nodes)
    graph = cluster.PartitionedGraph.from_function(made, folder, n_partitions=made.n_partitions)
    W = tables(10)
    alone = ew.allocate_table(graph.load(), W)
    reached = [
        cluster.allocate_table(graph, W, method=method, bound=None).value / alone.value
        for method in ("auto", "best-response")
    ]
    return reached[0], reached[1]


def said(times: dict[str, float], n_arcs: int) -> str:
    per_arc = 1e9 * times["cpu"] / n_arcs
    return f"{times['wall']:.1f} s of the clock, {per_arc:.1f} ns of processors per arc"


def main(n_arcs: int) -> None:
    """Print the table."""
    made = Circulant(n_arcs // (2 * STEPS))
    rows: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as folder, cluster.working_on("local", workers=2) as engine:
        client = engine.client  # type: ignore[attr-defined]
        with timed(client) as prepared:
            graph = cluster.PartitionedGraph.from_function(
                made, folder, n_partitions=made.n_partitions, dask=client
            )
        rows.append(("preparing", said(prepared, graph.n_arcs)))
        problem = ew.Problem(graph, np.random.default_rng(0).normal(size=(10, 3)), noise=1e6)
        there = cluster.PartitionedLearner(problem, strategy="g-optimal", rng=0, dask=client)
        here = cluster.PartitionedLearner(problem, strategy="g-optimal", rng=0)
        on_dask, alone = a_round(there, client), a_round(here, None)
        mine, its = (one.state.statistics.to_tree() for one in (here, there))
        peak = max(client.run(peak_memory).values())
        rows += [
            ("a round on two workers", said(on_dask, graph.n_arcs)),
            ("the same in one process", said(alone, graph.n_arcs)),
            ("processor time that Dask adds", f"{on_dask['cpu'] / alone['cpu'] - 1.0:+.1%}"),
            ("the same bits", str(np.array_equal(mine["rewards"], its["rewards"]))),
            ("bytes to the client per round", str(len(pickle.dumps(its)))),
            ("peak of a worker, mapped edges included", f"{peak:.2f} GB"),
        ]
        sweep = a_sweep(Work(engine, graph, tables(10), 0), client)
        rows.append(("a sweep of best response, K = 10", said(sweep, graph.n_arcs)))
    with tempfile.TemporaryDirectory() as folder:
        auto, response = quality(Path(folder), 50_000)
        figure = f"auto {auto:.1%}, best response {response:.1%}"
        rows.append(("ten sweeps against one machine's allocate, 10^6 arcs", figure))
    size = f"{graph.n_arcs:.1e} arcs, {graph.n_nodes:.1e} nodes"
    print(f"{size}, {len(graph.partitions)} partitions\n\n| what | measured |\n|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**8)
