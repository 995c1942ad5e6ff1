"""G-optimal designs: certificates, closed forms, awkward arms and refused input."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from edgewise.base.arrays import Array
from edgewise.core.design.g_optimal import Design, g_optimal, product_design, variances
from edgewise.core.design.newton import elimination_bound
from edgewise.errors import InvalidArgument, InvalidProblem


def gaussian(n_arms: int, dimension: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((n_arms, dimension))


def slow_worst_variance(arms: Array, weights: Array) -> float:
    """Independent of the package: an explicit sum and a pseudo-inverse, arm by arm."""
    moment = sum(w * np.outer(x, x) for w, x in zip(weights, arms, strict=True))
    inverse = np.linalg.pinv(np.asarray(moment), hermitian=True)
    return max(float(x @ inverse @ x) for x in arms)


def log_det(arms: Array, weights: Array) -> float:
    sign, value = np.linalg.slogdet((arms.T * weights) @ arms)
    assert sign > 0
    return float(value)


# Names, arms: what a solver can stumble on.
AWKWARD: dict[str, Array] = {
    "as many arms as dimensions": gaussian(6, 6),
    "one arm more": gaussian(7, 6),
    "raw gaussian": gaussian(1000, 10),
    "unit norm, optimum far from unique": (
        gaussian(3000, 5) / np.linalg.norm(gaussian(3000, 5), axis=1)[:, None]
    ),
    "hypercube": np.array(list(product([-1.0, 1.0], repeat=9))),
    "binary": np.array(list(product([0.0, 1.0], repeat=9))),
    "dense grid": np.vander(np.linspace(-1.0, 1.0, 20_001), 6),
    "heavy tails": np.random.default_rng(1).standard_t(1, (3000, 8)),
    "row scales": gaussian(2000, 7) * 10.0 ** np.random.default_rng(2).uniform(-8, 8, (2000, 1)),
    "collinear": gaussian(500, 6) @ (np.eye(6) + 1e6),
    "equal arms": np.repeat(gaussian(30, 6), 100, axis=0),
    "nearly equal arms": np.repeat(gaussian(30, 6), 100, axis=0) + 1e-7 * gaussian(3000, 6, 3),
    "zero arms": np.vstack([np.zeros((400, 4)), gaussian(60, 4)]),
    "nearly parallel pair": np.vstack([np.eye(5), [np.cos(0.1), np.sin(0.1), 0, 0, 0]]),
    "long arms in a subspace": np.vstack([np.eye(4), np.tile([5.0, 5.0, 0.0, 0.0], (3000, 1))]),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_newton_certifies_1e9(name: str) -> None:
    design = g_optimal(AWKWARD[name], tolerance=1e-9)
    assert 0.0 <= design.gap <= 1e-9
    assert design.method == "newton"
    assert (design.weights >= 0).all()
    assert design.weights.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("method", ["newton", "frank-wolfe"])
def test_certificate_agrees_with_a_slow_independent_one(method: str) -> None:
    arms = gaussian(200, 6)
    design = g_optimal(arms, method=method, tolerance=1e-4)
    assert design.worst_variance == pytest.approx(
        slow_worst_variance(arms, design.weights), rel=1e-10
    )


def test_certificate_is_of_the_weights_even_when_iterations_run_out() -> None:
    arms = gaussian(200, 6)
    for method in ("newton", "frank-wolfe"):
        design = g_optimal(arms, method=method, tolerance=1e-9, max_iterations=3)
        assert design.iterations <= 3
        assert design.gap > 1e-9
        assert design.worst_variance == pytest.approx(
            slow_worst_variance(arms, design.weights), rel=1e-10
        )


@pytest.mark.parametrize("tolerance", [1e-13, 1e-15, 1e-17, 1e-300])
@pytest.mark.parametrize("seed", range(5))
def test_unreachable_tolerance_returns_the_best_design_found(tolerance: float, seed: int) -> None:
    design = g_optimal(gaussian(300, 8, seed), tolerance=tolerance)
    assert design.gap < 1e-11


def test_frank_wolfe_follows_the_published_steps() -> None:
    arms = gaussian(40, 3)
    weights = np.full(40, 1 / 40)
    for _ in range(700):  # past the first refactorisation
        g = np.einsum("kd,kd->k", arms @ np.linalg.inv((arms.T * weights) @ arms), arms)
        step = (g.max() / 3 - 1) / (g.max() - 1)
        weights = (1 - step) * weights
        weights[g.argmax()] += step
    design = g_optimal(arms, method="frank-wolfe", tolerance=1e-12, max_iterations=700)
    assert design.iterations == 700
    assert_allclose(design.weights, weights, rtol=1e-6, atol=1e-9)


def test_newton_and_frank_wolfe_agree_in_log_det() -> None:
    arms = gaussian(60, 4)
    exact = g_optimal(arms, tolerance=1e-10)
    paper = g_optimal(arms, method="frank-wolfe", tolerance=1e-4)
    assert paper.gap <= 1e-4
    assert exact.gap <= 1e-10
    difference = log_det(arms, exact.weights) - log_det(arms, paper.weights)
    # log det is within d log(1 + gap) of its maximum.
    assert -1e-9 <= difference <= 4 * 1e-4


def test_auto_is_newton() -> None:
    assert g_optimal(np.eye(2)).method == "newton"


# --- closed forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["newton", "frank-wolfe"])
def test_basis_gets_uniform_weights(method: str) -> None:
    design = g_optimal(np.diag([1.0, 20.0, 0.3, 4.0]), method=method)
    assert_allclose(design.weights, 0.25, atol=1e-9)
    assert design.dimension == 4


@pytest.mark.parametrize(
    ("degree", "inner"), [(2, [0.0]), (3, [1 / 5**0.5]), (4, [0.0, (3 / 7) ** 0.5])]
)
def test_polynomial_regression_uses_the_extrema_of_legendre(
    degree: int, inner: list[float]
) -> None:
    """On [-1, 1]: equal mass on -1, 1 and the roots of P_n' (Guest, 1958)."""
    points = np.union1d([-1.0, 1.0], np.concatenate([inner, np.negative(inner)]))
    assert len(points) == degree + 1
    grid = np.union1d(np.linspace(-1, 1, 401), points)
    grid = grid[np.append(True, np.diff(grid) > 1e-12)]
    design = g_optimal(np.vander(grid, degree + 1), tolerance=1e-10)
    near = np.abs(grid[:, None] - points).min(axis=1) < 1e-9
    assert_allclose(design.weights[near], 1 / (degree + 1), atol=1e-4)
    assert design.weights[~near].sum() < 1e-4


def test_one_dimension_plays_the_longest_arm() -> None:
    for method in ("newton", "frank-wolfe"):
        design = g_optimal([[1.0], [-3.0], [2.0]], method=method)
        assert design.weights.tolist() == [0.0, 1.0, 0.0]
        assert design.gap == 0.0


def test_single_arm() -> None:
    assert g_optimal([[2.5]]).weights.tolist() == [1.0]


# --- elimination ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_elimination_loses_no_log_det(seed: int) -> None:
    """Designs on the arms that survive are as good as designs on all arms."""
    arms = gaussian(400, 5, seed)
    rough = g_optimal(arms, method="frank-wolfe", tolerance=0.05)
    bound = elimination_bound(rough.worst_variance, 5)
    survivors = arms[variances(arms, rough.weights) >= bound]
    assert len(survivors) < 200, "the bound must eliminate something to be tested"
    full, reduced = g_optimal(arms, tolerance=1e-10), g_optimal(survivors, tolerance=1e-10)
    assert log_det(survivors, reduced.weights) == pytest.approx(
        log_det(arms, full.weights), abs=1e-8
    )


def test_a_bolder_elimination_would_lose_the_optimum() -> None:
    """Negative control: with a bound above the true one (here 1.03 d) the test would notice."""
    arms = gaussian(400, 5)
    rough = g_optimal(arms, method="frank-wolfe", tolerance=0.05)
    survivors = arms[variances(arms, rough.weights) >= 5 * 1.03]
    full = log_det(arms, g_optimal(arms, tolerance=1e-10).weights)
    reduced = g_optimal(survivors, tolerance=1e-10)
    assert log_det(survivors, reduced.weights) < full - 1e-6


# --- rank -----------------------------------------------------------------------------------------


def flat_arms() -> Array:
    return gaussian(30, 3) @ gaussian(3, 5, 1)


def test_missing_dimensions_are_an_error_that_names_the_remedy() -> None:
    with pytest.raises(InvalidProblem) as caught:
        g_optimal(flat_arms())
    assert str(caught.value) == (
        "arms span 3 of 5 dimensions, so M is not identifiable; "
        "add 2 independent arm(s) or pass project=True"
    )


def test_project_works_in_the_span() -> None:
    flat = g_optimal(flat_arms(), project=True, tolerance=1e-9)
    assert flat.dimension == 3
    assert flat.gap <= 1e-9
    assert flat.worst_variance == pytest.approx(slow_worst_variance(flat_arms(), flat.weights))
    assert flat.worst_variance == pytest.approx(
        variances(gaussian(30, 3), flat.weights).max(), rel=1e-9
    )


def test_project_changes_nothing_when_the_arms_span() -> None:
    arms = gaussian(30, 3)
    assert (g_optimal(arms, project=True).weights == g_optimal(arms).weights).all()


@pytest.mark.parametrize("project", [False, True])
def test_zero_arms_only_are_refused(project: bool) -> None:
    with pytest.raises(InvalidProblem, match=r"every arm is zero.*add a non-zero arm"):
        g_optimal(np.zeros((3, 2)), project=project)


# --- settings and values --------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [0.0, -1e-3, float("nan")])
def test_tolerance_must_be_positive(tolerance: float) -> None:
    with pytest.raises(
        InvalidArgument, match=r"tolerance is .*; it must be a finite number above 0"
    ):
        g_optimal(np.eye(2), tolerance=tolerance)


def test_unknown_method_lists_the_known_ones() -> None:
    with pytest.raises(InvalidArgument) as caught:
        g_optimal(np.eye(2), method="simplex")
    assert str(caught.value) == (
        "no design method is called 'simplex'; choose one of 'auto', 'frank-wolfe', 'newton'"
    )


def test_max_iterations_must_be_positive() -> None:
    with pytest.raises(InvalidArgument, match="max_iterations is 0; it must be a whole number"):
        g_optimal(np.eye(2), max_iterations=0)


def test_bad_arms_are_refused() -> None:
    with pytest.raises(InvalidProblem, match="first is arm 1"):
        g_optimal([[1.0, 0.0], [np.nan, 1.0]])


def test_design_cannot_be_written_to() -> None:
    design = g_optimal(np.eye(3))
    with pytest.raises(ValueError, match="read-only"):
        design.weights[0] = 1.0
    with pytest.raises(AttributeError):
        design.dimension = 2  # type: ignore[misc]


def test_gap_is_never_negative() -> None:
    assert Design(np.ones(1), 1.0 - 1e-16, 1, 0, "newton").gap == 0.0


def test_same_arms_same_design() -> None:
    arms = gaussian(500, 6)
    assert (g_optimal(arms).weights == g_optimal(arms).weights).all()


def test_variances_of_a_design_that_does_not_span() -> None:
    with pytest.raises(
        InvalidProblem, match=r"positive weight span 1 of 2 .* give weight to 1 more"
    ):
        variances(np.eye(2), np.array([1.0, 0.0]))


def test_variances_in_chunks() -> None:
    arms, weights = gaussian(200_000, 6), np.full(200_000, 1 / 200_000)
    some = np.array([0, 87_380, 87_381, 87_382, 199_999])
    inverse = np.linalg.inv(arms.T @ arms / 200_000)
    expected = np.einsum("kd,de,ke->k", arms[some], inverse, arms[some])
    assert_allclose(variances(arms, weights)[some], expected, rtol=1e-10)


def test_product_design_is_a_law_on_pairs() -> None:
    law = product_design([0.2, 0.3, 0.5])
    assert law.shape == (3, 3)
    assert law.sum() == pytest.approx(1.0)
    assert_allclose(law.sum(axis=1), [0.2, 0.3, 0.5])


def test_newton_does_not_load_numba() -> None:
    code = (
        "import sys, numpy as np; from edgewise.core.design.g_optimal import g_optimal;"
        "g_optimal(np.eye(3)); assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
