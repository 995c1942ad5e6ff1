"""The running t-test: closed form against quadrature, the martingale property, intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from edgewise.errors import InvalidArgument
from edgewise.trial import t_evidence, t_interval, t_quantile
from edgewise.trial.sequence import SCALES, log_evidence, moments

numbers = st.lists(st.floats(-50, 50).map(lambda x: round(x, 3)), min_size=2, max_size=12)


def by_quadrature(differences: list[float]) -> float:
    """The Bayes factor with 1/sigma for the deviation and half-normal effects, from its definition.

    The likelihood of effect theta is summed over log(sigma), then over theta, on fine grids.
    """
    d = np.array(differences)
    sigma = np.sqrt((d**2).mean()) * np.exp(np.linspace(-8, 25, 4001))
    theta = np.linspace(0, 8, 1601)[:, None] * SCALES  # (theta, scale)
    likelihood = np.zeros(theta.shape)
    for index in np.ndindex(theta.shape):
        mean = theta[index] * sigma
        logs = stats.norm.logpdf(d[:, None], mean, sigma).sum(axis=0)
        likelihood[index] = np.exp(logs).sum()
    density = 2 * stats.norm.pdf(theta, 0, SCALES)
    return float((integrate.simpson(likelihood * density / likelihood[0], theta, axis=0)).mean())


@pytest.mark.parametrize("differences", [[-0.4], [1.0, 0.2], [2.0, 1.5, 1.7, 2.2]])
def test_evidence_is_the_mixture_over_positive_effects(differences: list[float]) -> None:
    assert t_evidence(differences) == pytest.approx(by_quadrature(differences), rel=1e-5)


@pytest.mark.parametrize("before", [[0.7], [0.2, -0.5, 1.1], [2.0, 2.1, 1.9, 2.3, 2.0]])
def test_evidence_is_a_martingale_if_the_mean_is_zero(before: list[float]) -> None:
    """Given the past up to its scale, the next difference is Student's t with n degrees."""
    n, size = len(before), float(np.sqrt(np.mean(np.square(before))))

    def next_evidence(x: float) -> float:
        return t_evidence([*before, size * x]) * float(stats.t.pdf(x, n))

    pieces = [(-np.inf, -30.0), (-30.0, 0.0), (0.0, 30.0), (30.0, np.inf)]
    mean = sum(integrate.quad(next_evidence, a, b, limit=200)[0] for a, b in pieces)
    assert mean == pytest.approx(t_evidence(before), rel=1e-4)


@given(numbers, st.floats(0, 20), st.floats(0.01, 100))
def test_evidence_grows_with_the_differences_and_forgets_their_scale(
    differences: list[float], shift: float, scale: float
) -> None:
    n, mean, squares = moments(np.array(differences))
    low = log_evidence(n, np.sqrt(n) * mean, squares)
    assert log_evidence(n, np.sqrt(n) * (mean + shift), squares) >= low - 1e-9
    scaled = log_evidence(n, np.sqrt(n) * mean * scale, squares * scale**2)
    assert scaled == pytest.approx(float(low), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("n", "level"), [(3, 0.2), (5, 0.04), (12, 0.01), (400, 0.025)])
def test_the_quantile_is_where_the_evidence_suffices(n: int, level: float) -> None:
    t = t_quantile(n, level)
    assert float(log_evidence(n, t, n - 1.0)) == pytest.approx(np.log(1 / level), rel=1e-9)
    assert t > stats.t.ppf(1 - level, n - 1)  # looking at all times has a price


def test_no_quantile_where_no_evidence_suffices() -> None:
    assert t_quantile(1, 0.5) == t_quantile(2, 0.001) == np.inf


@given(numbers)
def test_the_interval_is_what_the_evidence_does_not_refute(differences: list[float]) -> None:
    low, high = t_interval(differences, delta=0.2, lower_share=0.75)
    assert low <= np.mean(differences) <= high
    if np.isfinite(low) and np.std(differences) > 1e-6:
        assert t_evidence(differences, null=low) == pytest.approx(1 / 0.15, rel=1e-5)
    if np.isfinite(high) and np.std(differences) > 1e-6:
        mirrored = [-one for one in differences]
        assert t_evidence(mirrored, null=-high) == pytest.approx(1 / 0.05, rel=1e-5)


def test_intervals_of_few_or_equal_differences() -> None:
    assert t_interval([]) == t_interval([3.0]) == (-np.inf, np.inf)
    assert t_interval([1.0] * 6) == (1.0, 1.0)
    assert t_evidence([0.0] * 6) == 1.0


@pytest.mark.parametrize("wrong", [[[1.0]], [1.0, np.nan], ["a"]])
def test_differences_must_be_complete(wrong: list[object]) -> None:
    with pytest.raises(InvalidArgument, match="differences"):
        t_interval(wrong)  # type: ignore[arg-type]


def test_delta_must_be_a_probability() -> None:
    with pytest.raises(InvalidArgument, match="delta"):
        t_interval([1.0, 2.0], delta=1.0)
