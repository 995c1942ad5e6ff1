import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from edgewise.core.local.channels import Channels
from edgewise.core.local.normal_equations import Phase, normal_equations
from edgewise.core.local.prior import penalty
from edgewise.core.local.reml import fit
from edgewise.core.local.scoring import form_of_pairs
from edgewise.errors import InvalidArgument


def some_omega(p: int, seed: int = 0) -> np.ndarray:
    root = np.random.default_rng(seed).standard_normal((p, p))
    return root @ root.T + 0.1 * np.eye(p)


@settings(max_examples=30)
@given(st.integers(1, 5), st.integers(0, 10**6), st.floats(1e-4, 1e4))
def test_it_asks_for_a_round_shape_and_for_no_size(p: int, seed: int, size: float) -> None:
    omega = some_omega(p, seed)
    assert penalty(size * np.eye(p), 3.0).value == pytest.approx(0.0, abs=1e-10)
    assert penalty(omega, 3.0).value >= -1e-10
    assert penalty(size * omega, 3.0).value == pytest.approx(penalty(omega, 3.0).value, abs=1e-6)


def test_it_is_the_best_of_all_sizes_of_pseudo_edges() -> None:
    omega, p, weight = some_omega(3), 3, 2.5
    sizes = np.geomspace(1e-3, 1e3, 20001)
    each = np.linalg.slogdet(omega)[1] + sizes * np.trace(np.linalg.inv(omega)) - p * np.log(sizes)
    assert penalty(omega, weight).value == pytest.approx(weight * (each.min() - p), abs=1e-5)


def test_slope_and_curvature_are_its_derivatives() -> None:
    omega, weight, p = some_omega(3), 2.0, 3
    rng = np.random.default_rng(1)
    raw = rng.standard_normal((p, p))
    d, step = raw + raw.T, 1e-4
    values = [penalty(omega + k * step * d, weight).value for k in (-1, 0, 1)]
    here = penalty(omega, weight)
    assert np.vdot(here.slope, d) == pytest.approx((values[2] - values[0]) / (2 * step), rel=1e-5)
    form = form_of_pairs(here.observed.reshape(p * p, p * p), p, p)
    bend = np.einsum("ab,abcd,cd->", d, form, d)
    assert bend == pytest.approx((values[2] - 2 * values[1] + values[0]) / step**2, rel=1e-3)


def test_where_omega_is_round_both_curvatures_agree_and_are_not_negative() -> None:
    here = penalty(0.3 * np.eye(4), 2.0)
    assert_allclose(here.slope, 0.0, atol=1e-12)
    d = np.random.default_rng(2).standard_normal((4, 4))
    d += d.T
    bends = [
        np.einsum("ab,abcd,cd->", d, form_of_pairs(part.reshape(16, 16), 4, 4), d)
        for part in (here.expected, here.observed)
    ]
    assert bends[0] == pytest.approx(bends[1])
    assert bends[0] > 0


def test_a_singular_omega_is_excluded() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        penalty(np.diag([1.0, 0.0]), 1.0)


def errors_of_theta(prior: float) -> float:
    """Mean squared error of the parameters, five noisy rounds of 60 edges with nine parameters."""
    channels, total = Channels.of_arcs(np.zeros(60, np.int64), [9]), 0.0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        theta = rng.standard_normal(9) + 0.3 * rng.standard_normal((60, 9))
        z = rng.standard_normal((5, 60, 9))
        r = (z * theta).sum(axis=2) + 2.0 * rng.standard_normal((5, 60))
        equations = normal_equations(Phase.empty(channels).add(z.reshape(5, -1), r))
        fitted = fit(equations, prior=prior)
        total += float(((fitted.theta.reshape(60, 9) - theta) ** 2).mean())
    return total


def test_few_noisy_rounds_are_not_taken_for_deviations() -> None:
    """Without the prior REML fits 45 entries of Omega to the noise of 300 rewards."""
    assert errors_of_theta(1.0) < 0.8 * errors_of_theta(0.0)


def test_many_edges_outweigh_it() -> None:
    channels, rng = Channels.of_arcs(np.zeros(4000, np.int64), [2]), np.random.default_rng(3)
    omega = np.diag([1.0, 0.01])
    theta = rng.multivariate_normal([1.0, -1.0], omega, 4000)
    z = rng.standard_normal((8, 4000, 2))
    r = (z * theta).sum(axis=2) + 0.3 * rng.standard_normal((8, 4000))
    equations = normal_equations(Phase.empty(channels).add(z.reshape(8, -1), r))
    assert_allclose(fit(equations).omega(0), omega, atol=0.06)
    assert fit(equations).omega(0)[1, 1] < 0.02


@pytest.mark.parametrize("prior", [-1.0, np.inf, np.nan])
def test_a_weight_that_is_none_is_refused(prior: float) -> None:
    channels = Channels.of_arcs(np.zeros(3, np.int64), [1])
    phase = Phase.empty(channels).add(np.ones((2, 3)), np.zeros((2, 3)))
    with pytest.raises(InvalidArgument, match="at least 0"):
        fit(normal_equations(phase), prior=prior)
