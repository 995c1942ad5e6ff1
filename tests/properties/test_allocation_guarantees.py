"""What the allocation methods promise, against brute force on thousands of small instances."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from tests.instances import random_pairs

from edgewise.allocation.allocate import allocate_table
from edgewise.allocation.instance.objective import global_reward, reward_bounds
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.starts.bipartite import half_guarantee_holds
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.network.graph import Graph

DENSITIES = (0.1, 0.3, 0.6, 1.0)
"""From sparse to complete."""

TOLERANCE = 1e-9  # rewards are of size 1 and graphs have at most 56 arcs


@dataclass(frozen=True)
class Instance:
    graph: Graph
    tables: Array
    candidates: Mask | None = None
    unary: Array | None = None

    def allocate(self, method: str, bound: str | None = None) -> Allocation:
        return allocate_table(
            self.graph,
            self.tables,
            symmetrise=True,
            method=method,
            candidates=self.candidates,
            unary=self.unary,
            bound=bound,
        )


def random_tables(rng: np.random.Generator, n_kinds: int) -> Array:
    """From arms and a matrix of every sign, or the reward matrix of cut-like problems."""
    K, d = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    X, M = rng.standard_normal((K, d)), rng.standard_normal((n_kinds, d, d))
    match rng.integers(6):
        case 0:  # ties everywhere
            return rng.integers(-2, 3, (n_kinds, K, K)).astype(float)
        case 1:  # all rewards negative
            return np.asarray(-np.abs(X @ M @ X.T) - 0.1)
        case 2:  # all rewards positive
            return np.asarray(np.abs(X @ M @ X.T))
        case 3:  # what two equal arms show is poor: Max-Cut and its like
            return rng.random((n_kinds, K, K)) - 3 * np.eye(K)
        case _:
            return np.asarray(X @ M @ X.T)


def paper_instances(count: int, seed: int) -> Iterator[Instance]:
    """One kind, both directions, every third with positive weights."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        n = int(rng.integers(2, 9))
        pairs = random_pairs(rng, n, directed=False, densities=DENSITIES)
        weights = rng.exponential(size=len(pairs)) if number % 3 == 0 else None
        graph = Graph(n, pairs, weights=weights)
        yield Instance(graph, random_tables(rng, 1))


def general_instances(count: int, seed: int) -> Iterator[Instance]:
    """Kinds, directions, weights of any sign, candidates, node terms: every combination."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        directed, with_kinds, weighted, masked, own = (bool(number >> bit & 1) for bit in range(5))
        n = int(rng.integers(3, 7))
        pairs = random_pairs(rng, n, directed=directed, densities=DENSITIES)
        kinds = np.arange(len(pairs)) % min(3, len(pairs)) if with_kinds else None
        weights = rng.standard_normal(len(pairs)) if weighted else None
        graph = Graph(n, pairs, directed, kinds, weights)
        tables = random_tables(rng, graph.n_kinds)
        allowed = rng.random((n, tables.shape[-1])) < 0.6
        allowed[np.arange(n), rng.integers(tables.shape[-1], size=n)] = True
        unary = rng.standard_normal(allowed.shape) if own else None
        yield Instance(graph, tables, allowed if masked else None, unary)


def naive_reward(graph: Graph, tables: Array, arms: Indices, unary: Array | None = None) -> float:
    """The definition: a loop over observed directions, and over nodes."""
    total = 0.0 if unary is None else unary[np.arange(graph.n_nodes), arms].sum()
    for e, (i, j) in enumerate(graph.edges.tolist()):
        W = tables[0 if graph.kinds is None else graph.kinds[e]]
        w = 1.0 if graph.weights is None else graph.weights[e]
        total += w * W[arms[i], arms[j]]
        if not graph.directed:
            total += w * W[arms[j], arms[i]]
    return float(total)


def reaches_half(instance: Instance, method: Callable[[Graph, Array], Indices]) -> bool:
    """(F - F_min)/(F_max - F_min) >= 1/2, without dividing."""
    exact = allocate_table(instance.graph, instance.tables, symmetrise=True, method="brute-force")
    value = naive_reward(instance.graph, instance.tables, method(instance.graph, instance.tables))
    return 2 * value >= exact.upper_bound + exact.lower_bound - TOLERANCE


def algorithm_1(graph: Graph, tables: Array) -> Indices:
    return allocate_table(graph, tables, symmetrise=True, method="bipartite").arms


def everybody_in_the_first_side(graph: Graph, tables: Array) -> Indices:
    """Algorithm 1 with its cut broken."""
    symmetric = tables[0] + tables[0].T
    return np.full(graph.n_nodes, np.argmax(symmetric.max(axis=1)))


def test_algorithm_1_reaches_half_of_the_differential_reward() -> None:
    for instance in paper_instances(4000, seed=1):
        assert half_guarantee_holds(instance.graph)
        assert reaches_half(instance, algorithm_1)


def test_the_half_test_catches_a_broken_algorithm() -> None:
    verdicts = [reaches_half(case, everybody_in_the_first_side) for case in paper_instances(300, 1)]
    assert verdicts.count(False) > 30


def test_methods_are_ordered_and_never_above_the_optimum() -> None:
    for instance in paper_instances(1000, seed=2):
        values = [
            allocate_table(instance.graph, instance.tables, symmetrise=True, method=method).value
            for method in ("bipartite", "two-arm", "local-search", "brute-force")
        ]
        assert (np.diff(values) >= -TOLERANCE).all()
        auto = allocate_table(instance.graph, instance.tables, symmetrise=True).value
        assert values[0] - TOLERANCE <= auto <= values[-1] + TOLERANCE


def test_two_arm_and_auto_are_exact_on_bipartite_graphs() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        n = int(rng.integers(2, 8))
        # a tree whose nodes come after their parents: the greedy cut is then its two-colouring
        edges = np.array([(int(rng.integers(i)), i) for i in range(1, n)])
        graph = Graph(n, edges)
        tables = random_tables(rng, 1)
        best = allocate_table(graph, tables, symmetrise=True, method="brute-force").value
        two_arm = allocate_table(graph, tables, symmetrise=True, method="two-arm")
        assert two_arm.value == pytest.approx(best, abs=TOLERANCE)
        shuffled = Graph(n, rng.permutation(n)[edges])
        auto = allocate_table(shuffled, tables, symmetrise=True)
        assert auto.proved_optimal
        assert auto.value == pytest.approx(best, abs=TOLERANCE)


def test_bounds_values_and_proofs_on_every_kind_of_instance() -> None:
    for number, instance in enumerate(general_instances(1600, seed=4)):
        graph, tables, candidates = instance.graph, instance.tables, instance.candidates
        best = instance.allocate("brute-force")
        lower, upper = reward_bounds(graph, tables, candidates, instance.unary)
        assert lower <= best.lower_bound + TOLERANCE
        assert upper >= best.value - TOLERANCE
        methods = ["greedy", "local-search", "anneal" if number % 4 else "auto", "exact"]
        if candidates is None:
            methods.append("two-arm")
        for method in methods:
            found = instance.allocate(method, "fast" if number % 3 == 0 else None)
            check(instance, found, best)
            if method == "exact":
                assert found.proved_optimal
                assert found.value == pytest.approx(best.value, abs=TOLERANCE)


def test_tight_bounds_are_bounds() -> None:
    for instance in general_instances(64, seed=7):
        best = instance.allocate("brute-force")
        check(instance, instance.allocate("local-search", "tight"), best)


def check(instance: Instance, found: Allocation, best: Allocation) -> None:
    """Never above the optimum, never a bound below it, allowed arms, no false proof."""
    value = naive_reward(instance.graph, instance.tables, found.arms, instance.unary)
    assert found.value == pytest.approx(value, abs=TOLERANCE)
    assert found.lower_bound - TOLERANCE <= found.value <= best.value + TOLERANCE
    assert found.upper_bound >= best.value - TOLERANCE
    if instance.candidates is not None:
        assert instance.candidates[np.arange(instance.graph.n_nodes), found.arms].all()
    if found.proved_optimal:
        assert found.value >= best.value - TOLERANCE


def test_annealing_finds_the_optimum_of_nearly_all_small_instances() -> None:
    instances = list(general_instances(320, seed=8))
    missed = sum(
        case.allocate("anneal").value < case.allocate("brute-force").value - TOLERANCE
        for case in instances
    )
    assert missed <= 3


@pytest.mark.parametrize("n_colours", [3, 4, 6])
def test_planted_colourings_are_found(n_colours: int) -> None:
    """Graphs made K-colourable: the optimum, no edge between equal colours, is known."""
    rng = np.random.default_rng(n_colours)
    n = 300
    colours = rng.permutation(np.arange(n) % n_colours)
    pairs = rng.integers(n, size=(int(n * n_colours * 1.5), 2))
    pairs = np.concatenate([pairs, np.column_stack([np.arange(n), (np.arange(n) + 1) % n])])
    pairs = pairs[colours[pairs[:, 0]] != colours[pairs[:, 1]]]
    graph = Graph.from_edges(np.unique(np.sort(pairs, axis=1), axis=0), n_nodes=n)
    found = allocate_table(graph, 1 - np.eye(n_colours), time_limit=10.0)
    assert found.value == graph.n_arcs
    assert found.proved_optimal


def test_maximum_on_the_diagonal_is_always_proved() -> None:
    for instance in paper_instances(300, seed=5):
        K = instance.tables.shape[-1]
        tables = instance.tables.copy()
        tables[0, K - 1, K - 1] = np.abs(tables).max() + 0.5
        found = allocate_table(instance.graph, tables, symmetrise=True)
        assert found.proved_optimal
        assert (found.arms == K - 1).all()


def test_reward_equals_the_definition() -> None:
    rng = np.random.default_rng(6)
    for instance in general_instances(320, seed=6):
        arms = rng.integers(instance.tables.shape[-1], size=instance.graph.n_nodes)
        expected = naive_reward(instance.graph, instance.tables, arms, instance.unary)
        value = global_reward(instance.graph, instance.tables, arms, instance.unary)
        assert value == pytest.approx(expected, abs=TOLERANCE)
