"""Absolute times of the hot paths, kept over releases by pytest-benchmark.

``make bench`` runs it, ``make bench-compare`` holds it against the last release of ``history/``.
Ratios against references are in the ``bench_*.py`` scripts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.base.arrays import Array


@pytest.fixture
def instance() -> tuple[ew.Problem, Array]:
    arms, matrix = ew.simulation.paper_instance(5, 0.1)
    return ew.Problem(ew.Graph.circle(n_edges=156), arms), matrix


@pytest.mark.parametrize("strategy", ["g-optimal", "adaptive"])
def test_ask_and_tell(benchmark: Any, instance: tuple[ew.Problem, Array], strategy: str) -> None:
    problem, _ = instance
    rewards = np.random.default_rng(0).standard_normal(problem.graph.n_arcs)
    learner = ew.Learner(problem, strategy=strategy, rng=0)
    benchmark.pedantic(lambda: learner.tell(learner.ask(), rewards), rounds=50, warmup_rounds=3)


@pytest.mark.parametrize("strategy", ["paper", "g-optimal", "adaptive"])
def test_one_run(benchmark: Any, instance: tuple[ew.Problem, Array], strategy: str) -> None:
    problem, matrix = instance
    benchmark.pedantic(
        lambda: ew.simulation.replicate(problem, matrix, repetitions=1, strategy=strategy, rng=0),
        rounds=15,
        warmup_rounds=1,
    )


def test_report(benchmark: Any, instance: tuple[ew.Problem, Array]) -> None:
    problem, matrix = instance
    learner = ew.Learner(problem, delta=1e-12, rng=0)  # not certified after 20 rounds
    environment = ew.BilinearEnvironment(problem, matrix, rng=1)
    for _ in range(20):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
    benchmark(learner.report)


def test_design(benchmark: Any) -> None:
    arms = np.random.default_rng(0).standard_normal((1000, 10))
    benchmark(lambda: ew.g_optimal(arms, tolerance=1e-9))
