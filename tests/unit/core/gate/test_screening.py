"""Rewards that are out of the question do not count; honest ones always do."""

from typing import Any

import numpy as np
import pytest
from tests.instances import THREE_ARMS

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.errors import InvalidArgument

PROBLEM = ew.Problem(ew.Graph.circle(n_nodes=20), THREE_ARMS, noise=0.3)
MATRIX = [[0.3, 0.2], [0.1, 0.9]]


class Failing:
    """A share of the rewards is anything at all, from the third round on."""

    def __init__(self, share: float) -> None:
        self.model = ew.BilinearEnvironment(PROBLEM, MATRIX, rng=1)
        self.rng, self.share, self.rounds = np.random.default_rng(2), share, 0

    def __call__(self, arms: Any) -> Array:
        rewards = self.model(arms)
        self.rounds += 1
        bad = self.rng.random(len(rewards)) < self.share * (self.rounds > 2)
        rewards[bad] = self.rng.choice([-999.0, 1e6, 1e4], int(bad.sum()))
        return rewards


@pytest.mark.filterwarnings("ignore::edgewise.errors.SuspiciousReward")
def test_a_failing_sensor_does_not_end_a_run() -> None:
    options: dict[str, Any] = {"rng": 0, "max_rounds": 60, "delta": 1e-6}
    broken = ew.identify(PROBLEM, Failing(0.02), **options)
    assert broken.contradictions
    mended = ew.identify(PROBLEM, Failing(0.02), robust=True, **options)
    assert mended.contradictions == ()
    assert mended.best_pairs == ((1, 1),)
    assert mended.noise_estimate is not None
    assert mended.noise_estimate.deviation < 0.4


def test_honest_rewards_always_count() -> None:
    options: dict[str, Any] = {"rng": 0, "max_rounds": 25, "delta": 1e-300}
    plain = ew.identify(PROBLEM, Failing(0.0), **options)
    robust = ew.identify(PROBLEM, Failing(0.0), robust=True, **options)
    assert np.array_equal(plain.matrices, robust.matrices)


def test_the_noise_must_be_stated() -> None:
    problem = ew.Problem(PROBLEM.graph, THREE_ARMS, noise="estimate")
    with pytest.raises(InvalidArgument, match="state"):
        ew.Learner(problem, robust=True)


def test_a_study_records_and_does_not_count() -> None:
    network = Failing(0.0)
    study = ew.Study.create("antennas", PROBLEM, robust=True, delta=1e-300, rng=0)
    for number in range(1, 8):
        ticket = study.ask()
        rewards = network(ticket.arms)
        rewards[7] = 150000.0 if number == 4 else rewards[7]
        study.tell(ticket, rewards)
    assert study.rewards(4)[7] == 150000.0
    assert study.status().contradictions == ()
    before = study.report().matrices
    study.correct(4, {(0, 1): float(study.rewards(4)[0]) + 0.01})  # sums its phase anew
    assert np.allclose(study.report().matrices, before, atol=0.05)
    again = ew.Study.load("antennas", storage=study.storage)
    assert again._session.cursor.base.robust
