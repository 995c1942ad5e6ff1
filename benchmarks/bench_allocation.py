"""How long allocation takes, and how good it is, from oracle calls to 10^7 undirected edges.

Run ``python benchmarks/bench_allocation.py [n_edges]``; it prints markdown tables. The neighbour
lists (CSR) are built before the clock starts and their time is listed apart; every kernel is
compiled on a small graph first. Graphs are built anew for every row, since what depends on the
graph only is remembered with it.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from edgewise.allocation.allocate import allocate_table
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.starts.bipartite import greedy_cut
from edgewise.base.arrays import Array
from edgewise.network.graph import Graph

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


def pentagon_graph(n_nodes: int, n_edges: int, *, seed: int = 0) -> Graph:
    """Every edge joins a class to the next of five in a ring, so the optimum is m max W."""
    rng = np.random.default_rng(seed)
    first = np.concatenate([np.arange(n_nodes), rng.integers(n_nodes, size=n_edges - n_nodes)])
    second = (first + 1 + 5 * rng.integers(n_nodes // 5, size=n_edges)) % n_nodes
    pairs = np.unique(np.sort(np.column_stack([first, second]), axis=1), axis=0)
    return Graph(n_nodes, rng.permutation(n_nodes)[pairs].astype(np.int32))


def pentagon_table(seed: int = 1) -> Array:
    """(5, 5) table with its maximum 1 on the edges of a pentagon of arms."""
    W = 0.8 * np.random.default_rng(seed).random((5, 5))
    W, ring = 0.5 * (W + W.T), np.arange(5)
    W[ring, (ring + 1) % 5] = W[(ring + 1) % 5, ring] = 1.0
    return np.asarray(W)


def fresh(graph: Graph) -> Graph:
    """The same graph with nothing remembered but its neighbour lists."""
    copy = Graph(graph.n_nodes, graph.edges)
    object.__setattr__(copy, "adjacency", graph.adjacency)
    return copy


def timed(task: Callable[[], _R]) -> tuple[float, _R]:
    """Seconds and result."""
    start = time.perf_counter()
    result = task()
    return time.perf_counter() - start, result


def rows(graph: Graph, tables: Array) -> list[str]:
    """One line of the table per task."""
    size = f"{graph.n_nodes:,} | {len(graph.edges):,} | {graph.n_arcs:,}"
    seconds, _ = timed(lambda: graph.adjacency)
    lines = [f"| neighbour lists (CSR) | {size} | {seconds:.3f} | |"]
    seconds, _ = timed(lambda: greedy_cut(graph))
    lines.append(f"| cut of Algorithm 1, CSR given | {size} | {seconds:.3f} | |")
    for method in ("bipartite", "two-arm", "greedy", "local-search", "auto"):
        copy = fresh(graph)
        seconds, result = timed(lambda g=copy, m=method: solve(g, tables, m))  # type: ignore[misc]
        share = f"{result.value / result.upper_bound:.4f}"
        lines.append(f"| {method}, with value and bound | {size} | {seconds:.3f} | {share} |")
    return lines


def solve(graph: Graph, tables: Array, method: str, **options: Any) -> Allocation:
    """With the bound that costs nothing, m max W here."""
    return allocate_table(graph, tables, symmetrise=True, method=method, bound=None, **options)


def planted_row(n_edges: int) -> str:
    """A graph with a homomorphism to the pentagon."""
    graph = pentagon_graph(n_edges // 5, n_edges)
    size = f"{graph.n_nodes:,} | {len(graph.edges):,} | {graph.n_arcs:,}"
    graph.adjacency  # noqa: B018 - built before the clock starts
    seconds, result = timed(lambda: solve(graph, pentagon_table(), "auto"))
    share = result.value / result.upper_bound
    return f"| auto, planted pentagon | {size} | {seconds:.3f} | {share:.5f} |"


def oracle_rows(calls: int = 1000) -> list[str]:
    """A small graph and many tables: n = 80, K = 6."""
    rng = np.random.default_rng(0)
    graph = random_graph(80, 240)
    tables = rng.standard_normal((calls, 6, 6)) - np.eye(6)
    tables = tables + tables.transpose(0, 2, 1)
    starts: list[Any] = ["greedy"] * calls
    lines = []
    for name in ("greedy and local search", "local search, warm start"):
        tasks = list(zip(tables, starts, strict=True))
        seconds, starts = timed(
            lambda t=tasks: [  # type: ignore[misc]
                allocate_table(graph, W, method="local-search", start=start, bound=None)
                for W, start in t
            ]
        )
        lines.append(f"| {name}, n = 80, K = 6 | {1000 * seconds / calls:.3f} ms |")
    seconds, _ = timed(lambda: [allocate_table(graph, W, bound=None) for W in tables[:100]])
    lines.append(f"| auto, n = 80, K = 6 | {10 * seconds:.1f} ms |")
    return lines


def exact_rows(count: int = 4) -> list[str]:
    """Random graphs of 50 nodes and 100 edges, K = 10: to the proof."""
    lines = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        W = rng.random((10, 10)) - 0.5 * np.eye(10)
        graph = random_graph(50, 103, seed=seed)
        seconds, result = timed(lambda g=graph, W=W: allocate_table(g, W + W.T, method="exact"))  # type: ignore[misc]
        proved = "proved" if result.proved_optimal else "not proved"
        task = f"exact, 50 nodes, {len(graph.edges)} edges, K = 10, instance {seed}"
        lines.append(f"| {task} | {seconds:.1f} s, {proved} |")
    return lines


def main() -> None:
    """Print the tables."""
    n_edges = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    # equal arms go badly together: otherwise the best arm everywhere would be optimal at once
    tables = np.random.default_rng(1).random((1, 10, 10)) - 0.5 * np.eye(10)
    rows(random_graph(100, 500), tables)
    planted_row(1000)
    print("| task | time |\n|---|---|")
    for line in oracle_rows() + exact_rows():
        print(line, flush=True)
    print("\n| task | nodes | edges | arcs | seconds | value / (m max W) |")
    print("|---|---|---|---|---|---|")
    print(planted_row(n_edges // 10), flush=True)
    for size in (n_edges // 10, n_edges // 2, n_edges):
        for line in rows(random_graph(size // 5, size), tables):
            print(line, flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\nPeak memory {peak:.2f} GB.")


if __name__ == "__main__":
    main()
