"""Whitening: the border where arms are checked, and the coordinates every solver works in."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from edgewise.errors import InvalidProblem
from edgewise.network.arms import checked_arms, require_span, whiten


def test_coordinates_have_identity_second_moment() -> None:
    arms = np.random.default_rng(0).standard_normal((40, 5))
    white = whiten(arms)
    assert white.rank == 5
    assert_allclose(white.coordinates.T @ white.coordinates / 40, np.eye(5), atol=1e-13)
    assert_allclose(arms @ white.transform, white.coordinates, atol=1e-12)


def test_columns_of_any_scale_keep_their_rank() -> None:
    arms = np.random.default_rng(1).standard_normal((30, 6)) * 10.0 ** np.linspace(-150, 150, 6)
    white = whiten(arms)
    assert white.rank == 6
    assert_allclose(arms @ white.transform, white.coordinates, atol=1e-12)


def test_extreme_entries_do_not_overflow() -> None:
    assert whiten([[1e300, 0.0], [1e300, 1e-300], [-1e300, 2e-300]]).rank == 2


def test_subnormal_column_counts_as_zero() -> None:
    assert whiten([[1.0, 1e-320], [2.0, 0.0]]).rank == 1


def test_dependent_columns_lower_the_rank() -> None:
    arms = np.random.default_rng(2).standard_normal((50, 4))
    arms[:, 3] = arms[:, :3] @ [1.0, -2.0, 0.5]
    white = whiten(arms)
    assert white.rank == 3
    assert white.coordinates.shape == (50, 3)
    assert white.transform.shape == (4, 3)
    assert_allclose(white.coordinates.T @ white.coordinates / 50, np.eye(3), atol=1e-13)


def test_zero_column_and_fewer_arms_than_features() -> None:
    assert whiten([[1.0, 0.0], [2.0, 0.0]]).rank == 1
    assert whiten(np.eye(5)[:2]).rank == 2
    assert whiten(np.zeros((3, 2))).rank == 0


def test_coordinates_cannot_be_written_to() -> None:
    white = whiten(np.eye(3))
    with pytest.raises(ValueError, match="read-only"):
        white.coordinates[0, 0] = 7.0


def test_arms_are_not_changed() -> None:
    arms = np.array([[3.0, 1.0], [1.0, 2.0]])
    before = arms.copy()
    whiten(arms)
    assert (arms == before).all()


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        ([1.0, 2.0], ["shape (2,)", "pass an array of shape (K, d)"]),
        (np.zeros((2, 2, 2)), ["shape (2, 2, 2)", "pass an array of shape (K, d)"]),
        (np.zeros((0, 3)), ["shape (0, 3)", "pass a non-empty array of shape (K, d)"]),
        (np.zeros((3, 0)), ["shape (3, 0)", "pass a non-empty array of shape (K, d)"]),
        ([[1.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]], ["2 arm(s)", "first is arm 1", "remove or"]),
        ([[1.0, 0.0], [1.0]], ["cannot be read as numbers", "pass an array of shape (K, d)"]),
        ([["a", "b"]], ["cannot be read as numbers", "pass an array of shape (K, d)"]),
        ([[1j, 0.0]], ["cannot be read as numbers"]),
    ],
)
def test_bad_arms_are_refused_with_a_remedy(arms: object, words: list[str]) -> None:
    with pytest.raises(InvalidProblem) as caught:
        checked_arms(arms)  # type: ignore[arg-type]
    for word in words:
        assert word in str(caught.value)


def test_missing_dimensions_are_counted() -> None:
    require_span(3, 3)
    with pytest.raises(InvalidProblem) as caught:
        require_span(2, 5)
    assert str(caught.value) == (
        "arms span 2 of 5 dimensions, so M is not identifiable; "
        "add 3 independent arm(s) or pass project=True"
    )
