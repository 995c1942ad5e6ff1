"""What the demo says beside its answer: values, no output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import edgewise as ew
from edgewise.allocation.instance.objective import global_reward, reward_bounds
from edgewise.base.arrays import Array


@dataclass(frozen=True)
class Grades:
    """True rewards of the answer and its alternatives, and rounds other methods need."""

    rewards: tuple[tuple[str, float], ...]
    upper_bound: float
    rounds: tuple[tuple[str, float], ...]


def graded(report: ew.Report, matrix: Array, *, seed: int) -> Grades:
    """Grade a report on a simulated instance against the truth and against Algorithm 2."""
    problem = report.problem
    truth = (problem.arms @ matrix @ problem.arms.T)[None]
    _, upper = reward_bounds(problem.graph, truth)
    rewards = []
    if report.allocation is not None:
        rewards.append(("edgewise", global_reward(problem.graph, truth, report.allocation.arms)))
    rewards += [
        (row.name, global_reward(problem.graph, truth, row.arms)) for row in report.baselines
    ]
    rewards.append(("random nodes", float(problem.graph.n_arcs * truth.mean())))
    return Grades(tuple(rewards), upper, _rounds(report, matrix, seed))


def _rounds(report: ew.Report, matrix: Array, seed: int) -> tuple[tuple[str, float], ...]:
    problem = report.problem
    others = [name for name in ("g-optimal", "paper") if name != report.strategy]
    bound = ew.theory.lower_bound(
        problem.graph,
        problem.arms,
        matrix,
        noise=problem.stated_noise,
        delta=report.delta,
        designs="realisable",
    )
    return (
        (f"edgewise ({report.strategy}, {report.stopping})", float(report.rounds)),
        *(_one_run(report, matrix, name, seed) for name in others),
        ("lower bound for any method", bound.rounds),
    )


_TITLES = {"paper": "Algorithm 2 of the paper", "g-optimal": "independent nodes (g-optimal)"}


def _one_run(report: ew.Report, matrix: Array, strategy: str, seed: int) -> tuple[str, float]:
    """Rounds of one simulated run of another strategy, within a generous budget."""
    runs = ew.simulation.replicate(
        report.problem,
        matrix,
        repetitions=1,
        strategy=strategy,
        delta=report.delta,
        max_rounds=max(20_000, 50 * report.rounds),
        rng=np.random.default_rng(seed),
    )
    limit = "" if runs.certified.all() else ", not certified by then"
    return f"{_TITLES[strategy]}{limit}", runs.mean_rounds
