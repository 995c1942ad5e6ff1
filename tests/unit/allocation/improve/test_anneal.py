import numpy as np
import pytest

from edgewise.allocation.improve.anneal import anneal
from edgewise.allocation.improve.crossover import take_better_regions
from edgewise.allocation.improve.gibbs import CACHED_FIELDS, Gibbs
from edgewise.allocation.improve.schedule import Reheating, Schedule
from edgewise.allocation.improve.spins import Spins
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.search import Search
from edgewise.base.arrays import Indices
from edgewise.network.graph import Graph


def instance(rng: np.random.Generator, n: int, n_arms: int, *, masked: bool) -> Objective:
    directed = bool(rng.integers(2))
    present = rng.random((n, n)) < 3.0 / n
    present[np.arange(n), (np.arange(n) + 1) % n] = True
    np.fill_diagonal(present, False)
    pairs = np.argwhere(present if directed else np.triu(present | present.T))
    kinds = np.arange(len(pairs)) % 2
    graph = Graph(n, pairs, directed, kinds, rng.standard_normal(len(pairs)))
    allowed = rng.random((n, n_arms)) < 0.6
    allowed[np.arange(n), rng.integers(n_arms, size=n)] = True
    tables, unary = rng.standard_normal((2, n_arms, n_arms)), rng.standard_normal((n, n_arms))
    return Objective(graph, tables, allowed if masked else None, unary)


def is_allowed(objective: Objective, arms: Indices) -> bool:
    if objective.candidates is None:
        return True
    return bool(objective.candidates[np.arange(len(arms)), arms].all())


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("n_arms", [2, 3])
def test_kept_gains_and_fields_are_those_of_the_arms(n_arms: int, masked: bool) -> None:
    rng = np.random.default_rng(n_arms)
    objective = instance(rng, 40, n_arms, masked=masked)
    start = rng.integers(n_arms, size=40)
    chain = Spins(objective, start, rng) if n_arms == 2 else Gibbs(objective, start, rng)
    chain.sweep(np.full(50, 0.7))
    assert is_allowed(objective, chain.arms)
    if isinstance(chain, Spins):
        kept = chain._gains.copy()
        chain.place(chain.arms)
        gains = chain._gains
    else:
        kept = chain._fields.copy()
        chain.place(chain.arms)
        gains = chain._fields
    np.testing.assert_allclose(kept, gains, atol=1e-9)


def test_fields_kept_or_not_are_the_same_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    objective = instance(np.random.default_rng(3), 30, 4, masked=True)
    ends = []
    for limit in (CACHED_FIELDS, 0):
        monkeypatch.setattr("edgewise.allocation.improve.gibbs.CACHED_FIELDS", limit)
        chain = Gibbs(objective, np.zeros(30, np.int64), np.random.default_rng(4))
        chain.sweep(np.geomspace(3.0, 0.1, 40))
        ends.append(chain.arms.tolist())
    assert ends[0] == ends[1]


def test_a_hot_node_follows_the_law_of_gibbs() -> None:
    # one free node beside a fixed one: odds exp(H[k]/T), in 20000 draws
    graph = Graph.from_edges([(0, 1)])
    tables = np.array([[0.0, 0.5, 1.0], [0.5, 0.0, 0.0], [1.0, 0.0, 0.0]])
    allowed = np.array([[True, False, False], [True, True, True]])
    chain = Gibbs(Objective(graph, tables, allowed), np.zeros(2, int), np.random.default_rng(5))
    counts = np.zeros(3)
    for _ in range(20_000):
        chain.sweep(np.ones(1))
        counts[chain.arms[1]] += 1
    odds = np.exp(2 * tables[0])
    np.testing.assert_allclose(counts / 20_000, odds / odds.sum(), atol=0.02)  # 5.6 deviations


@pytest.mark.parametrize("masked", [False, True])
def test_regions_are_decided_one_by_one(masked: bool) -> None:
    rng = np.random.default_rng(6)
    for _ in range(100):
        objective = instance(rng, 30, 3, masked=masked)
        first, second = (anneal_briefly(objective, rng) for _ in range(2))
        best = first.copy()
        moved = take_better_regions(objective, best, second)
        assert moved == bool((best != first).any())
        assert ((best == first) | (best == second)).all()
        top = max(objective.value(first), objective.value(second))
        assert objective.value(best) >= top - 1e-9


def anneal_briefly(objective: Objective, rng: np.random.Generator) -> Indices:
    chain = Gibbs(objective, rng.integers(3, size=objective.graph.n_nodes), rng)
    chain.sweep(np.geomspace(3.0, 0.3, 10))
    return chain.arms


def test_two_far_regions_are_both_improved() -> None:
    path = Graph.from_edges([(i, i + 1) for i in range(9)])
    objective = Objective(path, np.array([[0.0, 1.0], [1.0, 0.0]]))
    best = np.array([0, 0, 0, 1, 0, 1, 0, 1, 0, 1])
    other = np.array([0, 1, 0, 1, 0, 1, 0, 0, 0, 1])  # better at node 1, worse at node 7
    assert take_better_regions(objective, best, other)
    assert best.tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("n_arms", [1, 2, 5])
def test_answers_are_allowed_and_deterministic(n_arms: int, masked: bool) -> None:
    objective = instance(np.random.default_rng(7), 60, n_arms, masked=masked)
    results = [anneal(objective, Search(np.random.default_rng(8))) for _ in range(2)]
    assert is_allowed(objective, results[0].arms)
    assert results[0].arms.tolist() == results[1].arms.tolist()
    assert results[0].value == pytest.approx(objective.value(results[0].arms))


def test_tables_without_preference_need_no_annealing() -> None:
    objective = Objective(Graph.circle(n_nodes=5), np.ones((3, 3)))
    assert anneal(objective, Search()).proved_optimal


def test_temperatures_scale_with_the_rewards() -> None:
    graph = Graph.circle(n_nodes=50)
    arms = np.arange(50) % 2
    small, large = (
        Schedule.of(Objective(graph, c * (1 - np.eye(2))), arms, limited=False) for c in (1e-9, 1e9)
    )
    assert large.hot / small.hot == pytest.approx(1e18)
    assert large.cold / small.cold == pytest.approx(1e18)
    assert small.total == large.total


def test_reheating_moves_towards_what_paid() -> None:
    reheating, rng = Reheating(1.0), np.random.default_rng(9)
    before = np.mean([reheating.propose(1, rng) for _ in range(200)])
    for _ in range(20):
        reheating.learn(0.05, gained=True)
        reheating.learn(1.0, gained=False)
    after = np.mean([reheating.propose(1, rng) for _ in range(200)])
    assert after < 0.1 < before
    assert reheating.propose(8, rng) == 1.0
