from __future__ import annotations

import numpy as np
import pytest

from edgewise.core.model.channels import Measurement
from edgewise.core.model.problem import Problem
from edgewise.network.graph import Graph

_ARMS = np.eye(2)


@pytest.mark.parametrize("noise", [1.5, (1.0, 2.0, 0.5, 0.5, 1.0, 1.0, 3.0, 1.0)])
def test_the_stated_noise_is_that_of_the_measured_numbers(noise: float | tuple[float, ...]) -> None:
    problem = Problem(Graph.circle(n_nodes=4), _ARMS, noise=noise, levels=True)
    measurement = Measurement.of(problem)
    errors = np.random.default_rng(0).standard_normal((20_000, 8)) * noise
    numbers = np.array([measurement.numbers(row) for row in errors])
    stated = measurement.noise * problem.stated_noise
    np.testing.assert_allclose(numbers.std(axis=0), stated, rtol=0.03)


def test_half_a_link_is_no_measurement() -> None:
    """One direction has more noise than the mean of both, and no channel has two noises."""
    measurement = Measurement.of(Problem(Graph.circle(n_nodes=4), _ARMS, levels=True))
    rewards = np.arange(8.0)
    rewards[[2, 5]] = np.nan
    np.testing.assert_array_equal(measurement.numbers(rewards), [0.5, np.nan, np.nan, 6.5])
