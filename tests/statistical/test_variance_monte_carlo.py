"""Exact variance and convergence bound against simulated rounds.

False-alarm rate of the variance tests: 1e-6 for all graphs and projections together (two-sided
normal quantile, Bonferroni), were the seed not fixed. The paper's decomposition is the negative
control: the same test must reject it wherever two edges share a node.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, norm

from edgewise.base.arrays import Array
from edgewise.core.design.g_optimal import g_optimal
from edgewise.network.graph import Graph
from edgewise.theory import Variance, alpha, burn_in, paper_decomposition, variance
from edgewise.theory.convergence import Form

FALSE_ALARM = 1e-6
N_ROUNDS = 200_000
N_PROJECTIONS = 6


def random_graph() -> Graph:
    rng = np.random.default_rng(5)
    pairs = np.column_stack(np.triu_indices(9, k=1))
    return Graph.from_edges(pairs[rng.permutation(len(pairs))[:14]], n_nodes=9)


GRAPHS = {
    "star": Graph.star(n_edges=16),
    "complete": Graph.complete(n_nodes=5),
    "circle": Graph.circle(n_edges=16),
    "matching": Graph.matching(n_edges=16),
    "random": random_graph(),
}


def cell_counts(
    graph: Graph, law: Array, n_rounds: int, rng: np.random.Generator, *, sum_over: int = 1
) -> Array:
    """(n_rounds / sum_over, K^2) how often each ordered pair of arms was shown."""
    n_arms = len(law)
    drawn = rng.choice(n_arms, size=(n_rounds, graph.n_nodes), p=law)
    pairs = drawn[:, graph.arcs[:, 0]] * n_arms + drawn[:, graph.arcs[:, 1]]
    groups = np.arange(n_rounds)[:, None] // sum_over
    size = n_rounds // sum_over
    flat = np.bincount((groups * n_arms**2 + pairs).ravel(), minlength=size * n_arms**2)
    return flat.reshape(size, n_arms**2).astype(float)


def z_scores(claimed: Variance, graph: Graph, arms: Array, law: Array) -> Array:
    """Standardised error of ``a' Var b`` for fixed unit vectors, from independent rounds."""
    rng = np.random.default_rng(2024)
    edge_arms = np.einsum("ka,lb->klab", arms, arms).reshape(len(arms) ** 2, -1)
    counts = cell_counts(graph, law, N_ROUNDS, rng)
    expected = graph.n_arcs * np.outer(law, law).ravel()
    left, right = rng.standard_normal((2, N_PROJECTIONS, edge_arms.shape[1]))
    right[: N_PROJECTIONS // 2] = left[: N_PROJECTIONS // 2]  # variances first, then covariances
    scores = []
    for a, b in zip(left, right, strict=True):
        # (A - EA) a for every round, A = sum of counts z z'.
        moved = [(counts - expected) @ (edge_arms * (edge_arms @ w)[:, None]) for w in (a, b)]
        samples = (moved[0] * moved[1]).sum(axis=1)
        error = samples.mean() - a @ claimed.matrix @ b
        scores.append(error / (samples.std(ddof=1) / np.sqrt(N_ROUNDS)))
    return np.array(scores)


def random_arms() -> tuple[Array, Array]:
    rng = np.random.default_rng(11)
    return rng.standard_normal((4, 2)), rng.dirichlet(np.full(4, 3.0))


CRITICAL = float(norm.isf(FALSE_ALARM / (2 * len(GRAPHS) * N_PROJECTIONS)))


@pytest.mark.parametrize("name", GRAPHS)
def test_variance_is_what_simulated_rounds_show(name: str) -> None:
    arms, law = random_arms()
    scores = z_scores(variance(GRAPHS[name], arms, law), GRAPHS[name], arms, law)
    assert np.abs(scores).max() < CRITICAL


@pytest.mark.parametrize("name", [name for name in GRAPHS if name != "matching"])
def test_the_same_test_rejects_the_papers_incomplete_decomposition(name: str) -> None:
    arms, law = random_arms()
    scores = z_scores(paper_decomposition(GRAPHS[name], arms, law), GRAPHS[name], arms, law)
    assert np.abs(scores).max() > 2 * CRITICAL


@pytest.mark.parametrize("form", ["leading", "non-asymptotic", "whitened"])
@pytest.mark.parametrize("name", ["star", "circle"])
def test_random_designs_lose_no_more_than_alpha(name: str, form: Form) -> None:
    graph, delta, repetitions = GRAPHS[name], 0.2, 200
    angles = np.array([0.0, 1.1, 1.9])
    arms = np.column_stack([np.cos(angles), np.sin(angles)])
    law = g_optimal(arms).weights
    rounds = int(np.ceil(burn_in(arms, delta=delta)))
    bound = alpha(graph, arms, rounds, delta=delta, form=form)
    edge_arms = np.einsum("ka,lb->klab", arms, arms).reshape(len(arms) ** 2, -1)
    counts = cell_counts(
        graph, law, repetitions * rounds, np.random.default_rng(3), sum_over=rounds
    )
    information = np.einsum("rc,ca,cb->rab", counts, edge_arms, edge_arms)
    worst = np.einsum("ca,rab,cb->rc", edge_arms, np.linalg.inv(information), edge_arms).max(axis=1)
    loss = worst * graph.n_arcs * rounds / arms.shape[1] ** 2 - 1.0
    # A failure rate of delta or less exceeds this number of failures with probability 1e-6.
    assert (loss > bound).sum() <= binom.isf(FALSE_ALARM, repetitions, delta)
    # Control: no random design is as good as the optimum, so alpha = 0 fails.
    assert (loss > 0.0).mean() > 0.99
    assert np.isfinite(bound)
