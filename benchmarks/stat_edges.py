"""How often reports say that edges differ: part of ``make stat``.

``python benchmarks/stat_edges.py [RUNS]`` (default 200) prints a markdown table: the share of runs
whose report says so at some look, on data from the model (at most 5 % are allowed) and where the
matrices of edges deviate (the negative control: almost all must be noticed). Ends with code 1 if
not.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import binom

import edgewise as ew
from edgewise.core.evidence.by_edge import edges_differ
from edgewise.simulation import HierarchicalWorld

ROUNDS = 20
SAID = 0.01
ALLOWED = 0.05
ARMS = np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]])
MEAN = np.array([[0.3, 0.2], [0.2, -0.4]])


def says(spread: float, strategy: str, seed: int) -> bool:
    """Whether some look within the rounds says that edges differ."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=20), ARMS, noise=0.3)
    world = HierarchicalWorld.draw(problem, MEAN, spread=spread, rng=seed)
    deploy = world.environment(rng=seed + 1)
    learner = ew.Learner(problem, strategy=strategy, delta=1e-300, rng=seed)
    for number in range(1, ROUNDS + 1):
        ticket = learner.ask()
        learner.tell(ticket, deploy(ticket.arms))
        if number % 5 == 0:
            found = edges_differ(learner._state.by_edge)
            if found is not None and found.score is not None and found.score.p_value < SAID:
                return True
    return False


def main() -> None:
    """Print the table; fail if a row is not what it should be."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("| edges | strategy | runs | said to differ | as it should |\n|---|---|---|---|---|")
    failed = False
    for spread, name in ((0.0, "equal"), (0.5, "deviate by half")):
        for strategy in ("g-optimal", "adaptive"):
            count = sum(says(spread, strategy, seed) for seed in range(runs))
            fine = binom.sf(count - 1, runs, ALLOWED) > 1e-6 if spread == 0 else count > 0.9 * runs
            failed |= not fine
            print(f"| {name} | {strategy} | {runs} | {count} | {'yes' if fine else 'NO'} |")
    if failed:
        sys.exit("not as it should be")


if __name__ == "__main__":
    main()
