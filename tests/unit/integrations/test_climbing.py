"""Climbing on a system whose best joint arm is known."""

import numpy as np
from numpy.testing import assert_array_equal
from tests.unit.integrations.systems import Row

from edgewise.integrations.climbing import coordinate_ascent, hill_climbing


def test_ascent_that_knows_the_system_finds_the_best() -> None:
    system = Row()
    assert_array_equal(coordinate_ascent(system), system.best)
    assert_array_equal(coordinate_ascent(system, start=system.best), system.best)


def test_hill_climbing_finds_it_where_there_is_no_noise() -> None:
    system = Row(n=5, noise=0.0)
    trail = hill_climbing(system, marks=[3, 400], rng=0)
    assert_array_equal(trail.recommended[-1], system.best)
    assert trail.worths.shape == (400,)


def test_steps_keep_to_the_candidates_and_are_judged_alone() -> None:
    system = Row(open_below=False)
    allowed = system.problem.candidates
    assert allowed is not None
    trail = hill_climbing(system, marks=[30], rng=1, near=np.zeros((6, 6), dtype=bool))
    assert allowed[np.arange(6), trail.recommended[-1]].all()
