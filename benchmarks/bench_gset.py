"""Max-Cut on the Gset: edgewise next to Algorithm 1, D-Wave's annealer and networkx.

Run ``python benchmarks/bench_gset.py FOLDER [seconds]``; FOLDER has the instances as ``G*.txt`` in
rudy format and ``best_known.csv``. Every search gets the same time, 10 seconds by default, on one
core; kernels are compiled before the clock starts. Prints a markdown table of cuts, in percent of
the best known.
"""

from __future__ import annotations

import math
import multiprocessing
import queue
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from dwave.samplers import SimulatedAnnealingSampler

from edgewise.allocation.allocate import allocate_table
from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Array, Indices
from edgewise.network.graph import Graph
from gset import best_known, read_rudy

MAX_CUT = np.array([[0.0, 1.0], [1.0, 0.0]])


def ours(graph: Graph, seconds: float) -> Allocation:
    """The default method, until the time is over."""
    return allocate_table(graph, MAX_CUT, time_limit=seconds, rng=0)


def algorithm_1(graph: Graph, seconds: float) -> float:  # noqa: ARG001 - has no use for more time
    """The cut of the paper's Algorithm 1."""
    return allocate_table(graph, MAX_CUT, method="bipartite", bound=None).value / 2


def dwave(graph: Graph, seconds: float) -> float:
    """Best of the reads of D-Wave's simulated annealer that fit the time, 1000 sweeps each."""
    weights = np.ones(len(graph.edges)) if graph.weights is None else graph.weights
    couplings = {(i, j): w for (i, j), w in zip(graph.edges.tolist(), weights, strict=True)}
    sampler = SimulatedAnnealingSampler()
    end, best, seed = time.perf_counter() + seconds, 0.0, 0
    while seed == 0 or time.perf_counter() < end:
        energy = sampler.sample_ising({}, couplings, num_reads=1, seed=seed).first.energy
        best, seed = max(best, (weights.sum() - energy) / 2), seed + 1
    return best


def networkx(graph: Graph, seconds: float) -> float:
    """One-exchange local search of networkx; NaN if it has no answer in time.

    It looks at the whole graph for every node before every move and cannot be told to stop, so it
    runs in a process of its own.
    """
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    worker = context.Process(target=one_exchange, args=(graph.edges, graph.weights, answers))
    worker.start()
    try:
        return float(answers.get(timeout=seconds))
    except queue.Empty:
        return float("nan")
    finally:
        worker.terminate()
        worker.join()


def one_exchange(edges: Indices, weights: Array | None, answers: Any) -> None:
    """Put the cut that networkx finds."""
    problem = nx.Graph()
    for e, (i, j) in enumerate(edges.tolist()):
        problem.add_edge(i, j, weight=1.0 if weights is None else float(weights[e]))
    answers.put(nx.approximation.one_exchange(problem, weight="weight", seed=0)[0])


def timed(
    solve: Callable[[Graph, float], float], graph: Graph, seconds: float
) -> tuple[float, float]:
    """The cut found, and the seconds it took."""
    begin = time.perf_counter()
    cut = solve(graph, seconds)
    return cut, time.perf_counter() - begin


def row(name: str, graph: Graph, known: float, seconds: float) -> str:
    """One line of the table."""
    begin = time.perf_counter()
    found = ours(graph, seconds)
    spent = time.perf_counter() - begin
    cells = [name, f"{graph.n_nodes:,}", f"{len(graph.edges):,}", f"{known:.0f}"]
    cells += [f"{found.value / 2:.0f}", f"{50 * found.value / known:.3f}", f"{spent:.1f}"]
    cells += [f"{found.upper_bound / 2:.0f} ({found.bound})"]
    for solve in (algorithm_1, dwave, networkx):
        cut, spent = timed(solve, graph, seconds)
        answer = "no answer" if math.isnan(cut) else f"{100 * cut / known:.3f}"
        cells.append(f"{answer} ({spent:.1f} s)")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    known = best_known(folder)
    for weights in (None, [1.0, -1.0, 1.0, 1.0, 1.0]):
        ours(Graph.from_edges(Graph.circle(n_nodes=5).edges, weights=weights), 0.1)
    head = "instance | n | edges | best known | cut | % | s | bound"
    print(f"| {head} | Algorithm 1 | D-Wave | networkx |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for path in sorted(folder.glob("G*.txt"), key=lambda path: int(path.stem[1:])):
        print(row(path.stem, read_rudy(path), known[path.stem], seconds), flush=True)


if __name__ == "__main__":
    main()
