"""Two candidates compared: where the interval comes from, and what it does not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgewise.trial import Comparison, sign_interval, t_interval


def compared(seed: int, pairs: int, *, drift: float = 0.0, shift: float = 0.0) -> Comparison:
    rng = np.random.default_rng(seed)
    orders = rng.choice([-1.0, 1.0], pairs)
    return Comparison("a", "b", shift + drift * orders + rng.standard_normal(pairs), orders, 0.05)


def test_the_interval_is_that_of_the_t_test_where_the_order_does_not_matter() -> None:
    found = compared(0, 12)
    assert not found.order_matters
    assert found.interval == t_interval(found.differences)


def test_it_includes_that_of_signs_where_the_order_matters() -> None:
    found = compared(0, 30, drift=20.0)
    assert found.order_matters
    t, signs = t_interval(found.differences), sign_interval(found.differences)
    assert found.interval == (min(t[0], signs[0]), max(t[1], signs[1]))


def test_drift_is_no_difference_while_all_coins_have_fallen_alike() -> None:
    found = Comparison("a", "b", np.array([5.0, 5.1, 4.9, 5.0, 5.05]), np.ones(5), 0.05, 0.8)
    assert t_interval(found.differences, lower_share=0.8)[0] > 4
    assert found.interval == (-np.inf, np.inf)
    assert not found.tells_order
    assert not found.order_matters
    assert np.isnan(found.order_effect)


@given(st.integers(0, 10**6), st.integers(0, 25), st.floats(-100, 100), st.floats(0, 20))
def test_a_constant_moves_the_interval_and_nothing_else(
    seed: int, pairs: int, shift: float, drift: float
) -> None:
    still, moved = (
        compared(seed, pairs, drift=drift),
        compared(seed, pairs, drift=drift, shift=shift),
    )
    assert still.order_matters == moved.order_matters
    expected = np.array(still.interval) + shift
    assert np.array(moved.interval) == pytest.approx(expected, abs=1e-6 * (1 + abs(shift) + drift))


def test_as_it_was_after_some_pairs() -> None:
    found = compared(1, 9)
    assert found.after(4).pairs == 4
    assert found.after(9).interval == found.interval
    assert found.after(0).interval == (-np.inf, np.inf)
    assert np.isnan(found.after(0).difference)
