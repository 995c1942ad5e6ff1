"""What the gate costs: whole runs with it and without, in one run.

``python benchmarks/bench_gate.py [RUNS]`` prints a markdown table (default 24 runs each): m = 156,
d = 5, the paper's instance. "Without" watches nothing at all, not even for slips of the finger;
both take the same rounds with the same rewards, one after the other, by process time.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np

import edgewise as ew

GRAPHS = ("star", "complete", "circle", "matching")


def seconds(
    problem: ew.Problem, matrix: np.ndarray, seed: int, *, watched: bool
) -> tuple[float, int]:
    """Process time of a run to its answer, and its rounds."""
    network = ew.BilinearEnvironment(problem, matrix, rng=seed)
    learner = ew.Learner(problem, rng=seed, trust_model=not watched)
    if not watched:
        learner._state = replace(learner._state, watch=None)
    spent = 0.0
    while not learner.verdict.stop:
        start = time.process_time()
        ticket = learner.ask()
        spent += time.process_time() - start
        rewards = network(ticket.arms)
        start = time.process_time()
        learner.tell(ticket, rewards)
        spent += time.process_time() - start
    return spent, learner.rounds


def row(graph: str, runs: int) -> str:
    """One graph: milliseconds a round with and without, and what the gate adds."""
    arms, matrix = ew.simulation.paper_instance(5, 0.1)
    problem = ew.Problem(getattr(ew.Graph, graph)(n_edges=156), arms)
    for watched in (True, False):
        seconds(problem, matrix, 0, watched=watched)
    pairs = [
        [seconds(problem, matrix, seed, watched=watched) for watched in (True, False)]
        for seed in range(1, runs + 1)
    ]
    times = np.array([[one[0] for one in pair] for pair in pairs])
    rounds = sum(pair[0][1] for pair in pairs)
    assert rounds == sum(pair[1][1] for pair in pairs)
    total = times.sum(axis=0)
    return (
        f"| {graph} | {rounds / runs:.1f} | {1e3 * total[0] / rounds:.3f} | "
        f"{1e3 * total[1] / rounds:.3f} | {total[0] / total[1] - 1:.0%} | "
        f"{np.median(times[:, 0] / times[:, 1]) - 1:.0%} |"
    )


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    print("| graph | rounds | ms a round | without | the gate adds | median of runs |")
    print("|---|---|---|---|---|---|")
    for graph in GRAPHS:
        print(row(graph, runs), flush=True)


if __name__ == "__main__":
    main()
