"""How close to the optimum allocations are proved to be, and what the proof costs.

Run ``python benchmarks/bench_bounds.py [--quick]``; it prints two markdown tables. Random graphs
have a given mean degree (nodes without edges are dropped); tables are x'Sx of Gaussian arms,
drawn until the best pair is not a single arm. The certificate is 1 - (U - F) / (U - L) with L the
edge-by-edge lower bound; for Max-Cut it is the plain ratio F / U.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.bounds import Bound, best_upper_bound
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array
from edgewise.network.graph import Graph

MAX_CUT = np.array([[0.0, 1.0], [1.0, 0.0]])


def random_graph(rng: np.random.Generator, n_nodes: int, degree: float) -> Graph:
    """Distinct random pairs, nodes without any left out."""
    wanted = int(n_nodes * degree / 2)
    ends = rng.integers(n_nodes, size=(int(1.05 * wanted) + 20, 2))
    ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    keys = rng.permutation(np.unique(ends[:, 0] * n_nodes + ends[:, 1]))[:wanted]
    names, edges = np.unique(np.column_stack(np.divmod(keys, n_nodes)), return_inverse=True)
    return Graph(len(names), edges.reshape(-1, 2).astype(np.int32))


def random_table(rng: np.random.Generator, n_arms: int) -> Array:
    """Rewards of Gaussian arms; the best pair consists of two arms."""
    while True:
        X, S = rng.standard_normal((n_arms, 4)), rng.standard_normal((4, 4))
        W: Array = X @ (S + S.T) @ X.T
        if W.max() > W.diagonal().max():
            return W


def certified(objective: Objective, bound: Bound, value: float) -> float:
    """Share of the possible range of rewards that is proved to be reached."""
    return 1.0 - (bound.value - value) / (bound.value - objective.bounds[0])


def small_graphs(repeats: int) -> list[str]:
    """One line per size: the certificates of random instances."""
    lines = [
        "| nodes | degree | K | instances | fast: least, mean | tight: least, mean "
        "| seconds, most | bounds that won |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n, degree, n_arms in [(n, d, k) for n in (50, 100, 200) for d in (3, 4) for k in (5, 10)]:
        rows = [_certificates(n, degree, n_arms, seed) for seed in range(repeats)]
        fast, tight, seconds = np.array([row[:3] for row in rows]).T
        winners = ", ".join(sorted({row[3] for row in rows}))
        lines.append(
            f"| {n} | {degree} | {n_arms} | {repeats} | {fast.min():.4f}, {fast.mean():.4f} "
            f"| {tight.min():.4f}, {tight.mean():.4f} | {seconds.max():.1f} | {winners} |"
        )
    return lines


def _certificates(n: int, degree: int, n_arms: int, seed: int) -> tuple[float, float, float, str]:
    rng = np.random.default_rng([n, degree, n_arms, seed])
    graph, table = random_graph(rng, n, degree), random_table(rng, n_arms)
    objective = Objective.of(graph, table)
    value = max(
        solve(objective, Request(method, rng=rng, bound=None, time_limit=3.0)).value
        for method in ("auto", "anneal")
    )
    quick = best_upper_bound(objective)
    start = time.perf_counter()
    bound = best_upper_bound(objective, effort="tight", time_limit=10.0)
    seconds = time.perf_counter() - start
    return (
        certified(objective, quick, value),
        certified(objective, bound, value),
        seconds,
        bound.name,
    )


def large_cuts(sizes: list[int]) -> list[str]:
    """One line per size: a cut and its bound."""
    lines = [
        "| edges | nodes | cut / edges | bound / edges | cut / bound | cut s | bound s | bound |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n_edges in sizes:
        graph = random_graph(np.random.default_rng(0), n_edges // 5, 10)
        objective = Objective.of(graph, MAX_CUT)
        start = time.perf_counter()
        found = solve(objective, Request(rng=0, bound=None, time_limit=10.0))
        middle = time.perf_counter()
        bound = best_upper_bound(objective, effort="tight", time_limit=15.0)
        end = time.perf_counter()
        m = graph.n_arcs
        lines.append(
            f"| {m // 2:,} | {graph.n_nodes:,} | {found.value / m:.4f} | {bound.value / m:.4f} "
            f"| {found.value / bound.value:.4f} | {middle - start:.1f} | {end - middle:.1f} "
            f"| {bound.name} |"
        )
    return lines


def main() -> None:
    """Print the tables."""
    quick = "--quick" in sys.argv
    _certificates(20, 3, 3, seed=0)  # compiles everything
    print("\n".join(small_graphs(1 if quick else 5)))
    print()
    print("\n".join(large_cuts([10**5] if quick else [10**5, 10**6])))


if __name__ == "__main__":
    main()
