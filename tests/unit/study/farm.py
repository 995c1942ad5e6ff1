"""A small problem that the tests of studies share, and its simulator."""

from __future__ import annotations

from typing import Any

import numpy as np

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.study.log.snapshot import snapshot_of

GRAPH = ew.Graph.from_edges([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")])
ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
PROBLEM = ew.Problem(GRAPH, ARMS, noise=0.5, arm_labels=["low", "high", "mixed"])
MATRIX = np.array([[1.0, 0.3], [-0.1, 0.2]])


def measure(number: int, arms: Indices, problem: ew.Problem = PROBLEM) -> Array:
    """Rewards of a round: the same whenever and wherever it is measured."""
    return ew.BilinearEnvironment(problem, MATRIX, rng=1000 + number)(arms)


def run(study: ew.Study, n_rounds: int) -> ew.Study:
    """Take rounds, each answered in full."""
    for _ in range(n_rounds):
        ticket = study.ask()
        study.tell(ticket, measure(ticket.round, ticket.arms))
    return study


def state_of(study: ew.Study) -> bytes:
    """Everything the study knows, bit for bit."""
    return snapshot_of(study._session.present().state)


def kinds(study: ew.Study) -> list[str]:
    """The names of the events in the log."""
    return [type(event).__name__ for _, event in study.log()]


def endless(**options: Any) -> dict[str, Any]:
    """Options under which the rule does not stop for hundreds of rounds."""
    return {"delta": 1e-300, "rng": 5, **options}
