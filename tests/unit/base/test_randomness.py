from typing import Any

import numpy as np
import pytest

from edgewise.base.randomness import draw_seed, generator
from edgewise.errors import InvalidArgument


def test_a_seed_is_that_of_numpy() -> None:
    expected = np.random.default_rng(5).random(3)
    for seed in (5, np.int64(5)):
        np.testing.assert_array_equal(generator(seed).random(3), expected)


def test_a_generator_is_used_as_it_is() -> None:
    rng = np.random.default_rng(0)
    assert generator(rng) is rng


def test_none_is_different_every_time() -> None:
    assert generator(None).random() != generator(None).random()


@pytest.mark.parametrize("rng", [-1, 0.5, True, "1", [1, 2], np.random.RandomState(0)])
def test_anything_else_is_refused_with_what_may_be_passed(rng: Any) -> None:
    with pytest.raises(
        InvalidArgument, match=r"pass a seed .*, a numpy\.random\.Generator, or None"
    ):
        generator(rng)


def test_equal_generators_draw_equal_seeds() -> None:
    assert draw_seed(3) == draw_seed(np.random.default_rng(3)) != draw_seed(4)
