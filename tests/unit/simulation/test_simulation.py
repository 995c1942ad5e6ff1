from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ks_2samp
from tests.instances import SQUARE_AND_DIAGONAL as PAIRS

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.errors import EdgewiseError, InvalidArgument, InvalidProblem
from edgewise.simulation.replicate import Replications, replicate

FALSE_ALARM = 1e-6


def true_means(problem: ew.Problem, M: Array, beta: Array | None, joint: Indices) -> list[float]:
    """w (x_i' M_q x_j + x_i' beta_q) arc by arc, from the definition."""
    graph, X = problem.graph, problem.arms
    means = []
    for a, (i, j) in enumerate(graph.arcs.tolist()):
        e = a if graph.directed else a // 2
        kind = 0 if graph.kinds is None else graph.kinds[e]
        w = 1.0 if graph.weights is None else graph.weights[e]
        mean = X[joint[i]] @ M[kind] @ X[joint[j]]
        if beta is not None:
            mean += X[joint[i]] @ beta[kind]
        means.append(float(w * mean))
    return means


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kinds", [None, [0, 1, 0, 1, 2]])
@pytest.mark.parametrize("weights", [None, [1.0, -2.0, 0.5, 3.0, 1.0]])
@pytest.mark.parametrize("node_term", [False, True])
def test_environment_means_are_exact(
    directed: bool, kinds: Any, weights: Any, node_term: bool
) -> None:
    rng = np.random.default_rng(1)
    graph = ew.Graph.from_edges(PAIRS, directed=directed, kinds=kinds, weights=weights)
    problem = ew.Problem(graph, rng.normal(size=(4, 2)), noise=1e-12, node_term=node_term)
    M = rng.normal(size=(graph.n_kinds, 2, 2))
    beta = rng.normal(size=(graph.n_kinds, 2)) if node_term else None
    environment = ew.BilinearEnvironment(problem, M, beta=beta, rng=0)
    for _ in range(5):
        joint = rng.integers(4, size=4)
        expected = true_means(problem, M, beta, joint)
        assert_allclose(environment(joint), expected, atol=1e-10)


def test_environment_noise_has_the_stated_deviation() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=50_000), np.eye(2), noise=0.3)
    rewards = ew.BilinearEnvironment(problem, np.zeros((2, 2)), rng=0)(np.zeros(50_000, int))
    n = len(rewards)
    # false-alarm rate 1e-6 each: 4.9 standard errors
    assert abs(rewards.mean()) < 4.9 * 0.3 / np.sqrt(n)
    assert abs(rewards.var() / 0.09 - 1) < 4.9 * np.sqrt(2 / n)
    both_ways = np.corrcoef(rewards[::2], rewards[1::2])[0, 1]
    assert abs(both_ways) < 4.9 / np.sqrt(n / 2)  # the two directions are independent


def test_environment_is_seeded() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=5), np.eye(2))
    joint = np.zeros(5, int)
    first, second, other = (
        ew.BilinearEnvironment(problem, np.eye(2), rng=seed)(joint) for seed in (3, 3, 4)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_environment_refusals() -> None:
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.9]])
    plain = ew.Problem(ew.Graph.circle(n_nodes=5), arms)
    lifted = ew.Problem(ew.Graph.circle(n_nodes=5), arms, node_term=True)
    with pytest.raises(InvalidProblem, match="set node_term=True"):
        ew.BilinearEnvironment(plain, np.eye(2), beta=[1, 0])
    with pytest.raises(InvalidProblem, match="pass beta"):
        ew.BilinearEnvironment(lifted, np.eye(2))
    for matrix in (np.eye(3), [[1.0, np.nan], [0.0, 1.0]], np.zeros((2, 2, 2)), "M"):
        with pytest.raises(InvalidArgument, match="matrix"):
            ew.BilinearEnvironment(plain, matrix)
    environment = ew.BilinearEnvironment(plain, np.eye(2))
    for joint in ([0] * 4, [0, 0, 0, 0, 3], [0, 0, 0, 0, -1], [0.5] * 5):
        with pytest.raises(EdgewiseError):
            environment(joint)


def test_paper_instance() -> None:
    arms, M = ew.simulation.paper_instance(dimension=4, omega=0.3)
    assert arms.shape == (5, 4)
    assert_allclose(arms[:4], np.eye(4))
    assert_allclose(arms[4], [np.cos(0.3), np.sin(0.3), 0, 0])
    table = arms @ M @ arms.T
    assert int(table.argmax()) == 0  # the pair (0, 0)
    assert float(table.max()) == 2.0
    assert int(np.count_nonzero(M)) == 1
    with pytest.raises(InvalidArgument, match=r"dimension is 1.*at least 2"):
        ew.simulation.paper_instance(dimension=1)


# -- replicate -------------------------------------------------------------------------------

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])
M = np.array([[1.0, 0.6], [0.0, 0.3]])


def edge_level(problem: ew.Problem, repetitions: int, **options: Any) -> Array:
    """Stopping rounds of full runs, every arc with noise of its own."""
    rounds = []
    for seed in range(repetitions):
        environment = ew.BilinearEnvironment(problem, M, rng=10_000 + seed)
        rounds.append(ew.identify(problem, environment, rng=seed, **options).rounds)
    return np.array(rounds, dtype=float)


@pytest.mark.parametrize(
    ("graph", "options"),
    [
        (ew.Graph.circle(n_nodes=6), {}),
        (ew.Graph.from_edges(PAIRS, directed=True), {}),
        (ew.Graph.from_edges(PAIRS, weights=[1.0, 2.0, 0.5, 1.0, 1.0]), {"stopping": "union"}),
    ],
)
def test_cell_level_simulation_has_the_law_of_the_real_thing(
    graph: ew.Graph, options: dict[str, Any]
) -> None:
    problem = ew.Problem(graph, ARMS, noise=0.2)
    options = {"strategy": "g-optimal", "target": "pair", **options}
    real = edge_level(problem, 60, max_rounds=2000, **options)
    cells = replicate(problem, M, repetitions=250, max_rounds=2000, rng=5, **options)
    assert ks_2samp(real, cells.rounds).pvalue > FALSE_ALARM
    louder = ew.Problem(graph, ARMS, noise=0.35)  # negative control: 75 % more noise
    off = replicate(louder, M, repetitions=250, max_rounds=2000, rng=5, **options)
    assert ks_2samp(real, off.rounds).pvalue < FALSE_ALARM


def test_results_do_not_depend_on_jobs() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), ARMS)
    one = replicate(problem, M, repetitions=8, rng=3)
    two = replicate(problem, M, repetitions=8, rng=3, jobs=2)
    other = replicate(problem, M, repetitions=8, rng=4)
    for name in ("rounds", "certified", "correct"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert not np.array_equal(one.rounds, other.rounds)
    longer = replicate(problem, M, repetitions=12, rng=3)
    assert np.array_equal(longer.rounds[:8], one.rounds)


def test_the_round_limit_is_reported() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), ARMS, noise=10.0)
    runs = replicate(problem, M, repetitions=5, max_rounds=7, rng=0)
    assert runs.rounds.tolist() == [7] * 5
    assert not runs.certified.any()
    assert runs.errors == 0
    assert "5 runs, 7 rounds on average, 0 certified, 0 wrong" in repr(runs)


def test_errors_are_certified_and_wrong() -> None:
    runs = Replications(
        rounds=np.array([1, 2, 3, 4]),
        certified=np.array([True, True, False, False]),
        judged=np.array([True, False, False, True]),
    )
    assert (runs.errors, runs.mean_rounds) == (1, 2.5)


def test_correctness_allows_epsilon_and_ties() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2), noise=0.01)
    exact_tie = np.diag([1.0, 1.0])
    runs = replicate(problem, exact_tie, repetitions=20, epsilon=0.2, rng=0)
    assert runs.certified.all()
    assert runs.correct.all()
    near = np.diag([1.0, 0.95])
    within = replicate(problem, near, repetitions=20, epsilon=0.2, rng=0, max_rounds=2)
    assert within.correct[within.certified].all()


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"repetitions": 0}, "repetitions is 0"),
        ({"repetitions": 1, "max_rounds": 0}, "max_rounds is 0"),
    ],
)
def test_replicate_refusals(options: dict[str, Any], fact: str) -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), ARMS)
    with pytest.raises(InvalidArgument, match=fact):
        replicate(problem, M, **options)


# -- the truth is recovered ------------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kinds", [None, [0, 1, 0, 1, 0]])
@pytest.mark.parametrize("node_term", [False, True])
def test_estimates_come_close_to_the_truth(directed: bool, kinds: Any, node_term: bool) -> None:
    """A non-symmetric M, with NaN in a tenth of the rewards: every cell mean within six standard
    errors (false-alarm rate 2e-9 each), and the errors are not absurdly small either."""
    rng = np.random.default_rng([directed, node_term, kinds is None])
    graph = ew.Graph.from_edges(PAIRS, directed=directed, kinds=kinds)
    problem = ew.Problem(graph, rng.normal(size=(5, 2)), noise=2.0, node_term=node_term)
    true = rng.normal(size=(graph.n_kinds, 2, 2))
    beta = rng.normal(size=(graph.n_kinds, 2)) if node_term else None
    environment = ew.BilinearEnvironment(problem, true, beta=beta, rng=2)
    learner = ew.Learner(problem, strategy="g-optimal", delta=1e-300, rng=3)
    for _ in range(60):
        ticket = learner.ask()
        rewards = environment(ticket.arms)
        rewards[rng.random(len(rewards)) < 0.1] = np.nan
        learner.tell(ticket, rewards)
    report = learner.report()
    cells = learner._setting.plan.cells
    information = learner.save()["state"]["statistics"]["information"]
    target = true if directed else (true + true.transpose(0, 2, 1)) / 2
    X = problem.arms
    worst = []
    for kind in range(graph.n_kinds):
        F = cells.features[kind]
        A = (F.T * information[kind]) @ F
        error = 2.0 * np.sqrt(np.einsum("cp,pc->c", F, np.linalg.solve(A, F.T)))
        k, l = cells.pairs.T
        means = np.einsum("cd,de,ce->c", X[k], target[kind], X[l])
        if beta is not None:
            means += X[k] @ beta[kind] if directed else (X[k] + X[l]) @ beta[kind] / 2
        worst.append(np.abs((report.tables[kind, k, l] - means) / error).max())
    assert 0.1 < max(worst) < 6


def test_estimates_converge_to_s_m_and_beta() -> None:
    """With next to no noise the estimates are the truth itself."""
    rng = np.random.default_rng(0)
    true, beta = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3))
    arms = rng.normal(size=(6, 3))
    for directed in (False, True):
        graph = ew.Graph.from_edges(PAIRS, directed=directed, kinds=[0, 1, 0, 1, 0])
        problem = ew.Problem(graph, arms, noise=1e-6, node_term=True)
        environment = ew.BilinearEnvironment(problem, true, beta=beta, rng=2)
        report = ew.identify(problem, environment, max_rounds=100, rng=3)
        target = true if directed else (true + true.transpose(0, 2, 1)) / 2
        assert report.node_terms is not None
        assert_allclose(report.matrices, target, atol=1e-4)
        assert_allclose(report.node_terms, beta, atol=1e-4)
        assert report.certified
        for kind, pair in enumerate(report.best_pairs):
            table = arms @ target[kind] @ arms.T + (arms @ beta[kind])[:, None]
            if not directed:
                table = (table + table.T) / 2
            assert table[pair] == pytest.approx(table.max())
