"""Drive edgewise against a system of your own: ask, deploy, tell, survive a restart.

Run: python examples/live_system.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import edgewise as ew


def deploy(problem: ew.Problem, arms: np.ndarray[Any, Any], night: int) -> list[float]:
    """Stand-in for the real network: one reward per arc, some measurements missing."""
    rng = np.random.default_rng(night)
    M = np.array([[0.4, 1.0, 0.0], [1.0, -0.5, 0.2], [0.0, 0.2, 0.6]])
    x = problem.arms[arms]
    first, second = problem.graph.arcs.T
    rewards = np.einsum("ed,df,ef->e", x[first], M, x[second])
    rewards += problem.noise * rng.standard_normal(len(rewards))
    rewards[rng.random(len(rewards)) < 0.05] = np.nan
    return [float(reward) for reward in rewards]


def main() -> None:
    """One process per night: load, tell last night's rewards, ask, save."""
    graph = ew.Graph.from_edges(
        [("north", "hub"), ("east", "hub"), ("south", "hub"), ("west", "hub"), ("north", "east")]
    )
    problem = ew.Problem(graph, np.eye(3), noise=0.4, arm_labels=["low", "mid", "high"])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.json"
        save(file, ew.Learner(problem, delta=0.05, strategy="adaptive", rng=7))
        while True:
            learner = ew.Learner.restore(problem, json.loads(file.read_text(encoding="utf-8")))
            if learner.verdict.stop:
                break
            ticket = learner.ask()
            learner.tell(ticket, deploy(problem, ticket.arms, night=ticket.round))
            save(file, learner)
    report = learner.report()
    print(report)
    assert report.allocation is not None
    for node, arm in zip(graph.labels, report.allocation.arms, strict=True):
        print(f"{node}: {('low', 'mid', 'high')[arm]}")


def save(file: Path, learner: ew.Learner) -> None:
    """Write the state where a crash cannot tear it: a new file, then a rename."""
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(learner.save(), default=lambda array: array.tolist()), "utf-8")
    fresh.replace(file)


if __name__ == "__main__":
    main()
