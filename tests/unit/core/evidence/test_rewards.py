"""What looks like a reward and is none; scales that no sum can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import InvalidGraph, InvalidProblem, InvalidRewards

GRAPH = ew.Graph.circle(n_nodes=3)
PROBLEM = ew.Problem(GRAPH, np.eye(2), noise=0.5)


@pytest.mark.parametrize("value", ["1_0", "5", "\u0665", b"5", True, np.True_, 10**400, 1j, "nan"])
def test_lookalikes_are_no_rewards(value: Any) -> None:
    learner = ew.Learner(PROBLEM, rng=0)
    study = ew.Study.create("farm", PROBLEM, rng=0)
    told: list[Any] = [value, 0.0, 0.0, 0.0, 0.0, 0.0]
    for rewards in (told, np.array(told, dtype=object), tuple(told)):
        with pytest.raises(InvalidRewards, match="nothing was recorded"):
            learner.tell(learner.ask(), rewards)
        with pytest.raises(InvalidRewards, match="nothing was recorded"):
            study.tell(study.ask(), rewards)
    with pytest.raises(InvalidRewards, match="nothing was recorded"):
        study.tell(study.ask(), {(0, 1): value})
    assert learner.rounds == study.status().rounds == 0


def test_numbers_of_every_sort_are_rewards() -> None:
    learner = ew.Learner(PROBLEM, delta=1e-9, rng=0)
    mixed: list[Any] = [1, 2.5, np.float32(1), np.int8(3), None, float("nan")]
    learner.tell(learner.ask(), mixed)
    learner.tell(learner.ask(), np.arange(6))
    assert learner.rounds == 2


def test_scales_that_cannot_be_squared_are_refused_before_they_certify_anything() -> None:
    edges = [(0, 1), (1, 2), (2, 0)]
    with pytest.raises(InvalidGraph, match=r"1e-155 .* state them in other units"):
        ew.Graph.from_edges(edges, weights=[1e-155] * 3)
    with pytest.raises(InvalidGraph, match="state them in other units"):
        ew.Graph.from_edges(edges, weights=[1.0, 1.0, 1e155])
    for noise in (1e-147, 1e147):
        with pytest.raises(InvalidProblem, match="1e-50 to 1e50"):
            ew.Problem(GRAPH, np.eye(2), noise=noise)
    ew.Problem(ew.Graph.from_edges(edges, weights=[1e-50] * 3), np.eye(2), noise=1e50)


@pytest.mark.parametrize("max_rounds", [2.5, float("nan"), True, "9", 0])
def test_a_budget_is_a_count(max_rounds: Any) -> None:
    with pytest.raises(ew.EdgewiseError, match="max_rounds is"):
        ew.Study.create("farm", PROBLEM, max_rounds=max_rounds)
    environment = ew.BilinearEnvironment(PROBLEM, np.eye(2), rng=0)
    with pytest.raises(ew.EdgewiseError, match="max_rounds is"):
        ew.identify(PROBLEM, environment, max_rounds=max_rounds)
