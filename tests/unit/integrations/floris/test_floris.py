"""The real FLORIS: a small farm from wake graph to graded answer."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.errors import InvalidArgument
from edgewise.integrations.floris import (
    EXPLORE,
    FlorisEnvironment,
    Simulator,
    WindFarm,
    YawTask,
    compare,
    explain,
    farm_data,
    safe_exploration,
)

FARM = WindFarm.grid(3, 1, spacing=(7, 5), wind_direction=273.0, wind_speed=8.0)


def test_importing_the_integration_does_not_import_floris() -> None:
    code = "import sys, edgewise.integrations.floris; sys.exit('floris' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_batch_of_settings_is_the_settings_one_by_one() -> None:
    simulator = Simulator(FARM)
    yaws = np.random.default_rng(0).uniform(-30.0, 30.0, (4, 3))
    together = simulator.powers(yaws)
    assert_allclose([simulator.powers(row)[0] for row in yaws], together, rtol=1e-12)
    assert_allclose(simulator.farm_power(yaws), together.sum(axis=1))


def test_wakes_reach_those_the_forest_says() -> None:
    """Turning a turbine changes the power of its own line ten times more than any other."""
    farm = WindFarm.grid(3, 2, spacing=(7, 5), wind_direction=273.0, wind_speed=8.0)
    task, simulator = YawTask.of(farm), Simulator(farm)
    still = simulator.powers(np.zeros(6))[0]
    for turbine in range(6):
        turned = simulator.powers(np.where(np.arange(6) == turbine, 20.0, 0.0))[0]
        felt = np.abs(turned - still)
        line = {turbine, *task.wakes.beyond[turbine].tolist()}
        line |= set(np.flatnonzero(task.wakes.parents == turbine).tolist())
        outside = [other for other in range(6) if other not in line]
        assert felt[outside].max() < 0.1 * felt[sorted(line)].max()


def test_the_side_of_an_arm_is_the_side_that_helps() -> None:
    """In FLORIS too, 20 degrees away from the turbine behind beat 20 degrees towards it."""
    for direction in (273.0, 267.0):
        farm = WindFarm.grid(2, 1, spacing=(7, 5), wind_direction=direction, wind_speed=8.0)
        task = YawTask.of(farm, angles=[-20, 0, 20])
        away, still, towards = Simulator(farm).farm_power(
            task.yaws([[arm, 1, 1] for arm in (2, 1, 0)])
        )
        assert away > still > towards


def test_a_small_farm_from_measurements_to_a_graded_answer() -> None:
    task = YawTask.of(FARM, noise=0.05)
    environment = FlorisEnvironment(task, rng=0)
    report = ew.identify(
        task.problem, environment, epsilon=0.0, strategy=EXPLORE, max_rounds=50, rng=1
    )
    comparison = compare(environment, report, rng=2)
    assert report.allocation is not None
    assert report.allocation.proved_optimal
    assert comparison.gain("zero yaw") == 0.0
    assert comparison.gain("best seen") < comparison.gain("FLORIS optimiser") + 1e-9
    assert comparison.gain("edgewise") > 0.95 * comparison.gain("FLORIS optimiser") > 0.1
    assert comparison.gain("edgewise") > comparison.gain("best common yaw")
    assert comparison.fit.per_turbine > 0.85
    assert comparison.fit.farm > 0.85
    assert comparison.exploration.rounds == 50
    assert comparison.exploration.lowest > 0.97
    words = explain(report, comparison)
    assert "not certified" in words
    assert "says nothing about how far the model is from the farm" in words


def test_measurements_are_powers_with_noise_of_the_stated_size() -> None:
    """False alarms: the mean square of 240 normal numbers leaves (0.6, 1.5) in 1 of 10^5 cases."""
    task = YawTask.of(FARM, noise=0.2)
    environment = FlorisEnvironment(task, rng=5)
    for _ in range(80):
        rewards = environment(task.facing_wind)
    last = environment.record[-1]
    assert_allclose(rewards, task.rewards(last.measured))
    noise = np.array([round_.measured - round_.powers for round_ in environment.record]) / 0.2
    assert 0.6 < (noise**2).mean() < 1.5


def test_safe_exploration_keeps_the_power_up_where_free_exploration_does_not() -> None:
    task = YawTask.of(FARM, angles=range(-30, 31, 10), noise=0.05)
    present = float(Simulator(FARM).farm_power(np.zeros(3))[0])
    safe = safe_exploration(task, present_power=present, fraction=0.97, worst_loss=0.1)
    lowest = {}
    for name, strategy in (("free", EXPLORE), ("safe", safe)):
        environment = FlorisEnvironment(task, rng=0)
        ew.identify(task.problem, environment, epsilon=0.0, strategy=strategy, max_rounds=40, rng=1)
        lowest[name] = min(round_.powers.sum() for round_ in environment.record) / present
    assert lowest["free"] < 0.9
    assert lowest["safe"] > 0.94


def test_the_picture_shows_every_turbine_wake_and_angle() -> None:
    task = YawTask.of(FARM)
    yaws = np.array([20.0, 10.0, 0.0])
    flow = Simulator(FARM).flow(yaws, resolution=20)
    data = farm_data(task, yaws, title="three", flow=flow)
    assert data.wakes.tolist() == [[0, 1], [1, 2]]
    assert flow.speed.shape == (20, 20)
    assert 0.0 < flow.speed.min() < flow.speed.max() < 9.0
    figure = ew.plots.figure_farm(data)
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"+20°", "+10°", "0°", "wind"} <= texts


def test_bad_angles_are_refused() -> None:
    simulator = Simulator(FARM)
    with pytest.raises(InvalidArgument, match="one per turbine"):
        simulator.powers(np.zeros(4))
    with pytest.raises(InvalidArgument, match="finite"):
        simulator.powers([0.0, np.nan, 0.0])
    task = YawTask.of(FARM)
    with pytest.raises(InvalidArgument, match="fraction"):
        safe_exploration(task, present_power=4.0, fraction=1.5)
