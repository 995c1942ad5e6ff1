"""Formula (b): residuals against the projection in full, and its bounds by simulation."""

import numpy as np
import pytest

from edgewise.core.gate import size


def test_residuals_fast_and_slow() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((6, 3))
    X[5] = X[4]  # a row twice
    which, weights = rng.integers(0, 6, 20), rng.uniform(0.5, 2.0, 20)
    y = rng.standard_normal(20)
    Z = X[which] * weights[:, None]
    Q = np.eye(20) - Z @ np.linalg.pinv(Z)
    ratios = np.abs(Q @ y) / np.sqrt(np.diag(Q))
    found = size.residuals(X, which, weights, y, np.zeros(20))
    assert found.squares == pytest.approx(y @ Q @ y)
    assert found.rank == round(np.trace(Q))
    assert found.position == ratios.argmax()
    assert found.largest == pytest.approx(ratios.max())
    others = np.delete(np.arange(20), found.position)
    theta = np.linalg.lstsq(Z[others], y[others], rcond=None)[0]
    assert found.fitted == pytest.approx(Z[found.position] @ theta)


def test_residuals_after_a_level_of_the_round() -> None:
    rng = np.random.default_rng(2)
    Z, y = rng.standard_normal((12, 3)), rng.standard_normal(12)
    full = np.column_stack([Z, np.ones(12)])
    Q = np.eye(12) - full @ np.linalg.pinv(full)
    found = size.residuals(
        Z - Z.mean(axis=0), np.arange(12), np.ones(12), y - y.mean(), np.full(12, 1 / 12)
    )
    assert found.rank == round(np.trace(Q))
    assert found.largest == pytest.approx((np.abs(Q @ y) / np.sqrt(np.diag(Q))).max())


def test_a_row_of_its_own_has_no_residual() -> None:
    X = np.eye(3)
    found = size.residuals(X, np.arange(3), np.ones(3), np.array([1.0, 2.0, 9e9]), np.zeros(3))
    assert (found.rank, found.largest) == (0, 0.0)
    assert size.log_p_value(found, 3, 1, known=True) == 0.0
    assert size.log_p_value(found, 3, 1, known=False) == 0.0


@pytest.mark.parametrize("law", ["gaussian", "rademacher"])
def test_blocks_of_the_model_multiply_to_a_fair_bet(law: str) -> None:
    """E exp(log_growth) <= 1 for every lambda below 1/4, where the variance is finite.

    2,000 draws of a bounded-variance mean: above 1.25 with probability below 1e-4 by the normal
    approximation; with twice the noise it must be above.
    """
    rng = np.random.default_rng(3)
    X, which = rng.standard_normal((4, 2)), np.repeat(np.arange(4), 2)
    draw = rng.standard_normal if law == "gaussian" else lambda s: rng.choice([-1.0, 1.0], s)
    noise = draw((2000, 8))
    small = size.TILTS < 0.25

    def mean(scale: float) -> float:
        logs = [
            size.log_growth(size.residuals(X, which, np.ones(8), scale * one, np.zeros(8)))
            for one in noise
        ]
        return float(np.exp(logs)[:, small].mean(axis=0).max())

    assert mean(1.0) <= 1.25
    assert mean(2.0) > 1.25


@pytest.mark.parametrize("known", [True, False])
def test_largest_residuals_are_rarely_called_outliers(known: bool) -> None:
    """p-values are at most uniform: of 3,000 at level 5 %, 200 with probability below 1e-4."""
    rng = np.random.default_rng(4)
    X, which = rng.standard_normal((5, 2)), np.repeat(np.arange(5), 4)

    def count(outlier: float) -> int:
        below = 0
        for _ in range(3000):
            y = rng.standard_normal(20)
            y[3] += outlier
            found = size.residuals(X, which, np.ones(20), y, np.zeros(20))
            # of the first block, whose share is one half: level 10 % for 5 %
            below += size.log_p_value(found, 20, 1, known=known) < np.log(0.1)
        return below

    assert count(0.0) < 200
    assert count(6.0) > 2000
