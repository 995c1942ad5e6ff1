"""What the suites share: small problems of every sort, and how to count errors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from edgewise.base.arrays import Array, Indices
from edgewise.core.learner import tell_round
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.network.graph import Graph
from edgewise.simulation.environment import BilinearEnvironment

FALSE_ALARM = 1e-6
"""How often at most a statistical test fails something that is in order."""


class OnCases:
    """A suite whose tests with an argument ``case`` run once for every one of ``cases``."""

    cases: ClassVar[Mapping[str, Any]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Pytest asks which tests to make."""
        if "case" in metafunc.fixturenames:
            metafunc.parametrize("case", list(self.cases.values()), ids=list(self.cases))


@dataclass(frozen=True, eq=False)
class Case:
    """A problem and the truth about it."""

    problem: Problem
    matrix: Any
    beta: Any = None

    def environment(self, rng: int) -> BilinearEnvironment:
        """The truth, measured with the problem's noise."""
        return BilinearEnvironment(self.problem, self.matrix, beta=self.beta, rng=rng)

    def rewards(self, state: LearnerState, arms: Indices) -> Array:
        """(m,) of the round after ``state``: a function of the round, not of earlier calls."""
        return self.environment(state.rounds)(arms)


_PAIRS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5)]
_ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
_MATRIX = np.array([[0.2, -0.5], [0.1, 1.5]])
_DIRECTED = Graph.from_edges(
    [*_PAIRS, (5, 0), (1, 4), (3, 0), (5, 2)], directed=True, kinds=[0, 1] * 5
)
_MASK = np.array([[True, True, True], [True, True, False], [True, False, True]] * 2)


def _problem(graph: Graph, **options: Any) -> Problem:
    return Problem(graph, _ARMS, noise=0.3, **options)


INSTANCES: dict[str, Case] = {
    "undirected": Case(_problem(Graph.from_edges(_PAIRS)), _MATRIX),
    "directed kinds": Case(_problem(_DIRECTED), [_MATRIX, [[0.0, 1.2], [-0.6, 0.1]]]),
    "weights": Case(
        _problem(Graph.from_edges(_PAIRS, weights=[1.0, 2.0, -1.0, 0.5, 1.0, -2.0])), _MATRIX
    ),
    "candidates": Case(_problem(Graph.from_edges(_PAIRS), candidates=_MASK), _MATRIX),
    "node term": Case(
        _problem(Graph.from_edges(_PAIRS), node_term=True), _MATRIX, beta=[-0.3, 0.4]
    ),
}
"""Six nodes and three arms each; arm 0 is allowed everywhere, and (0, 0) is never the best pair."""

NEAR_TIE = Case(Problem(Graph.circle(n_nodes=10), np.eye(2)), np.diag([0.5, 0.499]))
"""(0, 0) is better than (1, 1), by too little to be learnt: who certifies here tosses a coin."""


def setting_of(instance: Case, **options: Any) -> Setting:
    """What a learner with these options works with."""
    usual: dict[str, Any] = {
        "delta": 0.05,
        "epsilon": None,
        "strategy": "adaptive",
        "stopping": None,
        "target": "pair",
    }
    return Setting.of(instance.problem, **{**usual, **options})


def after_round(setting: Setting, state: LearnerState, instance: Case) -> LearnerState:
    """The state after one more round that measures the truth."""
    arms = setting.plan.joint_arm(instance.problem, state)
    return tell_round(setting, state, arms, instance.rewards(state, arms))


def too_many(errors: int, runs: int, delta: float) -> bool:
    """Exact binomial test of "the error rate is at most delta", false alarm ``FALSE_ALARM``."""
    tail = math.fsum(
        math.comb(runs, k) * delta**k * (1.0 - delta) ** (runs - k) for k in range(errors, runs + 1)
    )
    return tail < FALSE_ALARM
