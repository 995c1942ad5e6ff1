import re
import time
from typing import Any

import numpy as np
import pytest

from edgewise.allocation.allocate import METHODS, allocate, allocate_table, solve
from edgewise.allocation.instance.objective import Objective, global_reward
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.instance.search import Progress, Search
from edgewise.allocation.request import Request
from edgewise.errors import InvalidArgument, InvalidProblem, WeakBound
from edgewise.network.graph import Graph

SWAP = np.array([[0.0, 1.0], [1.0, 0.0]])
ODD = Graph.circle(n_nodes=5)


def random_graph(rng: np.random.Generator, n: int, count: int) -> Graph:
    """Random pairs and a path, so that no node is isolated."""
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    pairs = np.concatenate([path, rng.integers(n, size=(count, 2))])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return Graph.from_edges(pairs)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_returns_a_consistent_allocation(method: str) -> None:
    result = allocate(ODD, np.eye(2), SWAP, method=method, bound=None)
    assert result.value == global_reward(ODD, SWAP, result.arms)
    assert result.lower_bound <= result.value <= result.upper_bound
    assert result.value == 8.0
    exact = method in ("auto", "exact", "brute-force")
    assert result.proved_optimal == exact
    if exact:
        assert result.upper_bound == 8.0
        assert result.bound == "exact"


@pytest.mark.parametrize("bound", ["fast", "tight"])
def test_a_bound_that_is_met_is_a_proof(bound: str) -> None:
    result = allocate(ODD, np.eye(2), SWAP, method="bipartite", bound=bound)
    assert result.proved_optimal
    assert result.bound == "odd-cycle"
    assert result.upper_bound == pytest.approx(8.0)
    assert result.failure_probability == 0.0
    plain = allocate(ODD, np.eye(2), SWAP, method="bipartite", bound=None)
    assert plain.bound == "edge-by-edge"
    assert plain.upper_bound == 10.0


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
    assert from_model.value == pytest.approx(allocate_table(graph, tables).value)


def test_maximum_on_the_diagonal_is_solved_at_once() -> None:
    tables = np.array([[1.0, 2.0, 0.0], [2.0, 3.0, -1.0], [0.0, -1.0, 2.5]])
    weighted = Graph.from_edges(ODD.edges, weights=[1.0, 2.0, 0.3, 0.1, 5.0])
    directed = Graph.from_edges(ODD.edges, directed=True)
    for graph in (ODD, weighted, directed):
        result = allocate_table(graph, tables)
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
    result = allocate_table(graph, np.diag([2.0, 1.0]), method="local-search", bound=None)
    assert not result.proved_optimal
    exact = allocate_table(graph, np.diag([2.0, 1.0]), method="brute-force")
    solved = allocate_table(graph, np.diag([2.0, 1.0]))
    assert result.value <= exact.value == solved.value
    assert solved.method == "dynamic-programming"


def test_bipartite_graphs_are_solved_at_once() -> None:
    rng = np.random.default_rng(6)
    names = rng.permutation(60)
    tree = names[np.array([(int(rng.integers(i)), i) for i in range(1, 60)])]
    graph = Graph.from_edges(tree, weights=rng.exponential(size=59))
    tables = SWAP + 0.1 * np.eye(2)
    result = allocate_table(graph, tables)
    assert result.proved_optimal
    assert result.method == "two-colouring"
    assert (result.arms[tree[:, 0]] != result.arms[tree[:, 1]]).all()


def test_a_bipartite_graph_with_negative_weights_is_not_claimed() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)], weights=[1.0, 1.0, 1.0, -1.0])
    assert allocate_table(graph, SWAP).method != "two-colouring"
    assert not allocate_table(graph, SWAP, method="two-arm", bound=None).proved_optimal


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
    result = allocate_table(ODD, np.diag([0.0, 2.0, 1.0]), candidates=allowed)
    assert result.proved_optimal
    assert result.arms.tolist() == [1] * 5


def test_isolated_nodes_get_an_arm() -> None:
    with pytest.warns(UserWarning, match="no edge"):
        graph = Graph.from_edges([(0, 1), (1, 2), (2, 0)], n_nodes=5)
    for method in METHODS:
        assert len(allocate_table(graph, SWAP, method=method).arms) == 5


def test_one_arm_leaves_no_choice() -> None:
    result = allocate_table(ODD, [[-2.0]])
    assert result.proved_optimal
    assert result.value == -20.0


@pytest.mark.parametrize("method", ["auto", "anneal", "local-search"])
@pytest.mark.parametrize("n_arms", [2, 4])
def test_the_same_generator_gives_the_same_answer(method: str, n_arms: int) -> None:
    graph = random_graph(np.random.default_rng(1), 120, 500)
    answers = [
        allocate_table(
            graph, 1 - np.eye(n_arms), method=method, rng=np.random.default_rng(7), bound=None
        ).arms.tolist()
        for _ in range(2)
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("method", ["auto", "anneal", "local-search", "exact"])
def test_a_warm_start_is_never_lost(method: str) -> None:
    rng = np.random.default_rng(2)
    for _ in range(10):
        graph = random_graph(rng, 14, 40)
        tables = rng.standard_normal((3, 3))
        allowed = rng.random((14, 3)) < 0.7
        allowed[:, 0] = True
        objective = Objective.of(graph, tables, allowed)
        first = solve(objective, Request("anneal", bound=None))
        for start in (first, first.arms, first.arms.tolist()):
            again = solve(objective, Request(method, bound=None, start=start))
            assert again.value >= first.value - 1e-9


def test_greedy_is_a_start_with_a_name() -> None:
    graph = random_graph(np.random.default_rng(3), 80, 240)
    tables = 1 - np.eye(6)
    greedy = allocate_table(graph, tables, method="greedy", bound=None)
    result = allocate_table(graph, tables, method="local-search", start="greedy", bound=None)
    assert result.value >= greedy.value
    assert result.method == "local-search"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "magic"}, "no start is called 'magic'"),
        ({"start": [0, 1]}, "joint arm has shape (2,)"),
        ({"start": [0, 1, 0, 1, 7]}, "indices 0 .. 7"),
        ({"start": [0, 1, 0, 1, 0], "method": "greedy"}, "builds its allocation from nothing"),
        ({"bound": "loose"}, "no bound is called 'loose'"),
        ({"progress": 3}, "progress is 3"),
        ({"unary": np.zeros((5, 3))}, "unary has shape (5, 3)"),
        ({"unary": np.full((5, 2), np.nan)}, "unary has entries that are not finite"),
    ],
)
def test_bad_settings(options: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(message)):
        allocate(ODD, np.eye(2), SWAP, **options)


def test_a_start_must_respect_the_candidates() -> None:
    allowed = np.array([[True, False]] + [[True, True]] * 4)
    with pytest.raises(InvalidArgument, match="node 0 arm 1, which its candidates do not allow"):
        allocate(ODD, np.eye(2), SWAP, candidates=allowed, start=[1, 0, 1, 0, 0])


def test_lopsided_tables_are_explained_and_symmetrised_on_request() -> None:
    lopsided = [[0.0, 3.0], [1.0, 0.0]]
    with pytest.raises(InvalidArgument, match=r"3.0 at \(0, 1\) but 1.0.*symmetrise=True"):
        allocate_table(ODD, lopsided)
    result = allocate_table(ODD, lopsided, symmetrise=True)
    assert result.value == 4 * (3.0 + 1.0)
    directed = Graph.from_edges(ODD.edges, directed=True)
    assert allocate_table(directed, lopsided).value == 8.0  # two edges show (0, 1), two (1, 0)
    assert allocate(ODD, np.eye(2), lopsided).value == result.value


def test_rounding_does_not_make_a_table_lopsided() -> None:
    W = np.array([[0.0, 0.1 + 0.2], [0.3, 0.0]])
    assert allocate_table(ODD, W).value == pytest.approx(8 * 0.3)


def test_node_terms_change_the_answer() -> None:
    unary = np.zeros((5, 2))
    unary[:, 1] = 10.0
    result = allocate(ODD, np.eye(2), SWAP, unary=unary)
    assert result.arms.tolist() == [1] * 5
    assert result.value == 50.0
    assert result.proved_optimal


def test_progress_is_told_and_only_rises() -> None:
    told: list[Progress] = []
    graph = random_graph(np.random.default_rng(4), 200, 800)
    result = allocate_table(graph, 1 - np.eye(3), progress=told.append, bound=None)
    values = [report.value for report in told]
    assert len(values) > 1
    assert values == sorted(values)
    assert values[-1] == result.value
    assert all(report.seconds >= 0 and report.upper_bound >= report.value for report in told)


def test_a_time_limit_is_kept() -> None:
    graph = random_graph(np.random.default_rng(5), 3000, 15000)
    allocate_table(graph, 1 - np.eye(3), bound=None)  # compiles
    begin = time.perf_counter()
    limited = allocate_table(graph, 1 - np.eye(3), time_limit=0.2, bound=None)
    assert time.perf_counter() - begin < 2.0  # a crowded machine is slow to notice
    assert limited.value > 0


def test_a_method_can_be_a_function() -> None:
    def zeros(objective: Objective, search: Search) -> Allocation:
        assert search.start is None
        return objective.certify(np.zeros(5, int), method="zeros")

    assert allocate_table(ODD, np.eye(2), method=zeros).method == "zeros"


def test_unknown_method_lists_the_valid_ones() -> None:
    with pytest.raises(InvalidArgument, match=r"'magic'; choose one of 'anneal', 'auto', .*, or"):
        allocate(ODD, np.eye(2), SWAP, method="magic")
    with pytest.raises(InvalidArgument, match=r"did you mean 'local-search'\?"):
        allocate(ODD, np.eye(2), SWAP, method="localsearch")
    with pytest.raises(InvalidArgument, match="no allocation method is called 3"):
        allocate(ODD, np.eye(2), SWAP, method=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("time_limit", [0, -1.0, float("nan")])
def test_time_limits_are_positive(time_limit: float) -> None:
    with pytest.raises(InvalidArgument, match=r"positive number of seconds|time_limit is nan"):
        allocate(ODD, np.eye(2), SWAP, time_limit=time_limit)


def test_random_numbers_come_from_a_seed_or_a_generator() -> None:
    drawn: list[float] = []

    def one_number(objective: Objective, search: Search) -> Allocation:
        drawn.append(search.rng.random())
        return objective.certify(np.zeros(5, int), method="zeros")

    for rng in (3, np.random.default_rng(3), 0):
        allocate_table(ODD, SWAP, method=one_number, rng=rng)
    allocate_table(ODD, SWAP, method=one_number)
    assert drawn[0] == drawn[1] != drawn[2] == drawn[3]  # the default is the seed 0
    for _ in range(2):
        allocate_table(ODD, SWAP, method=one_number, rng=None)
    assert len(set(drawn)) == 4  # None: fresh numbers every time


@pytest.mark.parametrize("rng", [-1, 1.5, True, "0"])
def test_anything_else_is_no_source_of_random_numbers(rng: Any) -> None:
    with pytest.raises(InvalidArgument, match="pass a seed"):
        allocate(ODD, np.eye(2), SWAP, rng=rng)


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


def test_progress_true_is_a_line_per_stage(capsys: pytest.CaptureFixture[str]) -> None:
    graph = Graph.complete(n_nodes=12)
    found = allocate_table(graph, 1 - np.eye(3), progress=True, method="anneal")
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("bound: ")
    assert f"{found.value:.6g} of at most" in lines[-1]
    assert len(lines) == len(set(lines))


def test_out_of_memory_in_the_bound_keeps_the_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    graph, table = Graph.complete(n_nodes=9), 1 - np.eye(3)
    expected = allocate_table(graph, table, method="local-search", bound=None)
    monkeypatch.setattr("edgewise.allocation.request.best_upper_bound", full)
    with pytest.warns(WeakBound, match="the allocation is kept, with the bound"):
        found = allocate_table(graph, table, method="local-search", bound="tight")
    assert found.arms.tolist() == expected.arms.tolist()
    assert found.upper_bound == expected.upper_bound
