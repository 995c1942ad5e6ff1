"""How long allocation takes on random graphs of 10^7 arcs and of 10^7 undirected edges.

Run ``python benchmarks/bench_allocation.py [n_edges]``; it prints a markdown table. The neighbour
lists (CSR) are built before the clock starts and their time is listed apart; every kernel is
compiled on a small graph first.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from edgewise.core.allocation.allocate import allocate_tables
from edgewise.core.allocation.bipartite import greedy_cut
from edgewise.core.allocation.result import Allocation
from edgewise.core.arrays import Array
from edgewise.core.graph import Graph

_R = TypeVar("_R")


def random_graph(n_nodes: int, n_edges: int, *, seed: int = 0) -> Graph:
    """About ``n_edges`` distinct random pairs and a path, so that no node is isolated."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(n_nodes, size=(n_edges, 2))
    path = np.column_stack([np.arange(n_nodes - 1), np.arange(1, n_nodes)])
    ends = np.concatenate([path, ends])[:n_edges]
    ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    keys = np.unique(ends[:, 0] * n_nodes + ends[:, 1])
    rng.shuffle(keys)
    return Graph(n_nodes, np.column_stack(np.divmod(keys, n_nodes)).astype(np.int32))


def timed(task: Callable[[], _R], repeats: int = 3) -> tuple[float, _R]:
    """Best time of a few runs, and the result."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = task()
        best = min(best, time.perf_counter() - start)
    return best, result


def rows(graph: Graph, tables: Array) -> list[str]:
    """One line of the table per task."""
    size = f"{graph.n_nodes:,} | {len(graph.edges):,} | {graph.n_edges:,}"
    seconds, _ = timed(lambda: graph.adjacency, repeats=1)
    lines = [f"| neighbour lists (CSR) | {size} | {seconds:.3f} | |"]
    seconds, _ = timed(lambda: greedy_cut(graph))
    lines.append(f"| cut of Algorithm 1, CSR given | {size} | {seconds:.3f} | |")
    for method in ("bipartite", "two-arm", "local-search"):
        result: Allocation
        seconds, result = timed(lambda m=method: allocate_tables(graph, tables, method=m))  # type: ignore[misc]
        share = f"{1 - result.gap:.3f}"
        lines.append(f"| {method}, with value and bounds | {size} | {seconds:.3f} | {share} |")
    return lines


def main() -> None:
    """Print the table."""
    n_edges = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    # equal arms go badly together: otherwise the best arm everywhere would be optimal at once
    tables = np.random.default_rng(1).random((1, 10, 10)) - 0.5 * np.eye(10)
    rows(random_graph(100, 500), tables)
    print("| task | nodes | edges | arcs | seconds | 1 - gap |")
    print("|---|---|---|---|---|---|")
    for size in (n_edges // 2, n_edges):
        for line in rows(random_graph(size // 10, size), tables):
            print(line)


if __name__ == "__main__":
    main()
