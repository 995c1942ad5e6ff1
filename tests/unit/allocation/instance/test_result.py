import numpy as np
import pytest

from edgewise.allocation.instance.result import Allocation, meets


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


def test_only_a_lower_bound_replaces_the_one_known() -> None:
    before = allocation(5.0, lower=0.0, upper=10.0)
    assert before.with_bound(10.0, "other") is before
    after = before.with_bound(8.0, "odd-cycle", 1e-9)
    assert (after.upper_bound, after.bound, after.failure_probability) == (8.0, "odd-cycle", 1e-9)
    assert not after.proved_optimal
    assert after.arms is before.arms


def test_a_bound_that_the_value_meets_proves_it_optimal() -> None:
    before = allocation(5.0, lower=0.0, upper=10.0)
    for upper in (5.0 + 1e-13, 5.0 - 1e-13):  # rounding may put it on either side
        after = before.with_bound(upper, "odd-cycle")
        assert after.proved_optimal
        assert after.upper_bound >= after.value
    assert not before.with_bound(5.0 + 1e-10, "odd-cycle").proved_optimal


@pytest.mark.parametrize(("value", "upper"), [(-5.0, -5.0 + 1e-13), (0.0, 0.0), (5.0, 4.0)])
def test_meeting_a_bound_allows_for_rounding_alone(value: float, upper: float) -> None:
    assert meets(value, upper)
    assert not meets(value - 2e-11 - max(value - upper, 0.0), upper)
