"""The frontier search and its branching against brute force and dynamic programming."""

import itertools

import networkx as nx
import numpy as np
import pytest

from edgewise.allocation.allocate import allocate_table
from edgewise.allocation.bounds.cycles.packing import odd_walks
from edgewise.allocation.bounds.cycles.short_cycles import short_odd_cycles
from edgewise.allocation.bounds.cycles.split_bound import Held, held_by_packing
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.optimum import conditioning
from edgewise.allocation.optimum.brute_force import brute_force
from edgewise.allocation.optimum.completions import Rewards, completion
from edgewise.allocation.optimum.conditioning import conditioned
from edgewise.allocation.optimum.frontier import frontier_order
from edgewise.allocation.optimum.frontier_search import frontier_search
from edgewise.network.graph import Graph


def example(seed: int, n: int = 7, K: int = 3) -> Objective:
    """Kinds, weights of both signs, and by turns directions, candidates and node terms."""
    rng = np.random.default_rng(seed)
    directed = bool(seed % 2)
    present = rng.random((n, n)) < 0.5
    present[np.arange(n), (np.arange(n) + 1) % n] = True
    np.fill_diagonal(present, False)
    pairs = np.argwhere(present if directed else np.triu(present | present.T))
    graph = Graph(
        n, pairs, directed, np.arange(len(pairs)) % 2, weights=rng.standard_normal(len(pairs))
    )
    allowed = rng.random((n, K)) < 0.7
    allowed[np.arange(n), rng.integers(K, size=n)] = True
    return Objective(
        graph,
        rng.standard_normal((2, K, K)),
        allowed if seed % 3 == 0 else None,
        rng.standard_normal((n, K)) if seed % 4 < 2 else None,
    )


def first_allowed(objective: Objective) -> np.ndarray:
    if objective.candidates is None:
        return np.zeros(objective.graph.n_nodes, np.int64)
    return np.asarray(objective.candidates.argmax(axis=1))


def held(objective: Objective, rounds: int = 20) -> Held:
    return held_by_packing(objective, odd_walks(objective.graph).packing).descended(
        1e-2, rounds, None
    )


def all_joint_arms(objective: Objective) -> list[np.ndarray]:
    n, K = objective.graph.n_nodes, objective.n_arms
    allowed = np.ones((n, K), bool) if objective.candidates is None else objective.candidates
    choices = [np.flatnonzero(row) for row in allowed]
    return [np.array(arms) for arms in itertools.product(*choices)]


@pytest.mark.parametrize("seed", range(12))
def test_a_completion_is_never_below_what_can_follow(seed: int) -> None:
    objective = example(seed, n=5)
    rewards = Rewards.of(*held(objective))
    edges = objective.graph.edges
    rng = np.random.default_rng(seed)
    for _ in range(4):
        decided = rng.random(5) < 0.5
        near = [
            i
            for i in range(5)
            if decided[i] and any(i in e and not decided[e].all() for e in edges)
        ]
        place = np.full(5, -1)
        place[near] = np.arange(len(near))
        rest = completion(rewards, place, decided, len(near))
        inside = np.flatnonzero(decided[edges].all(axis=1))
        for arms in all_joint_arms(objective):
            first, second = arms[edges[inside, 0]], arms[edges[inside, 1]]
            earned = rewards.nodes[decided, arms[decided]].sum()
            earned += rewards.shared[inside, first, second].sum()
            bound = earned + rest.constant
            for i in near:
                bound += rest.nodes[place[i], arms[i]]
                for j in near:
                    if place[i] > place[j]:
                        bound += rest.pairs[place[i], place[j], arms[i], arms[j]]
            assert objective.value(arms) <= bound + 1e-9


@pytest.mark.parametrize("seed", range(24))
def test_frontier_search_equals_brute_force(seed: int) -> None:
    objective = example(seed)
    best = brute_force(objective)
    start = objective.value(first_allowed(objective))
    split = held(objective)
    order = frontier_order(objective.graph, split.whole.allowed.sum(axis=1))
    assert order is not None
    found = frontier_search(split, order, start, room=1 << 14, deadline=Deadline())
    assert found.complete
    reached = start if found.arms is None else objective.value(found.arms)
    assert reached == pytest.approx(best.value, abs=1e-9)
    # nothing beats the optimum, and something beats whatever is below it
    again = frontier_search(split, order, best.value, room=1 << 14, deadline=Deadline())
    assert again.complete
    assert again.arms is None
    below = frontier_search(split, order, best.value - 1e-6, room=1 << 14, deadline=Deadline())
    assert below.arms is not None


def test_a_search_short_of_room_says_so_and_finds_allocations_all_the_same() -> None:
    objective = example(4, n=9, K=4)
    split = held(objective, rounds=2)
    order = frontier_order(objective.graph, np.full(9, 4))
    assert order is not None
    start = objective.value(np.zeros(9, np.int64))
    beam = frontier_search(split, order, start, room=16, deadline=Deadline())
    assert not beam.complete
    assert beam.arms is not None
    assert start < objective.value(beam.arms) <= brute_force(objective).value + 1e-9
    strict = frontier_search(split, order, start, room=16, deadline=Deadline(), narrowing=False)
    assert strict == (None, False)


@pytest.mark.parametrize("seed", range(12))
def test_branching_equals_brute_force(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditioning, "_BEAM", 4)
    monkeypatch.setattr(conditioning, "_ROOM", 12)
    monkeypatch.setattr(conditioning, "_DESCENT", ((1e-2, 3),))
    objective = example(seed)
    start = objective.certify(first_allowed(objective), method="first")
    found = conditioned(objective, start, Deadline())
    assert found is not None
    assert found.proved_optimal
    assert found.bound == "exact"
    assert found.value == pytest.approx(brute_force(objective).value, abs=1e-9)


def test_out_of_time_the_bound_of_what_is_open_is_returned() -> None:
    objective = example(2)
    start = objective.certify(first_allowed(objective), method="first")
    found = conditioned(objective, start, Deadline(1e-9))
    assert found is not None
    assert not found.proved_optimal
    assert brute_force(objective).value <= found.upper_bound <= start.upper_bound


def test_ties_do_not_multiply() -> None:
    """A colouring has thousands of optima; the first one known settles all of them."""
    rng = np.random.default_rng(0)
    colours = np.arange(40) % 4
    pairs = np.column_stack(np.triu_indices(40, k=1))
    fits = pairs[colours[pairs[:, 0]] != colours[pairs[:, 1]]]
    graph = Graph.from_edges(fits[np.sort(rng.permutation(len(fits))[:90])])
    found = allocate_table(graph, 1.0 - np.eye(4), method="exact")
    assert found.proved_optimal
    assert found.value == graph.n_arcs


def test_short_odd_cycles_are_those_of_networkx() -> None:
    rng = np.random.default_rng(1)
    pairs = np.column_stack(np.triu_indices(12, k=1))
    edges = pairs[(rng.random(len(pairs)) < 0.35) | (pairs[:, 1] == pairs[:, 0] + 1)]
    graph = Graph.from_edges(edges)
    expected = sorted(
        tuple(sorted(cycle))
        for cycle in nx.simple_cycles(nx.Graph(edges.tolist()), length_bound=5)
        if len(cycle) % 2
    )
    cycles = short_odd_cycles(graph, 10**4)
    ends = zip(cycles.starts[:-1], cycles.starts[1:], strict=True)
    assert sorted(tuple(sorted(cycles.nodes[a:b].tolist())) for a, b in ends) == expected
    for step, e in enumerate(cycles.edges):
        assert cycles.nodes[step] in graph.edges[e]
    assert len(short_odd_cycles(graph, 3).lengths) == 3
