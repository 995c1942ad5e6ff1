import re
from typing import Any

import numpy as np
import pytest

from edgewise.allocation.instance.objective import Objective, global_reward, reward_bounds
from edgewise.allocation.instance.tables import tables_of
from edgewise.errors import InvalidArgument, InvalidProblem
from edgewise.network.graph import Graph

TRIANGLE = [(0, 1), (1, 2), (2, 0)]
ASYMMETRIC = np.array([[1.0, 2.0], [5.0, -3.0]])


def test_undirected_edges_count_in_both_directions() -> None:
    graph = Graph.from_edges([(0, 1)])
    assert global_reward(graph, ASYMMETRIC, [0, 1]) == 7.0


def test_directed_edges_count_as_given() -> None:
    graph = Graph.from_edges([(0, 1)], directed=True)
    assert global_reward(graph, ASYMMETRIC, [0, 1]) == 2.0
    assert global_reward(graph, ASYMMETRIC, [1, 0]) == 5.0


def test_kinds_and_weights_select_and_scale_the_tables() -> None:
    graph = Graph.from_edges(TRIANGLE, directed=True, kinds=[0, 1, 0], weights=[2.0, -1.0, 0.5])
    tables = np.stack([ASYMMETRIC, 10 * ASYMMETRIC])
    # 2 W[0,1] - 10 W[1,1] + W[1,0] / 2
    assert global_reward(graph, tables, [0, 1, 1]) == 2 * 2 + 30 + 2.5


def test_a_single_table_serves_all_kinds() -> None:
    graph = Graph.from_edges(TRIANGLE, kinds=[0, 1, 0])
    plain = Graph.from_edges(TRIANGLE)
    arms = [0, 1, 1]
    assert global_reward(graph, ASYMMETRIC, arms) == global_reward(plain, ASYMMETRIC, arms)


def test_sum_keeps_what_plain_addition_loses() -> None:
    n = 2001  # a path: one huge reward, many small, then the huge one again with its sign changed
    weights = np.full(n, 1.0)
    weights[0], weights[-1] = 1e16, -1e16
    edges = np.column_stack([np.arange(n), np.arange(1, n + 1)])
    graph = Graph.from_edges(edges, directed=True, weights=weights)
    assert global_reward(graph, [[1.0]], np.zeros(n + 1, int)) == n - 2


def test_objective_keeps_the_symmetric_part_for_undirected_graphs() -> None:
    objective = Objective(Graph.from_edges(TRIANGLE), ASYMMETRIC)
    assert objective.tables.tolist() == [[[1.0, 3.5], [3.5, -3.0]]]
    directed = Objective(Graph.from_edges(TRIANGLE, directed=True), ASYMMETRIC)
    assert directed.tables.tolist() == [ASYMMETRIC.tolist()]


def test_bounds_exchange_extremes_for_negative_weights() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], weights=[1.0, -2.0])
    # symmetric part: values from -3 to 3.5; two arcs each
    assert reward_bounds(graph, ASYMMETRIC) == (2 * (-3 - 7), 2 * (3.5 + 6))


def test_bounds_see_only_what_candidates_allow() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    candidates = np.array([[True, False], [True, True], [False, True]])
    # edge (0,1) shows W[0, .] in {1, 2}; edge (1,2) shows W[., 1] in {2, -3}
    assert reward_bounds(graph, ASYMMETRIC, candidates) == (1 - 3, 2 + 2)


def test_bounds_are_the_value_when_candidates_leave_no_choice() -> None:
    graph = Graph.from_edges(TRIANGLE, kinds=[0, 0, 1], weights=[1.0, -1.0, 3.0])
    tables = np.stack([ASYMMETRIC, -ASYMMETRIC])
    arms = np.array([0, 1, 1])
    only = np.eye(2, dtype=bool)[arms]
    value = global_reward(graph, tables, arms)
    assert reward_bounds(graph, tables, only) == (value, value)
    assert Objective(graph, tables, only).certify(arms, method="mine").proved_optimal


def test_all_true_candidates_are_no_candidates() -> None:
    objective = Objective(Graph.from_edges(TRIANGLE), ASYMMETRIC, np.ones((3, 2), bool))
    assert objective.candidates is None


def test_nodes_are_grouped_by_their_candidates() -> None:
    allowed = np.array([[True, False], [True, True], [True, False]])
    masks, groups = Objective(Graph.from_edges(TRIANGLE), ASYMMETRIC, allowed).grouped_candidates
    assert len(masks) == 2
    assert (masks[groups] == allowed).all()


def test_small_differences_are_not_proofs_because_the_worst_value_is_huge() -> None:
    graph = Graph.from_edges([(0, 1)])
    tables = np.array([[0.0, -1e9], [-1e9, 1e-8]])
    assert not Objective(graph, tables).certify([0, 0], method="mine").proved_optimal


def test_tables_of_a_model() -> None:
    rng = np.random.default_rng(1)
    X, M, beta = (
        rng.standard_normal((4, 3)),
        rng.standard_normal((2, 3, 3)),
        rng.standard_normal((2, 3)),
    )
    tables = tables_of(X, M, beta, n_kinds=2)
    for q, k, other in np.ndindex(2, 4, 4):
        assert tables[q, k, other] == pytest.approx(X[k] @ M[q] @ X[other] + X[k] @ beta[q])
    shared = tables_of(X, M[0], beta[0], n_kinds=2)
    np.testing.assert_allclose(shared, np.stack([tables[0]] * 2))


@pytest.mark.parametrize(
    ("matrix", "beta", "message"),
    [
        (np.eye(2), None, "matrix has shape (2, 2)"),
        (np.zeros((3, 3, 3)), None, "matrix has shape (3, 3, 3)"),
        (np.full((3, 3), np.nan), None, "not finite"),
        ("M", None, "cannot be read as numbers"),
        ([[1.0, 2.0], [3.0]], None, "cannot be read as numbers"),
        (np.eye(3), np.zeros(2), "beta has shape (2,)"),
        (np.eye(3), np.full(3, np.inf), "beta has entries that are not finite"),
    ],
)
def test_bad_models_are_rejected(matrix: Any, beta: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        tables_of(np.eye(3), matrix, beta, n_kinds=2)


def test_overflowing_rewards_are_rejected() -> None:
    with pytest.raises(InvalidProblem, match="overflow"):
        tables_of(np.full((2, 2), 1e200), np.eye(2))


@pytest.mark.parametrize(
    "tables",
    [
        np.zeros(3),
        np.zeros((2, 3)),
        np.zeros((2, 2, 2)),
        np.zeros((0, 0)),
        [[1.0, np.inf], [0.0, 0.0]],
    ],
)
def test_bad_tables_are_rejected(tables: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"tables? ha(ve|s) "):
        Objective.of(Graph.from_edges(TRIANGLE), tables)


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        (np.ones((3, 3), bool), "shape (3, 3)"),
        (np.ones((3, 2)), "type float64"),
        ([[True, True], [False, False], [True, False]], "the first is node 1"),
    ],
)
def test_bad_candidates_are_rejected(candidates: Any, message: str) -> None:
    with pytest.raises(InvalidProblem, match=re.escape(message)):
        Objective.of(Graph.from_edges(TRIANGLE), ASYMMETRIC, candidates)


def test_node_terms_enter_values_bounds_and_certificates() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)])
    unary = np.array([[1.0, 0.0], [0.0, -2.0], [5.0, 7.0]])
    objective = Objective(graph, ASYMMETRIC, unary=unary)
    assert objective.value([0, 1, 1]) == 7 - 6 + 1 - 2 + 7
    assert global_reward(graph, ASYMMETRIC, [0, 1, 1], unary) == objective.value([0, 1, 1])
    assert objective.bounds == (-12.0 + 0 - 2 + 5, 14.0 + 1 + 0 + 7)
    assert reward_bounds(graph, ASYMMETRIC, unary=unary) == objective.bounds
    allowed = np.array([[False, True], [True, True], [True, False]])
    masked = Objective.of(graph, np.zeros((2, 2)), allowed, unary)
    assert masked.bounds == (0 - 2 + 5, 0 + 0 + 5)
    assert masked.certify([1, 0, 0], method="mine").proved_optimal


@pytest.mark.parametrize(
    ("unary", "message"),
    [
        (np.zeros((3, 3)), "unary has shape (3, 3); it must be (n_nodes, n_arms) = (3, 2)"),
        (np.zeros(3), "unary has shape (3,)"),
        (np.full((3, 2), np.inf), "to forbid an arm to a node, pass candidates"),
        ([["a", "b"]] * 3, "unary cannot be read as numbers"),
    ],
)
def test_bad_node_terms_are_rejected(unary: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        Objective.of(Graph.from_edges(TRIANGLE), ASYMMETRIC, unary=unary)


def test_node_terms_are_copied() -> None:
    unary = np.zeros((3, 2))
    objective = Objective(Graph.from_edges(TRIANGLE), ASYMMETRIC, unary=unary)
    unary[0, 0] = 9.0
    assert objective.value([0, 0, 0]) == 6.0


@pytest.mark.parametrize("arms", [[0, 1], [0.0, 1.0, 0.0], [0, 1, 2], [0, -1, 0]])
def test_bad_joint_arms_are_rejected(arms: Any) -> None:
    with pytest.raises(InvalidArgument, match="joint arm has"):
        global_reward(Graph.from_edges(TRIANGLE), ASYMMETRIC, arms)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("rich", [False, True])
def test_written_out_tables_add_up_to_the_reward(directed: bool, rich: bool) -> None:
    rng = np.random.default_rng(3)
    options: dict[str, Any] = {"kinds": [0, 1, 0], "weights": [2.0, -1.5, 0.5]} if rich else {}
    graph = Graph.from_edges(TRIANGLE, directed=directed, **options)
    tables = rng.standard_normal((2, 4, 4) if rich else (4, 4))
    allowed = rng.random((3, 4)) < 0.7
    allowed[:, 0] = True
    unary = rng.standard_normal((3, 4))
    objective = Objective.of(graph, tables, *((allowed, unary) if rich else ()))
    edges, nodes = objective.edge_tables, objective.node_tables
    for arms in np.ndindex(4, 4, 4):
        pairs = sum(edges[e, arms[i], arms[j]] for e, (i, j) in enumerate(graph.edges))
        own = sum(nodes[i, arms[i]] for i in range(3))
        if objective.allowed[np.arange(3), arms].all():
            assert pairs + own == pytest.approx(objective.value(arms))
        else:
            assert own == -np.inf


def test_defaults_written_out_take_no_memory() -> None:
    objective = Objective.of(Graph.circle(n_nodes=1000), np.eye(50))
    assert objective.allowed.all()
    assert not objective.unary_of_node.any()
    assert objective.allowed.strides == objective.unary_of_node.strides == (0, 0)


def test_an_optimum_is_its_own_bound() -> None:
    objective = Objective.of(Graph.from_edges(TRIANGLE), [[0.0, 1.0], [1.0, 0.0]])
    best = objective.optimum([0, 1, 1], method="mine")
    assert (best.value, best.upper_bound, best.lower_bound) == (4.0, 4.0, 0.0)
    assert (best.proved_optimal, best.bound, best.gap) == (True, "exact", 0.0)
    assert objective.optimum([0, 1, 1], method="mine", lower=-1.0).lower_bound == -1.0
