from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from edgewise.base.arrays import Array
from edgewise.errors import InvalidArgument, InvalidProblem
from edgewise.network.graph import Graph
from edgewise.theory import degree_excess, paper_decomposition, variance

PATH = Graph.from_edges([(0, 1), (1, 2)])
TRIANGLE = Graph.complete(n_nodes=3)
PAW = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])


def random_case(seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((3, 2)), rng.dirichlet(np.ones(3))


def arc_information(graph: Graph, arms: Array, joint: tuple[int, ...]) -> Array:
    """(m, d^2, d^2) z z' of every arc under a joint arm."""
    z = np.stack([np.outer(arms[joint[i]], arms[joint[j]]).ravel() for i, j in graph.arcs])
    product: Array = z[:, :, None] * z[:, None, :]
    return product


def enumerated(graph: Graph, arms: Array, law: Array, pairs: list[tuple[int, int]]) -> Array:
    """Sum of Cov(A^e, A^f) over the given pairs of arcs, over all K^n joint arms."""
    joints = list(itertools.product(range(len(arms)), repeat=graph.n_nodes))
    chances = np.array([math.prod(law[k] for k in joint) for joint in joints])
    tables = np.stack([arc_information(graph, arms, joint) for joint in joints])
    centred = tables - np.tensordot(chances, tables, axes=1)
    return sum(
        (np.einsum("r,rab,rbc->ac", chances, centred[:, e], centred[:, f]) for e, f in pairs),
        np.zeros(tables.shape[2:]),
    )


@pytest.mark.parametrize("graph", [PATH, TRIANGLE, PAW], ids=["path", "triangle", "paw"])
def test_closed_form_equals_enumeration_of_all_joint_arms(graph: Graph) -> None:
    arms, law = random_case()
    every_pair = [(e, f) for e in range(graph.n_arcs) for f in range(graph.n_arcs)]
    assert_allclose(
        variance(graph, arms, law).matrix, enumerated(graph, arms, law, every_pair), atol=1e-10
    )


@pytest.mark.parametrize("graph", [PATH, TRIANGLE, PAW], ids=["path", "triangle", "paw"])
def test_papers_decomposition_is_the_sum_it_prints(graph: Graph) -> None:
    arms, law = random_case(1)
    arcs = [tuple(arc) for arc in graph.arcs.tolist()]
    printed = [
        (e, f)
        for (e, (i, j)), (f, (k, _)) in itertools.product(enumerate(arcs), repeat=2)
        if e == f or k in (i, j)  # (i, j) with (i, k), and with (j, k), k = i included
    ]
    ours = paper_decomposition(graph, arms, law)
    assert_allclose(ours.matrix, enumerated(graph, arms, law, printed), atol=1e-10)
    assert ours.norm < variance(graph, arms, law).norm
    assert np.abs(ours.matrix - ours.matrix.T).max() > 1e-3


def test_decomposition_is_right_for_a_matching() -> None:
    arms, law = random_case(2)
    graph = Graph.matching(n_edges=8)
    exact = variance(graph, arms, law)
    assert_allclose(paper_decomposition(graph, arms, law).matrix, exact.matrix, rtol=1e-12)


def test_matrix_is_a_variance_made_of_its_two_terms() -> None:
    arms, law = random_case(3)
    result = variance(PAW, arms, law)
    assert_allclose(result.matrix, result.matrix.T, atol=1e-12)
    eigenvalues = np.linalg.eigvalsh(result.matrix)
    assert eigenvalues[0] > -1e-12
    assert result.norm == pytest.approx(eigenvalues[-1])
    assert (result.n_arcs, result.degree_excess) == (8, 4 + 4 + 9 + 1 - 8)
    assert_allclose(result.matrix, 8 * result.edge_term + 10 * result.shared_term)
    with pytest.raises(ValueError, match="read-only"):
        result.matrix[0, 0] = 0.0


@pytest.mark.parametrize("m", [6, 12, 20, 156])
def test_degree_excess_of_the_four_families(m: int) -> None:
    assert degree_excess(Graph.star(n_edges=m)) == m // 2 * (m // 2 - 1)
    n = (1 + math.isqrt(4 * m + 1)) // 2
    assert degree_excess(Graph.complete(n_edges=m)) == m * (n - 2)
    assert degree_excess(Graph.circle(n_edges=m)) == m
    assert degree_excess(Graph.matching(n_edges=m)) == 0


@pytest.mark.parametrize(
    ("family", "exponent"),
    [(Graph.star, 2.0), (Graph.complete, 1.5), (Graph.circle, 1.0), (Graph.matching, 1.0)],
)
def test_norm_grows_with_the_exponents_of_table_1(
    family: Callable[..., Graph], exponent: float
) -> None:
    arms, law = random_case(4)
    sizes = np.array([200 * 199, 800 * 799])
    norms = [variance(family(n_edges=int(m)), arms, law).norm for m in sizes]
    slope = np.log(norms[1] / norms[0]) / np.log(sizes[1] / sizes[0])
    assert slope == pytest.approx(exponent, abs=0.02)


def test_constant_arm_never_varies() -> None:
    assert variance(PAW, [[1.0, 2.0]], [1.0]).norm == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("calculator", [variance, paper_decomposition])
@pytest.mark.parametrize(
    ("graph", "fact"),
    [
        (Graph.from_edges([(0, 1)], directed=True), "directed"),
        (Graph.from_edges([(0, 1), (1, 2)], kinds=[0, 1]), "2 kinds"),
        (Graph.from_edges([(0, 1)], weights=[2.0]), "weighted"),
    ],
)
def test_other_settings_are_refused(
    calculator: Callable[..., object], graph: Graph, fact: str
) -> None:
    with pytest.raises(InvalidArgument, match=fact):
        calculator(graph, [[1.0]], [1.0])


def test_unit_weights_are_no_weights() -> None:
    weighted = Graph.from_edges([(0, 1)], weights=[1.0])
    assert variance(weighted, [[0.0], [1.0]], [0.5, 0.5]).norm == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("weights", "fact"),
    [
        ([1.0], r"shape \(1,\)"),
        ([[0.5, 0.5]], r"shape \(1, 2\)"),
        ([1.5, -0.5], "smallest weight is -0.5"),
        ([float("nan"), 1.0], "smallest weight is nan"),
        ([0.5, 0.6], "sum to 1.1"),
    ],
)
def test_weights_must_be_a_law(weights: list[float], fact: str) -> None:
    with pytest.raises(InvalidArgument, match=fact):
        variance(PATH, [[0.0], [1.0]], weights)


def test_arms_are_checked() -> None:
    with pytest.raises(InvalidProblem, match="NaN"):
        variance(PATH, [[float("nan")]], [1.0])
