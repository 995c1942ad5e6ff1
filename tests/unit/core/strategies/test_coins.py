"""Rewards of 0 and 1: Beta posteriors, exact draws, what is refused."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import kstest

import edgewise as ew
from edgewise.core.evidence.drawing import draw_world
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells
from edgewise.core.strategies.thompson import Thompson
from edgewise.core.strategies.worlds import best_of
from edgewise.errors import InvalidArgument, InvalidProblem, InvalidRewards

EVEN, ODD = [[0.75, 1.0], [0.25, 0.9]], [[0.75, 0.25], [1.0, 0.9]]


def chain(n: int, *, known: bool = False, **options: Any) -> ew.Problem:
    """The 0101-chain; every edge a kind of its own, or two kinds."""
    kinds = [e % 2 if known else e for e in range(n - 1)]
    edges = [(i, i + 1) for i in range(n - 1)]
    graph = ew.Graph.from_edges(edges, directed=True, kinds=kinds)
    return ew.Problem(graph, np.eye(2), noise="bernoulli", **options)


def truth(n: int) -> np.ndarray:
    return np.array([EVEN if e % 2 == 0 else ODD for e in range(n - 1)])


def lost(problem: ew.Problem, n: int, n_rounds: int, seed: int, strategy: str) -> float:
    means, rng, edges = truth(n), np.random.default_rng(seed), np.arange(n - 1)
    learner = ew.Learner(problem, strategy=strategy, rng=seed, trust_model=True)
    best = ew.allocate_table(chain(n).graph, means).value
    total = 0.0
    for _ in range(n_rounds):
        ticket = learner.ask()
        now = means[edges, ticket.arms[:-1], ticket.arms[1:]]
        total += best - now.sum()
        learner.tell(ticket, (rng.random(n - 1) < now).astype(float))
    return total


def test_draws_have_the_beta_law_of_their_counts() -> None:
    """Kolmogorov and Smirnov, false alarms at most 1e-4 per cell; a Gaussian law is noticed."""
    problem = chain(3, known=True)
    cells = Cells.of(problem)
    ones, trials = np.array([[3.0, 0, 7, 1]] * 2), np.array([[10.0, 0, 7, 2]] * 2)
    seen = CellStatistics(trials.astype(np.int64), trials, ones, ones)[None]
    worlds = [
        draw_world(problem, cells, seen, rng=np.random.default_rng(k), scale=1.0).tables
        for k in range(2000)
    ]
    drawn = np.array(worlds)[:, 0][:, cells.pairs[:, 0], cells.pairs[:, 1]]
    for c in range(4):
        a, b = 0.5 + ones[0, c], 0.5 + trials[0, c] - ones[0, c]
        assert kstest(drawn[:, c], "beta", args=(a, b)).pvalue > 1e-4
        assert kstest(drawn[:, c], "norm", args=(a / (a + b), drawn[:, c].std())).pvalue < 1e-4 or (
            c == 0
        )


def test_without_deviations_the_world_is_the_posterior_mean() -> None:
    problem = chain(3, known=True)
    seen = CellStatistics(*(np.full((1, 2, 4), x) for x in (4, 4.0, 3.0, 3.0)))
    world = draw_world(problem, Cells.of(problem), seen, rng=np.random.default_rng(0), scale=0.0)
    assert_allclose(world.tables, 3.5 / 5)


def test_kinds_that_are_known_save_most_of_what_exploring_costs() -> None:
    """Pooled counts: a third of what counts per edge lose, and even draws lose far more."""
    n = 12
    alone = np.mean([lost(chain(n), n, 120, s, "thompson") for s in range(4)])
    pooled = np.mean([lost(chain(n, known=True), n, 120, s, "thompson") for s in range(4)])
    even = lost(chain(n), n, 120, 0, "g-optimal")
    assert pooled < 0.7 * alone
    assert alone < 0.25 * even


def test_a_draws_best_joint_arm_is_exact_on_trees() -> None:
    rng = np.random.default_rng(0)
    problem = chain(6)
    cells = Cells.of(problem)
    nothing = CellStatistics.zero(cells)[None][:0]
    for _ in range(20):
        world = draw_world(problem, cells, nothing, rng=rng, scale=1.0)
        values = [world.value(np.array(list(np.binary_repr(k, 6)), int)) for k in range(64)]
        assert world.value(best_of(world)) == pytest.approx(max(values))


def test_missing_rewards_count_for_nothing_and_resuming_changes_nothing() -> None:
    problem, rng = chain(6), np.random.default_rng(3)
    learner = ew.Learner(problem, strategy="thompson", rng=5)
    for t in range(12):
        ticket = learner.ask()
        rewards = rng.integers(0, 2, 5).astype(float)
        rewards[t % 5] = np.nan
        learner.tell(ticket, rewards)
    saved = json.loads(json.dumps(learner.save(), default=np.ndarray.tolist))
    again = ew.Learner.restore(problem, saved)
    assert again.ask().arms.tolist() == learner.ask().arms.tolist()
    assert learner._state.total.information.sum() == 12 * 4


@pytest.mark.parametrize("bad", [1.5, -0.1])
def test_rewards_that_are_no_probabilities_are_refused(bad: float) -> None:
    learner = ew.Learner(chain(4), strategy="thompson", rng=0)
    ticket = learner.ask()
    with pytest.raises(InvalidRewards, match=r"arc 1 \(1 -> 2\).*between 0 and 1"):
        learner.tell(ticket, [0.0, bad, 1.0])
    assert learner.rounds == 0
    learner.tell(ticket, [0.0, np.nan, 1.0])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measured": "node"}, "single"),
        ({"levels": True}, "single"),
        ({"pooling": "none"}, "kind of its own"),
        ({"pooling": "partial"}, "kind of its own"),
    ],
)
def test_models_without_coins_of_their_own_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidProblem, match=said):
        chain(4, **options)


def test_weights_are_refused() -> None:
    graph = ew.Graph.from_edges([(0, 1), (1, 2)], weights=[1.0, 2.0])
    with pytest.raises(InvalidProblem, match="weights"):
        ew.Problem(graph, np.eye(2), noise="bernoulli")


def test_certificates_use_the_bound_on_the_noise_of_rewards_between_0_and_1() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=20), np.eye(2), noise="bernoulli")
    assert problem.stated_noise == 0.5
    coins = ew.BilinearEnvironment(problem, [[0.9, 0.5], [0.5, 0.1]], rng=0)
    assert set(coins(np.zeros(20, int))) <= {0.0, 1.0}
    report = ew.identify(problem, coins, rng=1, max_rounds=200)
    assert report.certified
    assert report.best_pair == (0, 0)


def test_simulated_coins_need_probabilities() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2), noise="bernoulli")
    with pytest.raises(InvalidArgument, match="between 0 and 1"):
        ew.BilinearEnvironment(problem, [[1.4, 0.5], [0.5, 0.1]])
    with pytest.raises(InvalidArgument, match="leave noise="):
        ew.BilinearEnvironment(problem, [[0.4, 0.5], [0.5, 0.1]], noise=0.3)


@pytest.mark.parametrize("options", [{"scale": 0.0}, {"first": 0}, {"phase": 0}])
def test_settings_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="above 0"):
        Thompson(**options)


def test_phases_may_be_chosen_for_coins_too() -> None:
    plan = Thompson(scale=2.0, first=3, phase=5)(chain(4))
    assert plan.scale == 2.0
    assert plan.phasing.first().length == 3


def test_there_is_an_answer_although_some_cells_were_never_shown() -> None:
    """By the posterior mean: what was not shown counts as the prior expects."""
    problem = chain(4, baseline=0)
    learner = ew.Learner(problem, strategy="thompson", rng=0)
    for _ in range(4):
        ticket = learner.ask()
        learner.tell(ticket, np.ones(3))
    report, earned = learner.report(), learner.earnings()
    assert report.unseen  # the negative control: least squares has no answer
    assert report.allocation is not None
    assert earned is not None
    assert report.allocation.value == pytest.approx(earned.recommended)
    assert report.allocation.value > 0.5 * 3
    assert 0.0 < earned.per_round <= 3.0
