"""Eigenvalue proofs, the semidefinite and the spectral bound."""

import numpy as np
import pytest

from edgewise.allocation.bounds.bound import Bound
from edgewise.allocation.bounds.spectrum.couplings import Couplings, multiply
from edgewise.allocation.bounds.spectrum.cut_dual import dominate
from edgewise.allocation.bounds.spectrum.ising import as_ising
from edgewise.allocation.bounds.spectrum.largest_eigenvalue import (
    FAILURE,
    chebyshev_bound,
    cholesky_bound,
    spectrum_window,
)
from edgewise.allocation.bounds.spectrum.semidefinite import semidefinite_bound
from edgewise.allocation.bounds.spectrum.spectral import spectral_bound
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array
from edgewise.network.graph import Graph

MAX_CUT = [[0, 1], [1, 0]]


def random_couplings(rng: np.random.Generator, n: int) -> Couplings:
    full = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.3)
    full = np.triu(full, 1)
    full[np.arange(n - 1), np.arange(1, n)] = 1.0  # no empty row
    full += full.T
    rows, columns = np.nonzero(full)
    starts = np.searchsorted(rows, np.arange(n + 1))
    return Couplings(starts, columns, full[rows, columns])


def top_eigenvalue(matrix: Array) -> float:
    return float(np.linalg.eigvalsh(matrix)[-1])


def test_couplings_are_the_matrix_they_stand_for() -> None:
    rng = np.random.default_rng(0)
    couplings = random_couplings(rng, 9)
    vector, product = rng.standard_normal(9), np.empty(9)
    multiply(couplings, vector, product)
    np.testing.assert_allclose(product, couplings.dense() @ vector)
    np.testing.assert_allclose(couplings.row_sums, np.abs(couplings.dense()).sum(axis=1))
    factors = rng.random(9)
    np.testing.assert_allclose(
        couplings.scaled(factors).dense(), couplings.dense() * np.outer(factors, factors)
    )


def test_cholesky_proves_the_largest_eigenvalue() -> None:
    rng = np.random.default_rng(1)
    for n in (2, 10, 60):
        matrix = random_couplings(rng, n).dense()
        truth = top_eigenvalue(matrix)
        proved = cholesky_bound(matrix, truth)
        assert proved is not None
        assert truth < proved < truth * (1 + 1e-9)
        low_guess = cholesky_bound(matrix, 0.99 * truth)  # an iteration that has not converged
        assert low_guess is not None
        assert truth < low_guess


def test_cholesky_refuses_a_wrong_guess() -> None:
    assert cholesky_bound(random_couplings(np.random.default_rng(2), 20).dense(), 1e-3) is None


@pytest.mark.parametrize("shift", [-0.3, -0.05, 0.0, 0.2])
def test_chebyshev_holds_whatever_the_window(shift: float) -> None:
    """No failure is expected in 10^9 draws, so none in 40."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        couplings = random_couplings(rng, 80)
        values = np.linalg.eigvalsh(couplings.dense())
        width = values[-1] - values[0]
        window = (values[0], values[-1] + shift * width)
        found = chebyshev_bound(couplings, window, degree=150, rng=rng)
        assert found is not None
        assert values[-1] <= found <= max(values[-1], window[1]) + 0.1 * width


def test_chebyshev_finds_an_eigenvalue_that_lanczos_missed() -> None:
    """Two components: the window sees one of them only, the proof sees both."""
    n = 60
    pairs = np.column_stack([np.arange(0, 2 * n, 2), np.arange(1, 2 * n, 2)])
    values = np.repeat(np.where(np.arange(n) == 7, 5.0, 1.0), 2)
    couplings = Couplings(np.arange(2 * n + 1), pairs[:, ::-1].ravel(), values)
    found = chebyshev_bound(couplings, (-1.0, 1.0), degree=100, rng=np.random.default_rng(0))
    assert found is not None
    assert 5.0 <= found < 5.6


def test_lanczos_sees_the_spectrum() -> None:
    rng = np.random.default_rng(3)
    couplings = random_couplings(rng, 100)
    values = np.linalg.eigvalsh(couplings.dense())
    low, high = spectrum_window(couplings, steps=60, rng=rng)
    assert (low, high) == pytest.approx((values[0], values[-1]), rel=1e-3)


def test_dominating_diagonals_dominate() -> None:
    rng = np.random.default_rng(4)
    for n in (2, 5, 30):
        couplings = random_couplings(rng, n)
        found = dominate(couplings, seconds=0.01, rng=rng)
        assert found is not None
        assert found.failure_probability == 0.0
        gap = np.diag(found.diagonal) - couplings.dense()
        assert np.linalg.eigvalsh(gap)[0] >= -1e-12 * found.diagonal.max()


def test_signs_reproduce_every_value() -> None:
    rng = np.random.default_rng(5)
    pairs = [(0, 1), (1, 0), (1, 2), (3, 2), (0, 3)]
    graph = Graph.from_edges(pairs, directed=True, kinds=[0, 1, 0, 1, 1], weights=[1, -2, 3, 1, 1])
    objective = Objective.of(
        graph, rng.standard_normal((2, 2, 2)), None, rng.standard_normal((4, 2))
    )
    ising = as_ising(objective)
    C = ising.couplings.dense()
    for bits in np.ndindex(2, 2, 2, 2):
        s = np.concatenate([[1.0], 1.0 - 2.0 * np.array(bits)])
        value = ising.constant + 0.5 * s @ C @ s
        assert value == pytest.approx(objective.value(np.array(bits)), abs=1e-12)


def test_nodes_with_one_candidate_are_no_variables() -> None:
    objective = Objective.of(
        Graph.circle(n_nodes=3), MAX_CUT, [[True, False], [False, True], [True, False]]
    )
    bound = semidefinite_bound(objective, seconds=0.01, rng=np.random.default_rng(0))
    assert bound is not None
    assert bound.value == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("graph", "cut"),
    [
        (Graph.circle(n_nodes=5), 25 / 8 + 5 * np.sqrt(5) / 8),
        (Graph.complete(n_nodes=6), 9.0),
        (Graph.complete(n_nodes=7), 49 / 4),
    ],
)
def test_known_semidefinite_values(graph: Graph, cut: float) -> None:
    objective = Objective.of(graph, MAX_CUT)
    bound = semidefinite_bound(objective, seconds=0.5, rng=np.random.default_rng(0))
    assert bound is not None
    assert 2 * cut <= bound.value <= 2 * cut * (1 + 1e-4)


def large_graph() -> Graph:
    rng = np.random.default_rng(6)
    n = 4000
    pairs = np.concatenate(
        [np.column_stack([np.arange(n), (np.arange(n) + 1) % n]), rng.integers(n, size=(3 * n, 2))]
    )
    return Graph(n, np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0))


def test_large_graphs_state_their_failure_probability() -> None:
    graph = large_graph()
    objective = Objective.of(graph, MAX_CUT)
    bound = semidefinite_bound(objective, seconds=0.5, rng=np.random.default_rng(0))
    assert bound is not None
    assert bound.failure_probability == FAILURE
    # random graphs of degree 8: the semidefinite value is about 1/2 + 1/sqrt(8) per edge
    assert 0.80 < bound.value / graph.n_arcs < 0.86


def test_spectral_bound_of_max_k_cut() -> None:
    """On K_n the least eigenvalue is -1: m (1 - 1/k) (1 + 1/(n-1)), met when k divides n."""
    for n, k in [(6, 3), (8, 4), (9, 3)]:
        bound = spectral_bound(Objective.of(Graph.complete(n_nodes=n), 1.0 - np.eye(k)))
        assert isinstance(bound, Bound)
        best = n * (n - 1) * (1 - 1 / k) * (1 + 1 / (n - 1))
        assert best <= bound.value <= best * (1 + 2e-3)


def test_relaxations_say_where_they_do_not_apply() -> None:
    directed = Objective.of(Graph.from_edges([(0, 1), (1, 2)], directed=True), np.eye(3))
    assert spectral_bound(directed) is None
    assert semidefinite_bound(directed, seconds=0.1, rng=np.random.default_rng(0)) is None
