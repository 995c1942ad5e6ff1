"""Rounds to a certificate: every strategy on the paper's instances and on random ones.

``python benchmarks/bench_rounds.py [REPETITIONS]`` prints markdown tables (default 30 runs each);
``python benchmarks/bench_rounds.py rules [REPETITIONS]`` only those that compare ``anytime`` with
what it was before, ``rivalwise``, and with the lower bounds (default 200 runs each).
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.core.aim import Aim
from edgewise.core.evidence.measuring import after
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.state import LearnerState
from edgewise.core.strategies import Adaptive
from edgewise.core.strategies.adaptive import AdaptivePhases
from edgewise.core.strategies.plan import upcoming
from edgewise.core.targets.truth import Truth
from edgewise.simulation import Replications

GRAPHS = ("star", "complete", "circle", "matching")
METHODS = (
    ("paper", "paper"),
    ("g-optimal", "mixture"),
    ("contrast", "anytime"),
    ("adaptive", "anytime"),
)
RULES = ("rivalwise", "anytime")
"""Before and now."""


def paper_table(repetitions: int) -> None:
    """Mean rounds by graph, dimension and angle; m = 156, delta = 0.05, sigma = 1."""
    names = " | ".join(f"{strategy}, {rule}" for strategy, rule in METHODS)
    print(f"| omega | d | graph | {names} | ratio paper/adaptive | wrong | s per adaptive run |")
    print("|---" * (6 + len(METHODS)) + "|")
    for omega in (0.1, math.pi / 2):
        for dimension in (2, 3, 5, 7):
            for graph in GRAPHS:
                _paper_row(omega, dimension, graph, repetitions)


def _paper_row(omega: float, dimension: int, graph: str, repetitions: int) -> None:
    arms, matrix = ew.simulation.paper_instance(dimension, omega)
    problem = ew.Problem(getattr(ew.Graph, graph)(n_edges=156), arms)
    cells, means, wrong, seconds = [], [], 0, 0.0
    for strategy, rule in METHODS:
        start = time.perf_counter()
        runs = ew.simulation.replicate(
            problem, matrix, repetitions=repetitions, strategy=strategy, stopping=rule, rng=0
        )
        seconds = (time.perf_counter() - start) / repetitions
        error = runs.rounds.std(ddof=1) / math.sqrt(repetitions)
        cells.append(f"{runs.mean_rounds:.1f} ± {error:.1f}")
        means.append(runs.mean_rounds)
        wrong += runs.errors
    print(
        f"| {omega:.2f} | {dimension} | {graph} | {' | '.join(cells)} "
        f"| {means[0] / means[-1]:.0f} | {wrong} | {seconds:.2f} |",
        flush=True,
    )


def rules_table(repetitions: int) -> None:
    """Mean rounds of the adaptive strategy with both rules, and both lower bounds; m = 156."""
    print("| delta | omega | d | graph | rivalwise | anytime | ratio | printed bound ", end="")
    print("| bound for the graph | anytime / bound | wrong | CPU s per run, before and now |")
    print("|---" * 12 + "|")
    for delta in (0.05, 1e-10):
        for omega in (0.1, math.pi / 2):
            for dimension in (2, 3, 5, 7):
                for graph in GRAPHS:
                    runs = repetitions if delta > 1e-3 else max(repetitions // 5, 2)
                    _rules_row(delta, omega, dimension, graph, runs)


def _rules_row(delta: float, omega: float, dimension: int, graph: str, repetitions: int) -> None:
    arms, matrix = ew.simulation.paper_instance(dimension, omega)
    problem = ew.Problem(getattr(ew.Graph, graph)(n_edges=156), arms)
    (before, slow), (now, fast) = (
        _timed(problem, matrix, rule, repetitions, delta=delta, rng=0) for rule in RULES
    )
    printed = ew.theory.lower_bound(problem.graph, arms, matrix, delta=delta, nats="printed")
    here = ew.theory.lower_bound(problem.graph, arms, matrix, delta=delta, designs="realisable")
    print(
        f"| {delta:g} | {omega:.2f} | {dimension} | {graph} | {_mean(before)} | {_mean(now)} "
        f"| {now.mean_rounds / before.mean_rounds:.2f} | {printed.rounds:.2f} | {here.rounds:.2f} "
        f"| {now.mean_rounds / here.rounds:.2f} | {before.errors + now.errors} "
        f"| {slow:.3f} {fast:.3f} |",
        flush=True,
    )


def _timed(
    problem: ew.Problem, matrix: Array, rule: str, repetitions: int, **options: Any
) -> tuple[Replications, float]:
    start = time.process_time()
    asked = {"target": "pair", **options}
    runs = ew.simulation.replicate(problem, matrix, repetitions=repetitions, stopping=rule, **asked)
    return runs, (time.process_time() - start) / repetitions


def _mean(runs: Replications) -> str:
    error = runs.rounds.std(ddof=1) / math.sqrt(len(runs.rounds))
    return f"{runs.mean_rounds:.1f} ± {error:.1f}"


def rules_on_random(repetitions: int, n_instances: int = 50) -> None:
    """Rounds of ``anytime`` over those of ``rivalwise``."""
    ratios, wrong = [], 0
    for seed in range(n_instances):
        problem, matrix = random_instance(seed)
        (before, _), (now, _) = (
            _timed(problem, matrix, rule, repetitions, rng=seed, max_rounds=50_000)
            for rule in RULES
        )
        ratios.append(now.mean_rounds / before.mean_rounds)
        wrong += before.errors + now.errors
    mean = math.exp(float(np.log(ratios).mean()))
    print(f"\n{n_instances} random instances, anytime / rivalwise: {mean:.2f} times the rounds in ")
    print(f"geometric mean ({min(ratios):.2f} to {max(ratios):.2f}); {wrong} wrong", flush=True)


def random_instance(seed: int) -> tuple[ew.Problem, Array]:
    """K = 8 unit Gaussian arms in R^3, Gaussian M, a random graph with m = 130."""
    rng = np.random.default_rng([2021, seed])
    arms = rng.standard_normal((8, 3))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    n_nodes = int(rng.integers(20, 60))
    first, second = np.triu_indices(n_nodes, k=1)
    chosen = rng.choice(len(first), size=65, replace=False)
    used, edges = np.unique(np.column_stack([first, second])[chosen], return_inverse=True)
    graph = ew.Graph.from_edges(edges.reshape(-1, 2), n_nodes=len(used))
    return ew.Problem(graph, arms), rng.standard_normal((3, 3))


def allocation_instances() -> dict[str, tuple[ew.Problem, Any, dict[str, Any]]]:
    """Problem, matrices and options where a pair does not tell what matters."""
    rng = np.random.default_rng(16)
    kinds = rng.integers(0, 2, 40)
    arcs = ew.Graph.from_edges(
        [(i, (i + step) % 20) for step in (1, 3) for i in range(20)], directed=True, kinds=kinds
    )
    data = Path(__file__).parents[1] / "examples" / "data"
    names = np.loadtxt(data / "graph.csv", str, delimiter=",", skiprows=1)
    _, links = np.unique(names, return_inverse=True)
    bands = np.loadtxt(data / "arms.csv", delimiter=",", skiprows=1, usecols=(1, 2, 3))
    between = np.loadtxt(data / "matrix.csv", delimiter=",", skiprows=1)
    cells = ew.Graph.from_edges(links.reshape(-1, 2))
    return {
        "odd circle, 25 nodes": (
            ew.Problem(ew.Graph.circle(n_nodes=25), np.eye(3)),
            [[0.1, 1.0, 0.3], [0.8, 0.0, 0.6], [0.2, 0.5, 0.4]],
            {},
        ),
        "complete graph, 9 nodes": (
            ew.Problem(ew.Graph.complete(n_nodes=9), rng.normal(size=(4, 2))),
            rng.normal(size=(2, 2)),
            {},
        ),
        "directed, two kinds": (
            ew.Problem(arcs, rng.normal(size=(4, 2))),
            0.2 * rng.normal(size=(2, 2, 2)),
            {},
        ),
        "ten cells of the tutorial": (
            ew.Problem(cells, bands, noise=0.1),
            between,
            {"epsilon": 1.0},
        ),
        "ten cells, default tolerance": (ew.Problem(cells, bands, noise=0.1), between, {}),
    }


def allocations_table(repetitions: int) -> None:
    """Mean rounds until an allocation is certified, with equal and with learnt levels."""
    print(
        "\n| allocation of | rivalwise | anytime | ratio | wrong | CPU s per run, before and now |"
    )
    print("|---" * 6 + "|")
    for name, (problem, matrix, options) in allocation_instances().items():
        (before, slow), (now, fast) = (
            _timed(problem, matrix, rule, repetitions, target="allocation", rng=0, **options)
            for rule in RULES
        )
        print(
            f"| {name} | {_mean(before)} | {_mean(now)} "
            f"| {now.mean_rounds / before.mean_rounds:.2f} | {before.errors + now.errors} "
            f"| {slow:.3f} {fast:.3f} |",
            flush=True,
        )


def random_table(repetitions: int, n_instances: int = 50) -> None:
    """Ratio of rounds, g-optimal with mixture over adaptive with anytime."""
    ratios = []
    for seed in range(n_instances):
        problem, matrix = random_instance(seed)
        static, adaptive = (
            ew.simulation.replicate(
                problem, matrix, repetitions=repetitions, strategy=name, rng=seed, max_rounds=50_000
            )
            for name in ("g-optimal", "adaptive")
        )
        ratios.append(static.mean_rounds / adaptive.mean_rounds)
    mean = math.exp(float(np.log(ratios).mean()))
    print(f"\n{n_instances} random instances: {mean:.2f}x fewer rounds in geometric mean ", end="")
    print(f"(worst {min(ratios):.2f}x, best {max(ratios):.2f}x)", flush=True)


def layout_table(n_rounds: int = 60) -> None:
    """How near the joint arms that are laid out come to the best design the graph can carry."""
    print("\n| omega | d | graph | rho of the layout | best realisable, proved | ratio |")
    print("|---" * 6 + "|")
    for omega in (0.1, math.pi / 2):
        for dimension in (2, 5):
            arms, matrix = ew.simulation.paper_instance(dimension, omega)
            for graph in GRAPHS:
                problem = ew.Problem(getattr(ew.Graph, graph)(n_edges=156), arms)
                best = ew.theory.rho_realisable(problem.graph, arms, matrix).lower
                ours = _layout_rho(problem, matrix, n_rounds)
                print(
                    f"| {omega:.2f} | {dimension} | {graph} | {ours:.4g} | {best:.4g} "
                    f"| {ours / best:.2f} |",
                    flush=True,
                )


def _layout_rho(problem: ew.Problem, matrix: Array, n_rounds: int) -> float:
    """max_z y'A^-1 y / gap^2 per observation after rounds laid out for the true gaps."""
    plan = Adaptive()(problem)
    assert isinstance(plan, AdaptivePhases)
    cells = plan.cells
    truth = Truth.of(problem, matrix)
    means = cells.averages(truth.tables)[0]
    leader = int(means.argmax())
    rivals = np.flatnonzero(means < means[leader] - 1e-9)
    gaps = means[leader] - means[rivals]
    needs = gaps.min() ** 2 / gaps**2
    zeros = np.zeros(len(rivals), np.int64)
    aim = Aim(zeros, zeros + leader, rivals, needs, n_rounds)
    state = LearnerState.start(problem, cells, aim, seed=0)
    for _ in range(n_rounds):
        observations, information, _ = upcoming(plan, problem, state, 1)
        told = CellStatistics(observations, information, 0.0 * information, 0.0 * information)
        state = replace(
            state,
            statistics=after(state.statistics, told)[-1],
            rounds=state.rounds + 1,
            phase_rounds=state.phase_rounds + 1,
        )
    A = cells.grams(state.statistics.information)[0] / state.statistics.information.sum()
    contrasts = cells.features[0, leader] - cells.features[0, rivals]
    variances = (contrasts * np.linalg.solve(A, contrasts.T).T).sum(axis=1)
    return float((variances / gaps**2).max())


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["rules"]:
        repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 200
        rules_table(repetitions)
        rules_on_random(max(repetitions // 10, 2))
        allocations_table(max(repetitions // 5, 2))
        return
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    paper_table(repetitions)
    rules_table(repetitions)
    rules_on_random(repetitions)
    allocations_table(repetitions)
    layout_table()
    random_table(repetitions)


if __name__ == "__main__":
    main()
