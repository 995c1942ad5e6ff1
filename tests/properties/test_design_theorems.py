"""Theorems about designs, as properties of whatever arms hypothesis thinks of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from edgewise.base.arrays import Array
from edgewise.core.design.g_optimal import g_optimal, product_design, variances
from edgewise.core.design.newton import elimination_bound
from edgewise.network.arms import whiten

TOLERANCE = 1e-9
settings.register_profile("designs", deadline=None, max_examples=60, derandomize=True)
designs = settings.get_profile("designs")


@st.composite
def arm_sets(draw: st.DrawFn, max_dimension: int = 5, max_extra: int = 40) -> Array:
    """Arms that span their space: Gaussian or small integers, with repeats and zeros."""
    dimension = draw(st.integers(1, max_dimension))
    n_arms = dimension + draw(st.integers(0, max_extra))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        arms = rng.standard_normal((n_arms, dimension))
    else:
        arms = rng.integers(-2, 3, (n_arms, dimension)).astype(float)
    assume(whiten(arms).rank == dimension)
    return arms


@st.composite
def weighted_arms(draw: st.DrawFn) -> tuple[Array, Array]:
    arms = draw(arm_sets(max_dimension=4, max_extra=8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return arms, rng.dirichlet(np.ones(len(arms)))


def pairs(arms: Array) -> Array:
    """(K * K, d * d): every edge-arm vec(x y')."""
    table: Array = np.einsum("ki,lj->klij", arms, arms)
    return table.reshape(len(arms) ** 2, -1)


def log_det(arms: Array, weights: Array) -> float:
    return float(np.linalg.slogdet((arms.T * weights) @ arms)[1])


@designs
@given(arm_sets())
def test_kiefer_wolfowitz(arms: Array) -> None:
    """No design is below d; the one found reaches it; every arm played has variance d."""
    design = g_optimal(arms, tolerance=TOLERANCE)
    dimension = arms.shape[1]
    spread = variances(arms, design.weights)
    assert design.dimension == dimension
    assert design.worst_variance == pytest.approx(spread.max(), rel=1e-9)
    assert dimension * (1 - 1e-12) <= design.worst_variance <= dimension * (1 + TOLERANCE)
    assert design.weights @ (dimension - spread) == pytest.approx(0.0, abs=1e-9)
    assert (spread[design.weights > 1e-3] > dimension * (1 - 1e-5)).all()


@designs
@given(weighted_arms())
def test_no_other_design_is_better(case: tuple[Array, Array]) -> None:
    arms, other = case
    best = g_optimal(arms, tolerance=TOLERANCE)
    assert variances(arms, other).max() >= arms.shape[1] * (1 - 1e-9)
    assert log_det(arms, other) <= log_det(arms, best.weights) + 1e-7


@designs
@given(weighted_arms())
def test_mean_variance_is_the_dimension(case: tuple[Array, Array]) -> None:
    arms, weights = case
    assert weights @ variances(arms, weights) == pytest.approx(arms.shape[1], rel=1e-8)


@designs
@given(arm_sets(max_extra=15))
def test_newton_and_frank_wolfe_agree(arms: Array) -> None:
    newton = g_optimal(arms, tolerance=TOLERANCE)
    paper = g_optimal(arms, method="frank-wolfe", tolerance=1e-3)
    assert paper.gap <= 1e-3
    difference = log_det(arms, newton.weights) - log_det(arms, paper.weights)
    assert -1e-8 <= difference <= arms.shape[1] * 1e-3


@designs
@given(weighted_arms())
def test_variances_multiply_under_the_product_design(case: tuple[Array, Array]) -> None:
    arms, weights = case
    spread = variances(arms, weights)
    assume(spread.max() < 1e6)
    on_pairs = variances(pairs(arms), product_design(weights).ravel())
    assert_allclose(on_pairs, np.outer(spread, spread).ravel(), rtol=1e-6, atol=1e-9)


@designs
@given(arm_sets(max_dimension=4, max_extra=8))
def test_product_of_optimal_laws_is_optimal_on_edge_arms(arms: Array) -> None:
    """Theorem 4.1: value d^2, which is the least any design on the edge-arms can reach."""
    design = g_optimal(arms, tolerance=TOLERANCE)
    law = product_design(design.weights).ravel()
    edge_arms = pairs(arms)
    assert whiten(edge_arms).rank == arms.shape[1] ** 2
    assert variances(edge_arms, law).max() == pytest.approx(arms.shape[1] ** 2, rel=1e-7)


@designs
@given(arm_sets(), st.integers(0, 2**32 - 1), st.floats(-6.0, 6.0))
def test_invariance_under_linear_maps(arms: Array, seed: int, decades: float) -> None:
    rng = np.random.default_rng(seed)
    dimension = arms.shape[1]
    orthogonal, _ = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    linear = orthogonal * np.linspace(1.0, 3.0, dimension) * 10.0**decades
    here, there = (
        g_optimal(arms, tolerance=TOLERANCE),
        g_optimal(arms @ linear, tolerance=TOLERANCE),
    )
    assert there.gap <= TOLERANCE
    assert_allclose(
        variances(arms, there.weights), variances(arms, here.weights), rtol=1e-3, atol=1e-3
    )
    assert log_det(arms, there.weights) == pytest.approx(log_det(arms, here.weights), abs=1e-7)


@designs
@given(arm_sets(), st.lists(st.floats(-8.0, 8.0), min_size=5, max_size=5))
def test_columns_of_any_scale(arms: Array, decades: list[float]) -> None:
    scaled = arms * 10.0 ** np.array(decades[: arms.shape[1]])
    design = g_optimal(scaled, tolerance=TOLERANCE)
    assert design.gap <= TOLERANCE
    assert variances(arms, design.weights).max() == pytest.approx(arms.shape[1], rel=1e-8)


@designs
@given(arm_sets(), st.integers(0, 2**32 - 1))
def test_signs_repeats_and_zeros_change_nothing(arms: Array, seed: int) -> None:
    rng = np.random.default_rng(seed)
    copies = arms[rng.integers(0, len(arms), 20)]
    more = np.vstack([arms, copies, np.zeros((3, arms.shape[1]))])
    more *= rng.choice([-1.0, 1.0], (len(more), 1))
    here, there = g_optimal(arms, tolerance=TOLERANCE), g_optimal(more, tolerance=TOLERANCE)
    assert there.gap <= TOLERANCE
    assert log_det(more, there.weights) == pytest.approx(log_det(arms, here.weights), abs=1e-7)
    assert there.weights[-3:].sum() < 1e-7


@designs
@given(arm_sets(max_dimension=3), st.integers(0, 2**32 - 1))
def test_arms_in_a_subspace(arms: Array, seed: int) -> None:
    embedding = np.random.default_rng(seed).standard_normal((arms.shape[1], 5))
    assume(np.linalg.cond(embedding) < 1e3)
    flat = g_optimal(arms @ embedding, project=True, tolerance=TOLERANCE)
    assert flat.dimension == arms.shape[1]
    assert flat.gap <= TOLERANCE
    assert variances(arms, flat.weights).max() == pytest.approx(arms.shape[1], rel=1e-7)


@designs
@given(weighted_arms())
def test_elimination_never_removes_the_support(case: tuple[Array, Array]) -> None:
    arms, weights = case
    spread = variances(arms, weights)
    bound = elimination_bound(float(spread.max()), arms.shape[1])
    # A hair below the bound: at equality the theorem keeps the arm.
    survivors = arms[spread >= bound * (1 - 1e-9)]
    best = g_optimal(arms, tolerance=TOLERANCE)
    reduced = g_optimal(survivors, tolerance=TOLERANCE)
    assert log_det(survivors, reduced.weights) == pytest.approx(
        log_det(arms, best.weights), abs=1e-7
    )
