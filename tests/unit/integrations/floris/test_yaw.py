"""Geometry becomes a graph, arms and rewards; nothing here needs FLORIS."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.errors import InvalidArgument
from edgewise.integrations.floris import WindFarm, YawTask, wakes_of


def row(n: int, direction: float = 270.0) -> WindFarm:
    return WindFarm.grid(n, 1, spacing=(5, 1), wind_direction=direction, wind_speed=8)


def test_a_row_along_the_wind_is_a_chain() -> None:
    wakes = wakes_of(row(4))
    assert wakes.parents.tolist() == [-1, 0, 1, 2]
    assert wakes.depths.tolist() == [0, 1, 2, 3]
    assert [beyond.tolist() for beyond in wakes.beyond] == [[2, 3], [3], [], []]
    assert wakes.sides.tolist() == [1, 1, 1, 0]


def test_a_row_across_the_wind_has_no_wakes() -> None:
    wakes = wakes_of(row(4, direction=0.0))
    assert wakes.parents.tolist() == [-1] * 4
    assert wakes.sides.tolist() == [0] * 4


def test_the_opposite_wind_reverses_the_chain() -> None:
    assert wakes_of(row(3, direction=90.0)).parents.tolist() == [1, 2, -1]


@pytest.mark.parametrize(("direction", "side"), [(273.0, 1), (267.0, -1), (93.0, 1), (87.0, -1)])
def test_wakes_are_steered_away_from_the_turbine_behind(direction: float, side: int) -> None:
    wakes = wakes_of(row(3, direction))
    steering = wakes.sides[wakes.sides != 0]
    assert steering.tolist() == [side, side]


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.floats(0.0, 360.0),
    st.floats(0.0, 360.0),
)
def test_turning_farm_and_wind_together_changes_nothing(
    seed: int, n: int, direction: float, turn: float
) -> None:
    places = np.random.default_rng(seed).uniform(-3000.0, 3000.0, (n, 2))
    # clockwise, as wind directions are counted
    angle = np.deg2rad(-turn)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    farm = WindFarm(places, wind_direction=direction, wind_speed=8.0)
    turned = WindFarm(places @ rotation.T, wind_direction=direction + turn, wind_speed=8.0)
    one, other = wakes_of(farm), wakes_of(turned)
    assert one.parents.tolist() == other.parents.tolist()
    assert one.sides.tolist() == other.sides.tolist()


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_wakes_are_a_forest_that_runs_downwind(seed: int, n: int) -> None:
    places = np.random.default_rng(seed).uniform(-2000.0, 2000.0, (n, 2))
    farm = WindFarm(places, wind_direction=270.0, wind_speed=8.0)
    wakes = wakes_of(farm)
    for turbine, parent in enumerate(wakes.parents):
        if parent < 0:
            assert wakes.depths[turbine] == 0
        else:
            assert farm.along[parent] < farm.along[turbine]
            assert wakes.depths[turbine] == wakes.depths[parent] + 1
            assert wakes.sides[parent] != 0


def test_every_power_is_the_reward_of_one_edge_and_again_beyond() -> None:
    task = YawTask.of(row(4))
    graph = task.problem.graph
    powers = np.array([1.0, 2.0, 4.0, 8.0])
    rewards = dict(zip(map(tuple, graph.arcs.tolist()), task.rewards(powers).tolist(), strict=True))
    air = 4
    assert rewards == {
        (air, 0): 1.0, (0, 1): 2.0, (1, 2): 4.0, (2, 3): 8.0, (0, air): 12.0, (1, air): 8.0,
    }  # fmt: skip
    assert graph.kind_labels == ("free", "wake 1", "wake 2", "wake 3", "beyond 0", "beyond 1")


def test_arms_are_counted_to_the_side_that_steers_away() -> None:
    task = YawTask.of(row(3, direction=267.0), angles=[0, 10, 20])
    assert task.yaws([2, 1, 0, 0]).tolist() == [-20.0, -10.0, 0.0]
    assert (task.yaws(task.facing_wind) == 0.0).all()


def test_turbines_that_wake_nobody_and_air_face_the_wind() -> None:
    task = YawTask.of(row(3), angles=[0, 10, 20])
    assert task.problem.candidates is not None
    assert task.problem.candidates.sum(axis=1).tolist() == [3, 3, 1, 1]


def test_the_additive_model_finds_the_best_angles_of_an_additive_farm() -> None:
    """Each turbine loses by its own angle and gains by all upstream: the rewards separate."""
    task = YawTask.of(row(4), angles=range(0, 31, 5), noise=0.5)
    rng = np.random.default_rng(3)

    def powers(yaws: np.ndarray) -> np.ndarray:
        turned = yaws / 30.0
        gains = np.array([0.5, 0.35, 0.2])  # by the next turbine, the one after it, ...
        power = 1.7 - 0.9 * turned**2
        for behind, gain in enumerate(gains, start=1):
            power[behind:] += gain * turned[:-behind]
        return power

    def environment(arms: np.ndarray) -> np.ndarray:
        measured = powers(task.yaws(arms)) + 1e-3 * rng.standard_normal(4)
        return task.rewards(measured)

    report = ew.identify(
        task.problem, environment, epsilon=0.0, strategy="g-optimal", max_rounds=400, rng=0
    )
    assert report.allocation is not None
    every = np.stack(np.meshgrid(*[range(7)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    totals = [powers(task.yaws([*arms, 0, 0])).sum() for arms in every]
    assert_allclose(powers(task.yaws(report.allocation.arms)).sum(), max(totals), atol=0.01)


def test_bad_input_is_refused_with_a_remedy() -> None:
    with pytest.raises(InvalidArgument, match="shape"):
        WindFarm(np.zeros(3), wind_direction=270.0, wind_speed=8.0)
    with pytest.raises(InvalidArgument, match="finite"):
        WindFarm(np.full((2, 2), np.nan), wind_direction=270.0, wind_speed=8.0)
    with pytest.raises(InvalidArgument, match="above 0"):
        WindFarm(np.zeros((1, 2)), wind_direction=270.0, wind_speed=0.0)
    with pytest.raises(InvalidArgument, match="add 0"):
        YawTask.of(row(3), angles=[5, 10, 20])
    with pytest.raises(InvalidArgument, match="degree"):
        YawTask.of(row(3), angles=[0, 10], degree=2)
    with pytest.raises(InvalidArgument, match="distinct"):
        YawTask.of(row(3), angles=[0, 10, 10])
