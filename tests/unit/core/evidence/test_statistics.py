from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import edgewise.core.evidence.cell_sums as module
from edgewise.base.arrays import Array, Indices
from edgewise.base.threads import using_threads
from edgewise.core.design.node_laws import NodeLaws
from edgewise.core.evidence.measuring import measure
from edgewise.core.evidence.statistics import CellStatistics, count_rounds, observe
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidRewards
from edgewise.network.graph import Graph


def random_graph(rng: np.random.Generator, *, directed: bool, kinds: bool, weights: bool) -> Graph:
    n = int(rng.integers(3, 9))
    every = [(i, j) for i in range(n) for j in range(n) if (i != j if directed else i < j)]
    pairs = [every[i] for i in rng.permutation(len(every))]
    codes = np.arange(len(pairs)) % 2 if kinds else None
    strengths = rng.choice([-2.0, 0.5, 1.0, 3.0], len(pairs)) if weights else None
    return Graph.from_edges(pairs, directed=directed, kinds=codes, weights=strengths)


def naive(graph: Graph, cells: Cells, arms: Indices, rewards: Array) -> list[Array]:
    """Count, N, Y and squares by the definitions, one edge at a time."""
    n, N, Y, Q = (np.zeros(cells.showable.shape) for _ in range(4))

    def record(kind: int, k: int, l: int, w: float, r: float, precision: float) -> None:
        c = next(
            c
            for c, (a, b) in enumerate(cells.pairs.tolist())
            if (a, b) == (k, l) or (not cells.ordered and (b, a) == (k, l))
        )
        n[kind, c] += 1
        N[kind, c] += precision * w**2
        Y[kind, c] += precision * w * r
        Q[kind, c] += precision * r**2

    for e, (i, j) in enumerate(graph.edges.tolist()):
        kind = 0 if graph.kinds is None else int(graph.kinds[e])
        w = 1.0 if graph.weights is None else float(graph.weights[e])
        k, l = int(arms[i]), int(arms[j])
        if graph.directed:
            if np.isfinite(rewards[e]):
                record(kind, k, l, w, rewards[e], 1)
            continue
        there, back = rewards[2 * e], rewards[2 * e + 1]
        if cells.ordered:
            for first, second, reward in ((k, l, there), (l, k, back)):
                if np.isfinite(reward):
                    record(kind, first, second, w, reward, 1)
        elif np.isfinite(there) and np.isfinite(back):
            record(kind, k, l, w, (there + back) / 2, 2)
        elif k == l:
            for reward in (there, back):
                if np.isfinite(reward):
                    record(kind, k, l, w, reward, 1)
    return [n, N, Y, Q]


@given(
    st.integers(0, 10**6),
    st.sampled_from(["unordered", "ordered", "directed"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_observe_is_the_naive_loop(
    seed: int, form: str, kinds: bool, weights: bool, missing: float
) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, directed=form == "directed", kinds=kinds, weights=weights)
    problem = Problem(graph, rng.normal(size=(4, 2)))
    cells = Cells.as_printed(problem) if form == "ordered" else Cells.of(problem)
    arms = rng.integers(4, size=graph.n_nodes).astype(np.int32)
    rewards = rng.normal(size=graph.n_arcs)
    rewards[rng.random(graph.n_arcs) < missing] = np.nan
    kept = rewards.copy()
    found = observe(graph, cells, arms, rewards)
    n, N, Y, Q = naive(graph, cells, arms, rewards)
    assert np.array_equal(found.observations, n)
    assert_allclose(found.information, N, atol=1e-12)
    assert_allclose(found.rewards, Y, atol=1e-12)
    assert_allclose(found.squares, Q, atol=1e-12)
    assert np.array_equal(kept, rewards, equal_nan=True)


def test_a_lone_direction_counts_only_between_equal_arms() -> None:
    graph = Graph.from_edges([(0, 1), (1, 2)])
    cells = Cells.of(Problem(graph, np.eye(2)))
    rewards = np.array([5.0, np.nan, np.nan, 7.0])
    found = observe(graph, cells, np.array([0, 0, 1], np.int32), rewards)
    assert found.observations[0].tolist() == [1, 0, 0]
    assert found.information[0].tolist() == [1.0, 0.0, 0.0]
    assert found.rewards[0].tolist() == [5.0, 0.0, 0.0]


@given(st.integers(0, 10**6), st.sampled_from(["unordered", "ordered", "directed"]), st.booleans())
def test_counts_are_those_of_drawing_and_observing(seed: int, form: str, special: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, directed=form == "directed", kinds=special, weights=special)
    problem = Problem(graph, rng.normal(size=(4, 2)))
    cells = Cells.as_printed(problem) if form == "ordered" else Cells.of(problem)
    laws = NodeLaws.of(rng.dirichlet(np.ones(4), size=2), rng.integers(2, size=graph.n_nodes))
    n, N = count_rounds(graph, cells, laws, seed=seed, first_round=7, n_rounds=5)
    for r in range(5):
        arms = laws.draw(seed=seed, round=7 + r)
        expected = naive(graph, cells, arms, np.zeros(graph.n_arcs))
        assert np.array_equal(n[r], expected[0])
        assert_allclose(N[r], expected[1], atol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_blocks_of_the_edge_list_add_up_to_the_last_bit(directed: bool) -> None:
    """Workers that each hold some blocks of the edges reproduce one pass exactly."""
    rng = np.random.default_rng(8)
    block = module.BLOCK
    n_edges = 3 * block + 1234
    tree = np.column_stack([np.arange(1, n_edges + 1) // 2, np.arange(1, n_edges + 1)])
    weights = rng.uniform(0.5, 2.0, n_edges)
    graph = Graph(n_edges + 1, tree, directed=directed, weights=weights)
    cells = Cells.of(Problem(graph, rng.normal(size=(3, 2))))
    arms = rng.integers(3, size=graph.n_nodes).astype(np.int32)
    rewards = rng.normal(size=graph.n_arcs) * 10.0 ** rng.integers(-8, 8, graph.n_arcs)
    whole = observe(graph, cells, arms, rewards)
    arcs = 1 if directed else 2

    def part(first: int, last: int) -> CellStatistics:
        with pytest.warns(UserWarning, match="have no edge"):
            piece = Graph(
                graph.n_nodes, tree[first:last], directed=directed, weights=weights[first:last]
            )
        return observe(piece, cells, arms, rewards[arcs * first : arcs * last])

    parts = [part(i, min(i + block, n_edges)) for i in range(0, n_edges, block)]
    for name in ("observations", "information", "rewards", "squares"):
        total = sum((getattr(p, name) for p in parts[1:]), getattr(parts[0], name))
        assert np.array_equal(total, getattr(whole, name)), name
    by_one = np.zeros_like(whole.rewards)  # negative control: plain summation rounds differently
    for k, l, w, there, back in zip(
        arms[tree[:, 0]].tolist(),
        arms[tree[:, 1]].tolist(),
        weights.tolist(),
        rewards[::arcs].tolist(),
        rewards[arcs - 1 :: arcs].tolist(),
        strict=True,
    ):
        y = there if directed else 2.0 * w * (0.5 * (there + back)) / w
        by_one[0, cells.pair_index[k, l]] += w * y
    assert_allclose(by_one, whole.rewards, rtol=1e-6)
    assert not np.array_equal(by_one, whole.rewards)


@pytest.mark.parametrize("form", ["unordered", "ordered", "directed"])
def test_threads_change_no_bit(form: str) -> None:
    rng = np.random.default_rng(3)
    n_edges = 3 * module.BLOCK + 77
    tree = np.column_stack([np.arange(1, n_edges + 1) // 2, np.arange(1, n_edges + 1)])
    weights = rng.uniform(0.5, 2.0, n_edges)
    graph = Graph(n_edges + 1, tree, directed=form == "directed", weights=weights)
    problem = Problem(graph, rng.normal(size=(3, 2)))
    cells = Cells.as_printed(problem) if form == "ordered" else Cells.of(problem)
    laws = NodeLaws.of(np.array([[0.2, 0.3, 0.5]]), np.zeros(graph.n_nodes, np.int32))
    rewards = rng.normal(size=graph.n_arcs) * 10.0 ** rng.integers(-8, 8, graph.n_arcs)

    def everything() -> list[Any]:
        arms = laws.draw(seed=1, round=2)
        found = observe(graph, cells, arms, rewards)
        counted = count_rounds(graph, cells, laws, seed=1, first_round=1, n_rounds=3)
        return [arms, *found.to_tree().values(), *counted]

    alone = everything()
    with using_threads(3):
        together = everything()
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one, other)


def test_more_arms_than_a_byte_can_number() -> None:
    rng = np.random.default_rng(4)
    graph = random_graph(rng, directed=False, kinds=True, weights=True)
    cells = Cells.of(Problem(graph, rng.normal(size=(300, 2))))
    arms = rng.integers(250, 300, size=graph.n_nodes).astype(np.int32)
    rewards = rng.normal(size=graph.n_arcs)
    found = observe(graph, cells, arms, rewards)
    assert_allclose(found.rewards, naive(graph, cells, arms, rewards)[2], atol=1e-12)


def test_rounds_accumulate_one_after_the_other() -> None:
    rng = np.random.default_rng(2)
    cells = Cells.of(Problem(Graph.circle(n_nodes=4), rng.normal(size=(3, 2))))
    shape = (9, *cells.showable.shape)
    rounds = CellStatistics(
        rng.integers(5, size=shape), *(rng.normal(size=shape) for _ in range(3))
    )
    together = CellStatistics.zero(cells).followed_by(rounds)
    state = CellStatistics.zero(cells)
    for r in range(9):
        state = state.followed_by(rounds[r : r + 1])[0]
        for name in ("observations", "information", "rewards", "squares"):
            assert np.array_equal(getattr(state, name), getattr(together, name)[r])


@pytest.mark.parametrize("bad", [np.inf, -np.inf, 1e101, -1e300])
@pytest.mark.parametrize("directed", [False, True])
def test_absurd_rewards_are_named_and_refused(bad: Any, directed: bool) -> None:
    graph = Graph.from_edges([("a", "b"), ("b", "c"), ("c", "a")], directed=directed)
    problem = Problem(graph, np.eye(2))
    cells, arms = Cells.of(problem), np.zeros(3, np.int32)
    rewards = np.zeros(graph.n_arcs)
    rewards[2] = bad
    where = "c -> a" if directed else "b -> c"
    with pytest.raises(InvalidRewards, match=rf"arc 2 \({where}\).*nothing was recorded"):
        measure(problem, cells, arms, rewards)
    rewards[2] = 1e100
    told = measure(problem, cells, arms, rewards)
    assert isinstance(told, CellStatistics)
    assert np.isfinite(told.squares).all()
