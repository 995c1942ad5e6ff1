from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from edgewise.core.model.pairs import (
    Pairs,
    matrices_of,
    ordered_pairs,
    unordered_pairs,
    unordered_pairs_by_row,
)

NUMBERINGS = [ordered_pairs, unordered_pairs, unordered_pairs_by_row]


@pytest.mark.parametrize("numbering", NUMBERINGS)
def test_numbers_and_pairs_are_inverse(numbering: Callable[[int], Pairs]) -> None:
    pairs = numbering(4)
    assert len(pairs.arms) == (16 if pairs.ordered else 10)
    assert_array_equal(pairs.index[pairs.arms[:, 0], pairs.arms[:, 1]], np.arange(len(pairs.arms)))
    assert pairs.ordered or (pairs.index == pairs.index.T).all()


def test_the_order_of_unordered_pairs() -> None:
    assert unordered_pairs(3).arms.tolist() == [[0, 0], [0, 1], [1, 1], [0, 2], [1, 2], [2, 2]]
    by_row = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]
    assert unordered_pairs_by_row(3).arms.tolist() == by_row


@pytest.mark.parametrize("numbering", NUMBERINGS)
def test_features_times_parameter_is_the_reward(numbering: Callable[[int], Pairs]) -> None:
    rng = np.random.default_rng(0)
    arms, matrix = rng.standard_normal((5, 3)), rng.standard_normal((3, 3))
    pairs = numbering(5)
    there = arms @ matrix @ arms.T
    seen = there if pairs.ordered else (there + there.T) / 2
    means = pairs.features(arms) @ pairs.parameter(matrix)
    assert_allclose(means[pairs.index], seen, atol=1e-12)
    back = matrices_of(pairs.parameter(matrix)[None], 3, ordered=pairs.ordered)[0]
    assert_allclose(back, matrix if pairs.ordered else (matrix + matrix.T) / 2, atol=1e-14)
