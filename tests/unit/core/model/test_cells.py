from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.instances import SQUARE_AND_DIAGONAL as PAIRS

from edgewise.base.arrays import Array
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.network.graph import Graph


def make_problem(
    rng: np.random.Generator, *, directed: bool, kinds: int, node_term: bool, **options: Any
) -> Problem:
    codes = None if kinds == 1 else [0, 1, 1, 0, 1]
    graph = Graph.from_edges(PAIRS, directed=directed, kinds=codes)
    arms = rng.normal(size=(6, 3)) * [1.0, 100.0, 0.01]  # badly scaled on purpose
    return Problem(graph, arms, node_term=node_term, **options)


def fitted(cells: Cells, means: Array) -> Array:
    """The theta of which the cell means are exact, by a generic solver, kind by kind."""
    solved = [np.linalg.lstsq(f, y, rcond=None)[0] for f, y in zip(cells.features, means)]  # noqa: B905
    return np.array(solved)


def true_means(problem: Problem, cells: Cells, M: Array, beta: Array | None) -> Array:
    """Mean of what an edge shows, one pair at a time, from the definition."""
    X = problem.arms
    rows = []
    for q in range(problem.graph.n_kinds):
        row = []
        for k, l in cells.pairs.tolist():
            there, back = X[k] @ M[q] @ X[l], X[l] @ M[q] @ X[k]
            if beta is not None:
                there, back = there + X[k] @ beta[q], back + X[l] @ beta[q]
            row.append(there if cells.ordered else (there + back) / 2)
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kinds", [1, 2])
@pytest.mark.parametrize("node_term", [False, True])
def test_features_carry_every_bilinear_reward(directed: bool, kinds: int, node_term: bool) -> None:
    rng = np.random.default_rng([directed, kinds, node_term])
    problem = make_problem(rng, directed=directed, kinds=kinds, node_term=node_term)
    cells = Cells.of(problem)
    M = rng.normal(size=(kinds, 3, 3))
    beta = rng.normal(size=(kinds, 3)) if node_term else None
    means = true_means(problem, cells, M, beta)
    theta = fitted(cells, means)
    size = np.abs(means).max()
    assert_allclose(cells.means(theta), means, atol=1e-10 * size)  # the model is large enough
    expected = M if directed else (M + M.transpose(0, 2, 1)) / 2
    assert_allclose(cells.matrices(theta), expected, rtol=1e-7, atol=1e-7)
    found = cells.node_terms(theta)
    if beta is None:
        assert found is None
    else:
        assert found is not None
        assert_allclose(found, beta, rtol=1e-7, atol=1e-7)
    X = problem.arms
    table = X @ expected @ X.T
    if beta is not None:
        own = beta @ X.T
        table = table + (own[:, :, None] if directed else (own[:, :, None] + own[:, None, :]) / 2)
    assert_allclose(cells.tables(theta), table, atol=1e-10 * size)


@pytest.mark.parametrize(("directed", "p"), [(False, 6), (True, 9)])
def test_dimensions_and_pairs(directed: bool, p: int) -> None:
    rng = np.random.default_rng(3)
    problem = make_problem(rng, directed=directed, kinds=2, node_term=False)
    cells = Cells.of(problem)
    expected = [(k, l) for k in range(6) for l in range(6) if directed or k <= l]
    assert sorted(map(tuple, cells.pairs.tolist())) == expected
    assert cells.dimensions.tolist() == [p, p]
    assert cells.n_rivals == 2 * (len(expected) - 1)
    for c, (k, l) in enumerate(cells.pairs.tolist()):
        assert cells.pair_index[k, l] == c
        if not directed:
            assert cells.pair_index[l, k] == c
    with_term = Cells.of(make_problem(rng, directed=directed, kinds=2, node_term=True))
    assert with_term.dimensions.tolist() == [p + 3, p + 3]


def test_unordered_features_are_svec_of_the_symmetrised_product() -> None:
    """With as_printed arms no whitening hides the definition; the inner product is tr(AB)."""
    rng = np.random.default_rng(5)
    problem = make_problem(rng, directed=False, kinds=1, node_term=False)
    cells = Cells.of(problem)
    Y = problem.whitening.coordinates
    outer = [(np.outer(Y[k], Y[l]) + np.outer(Y[l], Y[k])) / 2 for k, l in cells.pairs]
    gram = [[np.trace(a @ b) for b in outer] for a in outer]
    assert_allclose(cells.features[0] @ cells.features[0].T, gram, atol=1e-10)


def test_as_printed_is_the_papers_form() -> None:
    rng = np.random.default_rng(6)
    problem = make_problem(rng, directed=False, kinds=1, node_term=False)
    cells = Cells.as_printed(problem)
    assert cells.ordered
    X = problem.arms
    expected = [np.outer(X[k], X[l]).ravel() for k in range(6) for l in range(6)]
    assert_allclose(cells.features[0], expected, rtol=1e-14)


def test_projected_arms_use_the_dimension_of_their_span() -> None:
    rng = np.random.default_rng(7)
    arms = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 4))
    problem = Problem(Graph.circle(n_nodes=4), arms, project=True)
    M = rng.normal(size=(1, 4, 4))
    for cells, p in ((Cells.of(problem), 3), (Cells.as_printed(problem), 4)):
        assert cells.dimensions.tolist() == [p]
        means = true_means(problem, cells, M, None)
        theta = fitted(cells, means)
        assert_allclose(cells.means(theta), means, atol=1e-10)
        S = cells.matrices(theta)[0]
        table = arms @ (M[0] if cells.ordered else (M[0] + M[0].T) / 2) @ arms.T
        assert_allclose(arms @ S @ arms.T, table, atol=1e-10)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_masks_leave_what_some_edge_can_show(seed: int, directed: bool, shared: bool) -> None:
    rng = np.random.default_rng(seed)
    mask = rng.random((4, 6)) < 0.5
    mask[np.arange(4), rng.integers(6, size=4)] = True
    if shared:
        mask[:] = mask[0]
    problem = make_problem(rng, directed=directed, kinds=2, node_term=bool(seed % 2))
    problem = Problem(problem.graph, problem.arms, node_term=problem.node_term, candidates=mask)
    cells = Cells.of(problem)
    graph = problem.graph
    assert graph.kinds is not None
    expected = np.zeros_like(cells.showable)
    for (i, j), kind in zip(graph.edges.tolist(), graph.kinds.tolist(), strict=True):
        for k in np.flatnonzero(mask[i]):
            for l in np.flatnonzero(mask[j]):
                expected[kind, cells.pair_index[k, l]] = True
    assert np.array_equal(cells.showable, expected)
    assert cells.n_rivals == sum(max(row.sum() - 1, 0) for row in expected)
    plain = Cells.of(Problem(graph, problem.arms, node_term=problem.node_term))
    for kind in range(2):
        raw = plain.features[kind][expected[kind]]
        rank = int(cells.dimensions[kind])
        assert rank == np.linalg.matrix_rank(raw, tol=1e-9 * np.linalg.norm(raw, 2))
        features = cells.features[kind][expected[kind]]
        assert not features[:, rank:].any()
        assert_allclose(features @ features.T, raw @ raw.T, atol=1e-9 * (raw @ raw.T).max())
        basis = cells.rotations[kind][:, :rank]
        assert_allclose(basis.T @ basis, np.eye(rank), atol=1e-12)


def test_means_of_showable_cells_survive_the_rotation() -> None:
    """With a mask the matrix is not identified, but what edges can show is."""
    rng = np.random.default_rng(11)
    mask = np.zeros((4, 6), bool)
    mask[[0, 1, 2, 3], [0, 1, 2, 3]] = True
    problem = make_problem(rng, directed=False, kinds=1, node_term=False, candidates=mask)
    cells = Cells.of(problem)
    assert cells.dimensions[0] == 5
    means = true_means(problem, cells, rng.normal(size=(1, 3, 3)), None)
    shown = cells.showable[0]
    theta = np.linalg.lstsq(cells.features[0][shown], means[0][shown], rcond=None)[0][None]
    assert_allclose(cells.means(theta)[0][shown], means[0][shown], rtol=1e-9)
    S = cells.matrices(theta)[0]
    X = problem.arms
    for c in np.flatnonzero(shown):
        k, l = cells.pairs[c]
        assert_allclose(X[k] @ S @ X[l], means[0, c], rtol=1e-8, atol=1e-9)
