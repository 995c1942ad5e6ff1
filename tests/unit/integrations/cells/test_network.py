"""Networks, files and patterns; nothing here needs CRRM."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from edgewise.errors import InvalidArgument, InvalidFile
from edgewise.integrations.cells import HotSpots, RadioNetwork, TiltPattern

HEADER = "site,x,y,height,azimuth\n"


def two_sites(**changes: object) -> RadioNetwork:
    given: dict[str, object] = {
        "sites": [[0.0, 0.0], [700.0, 0.0]],
        "masts": [25.0, 40.0],
        "site_of_cell": [0, 0, 1],
        "azimuths": [0.0, 120.0, 270.0],
    }
    return RadioNetwork(**(given | changes))  # type: ignore[arg-type]


@given(st.integers(0, 2**32 - 1), st.integers(2, 16))
def test_random_networks_are_the_same_by_seed_and_never_crowded(seed: int, n_sites: int) -> None:
    one, other = (RadioNetwork.random(seed, n_sites=n_sites) for _ in range(2))
    assert_array_equal(one.sites, other.sites)
    assert one.n_cells == 3 * n_sites
    assert ((one.masts >= 20.0) & (one.masts <= 45.0)).all()
    apart = np.linalg.norm(one.sites[:, None] - one.sites, axis=2) + 1e9 * np.eye(n_sites)
    assert apart.min() >= 400.0 - 1e-9


def test_users_are_in_hot_spots_by_their_shares_and_inside_the_bounds() -> None:
    spots = HotSpots(np.array([[300.0, 0.0]]), np.array([5.0]), np.array([0.5]))
    network = two_sites(hot_spots=spots)
    users = network.users(20_000, 0)
    low, high = network.bounds
    assert ((users[:, :2] >= low) & (users[:, :2] <= high)).all()
    near = np.linalg.norm(users[:, :2] - [300.0, 0.0], axis=1) < 30.0
    # half are in the hot spot, 0.4 % of the others near it: 5 deviations are 0.018
    assert near.mean() == pytest.approx(0.502, abs=0.018)
    assert_array_equal(users, network.users(20_000, 0))


def test_cells_are_named_by_site_and_letter() -> None:
    assert two_sites(names=("east", "west")).cell_names == ("easta", "eastb", "westa")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sites": [[0.0, 0.0], [3.0, 4.0]]}, r"s0 and s1 stand 5\.0 m apart, on one spot"),
        ({"sites": [[0.0, 0.0], [np.nan, 0.0]]}, "must be finite"),
        ({"sites": [0.0, 1.0]}, r"sites have shape \(2,\)"),
        ({"masts": [25.0, 4000.0]}, "mast of site s1 is 4000 m high"),
        ({"masts": [25.0]}, "2 sites have 1 masts"),
        ({"site_of_cell": [0, 1, 0]}, "ascending order"),
        ({"site_of_cell": [0, 0, 0]}, "each with one cell"),
        ({"azimuths": [0.0, 120.0]}, "one of each per cell"),
        ({"azimuths": [0.0, 120.0, np.inf]}, "not finite"),
        ({"power": 0.0}, "power above 0"),
    ],
)
def test_impossible_networks_are_refused_in_words(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        two_sites(**changes)


@pytest.mark.parametrize(
    ("radii", "shares", "message"),
    [([5.0], [1.5], "1 in all at most"), ([0.0], [0.5], "above 0"), ([], [0.5], "0 radii")],
)
def test_impossible_hot_spots_are_refused(
    radii: list[float], shares: list[float], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        HotSpots(np.zeros((1, 2)), np.array(radii), np.array(shares))


def test_a_network_is_read_from_files(tmp_path: Path) -> None:
    cells, spots = tmp_path / "cells.csv", tmp_path / "spots.csv"
    cells.write_text(HEADER + "hill,0,0,30,10\nlake,900,0,25,90\nhill,0,0,30,190\n")
    spots.write_text("x,y,radius,share\n400,50,80,0.3\n")
    network = RadioNetwork.from_file(cells, spots)
    assert network.cell_names == ("hilla", "hillb", "lakea")
    assert network.azimuths.tolist() == [10.0, 190.0, 90.0]
    assert network.hot_spots.shares.tolist() == [0.3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("site,x,y\na,0,0\n", "a network has the columns site, x, y, height, azimuth"),
        (HEADER + "a,0,0,30,0\na,5,0,30,90\n", "line 3: site a stands elsewhere"),
        (HEADER + "a,0,0,high,0\n", "line 2, column 'height'"),
    ],
)
def test_wrong_files_are_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "cells.csv"
    file.write_text(text)
    with pytest.raises(InvalidFile, match=message):
        RadioNetwork.from_file(file)


def test_sites_on_one_spot_in_a_file_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "cells.csv"
    file.write_text(HEADER + "a,0,0,30,0\nb,0,0,30,90\n")
    with pytest.raises(
        InvalidFile, match=r"cells\.csv: sites a and b .* on one spot; make them one"
    ):
        RadioNetwork.from_file(file)


def test_hot_spots_that_cannot_be_are_refused_with_the_file(tmp_path: Path) -> None:
    cells, spots = tmp_path / "cells.csv", tmp_path / "spots.csv"
    cells.write_text(HEADER + "a,0,0,30,0\nb,700,0,30,90\n")
    spots.write_text("x,y,radius,share\n0,0,50,2\n")
    with pytest.raises(InvalidFile, match=r"spots\.csv: .*shares \[2\.0\]"):
        RadioNetwork.from_file(cells, spots)


@given(st.floats(-720.0, 720.0), st.floats(-90.0, 90.0), st.floats(0.0, 20.0))
def test_the_pattern_is_that_of_3gpp(aside: float, below: float, tilt: float) -> None:
    """Table A.2.1.1-2 of TR 36.814, written down once more, with the angle folded by atan2."""
    pattern = TiltPattern(peak=14.0)
    turned = np.deg2rad(aside)
    folded = np.rad2deg(np.arctan2(np.sin(turned), np.cos(turned)))
    horizontal = -min(12 * (folded / 65.0) ** 2, 30.0)
    vertical = -min(12 * ((below - tilt) / 10.0) ** 2, 20.0)
    expected = 14.0 - min(-(horizontal + vertical), 30.0)
    gain = pattern.gain(
        pattern.sideways(np.array([aside])), pattern.upright(np.array([below]), tilt)
    )
    assert_allclose(gain, expected, atol=1e-9)


def test_the_gain_halves_at_half_the_width() -> None:
    pattern = TiltPattern()
    at = pattern.gain(pattern.sideways(np.array([32.5])), pattern.upright(np.array([7.0]), 7.0))
    assert at[0] == pytest.approx(pattern.peak - 3.0)


def test_a_pattern_without_width_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="must be above 0"):
        TiltPattern(height=0.0)
