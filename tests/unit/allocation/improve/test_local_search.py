from typing import Any

import numpy as np
import pytest

from edgewise.allocation.improve.local_search import local_search
from edgewise.allocation.instance.objective import Objective, global_reward
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph


def instance(rng: np.random.Generator, n: int, *, masked: bool) -> Objective:
    directed = bool(rng.integers(2))
    pairs = np.argwhere(rng.random((n, n)) < 0.3)
    pairs = pairs[pairs[:, 0] != pairs[:, 1] if directed else pairs[:, 0] < pairs[:, 1]]
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    pairs = np.unique(np.concatenate([pairs, path]), axis=0)
    kinds = np.arange(len(pairs)) % 2
    graph = Graph.from_edges(
        pairs, directed=directed, kinds=kinds, weights=rng.standard_normal(len(pairs))
    )
    allowed = rng.random((n, 3)) < 0.5
    allowed[np.arange(n), rng.integers(3, size=n)] = True
    return Objective(graph, rng.standard_normal((2, 3, 3)), allowed if masked else None)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_value_never_falls_and_no_single_move_improves(seed: int, masked: bool) -> None:
    rng = np.random.default_rng(seed)
    objective = instance(rng, 12, masked=masked)
    graph, tables = objective.graph, objective.tables
    allowed = np.ones((12, 3), bool) if objective.candidates is None else objective.candidates
    start = np.array([rng.choice(np.flatnonzero(row)) for row in allowed])
    result = local_search(objective, start)
    assert allowed[np.arange(12), result.arms].all()
    assert result.value >= global_reward(graph, tables, start)
    for i, k in np.argwhere(allowed).tolist():
        moved = result.arms.copy()
        moved[i] = k
        assert global_reward(graph, tables, moved) <= result.value + 1e-9


def test_the_same_start_gives_the_same_end() -> None:
    objective = instance(np.random.default_rng(0), 12, masked=False)
    ends = [local_search(objective, np.zeros(12, int)).arms.tolist() for _ in range(2)]
    assert ends[0] == ends[1]


def test_the_start_is_not_modified() -> None:
    start = np.zeros(5, np.int64)
    local_search(Objective(Graph.circle(n_nodes=5), 1 - np.eye(2)), start)
    assert not start.any()


def test_forbidden_starts_are_repaired() -> None:
    allowed = np.array([[False, True]] * 4)
    result = local_search(Objective(Graph.circle(n_nodes=4), np.eye(2), allowed), np.zeros(4, int))
    assert result.arms.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_ties_up_to_rounding_do_not_move_for_ever(scale: float) -> None:
    # 0.1 + 0.2 and 0.3 differ by rounding only, at every node
    weights = np.tile([0.1, 0.2, 0.3], 20)
    graph = Graph.from_edges(Graph.circle(n_nodes=60).edges, weights=weights)
    table = scale * np.array([[0.1, 0.3, 0.2], [0.3, 0.1, 0.3], [0.2, 0.3, 0.1]])
    for start in range(3):
        result = local_search(Objective(graph, table), np.full(60, start))
        assert np.isfinite(result.value)


def test_small_rewards_beside_huge_ones_of_another_kind_still_matter() -> None:
    graph = Graph.from_edges([(0, 1), (2, 3)], kinds=[0, 1])
    tables = np.array([[[1e12, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1e-6]]])
    assert local_search(Objective(graph, tables), [0, 0, 0, 1]).arms.tolist() == [0, 0, 1, 1]


def test_large_sparse_graph_reaches_a_local_optimum() -> None:
    rng = np.random.default_rng(2)
    n = 20_000
    pairs = np.column_stack([np.arange(1, n), (rng.random(n - 1) * np.arange(1, n)).astype(int)])
    objective = Objective(Graph.from_edges(pairs), rng.standard_normal((5, 5)))
    first = local_search(objective, rng.integers(5, size=n))
    again = local_search(objective, first.arms)
    assert (again.arms == first.arms).all()


@pytest.mark.parametrize("start", [[0, 0, 5, 0, 0], [0, 0], [0.5] * 5])
def test_bad_starts_are_rejected(start: Any) -> None:
    with pytest.raises(InvalidArgument, match="joint arm has"):
        local_search(Objective(Graph.circle(n_nodes=5), np.eye(2)), start)
