from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from edgewise.base.arrays import Array
from edgewise.core.design.g_optimal import g_optimal
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph
from edgewise.theory import alpha, burn_in, constants, variance
from edgewise.theory.convergence import inverse_norm

ARMS = np.random.default_rng(0).standard_normal((5, 3))
CIRCLE = Graph.circle(n_edges=12)


def edge_arms() -> Array:
    products: Array = np.einsum("ka,lb->klab", ARMS, ARMS).reshape(25, 9)
    return products


def test_constants_are_those_of_the_edge_arms() -> None:
    z = edge_arms()
    c = constants(ARMS)
    assert c.dimension == 3
    assert c.edge_arm_norm == pytest.approx((z**2).sum(axis=1).max())
    assert c.nu_min == pytest.approx(np.linalg.eigvalsh(z.T @ z / 25)[0])


def test_inverse_norm_obeys_the_papers_lemma() -> None:
    law = g_optimal(ARMS).weights
    z = edge_arms()
    sigma = (z.T * np.outer(law, law).ravel()) @ z
    kappa = inverse_norm(ARMS, law)
    assert kappa == pytest.approx(np.linalg.norm(np.linalg.inv(sigma), 2))
    assert kappa <= 9 / constants(ARMS).nu_min


def test_burn_in_of_an_orthonormal_basis() -> None:
    # L = 1, nu_min = 1/4, d = 2.
    assert burn_in(np.eye(2), delta=0.1) == pytest.approx(32 * math.log(80))


def test_leading_term_is_the_formula() -> None:
    law = g_optimal(ARMS).weights
    c, v = constants(ARMS), variance(CIRCLE, ARMS, law).norm
    expected = 9 * c.edge_arm_norm / (12 * c.nu_min**2) * math.sqrt(2 * v * math.log(180) / 50)
    assert alpha(CIRCLE, ARMS, 50, delta=0.1) == pytest.approx(expected)


def test_non_asymptotic_form_is_the_formula_of_the_proof() -> None:
    law = g_optimal(ARMS).weights
    t, log = 1e9, math.log(18 / 0.1)
    L, kappa = constants(ARMS).edge_arm_norm, inverse_norm(ARMS, law)
    v = variance(CIRCLE, ARMS, law).norm
    # As printed, last display before the o() notation, times m t L / d^2.
    ratio = (1 + math.sqrt(12**2 * L**2 * log / (18 * v * t))) / (
        1 - math.sqrt(2 * L * kappa * log / t)
    )
    printed = 12 * t * L / 9 * kappa**2 / (t * 12**2) * math.sqrt(2 * v * log / t) * ratio
    assert alpha(CIRCLE, ARMS, t, delta=0.1, form="non-asymptotic") == pytest.approx(printed)


def test_too_few_rounds_prove_nothing() -> None:
    assert alpha(CIRCLE, ARMS, 1, form="non-asymptotic") == math.inf
    assert alpha(CIRCLE, ARMS, 1, form="whitened") == math.inf
    one_arm = np.eye(5)[0]
    assert alpha(CIRCLE, ARMS, 1e9, weights=one_arm, form="non-asymptotic") == math.inf
    assert alpha(CIRCLE, ARMS, 1e9, weights=one_arm, form="whitened") == math.inf


@pytest.mark.parametrize("form", ["leading", "non-asymptotic", "whitened"])
def test_loss_falls_like_one_over_root_t(form: Any) -> None:
    early, late = (alpha(CIRCLE, ARMS, t, form=form) for t in (1e11, 1e13))
    assert early / late == pytest.approx(10, rel=0.02)


def test_whitened_form_is_smaller_and_ignores_the_units_of_the_arms() -> None:
    law = g_optimal(ARMS).weights
    skewed = ARMS @ np.array([[1.0, 5.0, 0.0], [0.0, 1e-3, 0.0], [2.0, 0.0, 30.0]])
    t = 1e4
    ours = alpha(CIRCLE, ARMS, t, weights=law, form="whitened")
    assert ours == pytest.approx(alpha(CIRCLE, skewed, t, weights=law, form="whitened"))
    assert ours < alpha(CIRCLE, ARMS, t, weights=law, form="non-asymptotic")


def test_given_weights_are_used() -> None:
    law = g_optimal(ARMS).weights
    uniform = np.full(5, 0.2)
    assert alpha(CIRCLE, ARMS, 50) == alpha(CIRCLE, ARMS, 50, weights=law)
    assert not np.isclose(alpha(CIRCLE, ARMS, 50, weights=uniform), alpha(CIRCLE, ARMS, 50))


def test_duplicate_arms_change_nothing_that_matters() -> None:
    arms = np.eye(3)[[0, 1, 2, 1]]
    assert_allclose(
        alpha(CIRCLE, arms, 1e4, form="non-asymptotic"),
        alpha(CIRCLE, np.eye(3), 1e4, form="non-asymptotic"),
        rtol=1e-4,
    )


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"graph": Graph.from_edges([(0, 1)], directed=True)}, "directed"),
        ({"rounds": 0.5}, "rounds is 0.5"),
        ({"rounds": float("nan")}, "rounds is nan"),
        ({"delta": 0.0}, "delta is 0.0"),
        ({"delta": 1.0}, "delta is 1.0"),
        ({"weights": [0.5, 0.5]}, "weights have shape"),
        ({"form": "exact"}, "no form of alpha is called 'exact'"),
        ({"arms": [[1.0, 1.0], [2.0, 2.0]]}, "span 1 of 2"),
    ],
)
def test_wrong_calls_are_refused(changes: dict[str, Any], fact: str) -> None:
    call: dict[str, Any] = {"graph": CIRCLE, "arms": ARMS, "rounds": 10} | changes
    with pytest.raises(InvalidArgument, match=fact):
        alpha(**call)


def test_burn_in_checks_delta() -> None:
    with pytest.raises(InvalidArgument, match="delta is 2"):
        burn_in(ARMS, delta=2)
