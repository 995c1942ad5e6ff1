"""Farms from grids, seeds and files; nothing here simulates."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import pdist

from edgewise.errors import EdgewiseError, InvalidArgument, InvalidFile
from edgewise.integrations.floris import WindFarm
from edgewise.integrations.floris.layouts import farm_of


def test_random_farms_keep_their_distance_and_follow_from_their_seed() -> None:
    farm = WindFarm.random(40, 7)
    assert farm.n_turbines == 40
    assert pdist(farm.positions).min() >= 3.0 * 126.0
    assert farm.positions.max() <= 5.0 * 126.0 * np.sqrt(40)
    assert_array_equal(farm.positions, WindFarm.random(40, 7).positions)
    assert not np.array_equal(farm.positions, WindFarm.random(40, 8).positions)


def test_a_random_farm_that_cannot_be_placed_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="dropped on a square"):
        WindFarm.random(10, 0, spacing=3.0, least=2.9)
    with pytest.raises(InvalidArgument, match="0 turbines"):
        WindFarm.random(0, 0)


def test_turbines_closer_than_a_rotor_are_named() -> None:
    said = r"turbines 1 \(at 900, 0\) and 2 \(at 900, 100\) stand 100 m apart.*126 m.*metres"
    with pytest.raises(InvalidArgument, match=said):
        WindFarm([[0, 0], [900, 0], [900, 100]], wind_direction=270, wind_speed=8)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"turbines 0 .* and 1 .* stand 0 m apart"):
        WindFarm([[0, 0], [0, 0]], wind_direction=270, wind_speed=8)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"positions": [1.0, 2.0]}, "metres east and north"),
        ({"positions": [[np.nan, 0.0]]}, "finite"),
        ({"wind_speed": 0.0}, "above 0"),
        ({"turbulence": -0.1}, "above 0"),
    ],
)
def test_wrong_farms_say_what_is_wrong(changes: dict[str, object], said: str) -> None:
    usual: dict[str, object] = {"positions": [[0.0, 0.0]], "wind_direction": 270, "wind_speed": 8}
    with pytest.raises(InvalidArgument, match=said):
        WindFarm(**{**usual, **changes})  # type: ignore[arg-type]


def test_wake_models_have_blanks_or_dashes_in_their_names() -> None:
    for name in ("empirical gauss", "empirical-gauss", "empirical_gauss"):
        assert WindFarm.random(2, 0, wake=name).wake == "empirical gauss"


def test_a_table_of_positions_is_a_farm(tmp_path: Path) -> None:
    file = tmp_path / "layout.csv"
    file.write_text("name,X,y\na,0,10\nb,500,10.5\n")
    farm = WindFarm.from_file(file, wind_direction=280.0)
    assert farm.positions.tolist() == [[0.0, 10.0], [500.0, 10.5]]
    assert (farm.wind_direction, farm.wind_speed, farm.wake) == (280.0, 8.0, "gch")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("layout.csv", "east,north\n0,0\n", "columns are east, north.*columns x and y"),
        ("layout.csv", "x,y\n0,zero\n", "line 2, column 'y': 'zero' is not a finite number"),
        ("layout.txt", "x,y\n0,0\n", "extension '.txt'.*.csv, .yaml"),
        ("layout.csv", "", "the file is empty"),
    ],
)
def test_wrong_files_are_named_with_what_is_wrong(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InvalidFile, match=f"{name}.*{said}"):
        WindFarm.from_file(file)


def test_layouts_by_a_word() -> None:
    assert farm_of("regular", n_turbines=40, seed=0).n_turbines == 40
    assert farm_of("regular", n_turbines=25, seed=0).wind_direction == 273.0
    assert farm_of("random", n_turbines=7, seed=3, wake="cc", wind_speed=9.0).wake == "cc"
    for wrong, said in (("rnadom", "regular, random, or a file"), ("nowhere.csv", "no such file")):
        with pytest.raises(EdgewiseError, match=said):
            farm_of(wrong, n_turbines=5, seed=0)
    with pytest.raises(InvalidArgument, match="try 16 or 20"):
        farm_of("regular", n_turbines=23, seed=0)
