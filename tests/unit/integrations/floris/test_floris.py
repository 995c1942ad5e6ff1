"""The real FLORIS: powers, wake models, files, and a small farm from links to a graded answer."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from edgewise.errors import EdgewiseError, InvalidArgument, InvalidFile
from edgewise.integrations.floris import (
    EXPLORE,
    WAKES,
    FlorisSystem,
    Simulator,
    WindFarm,
    YawTask,
    farm_data,
)
from edgewise.integrations.gains import outcome_of
from edgewise.integrations.running import explore

FARM = WindFarm.grid(3, 1, spacing=(7, 5), wind_direction=273.0, wind_speed=8.0)


def test_importing_the_integration_does_not_import_floris() -> None:
    code = "import sys, edgewise.integrations.floris; sys.exit('floris' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_batch_of_settings_is_the_settings_one_by_one() -> None:
    simulator = Simulator(FARM)
    yaws = np.random.default_rng(0).uniform(-30.0, 30.0, (3, 3))
    together = simulator.powers(yaws)
    assert_allclose([simulator.powers(row)[0] for row in yaws], together, rtol=1e-12)
    assert_allclose(simulator.farm_power(yaws), together.sum(axis=1))


@pytest.mark.parametrize("wake", list(WAKES))
def test_in_every_wake_model_the_side_of_an_arm_is_the_side_that_helps(wake: str) -> None:
    for direction in (273.0, 267.0):
        farm = WindFarm.grid(
            2, 1, spacing=(7, 5), wind_direction=direction, wind_speed=8.0, wake=wake
        )
        task = YawTask.of(farm, angles=[0, 20])
        yaws = task.yaws([[1, 0], [0, 0]])
        away, still, towards = Simulator(farm).farm_power([*yaws, -yaws[0]])
        assert away > still
        assert away > towards


def test_wake_models_differ_and_unknown_ones_are_refused() -> None:
    farms = [WindFarm.random(4, 1, wake=wake) for wake in WAKES]
    powers = [Simulator(farm).farm_power(np.zeros(4))[0] for farm in farms]
    assert len(set(np.round(powers, 6))) == len(WAKES)
    with pytest.raises(EdgewiseError, match=r"wake model.*did you mean 'jensen'"):
        WindFarm.random(4, 2, wake="jansen")


def test_links_reach_all_that_feel_a_turbine() -> None:
    """Turning one changes the power of nobody else by more than a twentieth of what it may do."""
    farm = WindFarm.random(12, 5)
    task, simulator = YawTask.of(farm), Simulator(farm)
    yaws = np.vstack([np.zeros(12), 20.0 * np.eye(12), -20.0 * np.eye(12)])
    still, *turned = simulator.powers(yaws)
    felt = np.abs(np.array(turned) - still).reshape(2, 12, 12).max(axis=0)
    linked = np.eye(12, dtype=bool)
    linked[tuple(task.wakes.links.T)] = True
    assert felt[~linked].max() < 0.05 * felt[linked].max()


def test_a_small_farm_from_measurements_to_a_graded_answer() -> None:
    system = FlorisSystem(YawTask.of(FARM), noise=0.05)
    run = explore(system, EXPLORE, marks=[60], rng=0)
    simulator = system.simulator
    best = simulator.optimised(-30.0, 30.0)
    zero, power = simulator.farm_power(np.stack([np.zeros(3), best]))
    outcome = outcome_of(system, run, optimiser=("FLORIS", float(power / zero - 1.0)))
    assert outcome.share is not None
    assert outcome.share > 0.9
    assert outcome.edgewise.gain > 0.1
    assert outcome.expected > 0.05
    assert outcome.facts["exploring_mean"] > 1.0


def test_a_floris_file_is_a_farm_with_its_own_wakes(tmp_path: Path) -> None:
    import floris
    import yaml  # type: ignore[import-untyped]

    settings = floris.FlorisModel.get_defaults()
    settings["farm"] |= {"layout_x": [0.0, 900.0], "layout_y": [0.0, 0.0]}
    settings["flow_field"] |= {
        "wind_directions": [275.0], "wind_speeds": [9.0], "turbulence_intensities": [0.08],
    }  # fmt: skip
    settings["wake"]["model_strings"]["velocity_model"] = "cc"
    file = tmp_path / "farm.yaml"
    file.write_text(yaml.safe_dump(settings))
    farm = WindFarm.from_file(file)
    assert (farm.wind_direction, farm.wind_speed, farm.turbulence) == (275.0, 9.0, 0.08)
    assert (farm.diameter, farm.wake) == (125.88, "file")
    same = WindFarm(
        farm.positions, wind_direction=275.0, wind_speed=9.0, turbulence=0.08, wake="cc"
    )
    assert_allclose(Simulator(farm).powers([10, 0]), Simulator(same).powers([10, 0]))
    other = WindFarm.from_file(file, wake="gch")
    assert Simulator(other).farm_power([10, 0])[0] != Simulator(farm).farm_power([10, 0])[0]
    settings["flow_field"] |= {
        "wind_directions": [270.0, 280.0], "wind_speeds": [8.0, 8.0],
        "turbulence_intensities": [0.06, 0.06],
    }  # fmt: skip
    file.write_text(yaml.safe_dump(settings))
    with pytest.raises(InvalidFile, match="2 winds"):
        WindFarm.from_file(file)
    assert WindFarm.from_file(file, wind_direction=271.0, wind_speed=7.0).wind_direction == 271.0


@pytest.mark.parametrize("text", ["farm: [1, 2", "name: half a farm\n", "wake: 3\nfarm: {}\n"])
def test_what_floris_refuses_is_said_in_its_words_with_the_files_name(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(text)
    with pytest.raises(InvalidFile, match=r"broken\.yaml: FLORIS refuses it \(\w+"):
        WindFarm.from_file(file)


def test_wrong_angles_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="one per turbine"):
        Simulator(FARM).powers([1.0, 2.0])
    with pytest.raises(InvalidArgument, match="not finite"):
        Simulator(FARM).powers([1.0, np.nan, 0.0])


def test_the_picture_has_the_flow_of_its_angles() -> None:
    task, simulator = YawTask.of(FARM), Simulator(FARM)
    data = farm_data(task, [20, 10, 0], title="x", flow=simulator.flow([20, 10, 0], resolution=20))
    assert data.flow is not None
    assert data.flow[2].shape == (20, 20)
    assert len(data.wakes) == len(task.wakes.links)
