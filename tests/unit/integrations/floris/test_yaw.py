"""Geometry becomes links, sides and arms; nothing here needs FLORIS."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from edgewise.errors import InvalidArgument
from edgewise.integrations.floris import WindFarm, YawTask, wakes_of


def row(n: int, direction: float = 270.0) -> WindFarm:
    return WindFarm.grid(n, 1, spacing=(5, 1.5), wind_direction=direction, wind_speed=8)


def test_in_a_row_along_the_wind_everybody_wakes_all_behind() -> None:
    wakes = wakes_of(row(4))
    assert wakes.links.tolist() == [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]
    assert wakes.steers.tolist() == [True, True, True, False]
    assert not wakes.both.any()
    assert (wakes.reach[[0, 1, 3]].argsort() == [2, 1, 0]).all()  # the farther, the less


def test_the_opposite_wind_reverses_the_links() -> None:
    assert wakes_of(row(3, direction=90.0)).links.tolist() == [[1, 0], [2, 0], [2, 1]]


def test_a_farm_without_wakes_has_nothing_to_choose() -> None:
    with pytest.raises(InvalidArgument, match=r"no turbine.*all should face the wind"):
        YawTask.of(row(4, direction=0.0))


@pytest.mark.parametrize(("direction", "side"), [(273.0, 1), (267.0, -1), (93.0, 1), (87.0, -1)])
def test_positive_arms_turn_wakes_away_from_those_behind(direction: float, side: int) -> None:
    wakes = wakes_of(row(3, direction))
    assert wakes.sides[wakes.steers].tolist() == [side, side]
    assert (wakes.offsets > 0).all()


def test_a_turbine_between_two_wakes_may_turn_either_way() -> None:
    places = np.array([[0.0, 0.0], [700.0, 80.0], [700.0, -90.0]])
    task = YawTask.of(WindFarm(places, wind_direction=270.0, wind_speed=8.0))
    assert task.wakes.both.tolist() == [True, False, False]
    assert task.problem.candidates is not None
    assert task.problem.candidates.sum(axis=1).tolist() == [13, 1, 1]


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.floats(0.0, 360.0), st.floats(0.0, 360.0))
def test_turning_farm_and_wind_together_changes_nothing(
    seed: int, n: int, direction: float, turn: float
) -> None:
    farm = WindFarm.random(n, seed, wind_direction=direction)
    angle = np.deg2rad(-turn)  # clockwise, as wind directions are counted
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    turned = WindFarm(farm.positions @ rotation.T, wind_direction=direction + turn, wind_speed=8.0)
    one, other = wakes_of(farm), wakes_of(turned)
    assert_array_equal(one.links, other.links)
    assert_allclose(one.reach, other.reach, atol=1e-9)
    assert_array_equal(one.sides[one.steers], other.sides[other.steers])


def test_the_task_is_a_local_problem_with_a_parabola_to_each_side() -> None:
    task = YawTask.of(WindFarm.random(20, 1))
    problem = task.problem
    assert (problem.measured, problem.levels, problem.pooling) == ("node", "channel", "partial")
    assert not problem.interaction
    assert problem.arms.shape == (13, 4)
    assert problem.graph.n_kinds == 1


def test_geometry_is_a_covariate_where_it_says_something() -> None:
    names = YawTask.of(WindFarm.random(20, 1)).problem.graph.covariate_names
    assert names == ("turned away", "turned back", "half away", "half back")
    assert YawTask.of(row(2)).problem.graph.covariate_names is None  # a single wake
    table = YawTask.of(WindFarm.random(20, 1)).problem.graph.covariates
    assert table is not None
    assert_allclose(table.std(axis=0), 1.0)


def test_arms_are_angles_to_the_side_that_helps() -> None:
    task = YawTask.of(row(3, 267.0))
    assert_array_equal(task.yaws(task.facing_wind), np.zeros(3))
    last = len(task.settings.values) - 1
    assert task.yaws([last, task.settings.now, task.settings.now]).tolist() == [-30.0, 0.0, 0.0]


def test_one_sided_angles_are_enough_where_nobody_wants_the_other_side() -> None:
    task = YawTask.of(row(3, 273.0), angles=[-20, 0, 10, 20])
    assert task.settings.values.tolist() == [0.0, 10.0, 20.0]
    assert task.problem.arms.shape == (3, 2)
    with pytest.raises(InvalidArgument, match="today's"):
        YawTask.of(row(3), angles=[5, 10, 15])


def test_relief_is_what_a_turned_wake_no_longer_reaches() -> None:
    """Straight behind, either side helps alike; beside the axis, turning back does harm."""
    straight = wakes_of(row(2)).relief()[0]
    assert straight[0] == pytest.approx(straight[1])
    assert straight[0] > 0.0
    away, back = wakes_of(row(2, 276.0)).relief()[0]
    assert away > 0.0 > back
    assert_allclose(wakes_of(row(2)).relief(0.0), 0.0)
    assert (wakes_of(row(2)).relief(0.5) < wakes_of(row(2)).relief()).all()
