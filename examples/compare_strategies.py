"""How many rounds do the strategies need on your kind of network? Simulate before you start.

Run: python examples/compare_strategies.py
"""

from __future__ import annotations

import numpy as np

import edgewise as ew


def main() -> None:
    """Compare on a random network of 30 nodes with four arms."""
    rng = np.random.default_rng(0)
    ring = [(i, (i + 1) % 30) for i in range(30)]
    chords = [(i, (i + 7) % 30) for i in range(0, 30, 3)]
    graph = ew.Graph.from_edges(ring + chords)
    arms = rng.standard_normal((4, 2))
    matrix = np.array([[1.0, 0.3], [0.3, -0.6]])
    problem = ew.Problem(graph, arms, noise=8.0)
    bound = ew.theory.lower_bound(graph, arms, matrix, noise=8.0, delta=0.05)
    print(f"no method needs fewer than {bound.rounds:.1f} rounds")
    for strategy in ("paper", "g-optimal", "contrast", "adaptive"):
        runs = ew.simulation.replicate(
            problem, matrix, repetitions=20, strategy=strategy, max_rounds=20_000, rng=1
        )
        print(f"{strategy:>10}: {runs.mean_rounds:8.1f} rounds, {runs.errors} wrong of 20")


if __name__ == "__main__":
    main()
