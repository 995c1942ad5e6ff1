import numpy as np
import pytest

from edgewise.allocation.instance.objective import Objective, global_reward
from edgewise.allocation.starts.constant import mean_field
from edgewise.allocation.starts.greedy import decide, greedy
from edgewise.allocation.starts.mean_field import best_law, best_mixture, local_laws
from edgewise.base.arrays import Array
from edgewise.network.graph import Graph


def instance(rng: np.random.Generator, *, masked: bool) -> Objective:
    n, directed = 9, bool(rng.integers(2))
    present = rng.random((n, n)) < 0.4
    present[np.arange(n), (np.arange(n) + 1) % n] = True
    np.fill_diagonal(present, False)
    pairs = np.argwhere(present if directed else np.triu(present | present.T))
    graph = Graph(
        n, pairs, directed, np.arange(len(pairs)) % 2, weights=rng.standard_normal(len(pairs))
    )
    allowed = rng.random((n, 3)) < 0.6
    allowed[np.arange(n), rng.integers(3, size=n)] = True
    unary = rng.standard_normal((n, 3))
    return Objective(graph, rng.standard_normal((2, 3, 3)), allowed if masked else None, unary)


def expectation(objective: Objective, laws: Array) -> float:
    """E[F] when node i draws its arm from ``laws[i]``: by linearity, arc by arc."""
    graph, total = objective.graph, 0.0
    for e, (i, j) in enumerate(graph.edges.tolist()):
        W = objective.tables[0 if graph.kinds is None else graph.kinds[e]]
        w = 1.0 if graph.weights is None else graph.weights[e]
        arcs = 1.0 if graph.directed else 2.0
        total += arcs * w * float(laws[i] @ W @ laws[j])
    return total + (0.0 if objective.unary is None else float((laws * objective.unary).sum()))


@pytest.mark.parametrize("masked", [False, True])
def test_a_pass_is_worth_at_least_its_law(masked: bool) -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        objective = instance(rng, masked=masked)
        for law in (rng.dirichlet(np.ones(3)), np.eye(3)[rng.integers(3)], best_law(objective)):
            laws = np.tile(law, (9, 1))
            if objective.candidates is not None:
                laws = np.where(objective.candidates, laws, 0.0)
                empty = laws.sum(axis=1) == 0.0
                laws[empty] = objective.candidates[empty]
                laws /= laws.sum(axis=1, keepdims=True)
            arms = decide(objective, law)
            assert objective.value(arms) >= expectation(objective, laws) - 1e-9


def test_without_candidates_the_expectation_is_a_quadratic_form() -> None:
    rng = np.random.default_rng(1)
    objective = instance(rng, masked=False)
    pairs, own = mean_field(objective)
    law = rng.dirichlet(np.ones(3))
    expected = expectation(objective, np.tile(law, (9, 1)))
    assert law @ pairs @ law + own @ law == pytest.approx(expected)


def test_greedy_beats_every_constant_and_every_mixture_of_two_arms() -> None:
    rng = np.random.default_rng(2)
    graph = Graph.complete(n_nodes=12)
    for _ in range(50):
        tables = rng.standard_normal((4, 4))
        value = greedy(Objective(graph, tables)).value
        S = 0.5 * (tables + tables.T)
        for k, l in np.ndindex(4, 4):
            for share in np.linspace(0, 1, 11):
                p = share * np.eye(4)[k] + (1 - share) * np.eye(4)[l]
                assert value >= 132 * p @ S @ p - 1e-9
        assert value >= max(global_reward(graph, tables, np.full(12, k)) for k in range(4)) - 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_best_mixture_of_two_arms(seed: int) -> None:
    A = np.random.default_rng(seed).standard_normal((5, 5))
    A = A + A.T
    law = best_mixture(A)
    assert law.sum() == pytest.approx(1.0)
    assert (law > 0).sum() <= 2
    shares = np.linspace(0, 1, 101)
    for k, l in np.ndindex(5, 5):
        p = np.outer(shares, np.eye(5)[k]) + np.outer(1 - shares, np.eye(5)[l])
        assert law @ A @ law >= np.einsum("sk,kl,sl->s", p, A, p).max() - 1e-12


def test_two_sets_of_arms_that_go_well_together_are_two_laws() -> None:
    block = np.array([[0.0, 1.0], [1.0, 0.0]])
    tables = np.block([[block, np.full((2, 2), -1.0)], [np.full((2, 2), -1.0), 0.9 * block]])
    laws = local_laws(Objective(Graph.circle(n_nodes=5), tables), 8)
    np.testing.assert_allclose(laws[0], [0.5, 0.5, 0, 0], atol=1e-6)
    assert any(np.allclose(law, [0, 0, 0.5, 0.5], atol=1e-6) for law in laws)


def test_hubs_decide_first() -> None:
    # the centre sees only the law, and its leaves then respond
    result = greedy(Objective(Graph.star(n_nodes=6), np.array([[0.0, 1.0], [1.0, 0.0]])))
    assert result.value == 10.0
