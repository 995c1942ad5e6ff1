"""Safe exploration: the predicted loss never exceeds what was allowed, and learning goes on."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.instances import FOUR_ARMS as ARMS

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.statistics import CellStatistics, observe
from edgewise.core.model.cells import Cells
from edgewise.core.strategies import Adaptive, GOptimal, Paper
from edgewise.core.strategies.limits.prediction import Prediction
from edgewise.core.strategies.limits.safe import Safe, SafePhases
from edgewise.errors import InvalidArgument, InvalidProblem


def instance(seed: int, *, directed: bool, weighted: bool) -> tuple[ew.Problem, Array]:
    """A random graph with two kinds of edges, candidate masks, and its true matrices."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    ring = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    graph = ew.Graph(
        n_nodes=n,
        edges=ring,
        directed=directed,
        kinds=np.append([0, 1], rng.integers(0, 2, n - 2)),
        weights=rng.uniform(0.5, 2.0, n) if weighted else None,
    )
    allowed = rng.random((n, 4)) < 0.7
    allowed[:, 0] = True
    problem = ew.Problem(graph, ARMS, noise=0.3, candidates=allowed)
    return problem, rng.standard_normal((2, 2, 2))


def draw(problem: ew.Problem, rng: np.random.Generator) -> Indices:
    """Any joint arm, every node among its candidates."""
    masks, groups = problem.candidate_sets
    return np.array([rng.choice(np.flatnonzero(masks[group])) for group in groups])


def slow_change(
    problem: ew.Problem, cells: Cells, seen: CellStatistics, baseline: Indices, arms: Indices
) -> tuple[float, float, float]:
    """Arc by arc, by the definition: expected change, its deviation, arcs that are unknown."""
    graph = problem.graph
    kinds = np.zeros(len(graph.edges), int) if graph.kinds is None else graph.kinds
    weights = np.ones(len(graph.edges)) if graph.weights is None else graph.weights
    total = np.zeros((graph.n_kinds, cells.features.shape[2]))
    unknown = 0.0
    for (i, j), kind, weight in zip(graph.edges, kinds, weights, strict=True):
        features = cells.features[kind]
        y = features[cells.pair_index[arms[i], arms[j]]]
        y = y - features[cells.pair_index[baseline[i], baseline[j]]]
        weight = weight * (1.0 if graph.directed else 2.0)
        observed = features[seen.information[kind] > 0]
        rank = np.linalg.matrix_rank(observed) if len(observed) else 0
        if np.linalg.matrix_rank(np.vstack([observed, y])) > rank and np.abs(y).max() > 1e-9:
            unknown += abs(weight)
        else:
            total[kind] += weight * y
    expected = variance = 0.0
    for kind, features in enumerate(cells.features):
        A = (features.T * seen.information[kind]) @ features
        inverse = np.linalg.pinv(A, 1e-9, hermitian=True)
        expected += total[kind] @ inverse @ (seen.rewards[kind] @ features)
        variance += total[kind] @ inverse @ total[kind]
    return float(expected), 0.3 * float(np.sqrt(max(variance, 0.0))), unknown


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.integers(0, 4))
def test_the_outlook_is_least_squares_arc_by_arc(
    seed: int, directed: bool, weighted: bool, n_rounds: int
) -> None:
    problem, matrix = instance(seed, directed=directed, weighted=weighted)
    cells, rng = Cells.of(problem), np.random.default_rng(seed)
    environment = ew.BilinearEnvironment(problem, matrix, rng=seed)
    seen = CellStatistics.zero(cells)
    for _ in range(n_rounds):
        arms = draw(problem, rng)
        seen = seen.followed_by(observe(problem.graph, cells, arms, environment(arms))[None])[-1]
    baseline = np.zeros(problem.graph.n_nodes, int)
    arms = draw(problem, rng)
    change = Prediction.of(problem, cells, baseline, seen).change(arms)
    expected, deviation, unknown = slow_change(problem, cells, seen, baseline, arms)
    assert_allclose(change.unknown, unknown)
    assert_allclose(change.expected, expected, rtol=1e-6, atol=1e-8)
    assert_allclose(change.deviation, deviation, rtol=1e-6, atol=1e-8)


# -- what is deployed -------------------------------------------------------------------------


def deployed(
    problem: ew.Problem, matrix: Array, safe: Safe, n_rounds: int
) -> list[tuple[Indices, float]]:
    """Joint arms of a run, each with the worst that closed phases predict for it."""
    learner = ew.Learner(problem, strategy=safe, epsilon=0.0, rng=1)
    environment = ew.BilinearEnvironment(problem, matrix, rng=2)
    rounds = []
    while learner.rounds < n_rounds and not learner.verdict.stop:
        saved = learner.save()
        ticket = learner.ask()
        cells = Cells.of(problem)
        closed = CellStatistics.from_tree(
            saved["state"]["closed"], shape=(-1, *cells.showable.shape)
        ).followed_by_all(CellStatistics.zero(cells))
        expected, deviation, unknown = slow_change(
            problem, cells, closed, np.array(safe.baseline), ticket.arms
        )
        worst = expected - safe.margin * deviation - safe.worst_loss * unknown
        rounds.append((ticket.arms, worst))
        learner.tell(ticket, environment(ticket.arms))
    return rounds


@settings(max_examples=20)
@given(
    st.integers(0, 2**32 - 1),
    st.booleans(),
    st.floats(0.0, 3.0),
    st.sampled_from([GOptimal(), Adaptive()]),
)
def test_the_predicted_loss_never_exceeds_the_largest_loss(
    seed: int, directed: bool, largest: float, strategy: Any
) -> None:
    problem, matrix = instance(seed, directed=directed, weighted=True)
    baseline = [0] * problem.graph.n_nodes
    safe = Safe(baseline, largest_loss=largest, worst_loss=0.8, strategy=strategy, phase=3)
    masks, groups = problem.candidate_sets
    for arms, worst in deployed(problem, matrix, safe, 12):
        assert worst >= -largest - 1e-6
        assert masks[groups, arms].all()


def test_with_nothing_to_lose_and_nothing_known_the_baseline_is_deployed() -> None:
    problem, matrix = instance(0, directed=True, weighted=False)
    safe = Safe([0] * problem.graph.n_nodes, largest_loss=0.0, worst_loss=0.1)
    for arms, _ in deployed(problem, matrix, safe, 5):
        assert (arms == 0).all()


def test_different_nodes_leave_the_baseline_first() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=20), np.eye(3), noise=0.1)
    safe = Safe([0] * 20, largest_loss=1.0, worst_loss=0.25, phase=30)
    matrix = np.zeros((3, 3))
    moved = [np.flatnonzero(arms) for arms, _ in deployed(problem, matrix, safe, 30)]
    assert max(map(len, moved)) == 1  # a node of the circle touches four arcs
    assert len(set(np.concatenate(moved).tolist())) > 8


def test_the_best_pair_is_still_found() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=12), ARMS, noise=0.2)
    matrix = np.array([[1.0, 0.4], [0.4, -0.8]])
    safe = Safe([2] * 12, largest_loss=3.0, worst_loss=0.5)
    report = ew.identify(
        problem,
        ew.BilinearEnvironment(problem, matrix, rng=3),
        target="pair",
        strategy=safe,
        max_rounds=3_000,
        rng=4,
    )
    table = ARMS @ matrix @ ARMS.T
    assert report.certified
    assert table[report.best_pair] == table.max()


def test_true_losses_stay_small_where_free_exploration_loses_much() -> None:
    """The model holds here, and worst_loss is true: three standard errors protect every round.

    False alarms: at three standard errors 400 * 0.00135 < 0.6 of the rounds are expected below the
    floor; more than 6 have a probability below 10^-5.
    """
    problem = ew.Problem(ew.Graph.circle(n_nodes=12), ARMS, noise=0.5)
    matrix = np.array([[1.0, 0.4], [0.4, -0.8]])
    table = ARMS @ matrix @ ARMS.T
    start = int(np.diag(table).argmax())
    worst = float(table[start, start] - table.min())
    safe = Safe([start] * 12, largest_loss=4.0 * worst, worst_loss=worst, margin=3.0)

    def losses(strategy: Any, seed: int) -> list[float]:
        learner = ew.Learner(problem, strategy=strategy, target="pair", delta=1e-9, rng=seed)
        environment = ew.BilinearEnvironment(problem, matrix, rng=seed)
        first, second = problem.graph.arcs.T
        found = []
        for _ in range(20):
            ticket = learner.ask()
            rewards = table[ticket.arms[first], ticket.arms[second]]
            found.append(float((table[start, start] - rewards).sum()))
            learner.tell(ticket, environment(ticket.arms))
        return found

    protected = np.array([losses(safe, seed) for seed in range(20)])
    free = np.array([losses(GOptimal(), seed) for seed in range(20)])
    assert (protected > safe.largest_loss).sum() <= 6
    assert (free > safe.largest_loss).mean() > 0.5  # the control
    assert (protected[:, -5:] != 0.0).all()  # and yet it explores


def test_a_saved_learner_goes_on_with_the_same_joint_arms() -> None:
    problem, matrix = instance(5, directed=True, weighted=True)
    safe = Safe([0] * problem.graph.n_nodes, largest_loss=1.0, worst_loss=0.3, phase=2)
    environment = ew.BilinearEnvironment(problem, matrix, rng=0)
    learner = ew.Learner(problem, strategy=safe, rng=0)
    for _ in range(7):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
    saved = json.loads(json.dumps(learner.save(), default=lambda array: array.tolist()))
    other = ew.Learner.restore(problem, saved, strategy=safe)
    assert learner.ask().arms.tolist() == other.ask().arms.tolist()


def test_the_baseline_is_the_problems_unless_it_has_its_own() -> None:
    problem, _ = instance(5, directed=True, weighted=True)
    n = problem.graph.n_nodes
    safe = Safe(largest_loss=1.0, worst_loss=0.3)
    task = replace(problem, baseline=np.zeros(n, int))
    assert safe(task).baseline.tolist() == [0] * n
    own = np.flatnonzero(problem.candidate_sets.masks[problem.candidate_sets.groups[0]])[-1]
    other = [int(own)] + [0] * (n - 1)
    assert (
        replace(safe, baseline=other)(replace(problem, baseline=np.zeros(n, int))).baseline.tolist()
        == other
    )


def test_simulations_take_it_too() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=8), ARMS[:2], noise=0.2)
    safe = Safe([0] * 8, largest_loss=2.0, worst_loss=0.5)
    matrix = np.array([[1.0, 0.0], [0.0, -1.0]])
    runs = ew.simulation.replicate(
        problem, matrix, repetitions=5, strategy=safe, target="pair", max_rounds=500, rng=0
    )
    assert runs.errors == 0


def test_bad_settings_are_refused_with_a_remedy() -> None:
    problem, _ = instance(1, directed=True, weighted=False)
    n = problem.graph.n_nodes
    with pytest.raises(InvalidArgument, match="worst_loss must be above 0"):
        Safe([0] * n, largest_loss=1.0, worst_loss=0.0)
    with pytest.raises(InvalidArgument, match="at least 1 round"):
        Safe([0] * n, largest_loss=1.0, worst_loss=1.0, phase=0)
    safe = Safe([0] * n, largest_loss=1.0, worst_loss=1.0)
    assert isinstance(safe(problem), SafePhases)
    with pytest.raises(InvalidArgument, match="neither Safe nor the problem has a baseline"):
        replace(safe, baseline=None)(problem)
    for baseline in ([0], [7] * n):
        with pytest.raises(InvalidProblem, match="give every one"):
            replace(safe, baseline=baseline)(problem)
    assert problem.candidates is not None
    forbidden = [int(mask.argmin()) if not mask.all() else 0 for mask in problem.candidates]
    with pytest.raises(InvalidProblem, match="among the candidates"):
        replace(safe, baseline=forbidden)(problem)
    with pytest.raises(InvalidArgument, match="state the noise"):
        safe(replace(problem, noise="estimate"))
    circle = ew.Problem(ew.Graph.circle(n_nodes=4), ARMS)
    with pytest.raises(InvalidArgument, match="A_0"):
        Safe([0] * 4, largest_loss=1.0, worst_loss=1.0, strategy=Paper())(circle)
