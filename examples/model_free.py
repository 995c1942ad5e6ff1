"""edgewise beside optimisers that know nothing of networks, on the same simulated network.

Thirty nodes, five settings each, unequal links, noise. All deploy one joint configuration a round.
What each sees of a round: edgewise the reward of every arc; hill climbing the rewards around the
node that it tries; random search and Optuna's TPE the total, as they know no parts. So this is a
comparison of what a network's structure is worth, not of tuning.

Run: python examples/model_free.py [rounds] [seeds]
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import edgewise as ew

Array = np.ndarray[Any, Any]
Deploy = Callable[[Array], Array]
N_NODES, N_ARMS = 30, 5


def network(seed: int) -> tuple[ew.Problem, ew.simulation.HierarchicalWorld]:
    """A ring with chords, settings on a scale, links alike but not equal."""
    ring = [(i, (i + 1) % N_NODES) for i in range(N_NODES)]
    chords = [(i, (i + 11) % N_NODES) for i in range(0, N_NODES, 2)]
    scale = np.linspace(-1, 1, N_ARMS)
    arms = np.column_stack([np.ones(N_ARMS), scale, scale**2])
    graph = ew.Graph.from_edges(ring + chords)
    problem = ew.Problem(graph, arms, noise=0.5, pooling="partial")
    matrix = np.random.default_rng(seed).standard_normal((3, 3))
    return problem, ew.simulation.HierarchicalWorld.draw(problem, matrix, spread=0.5, rng=seed)


def edgewise(problem: ew.Problem, deploy: Deploy, rounds: int, seed: int) -> Array:
    """Posterior sampling; the answer is the best joint arm of the posterior mean."""
    report = ew.identify(problem, deploy, strategy="thompson", max_rounds=rounds, rng=seed)
    assert report.allocation is not None
    return np.asarray(report.allocation.arms)


def hill_climbing(problem: ew.Problem, deploy: Deploy, rounds: int, seed: int) -> Array:
    """Change one node, keep it if the rewards around it went up."""
    rng = np.random.default_rng(seed)
    arms = np.full(N_NODES, N_ARMS // 2)
    last = deploy(arms)
    for _ in range(rounds - 1):
        tried, node = arms.copy(), rng.integers(N_NODES)
        tried[node] = rng.integers(N_ARMS)
        rewards = deploy(tried)
        around = (problem.graph.arcs == node).any(axis=1)
        if rewards[around].sum() > last[around].sum():
            arms, last = tried, rewards
    return arms


def random_search(problem: ew.Problem, deploy: Deploy, rounds: int, seed: int) -> Array:
    """The best of random configurations, by what was measured."""
    shape = (rounds, problem.graph.n_nodes)
    tried = np.random.default_rng(seed).integers(0, N_ARMS, shape)
    return np.asarray(tried[int(np.argmax([deploy(arms).sum() for arms in tried]))])


def tpe(problem: ew.Problem, deploy: Deploy, rounds: int, seed: int) -> Array:
    """Optuna's default sampler."""
    optuna: Any = importlib.import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    nodes = list(map(str, range(problem.graph.n_nodes)))

    def total(trial: Any) -> float:
        arms = np.array([trial.suggest_int(node, 0, N_ARMS - 1) for node in nodes])
        return float(deploy(arms).sum())

    study.optimize(total, n_trials=rounds)
    return np.array([study.best_params[node] for node in nodes])


def main() -> None:
    """Share of the possible gain over today's configuration, by method."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    seeds = range(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
    methods: list[Callable[..., Array]] = [edgewise, hill_climbing, random_search]
    if importlib.util.find_spec("optuna"):
        methods.append(tpe)
    else:
        print("(Optuna is not installed: its sampler is left out)")
    shares = {
        method.__name__: [_share(method, rounds, seed) for seed in seeds] for method in methods
    }
    print(f"share of the possible gain after {rounds} rounds, {len(seeds)} networks")
    for name, found in shares.items():
        each = "  ".join(f"{share:4.0%}" for share in found)
        print(f"{name:>14}  {np.mean(found):4.0%}   each: {each}")


def _share(method: Callable[..., Array], rounds: int, seed: int) -> float:
    problem, world = network(seed)
    deploy = world.environment(rng=seed + 100)
    arms = method(problem, deploy, rounds, seed)
    best = world.best.value
    today = world.value(np.full(N_NODES, N_ARMS // 2))
    return (world.value(arms) - today) / (best - today)


if __name__ == "__main__":
    main()
