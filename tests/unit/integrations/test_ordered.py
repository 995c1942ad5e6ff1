"""Settings in an order: features to each side of today's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from edgewise.errors import InvalidArgument
from edgewise.integrations.ordered import OrderedSettings


def test_each_side_has_a_parabola_of_its_own_and_today_is_zero() -> None:
    settings = OrderedSettings(np.array([-20.0, -10.0, 0.0, 10.0, 20.0]))
    above = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.5, 0.25], [1.0, 1.0]])
    assert_allclose(settings.features, np.hstack([above, above[::-1]]))
    assert settings.now == 2


def test_effects_are_counted_from_a_today_that_is_not_zero() -> None:
    settings = OrderedSettings(np.array([2.0, 4.0, 6.0]), today=2.0)
    assert_allclose(settings.features, np.array([[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]]))


def test_a_side_with_one_value_has_one_feature() -> None:
    settings = OrderedSettings(np.array([-1.0, 0.0, 1.0, 2.0]))
    assert_allclose(
        settings.features, np.array([[0, 0, 0.5], [0, 0, 0], [0.5, 0.25, 0], [1, 1, 0]])
    )


def test_nodes_choose_from_the_sides_that_are_open_to_them() -> None:
    settings = OrderedSettings(np.array([-1.0, 0.0, 1.0]))
    mask = settings.candidates(above=[True, True, False], below=[True, False, False])
    assert mask.tolist() == [[True] * 3, [False, True, True], [False, True, False]]


@pytest.mark.parametrize(
    ("values", "today", "said"),
    [
        ([0.0, 2.0, 1.0], 0.0, "ascending"),
        ([0.0, np.nan, 1.0], 0.0, "finite"),
        ([1.0, 2.0, 3.0], 0.0, "today's"),
        ([0.0], 0.0, "at least one other"),
    ],
)
def test_wrong_values_say_what_is_wrong(values: list[float], today: float, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        OrderedSettings(np.array(values), today)
