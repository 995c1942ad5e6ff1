import numpy as np
import pytest

from edgewise.allocation.instance.result import Allocation


def allocation(
    value: float, lower: float, upper: float, *, proved_optimal: bool = False
) -> Allocation:
    return Allocation(np.array([0, 2, 1]), value, upper, lower, "mine", proved_optimal)


def test_gap_is_the_share_of_the_range_not_reached() -> None:
    assert allocation(5.0, lower=-10.0, upper=10.0).gap == 0.25


def test_gap_does_not_depend_on_the_scale_or_origin_of_rewards() -> None:
    assert allocation(1050.0, lower=900.0, upper=1100.0).gap == 0.25


def test_gap_is_zero_when_nothing_varies() -> None:
    assert allocation(3.0, lower=3.0, upper=3.0).gap == 0.0


def test_gap_is_zero_when_an_exact_method_proved_the_value() -> None:
    assert allocation(3.0, lower=0.0, upper=3.0000001, proved_optimal=True).gap == 0.0


def test_arms_are_copied_and_read_only() -> None:
    mine = np.array([0, 1])
    stored = Allocation(mine, 0.0, 0.0, 0.0, "mine").arms
    mine[0] = 7
    assert stored.tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        stored[0] = 1


def test_representation_says_what_is_proved() -> None:
    assert "gap=25%" in repr(allocation(5.0, lower=-10.0, upper=10.0))
    assert "proved optimal" in repr(allocation(5.0, lower=0.0, upper=5.0, proved_optimal=True))
