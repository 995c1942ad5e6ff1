"""What a limit costs: rounds to a certificate, and what is earned on the way.

    python benchmarks/bench_limits.py [--instances 20]

Random networks of 24 nodes and 48 edges, seven settings in their order (features 1, u, u^2), all
nodes at the middle setting today, noise 1; the same instances and seeds for every limit.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np

import edgewise as ew
from edgewise.allocation.instance.objective import global_reward
from edgewise.base.arrays import Array
from edgewise.core.ending import Ending
from edgewise.core.learner import initial_state, tell_round
from edgewise.core.reporting import compile_report
from edgewise.core.revision import go_on
from edgewise.core.setting import Setting
from edgewise.strategies import Adaptive, Limited, Strategy, Thompson

ROUNDS = 100
MOST = 1000
SETTINGS = np.linspace(-1.0, 1.0, 7)
ARMS = np.column_stack([np.ones(7), SETTINGS, SETTINGS**2])
LIMITS: dict[str, dict[str, float]] = {
    "none": {},
    "12 nodes change": {"changed": 12},
    "3 nodes change": {"changed": 3},
    "1 node changes": {"changed": 1},
    "2 steps": {"steps": 2},
    "1 step": {"steps": 1},
    "within 3 of the answer": {"within": 3},
    "within 2 of the answer": {"within": 2},
    "within 1 of the answer": {"within": 1},
    "a change costs 1 % of the gain": {"switching_cost": 0.01},
    "a change costs 10 % of the gain": {"switching_cost": 0.1},
    "1 step and 3 nodes": {"steps": 1, "changed": 3},
}


class Instance(NamedTuple):
    """A network and its truth."""

    problem: ew.Problem
    matrix: Array
    best: float
    today: float

    @classmethod
    def draw(cls, seed: int) -> Instance:
        """Twenty-four nodes, four neighbours each."""
        rng = np.random.default_rng(seed)
        ring = [(i, (i + k) % 24) for i in range(24) for k in (1, int(rng.integers(2, 11)))]
        graph = ew.Graph.from_edges(sorted({tuple(sorted(pair)) for pair in ring}))
        today = np.full(24, 3)
        problem = ew.Problem(graph, ARMS, noise=1.0, baseline=today)
        raw = rng.standard_normal((3, 3))
        table = ARMS @ raw @ ARMS.T
        best = ew.allocate(graph, ARMS, raw, method="exact").value
        return cls(problem, raw, best, global_reward(graph, table, today))


def limited(inner: Strategy, limits: dict[str, float], instance: Instance) -> Strategy:
    """The strategy within limits; a switching cost is a share of what can be gained."""
    if not limits:
        return inner
    scaled = dict(limits)
    if "switching_cost" in scaled:
        scaled["switching_cost"] *= instance.best - instance.today
    return Limited(inner, **scaled)  # type: ignore[arg-type]


def certified_after(instance: Instance, strategy: Strategy, seed: int) -> int:
    """Rounds to a certificate, at most MOST."""
    environment = ew.BilinearEnvironment(instance.problem, instance.matrix, rng=seed)
    report = ew.identify(
        instance.problem,
        environment,
        target="allocation",
        strategy=strategy,
        max_rounds=MOST,
        rng=seed,
    )
    return report.rounds


def earned(instance: Instance, strategy: Strategy, seed: int) -> tuple[float, float]:
    """Gain over today: in the mean of ROUNDS rounds, and of the answer after them."""
    problem = instance.problem
    table = ARMS @ instance.matrix @ ARMS.T
    environment = ew.BilinearEnvironment(problem, instance.matrix, rng=seed)
    setting = Setting.of(
        problem, delta=0.05, epsilon=None, strategy=strategy, stopping=None, target="allocation"
    )
    state, total = initial_state(setting, seed), 0.0
    for _ in range(ROUNDS):
        arms = setting.plan.joint_arm(problem, state)
        total += global_reward(problem.graph, table, arms)
        state = tell_round(setting, state, arms, environment(arms))
        if state.verdict.stop and state.verdict.round == state.rounds:
            state = go_on(setting, state)
    allocation = compile_report(setting, state, Ending.RUNNING).allocation
    assert allocation is not None
    answer = global_reward(problem.graph, table, allocation.arms)
    return total / ROUNDS - instance.today, answer - instance.today


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=20)
    n = parser.parse_args().instances
    instances = [Instance.draw(seed) for seed in range(n)]
    print("| limit | rounds to a certificate | earned by round 100 | answer then | s |")
    for name, limits in LIMITS.items():
        start = time.process_time()
        rounds = [
            certified_after(one, limited(Adaptive(), limits, one), seed)
            for seed, one in enumerate(instances)
        ]
        gains = [
            earned(one, limited(Thompson(), limits, one), seed)
            for seed, one in enumerate(instances)
        ]
        mean, answer = np.sum(gains, axis=0) / sum(one.best - one.today for one in instances)
        spent = time.process_time() - start
        open_runs = sum(one >= MOST for one in rounds)
        late = f" ({open_runs} of {n} not within {MOST})" if open_runs else ""
        print(
            f"| {name} | {np.median(rounds):.0f}{late} | {mean:.0%} | {answer:.1%} | {spent:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
