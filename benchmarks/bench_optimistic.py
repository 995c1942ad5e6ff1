"""Total reward of ``optimistic`` beside the authors' algorithm for regret.

    python benchmarks/bench_optimistic.py [--runs 20] [--first 0]

The peer's kind of experiment: five arms e_1 .. e_5, M = |Gaussian| scaled to norm 4 with the
diagonal entries of its best pair set to 0, noise 1; star, complete graph, circle and matching. The
same matrices for all; seeds from --first on. Rewards are true means, as a share of the optimum.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np

import edgewise as ew
from alpha_no_regret import AlphaNoRegret
from edgewise.allocation.instance.objective import global_reward
from edgewise.base.arrays import Array, Indices
from edgewise.core.learner import initial_state, tell_round
from edgewise.core.revision import go_on
from edgewise.core.setting import Setting
from edgewise.strategies import Optimistic, Strategy

CHECKED = (10, 100, 1000)
GRAPHS: dict[str, Callable[[], ew.Graph]] = {
    "complete, 5 nodes (theirs)": lambda: ew.Graph.complete(n_nodes=5),
    "star, 13 nodes": lambda: ew.Graph.star(n_nodes=13),
    "complete, 13 nodes": lambda: ew.Graph.complete(n_nodes=13),
    "circle, 12 nodes": lambda: ew.Graph.circle(n_nodes=12),
    "matching, 24 nodes": lambda: ew.Graph.matching(n_nodes=24),
}
OURS: dict[str, Strategy] = {
    "optimistic": Optimistic(),
    "optimistic, proved width": Optimistic(width=None),
}


def matrix_of(seed: int) -> Array:
    """As in the peer's experiments."""
    rng = np.random.default_rng((2022, seed))
    M = np.abs(rng.standard_normal((5, 5)))
    M *= 4.0 / np.linalg.norm(M)
    k, l = np.unravel_index((M + M.T).argmax(), M.shape)
    M[k, k] = M[l, l] = 0.0
    return M


def joint_arms(
    name: str, problem: ew.Problem, environment: ew.BilinearEnvironment, seed: int
) -> Iterator[Indices]:
    """What a method deploys, round after round."""
    if name in OURS:
        setting = Setting.of(
            problem, delta=0.05, epsilon=None, strategy=OURS[name], stopping=None, trust_model=True
        )
        state = initial_state(setting, seed)
        while True:
            arms = setting.plan.joint_arm(problem, state)
            yield arms
            state = tell_round(setting, state, arms, environment(arms))
            if state.verdict.stop and state.verdict.round == state.rounds:
                state = go_on(setting, state)
    peer = AlphaNoRegret(
        problem.arms,
        problem.graph.arcs.astype(np.int64),
        problem.graph.n_nodes,
        1.0,
        name.endswith("improved"),
        np.random.default_rng(seed),
    )
    while True:
        arms = peer.joint_arm()
        yield arms
        peer.tell(arms, environment(arms))


def totals(name: str, graph: ew.Graph, seed: int) -> Array:
    """Share of the optimum earned after each of CHECKED rounds."""
    M = matrix_of(seed)
    problem = ew.Problem(graph, np.eye(5), noise=1.0)
    environment = ew.BilinearEnvironment(problem, M, rng=seed)
    best = ew.allocate(graph, problem.arms, M).value
    total, found = 0.0, []
    rounds = joint_arms(name, problem, environment, seed)
    for number in range(1, CHECKED[-1] + 1):
        total += global_reward(graph, M, next(rounds))
        if number in CHECKED:
            found.append(total / number / best)
    return np.array(found)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.runs)
    columns = " | ".join(f"{number} rounds" for number in CHECKED)
    print(f"| graph | method | {columns} | CPU s a run |")
    for graph_name, make in GRAPHS.items():
        for name in (*OURS, "alpha-no-regret", "alpha-no-regret, improved"):
            start = time.process_time()
            shares = np.array([totals(name, make(), seed) for seed in seeds])
            spent = (time.process_time() - start) / options.runs
            cells = " | ".join(
                f"{mean:.3f} ({error:.3f})"
                for mean, error in zip(
                    shares.mean(axis=0), shares.std(axis=0) / np.sqrt(len(shares)), strict=True
                )
            )
            print(f"| {graph_name} | {name} | {cells} | {spent:.2f} |", flush=True)


if __name__ == "__main__":
    main()
