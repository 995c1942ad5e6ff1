"""Where the best law of independent nodes is a convex programme, and where it is not.

The claims, their proofs and the counterexamples are in docs/theory.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.core.design.expected import ExpectedCells
from edgewise.core.model.cells import Cells

SEEDS = st.integers(0, 2**32 - 1)
ROUNDING = 1e-9


def positive_definite(rng: np.random.Generator, d: int) -> Array:
    root = rng.normal(size=(d, d + 1)) * 10.0 ** rng.uniform(-1, 1, size=(d, 1))
    return np.asarray(root @ root.T)


def bulge(value: Callable[[float], float]) -> float:
    """How far the middle of a segment lies above the chord, relative to the chord."""
    chord = 0.5 * (value(0.0) + value(1.0))
    return (value(0.5) - chord) / abs(chord)


@given(SEEDS, st.integers(1, 4), st.integers(1, 4))
def test_the_inverse_of_a_kronecker_product_is_jointly_convex(seed: int, d: int, e: int) -> None:
    """Ando: Y -> tr(Y' A^-1 Y B^-1) is convex in (A, B), for every Y."""
    rng = np.random.default_rng(seed)
    A, B = ([positive_definite(rng, size) for _ in range(2)] for size in (d, e))
    y = rng.normal(size=d * e)

    def value(t: float) -> float:
        mixed = np.kron(A[0] + t * (A[1] - A[0]), B[0] + t * (B[1] - B[0]))
        return float(y @ np.linalg.solve(mixed, y))

    assert bulge(value) <= ROUNDING


@given(SEEDS, st.integers(1, 4))
def test_its_second_derivative_is_the_one_in_the_proof(seed: int, d: int) -> None:
    """2 (|HY|^2 + |YK|^2 + <HY, YK>) at A = B = I, at least |HY|^2 + |YK|^2."""
    rng = np.random.default_rng(seed)
    H, K = ((G + G.T) / 2 for G in rng.normal(size=(2, d, d)))
    Y = rng.normal(size=(d, d))

    def value(t: float) -> float:
        first, second = np.eye(d) + t * H, np.eye(d) + t * K
        return float(np.trace(Y.T @ np.linalg.solve(first, Y) @ np.linalg.inv(second)))

    stated = 2 * ((H @ Y) ** 2 + (Y @ K) ** 2 + (H @ Y) * (Y @ K)).sum()
    step = 1e-4 / (1 + np.abs(H).max() + np.abs(K).max())
    measured = (value(step) - 2 * value(0.0) + value(-step)) / step**2
    assert_allclose(measured, stated, rtol=1e-3, atol=1e-3 * (Y**2).sum())
    assert stated >= ((H @ Y) ** 2 + (Y @ K) ** 2).sum() * (1 - 1e-12)


# -- the model: contrasts as functions of the laws ---------------------------------------------

UNDIRECTED = ew.Graph.circle(n_nodes=6)
DIRECTED = ew.Graph.from_edges(
    [(0, 1), (1, 2), (2, 0), (3, 1)], directed=True, weights=[1, 2, 3, 4]
)
ACROSS = ew.Graph.from_edges([(0, 1), (2, 3), (2, 1)], directed=True)
KINDS = ew.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], kinds=[0, 1, 0, 1])
EITHER = np.array([[1, 1, 1, 0], [0, 1, 1, 1]] * 3, bool)

Maker = Callable[[Array], ew.Problem]

CONVEX: dict[str, Maker] = {
    "the paper's setting": lambda arms: ew.Problem(UNDIRECTED, arms),
    "directed": lambda arms: ew.Problem(DIRECTED, arms),
    "directed, node term": lambda arms: ew.Problem(DIRECTED, arms, node_term=True),
    "kinds": lambda arms: ew.Problem(KINDS, arms),
    "directed from one set to another": lambda arms: ew.Problem(
        ACROSS, arms, candidates=EITHER[:4]
    ),
}


def largest_bulges(make: Maker, rng: np.random.Generator) -> tuple[float, float]:
    """Over a few contrasts and segments: of y'A^-1 y, and of minus its root's inverse."""
    problem = make(rng.normal(size=(4, 2)))
    cells = Cells.of(problem)
    expected = ExpectedCells.of(problem, cells)
    kind = problem.graph.n_kinds - 1
    phi = cells.features[kind, :, : cells.dimensions[kind]]
    variance_bulge, root_bulge = -np.inf, -np.inf
    for _ in range(8):
        y = np.asarray(rng.normal(size=phi.shape[1]))
        ends = [random_laws(expected, rng) for _ in range(2)]

        def variance(t: float, ends: list[Array] = ends, y: Array = y) -> float:
            laws = ends[0] + t * (ends[1] - ends[0])
            gram = (phi.T * expected.information(laws)[kind]) @ phi
            return float(y @ np.linalg.solve(gram, y))

        variance_bulge = max(variance_bulge, bulge(variance))
        root_bulge = max(root_bulge, bulge(lambda t, f=variance: -(f(t) ** -0.5)))  # type: ignore[misc]
    return variance_bulge, root_bulge


def random_laws(expected: ExpectedCells, rng: np.random.Generator) -> Array:
    laws = expected.masks * (rng.gamma(0.3, size=expected.masks.shape) + 1e-3)
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("name", CONVEX)
@given(seed=SEEDS)
def test_variances_are_convex_in_the_laws(name: str, seed: int) -> None:
    """So is -1/sqrt of them, which is homogeneous of degree 1: what the certificate rests on."""
    variance, root = largest_bulges(CONVEX[name], np.random.default_rng(seed))
    assert variance <= 1e-7
    assert root <= 1e-7


def test_two_sets_on_undirected_edges_are_not_convex() -> None:
    """Arms e1, e2 here and e2, -e1 there: 1/(a(1 - b) + (1 - a)b) is what is known of (e1, e2)."""
    mask = np.array([[1, 1, 0], [0, 1, 1]] * 3, bool)
    problem = ew.Problem(UNDIRECTED, np.array([[1, 0], [0, 1], [-1, 0]]), candidates=mask)
    cells = Cells.of(problem)
    expected = ExpectedCells.of(problem, cells)
    phi = cells.features[0, :, : cells.dimensions[0]]
    y = phi[cells.pair_index[0, 1]]
    first = int(problem.candidate_sets.groups[0])

    def variance(t: float) -> float:
        a, b = 0.9 - 0.8 * t, 0.1 + 0.8 * t
        laws = np.zeros((2, 3))
        laws[first], laws[1 - first] = (a, 1 - a, 0), (0, 1 - b, b)
        gram = (phi.T * expected.information(laws)[0]) @ phi
        return float(y @ np.linalg.solve(gram, y))

    assert_allclose(variance(0.5) / variance(0.0), 0.82 / 0.5)
    assert bulge(variance) > 0.5


def test_a_node_term_on_undirected_edges_is_not_convex() -> None:
    """The counterexample of docs/theory.md: arms -1, 1, 2, and what is known of the pair (1, 2)."""
    problem = ew.Problem(UNDIRECTED, np.array([[-1.0], [1.0], [2.0]]), node_term=True)
    cells = Cells.of(problem)
    expected = ExpectedCells.of(problem, cells)
    phi = cells.features[0]
    y = phi[cells.pair_index[1, 2]]

    def variance(t: float) -> float:
        law = (1 - t) * np.array([[0.0, 0.75, 0.25]]) + t * np.array([[0.5, 0.0, 0.5]])
        gram = (phi.T * expected.information(law)[0]) @ phi
        return float(UNDIRECTED.n_arcs * y @ np.linalg.solve(gram, y))

    values = [variance(t) for t in (0.0, 0.5, 1.0)]
    assert_allclose(values, [1.3605, 1.5591, 1.7156], atol=1e-4)
    assert bulge(variance) > 0.01


@given(SEEDS)
def test_symmetric_features_lose_nothing(seed: int) -> None:
    """y'A^-1 y on unordered pairs is tr(Y S^-1 Y S^-1)/m, the ordered form at a symmetric Y."""
    rng = np.random.default_rng(seed)
    arms = rng.normal(size=(5, 3))
    problem = ew.Problem(UNDIRECTED, arms)
    cells = Cells.of(problem)
    expected = ExpectedCells.of(problem, cells)
    law = random_laws(expected, rng)
    phi = cells.features[0]
    gram = (phi.T * expected.information(law)[0]) @ phi
    k, l, other = rng.integers(5, size=3)
    y = phi[cells.pair_index[k, l]] - phi[cells.pair_index[other, other]]
    Y = (np.outer(arms[k], arms[l]) + np.outer(arms[l], arms[k])) / 2
    Y -= np.outer(arms[other], arms[other])
    inverse = np.linalg.inv((arms.T * law[0]) @ arms)
    stated = np.trace(Y @ inverse @ Y @ inverse) / UNDIRECTED.n_arcs
    assert_allclose(y @ np.linalg.solve(gram, y), stated, rtol=1e-6, atol=1e-9)
