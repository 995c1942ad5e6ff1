from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from edgewise.base.arrays import Array
from edgewise.errors import InvalidArgument
from edgewise.theory import characteristic, dual_bound, rho_star, worst_ratio
from edgewise.theory.edge_arms import edge_arm_model


def paper_instance(d: int, omega: float, *, drop: bool = False) -> tuple[Array, Array]:
    extra = np.zeros(d)
    extra[:2] = np.cos(omega), np.sin(omega)
    arms = np.eye(d) if drop else np.vstack([np.eye(d), extra])
    matrix = np.zeros((d, d))
    matrix[0, 0] = 2.0
    return edge_arm_model(arms, matrix, "symmetric")


def random_instance(seed: int, n_cells: int, dimension: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n_cells, dimension))
    means = features @ rng.standard_normal(dimension)
    best = means.argmax()
    rivals = np.delete(np.arange(n_cells), best)
    return features, features[best] - features[rivals], means[best] - means[rivals]


def slow_rho(features: Array, contrasts: Array, gaps: Array) -> float:
    """Epigraph form by a general-purpose solver: softmax weights, minimise the worst ratio."""

    def ratios(logits: Array) -> Array:
        design = np.exp(logits - logits.max())
        sigma = (features.T * (design / design.sum())) @ features
        inverse: Array = np.linalg.solve(sigma, contrasts.T)
        value: Array = (contrasts.T * inverse).sum(axis=0) / gaps**2
        return value

    start = np.zeros(len(features))
    unit = ratios(start).max()
    result = minimize(
        lambda v: v[-1],
        np.append(start, 1.0),
        constraints={"type": "ineq", "fun": lambda v: v[-1] - ratios(v[:-1]) / unit},
        bounds=[(-25.0, 25.0)] * len(features) + [(0.0, 2.0)],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    return float(ratios(result.x[:-1]).max())


@pytest.mark.parametrize(("d", "value"), [(2, 115.2), (3, 116.0), (5, 118.3), (7, 121.7)])
def test_characteristic_time_of_the_hard_paper_instances(d: int, value: float) -> None:
    result = characteristic(*paper_instance(d, 0.1))
    assert round(result.value, 1) == value
    assert result.gap <= 1e-6
    assert result.iterations < 30


@pytest.mark.parametrize(("d", "value"), [(2, 1.46), (3, 2.62), (5, 5.62), (7, 9.60)])
def test_characteristic_time_of_the_easy_paper_instances(d: int, value: float) -> None:
    dropped = characteristic(*paper_instance(d, math.pi / 2, drop=True))
    assert round(dropped.value, 2) == value
    # The extra arm equals e_2: the same cells once more.
    duplicated = characteristic(*paper_instance(d, math.pi / 2))
    assert duplicated.value == pytest.approx(dropped.value, rel=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_general_purpose_solver_agrees(seed: int) -> None:
    instance = random_instance(seed, 6, 3)
    result = rho_star(*instance)
    assert slow_rho(*instance) == pytest.approx(result.value, rel=1e-4)


def test_orthogonal_arms_have_a_closed_form() -> None:
    # Leader against n rivals with gap g: (1 + sqrt(n))^2 / g^2.
    n, gap = 6, 0.25
    contrasts = np.column_stack([np.ones(n), -np.eye(n)])
    result = rho_star(np.eye(n + 1), contrasts, np.full(n, gap))
    assert result.value == pytest.approx((1 + math.sqrt(n)) ** 2 / gap**2, rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(0, 6), st.floats(-3, 3))
def test_bracket_is_proved_by_design_and_multipliers(
    seed: int, dimension: int, extra: int, log_scale: float
) -> None:
    features, contrasts, gaps = random_instance(seed, dimension + extra, dimension)
    scales = 10.0 ** (log_scale * np.linspace(-1, 1, dimension))
    result = rho_star(features * scales, contrasts * scales, gaps)
    assert result.gap <= 1e-6
    assert result.design.min() >= 0.0
    assert result.design.sum() == pytest.approx(1.0)
    assert result.multipliers.sum() == pytest.approx(1.0)
    assert_allclose(worst_ratio(features, contrasts, gaps, result.design), result.value, rtol=1e-6)
    bound = dual_bound(features, contrasts, gaps, result.design, result.multipliers)
    assert_allclose(bound, result.lower, rtol=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_every_certificate_is_valid(seed: int) -> None:
    instance = random_instance(seed % 7, 7, 3)
    rng = np.random.default_rng(seed)
    design, multipliers = rng.dirichlet(np.ones(7)), rng.dirichlet(np.full(6, 0.5))
    best = rho_star(*instance)
    assert dual_bound(*instance, design, multipliers) <= best.value * (1 + 1e-12)
    assert worst_ratio(*instance, design) >= best.lower * (1 - 1e-12)


def test_a_single_contrast_may_need_a_singular_design() -> None:
    # Only the first coordinate matters, so only the first cell is observed.
    result = rho_star(np.eye(4), [[3.0, 0.0, 0.0, 0.0]], [1.5])
    assert result.value == pytest.approx(4.0, rel=1e-6)
    assert result.design[0] == pytest.approx(1.0, abs=1e-5)


def test_features_may_be_dependent_and_repeated() -> None:
    features, contrasts, gaps = random_instance(3, 5, 3)
    mix = np.random.default_rng(9).standard_normal((3, 6))
    reference = rho_star(features, contrasts, gaps).value
    embedded = rho_star(features @ mix, contrasts @ mix, gaps)
    assert embedded.value == pytest.approx(reference, rel=2e-6)
    repeated = rho_star(np.vstack([features, -features, features]), contrasts, gaps)
    assert repeated.value == pytest.approx(reference, rel=2e-6)


@pytest.mark.parametrize("omega", [1e-2, 1e-3])
def test_near_ties_are_solved_as_precisely(omega: float) -> None:
    assert characteristic(*paper_instance(5, omega)).gap <= 1e-6


def test_hundreds_of_cells() -> None:
    rng = np.random.default_rng(0)
    arms, matrix = rng.standard_normal((30, 5)), rng.standard_normal((5, 5))
    result = characteristic(*edge_arm_model(arms, matrix, "symmetric"))
    assert result.design.shape == (465,)
    assert result.gap <= 1e-6


def test_ties_are_infinite_and_no_rival_is_zero() -> None:
    tied = characteristic(np.eye(2), np.array([1.0, 1.0]))
    assert (tied.value, tied.lower, tied.gap) == (math.inf, math.inf, 0.0)
    alone = characteristic(np.ones((2, 1)), np.array([1.0]))
    assert (alone.value, alone.lower, alone.gap) == (0.0, 0.0, 0.0)


def test_too_few_iterations_show_in_the_gap() -> None:
    result = rho_star(*random_instance(1, 8, 4), max_iterations=2)
    assert result.gap > 1e-3
    assert result.iterations == 4  # two attempts


@pytest.mark.parametrize(
    ("contrasts", "gaps", "fact"),
    [
        ([[1.0, 0.0]], [1.0, 2.0], "gaps"),
        ([[1.0]], [1.0], "contrasts"),
        ([[1.0, 0.0]], [-1.0], "negative"),
        ([[np.nan, 0.0]], [1.0], "not finite"),
        ([[0.0, 1.0]], [1.0], "outside the span"),
    ],
)
def test_wrong_calls_are_refused(
    contrasts: list[list[float]], gaps: list[float], fact: str
) -> None:
    with pytest.raises(InvalidArgument, match=fact):
        rho_star([[1.0, 0.0], [2.0, 0.0]], contrasts, gaps)


def test_parameter_must_fit_the_features() -> None:
    with pytest.raises(InvalidArgument, match="theta"):
        characteristic(np.eye(2), np.ones(3))
