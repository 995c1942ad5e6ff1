import re
from typing import Any

import numpy as np
import pytest

from edgewise.core.allocation.allocate import METHODS, allocate, allocate_tables
from edgewise.core.allocation.objective import global_reward
from edgewise.core.graph import Graph
from edgewise.errors import InvalidArgument, InvalidProblem

SWAP = np.array([[0.0, 1.0], [1.0, 0.0]])
ODD = Graph.circle(n_nodes=5)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_returns_a_consistent_allocation(method: str) -> None:
    result = allocate(ODD, np.eye(2), SWAP, method=method)
    assert result.value == global_reward(ODD, SWAP, result.arms)
    assert result.lower_bound <= result.value <= result.upper_bound
    assert result.value == 8.0
    assert result.proved_optimal == (method == "brute-force")


def test_tables_and_models_are_two_doors_to_the_same_room() -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0)], kinds=[0, 1, 1], directed=True)
    X, M, beta = (
        rng.standard_normal((4, 2)),
        rng.standard_normal((2, 2, 2)),
        rng.standard_normal(2),
    )
    tables = X @ M @ X.T + (X @ beta)[:, None]
    from_model = allocate(graph, X, M, beta=beta)
    assert from_model.value == pytest.approx(allocate_tables(graph, tables).value)


def test_maximum_on_the_diagonal_is_solved_at_once() -> None:
    tables = np.array([[1.0, 2.0, 0.0], [2.0, 3.0, -1.0], [0.0, -1.0, 2.5]])
    weighted = Graph.from_edges(ODD.edges, weights=[1.0, 2.0, 0.3, 0.1, 5.0])
    directed = Graph.from_edges(ODD.edges, directed=True)
    for graph in (ODD, weighted, directed):
        result = allocate_tables(graph, tables)
        assert result.arms.tolist() == [1] * 5
        assert result.proved_optimal
        assert result.gap == 0.0
        assert result.method == "constant"


def test_positive_semidefinite_models_are_solved_at_once() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        root = rng.standard_normal((3, 3))
        result = allocate(ODD, rng.standard_normal((6, 3)), root @ root.T)
        assert result.proved_optimal


def test_diagonal_maximum_is_no_proof_with_negative_weights() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 0)], weights=[1.0, 1.0, -1.0])
    result = allocate_tables(graph, np.diag([2.0, 1.0]))
    exact = allocate_tables(graph, np.diag([2.0, 1.0]), method="brute-force")
    assert result.value <= exact.value
    assert not result.proved_optimal


def test_bipartite_graphs_are_solved_at_once() -> None:
    rng = np.random.default_rng(6)
    names = rng.permutation(60)
    tree = names[np.array([(int(rng.integers(i)), i) for i in range(1, 60)])]
    graph = Graph.from_edges(tree, weights=rng.exponential(size=59))
    tables = SWAP + 0.1 * np.eye(2)
    result = allocate_tables(graph, tables)
    assert result.proved_optimal
    assert result.method == "two-colouring"
    assert (result.arms[tree[:, 0]] != result.arms[tree[:, 1]]).all()


def test_a_bipartite_graph_with_negative_weights_is_not_claimed() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)], weights=[1.0, 1.0, 1.0, -1.0])
    assert not allocate_tables(graph, SWAP).proved_optimal


def test_candidates_are_respected_and_used() -> None:
    allowed = np.array([[True, False], [True, False], [False, True], [True, True], [True, True]])
    for method in ("auto", "local-search", "brute-force"):
        result = allocate(ODD, np.eye(2), SWAP, candidates=allowed, method=method)
        assert allowed[np.arange(5), result.arms].all()
        assert result.value == 8.0
    # the edge between the two nodes that can only take arm 0 is lost in the bound too
    assert allocate(ODD, np.eye(2), SWAP, candidates=allowed).proved_optimal


def test_a_common_arm_that_all_may_take_is_proved() -> None:
    allowed = np.array([[True, True, False]] * 4 + [[False, True, True]])
    result = allocate_tables(ODD, np.diag([0.0, 2.0, 1.0]), candidates=allowed)
    assert result.proved_optimal
    assert result.arms.tolist() == [1] * 5


def test_isolated_nodes_get_an_arm() -> None:
    with pytest.warns(UserWarning, match="no edge"):
        graph = Graph.from_edges([(0, 1), (1, 2), (2, 0)], n_nodes=5)
    for method in METHODS:
        assert len(allocate_tables(graph, SWAP, method=method).arms) == 5


def test_one_arm_leaves_no_choice() -> None:
    result = allocate_tables(ODD, [[-2.0]])
    assert result.proved_optimal
    assert result.value == -20.0


def test_reserved_settings_change_nothing() -> None:
    rng = np.random.default_rng(0)
    result = allocate(ODD, np.eye(2), SWAP, rng=rng, time_limit=1.0)
    assert result.arms.tolist() == allocate(ODD, np.eye(2), SWAP).arms.tolist()


def test_unknown_method_lists_the_valid_ones() -> None:
    with pytest.raises(InvalidArgument, match=r"'magic'.*'auto', 'bipartite', 'two-arm'"):
        allocate(ODD, np.eye(2), SWAP, method="magic")


@pytest.mark.parametrize("time_limit", [0, -1.0, float("nan")])
def test_time_limits_are_positive(time_limit: float) -> None:
    with pytest.raises(InvalidArgument, match="positive number of seconds"):
        allocate(ODD, np.eye(2), SWAP, time_limit=time_limit)


def test_seeds_are_not_generators() -> None:
    with pytest.raises(InvalidArgument, match="rng is a int"):
        allocate(ODD, np.eye(2), SWAP, rng=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arms", "matrix", "candidates", "error", "message"),
    [
        ([1.0, 2.0], SWAP, None, InvalidProblem, "arms have shape (2,)"),
        ([[1.0, np.nan]], SWAP, None, InvalidProblem, "NaN or infinity"),
        (np.eye(2), np.eye(3), None, InvalidArgument, "matrix has shape (3, 3)"),
        (np.eye(2), SWAP, np.ones((5, 3), bool), InvalidProblem, "shape (5, 3)"),
        (np.eye(2), SWAP, np.zeros((5, 2), bool), InvalidProblem, "no candidate arm"),
    ],
)
def test_bad_inputs(
    arms: Any, matrix: Any, candidates: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        allocate(ODD, arms, matrix, candidates=candidates)
