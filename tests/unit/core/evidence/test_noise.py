"""Bounds on an unknown noise deviation hold at all times at once."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import chdtri
from scipy.stats import binom
from tests.instances import THREE_ARMS as ARMS

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.core.evidence.noise import noise_bounds, pure_error
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.setting import Setting
from edgewise.errors import InvalidProblem
from edgewise.simulation import replicate

FALSE_ALARM = 1e-6
ALPHA, SIGMA = 0.1, 2.0


def one_cell(values: Array) -> CellStatistics:
    """(R, 1, 1): the statistics after each of the observations of a single cell."""
    count = np.arange(1, len(values) + 1)[:, None, None]
    sums = values.cumsum()[:, None, None]
    squares = (values**2).cumsum()[:, None, None]
    return CellStatistics(count, count.astype(float), sums, squares)


NOTHING = one_cell(np.zeros(1))[:0]


def test_pure_error_is_the_sum_of_squares_around_the_mean() -> None:
    values = np.random.default_rng(0).normal(3.0, 1.0, size=7)
    total, freedom = pure_error(one_cell(values))
    assert freedom.tolist() == list(range(7))
    assert_allclose(total[-1], ((values - values.mean()) ** 2).sum())


def test_bounds_fall_to_sigma_and_are_infinite_before_repeats() -> None:
    values = np.random.default_rng(1).normal(5.0, SIGMA, size=100_000)
    bounds = noise_bounds(NOTHING, one_cell(values), ALPHA)
    assert bounds[0] == np.inf
    assert SIGMA < bounds[-1] < 1.02 * SIGMA
    assert_allclose(noise_bounds(NOTHING, one_cell(10 * values), ALPHA), 10 * bounds)


def test_phases_add_up() -> None:
    rng = np.random.default_rng(2)
    first, second = one_cell(rng.normal(size=50)), one_cell(rng.normal(9.0, 1.0, size=50))
    closed = first[-1:]
    bounds = noise_bounds(closed, second, ALPHA)
    assert (bounds <= noise_bounds(NOTHING, first, ALPHA)[-1] * 1.2).all()
    assert bounds[-1] < noise_bounds(NOTHING, second, ALPHA)[-1]


def first_failures(bound: Any, runs: int) -> int:
    """How many runs of 300 observations have a bound below sigma at some time."""
    rng = np.random.default_rng(3)
    return sum(
        bool((bound(one_cell(rng.normal(0.0, SIGMA, size=300))) < SIGMA).any()) for _ in range(runs)
    )


def test_bounds_hold_at_all_times() -> None:
    """Binomial test of "at most ALPHA", false-alarm rate 1e-6; a bound for one time only fails."""

    def once(statistics: CellStatistics) -> Array:
        total, freedom = pure_error(statistics)
        at_least_two = np.maximum(freedom, 1)
        return np.where(freedom > 0, np.sqrt(total / chdtri(at_least_two, 1 - ALPHA)), np.inf)

    runs = 400
    kept = first_failures(lambda statistics: noise_bounds(NOTHING, statistics, ALPHA), runs)
    assert binom.sf(kept - 1, runs, ALPHA) > FALSE_ALARM
    broken = first_failures(once, runs)
    assert binom.sf(broken - 1, runs, ALPHA) < FALSE_ALARM


# -- runs that estimate the noise ------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["adaptive", "contrast", "g-optimal"])
def test_unknown_noise_costs_little(strategy: str) -> None:
    graph = ew.Graph.circle(n_nodes=20)
    options: dict[str, Any] = {"repetitions": 20, "strategy": strategy, "rng": 1}
    known = replicate(ew.Problem(graph, ARMS, noise=0.7), np.diag([1.0, 0.2]), **options)
    problem = ew.Problem(graph, ARMS, noise="estimate")
    unknown = replicate(problem, np.diag([1.0, 0.2]), noise=0.7, **options)
    assert unknown.certified.all()
    assert unknown.correct.all()
    assert known.mean_rounds <= unknown.mean_rounds <= 2.0 * known.mean_rounds + 3


def test_the_learner_knows_no_more_than_it_was_told() -> None:
    """Rewards a thousand times larger, noise included: the same rounds, the same answer."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=20), ARMS, noise="estimate")
    reports = []
    for unit in (1.0, 1000.0):
        matrix = unit * np.diag([1.0, 0.2])
        environment = ew.BilinearEnvironment(problem, matrix, noise=0.7 * unit, rng=0)
        reports.append(ew.identify(problem, environment, rng=1))
    small, large = reports
    assert small.certified
    assert (small.rounds, small.best_pair) == (large.rounds, large.best_pair)
    assert small.noise_estimate is not None
    assert small.noise_estimate.low < 0.7 < small.noise_estimate.high
    assert "noise that is Gaussian with one deviation" in small.guarantee
    assert "noise          estimate, measured" in str(small)


def test_delta_is_split() -> None:
    stated = ew.Problem(ew.Graph.circle(n_nodes=4), ARMS)
    estimated = ew.Problem(ew.Graph.circle(n_nodes=4), ARMS, noise="estimate")
    options: dict[str, Any] = {"delta": 0.05, "epsilon": None, "stopping": None}
    known = Setting.of(stated, strategy="adaptive", **options)
    unknown = Setting.of(estimated, strategy="adaptive", **options)
    assert (known.noise_delta, known.contrast_delta) == (0.0, 0.05)
    assert_allclose(unknown.noise_delta + unknown.contrast_delta, 0.05)
    assert unknown.noise_delta > 0


def test_an_estimated_noise_is_not_a_number() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=4), ARMS, noise="estimate")
    assert "noise=estimate" in repr(problem)
    assert problem.fingerprint != ew.Problem(problem.graph, ARMS).fingerprint
    with pytest.raises(InvalidProblem, match="state the noise"):
        ew.BilinearEnvironment(problem, np.eye(2))
    with pytest.raises(InvalidProblem, match="or 'estimate'"):
        ew.Problem(problem.graph, ARMS, noise="loud")  # type: ignore[arg-type]


def test_rewards_that_dwarf_the_noise_leave_it_unbounded_not_zero() -> None:
    """At 1e9 deviations squares cancel: the pure error is rounding, and the bound must say so."""
    values = 1e9 + np.random.default_rng(4).normal(size=1000)
    assert noise_bounds(NOTHING, one_cell(values), ALPHA)[-1] > 1.0
    assert noise_bounds(NOTHING, one_cell(np.zeros(1000)), ALPHA)[-1] > 0.0
    arms = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.6, 0.8, 1.0]])
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), arms, noise="estimate")
    matrix = np.diag([0.2, 0.1, 1e8])
    static: dict[str, Any] = {"strategy": "g-optimal", "stopping": "union"}
    for options in (static, {"target": "allocation"}):
        runs = replicate(
            problem, matrix, noise=1.0, repetitions=10, epsilon=0.0, max_rounds=20, rng=0, **options
        )
        assert runs.errors == 0, runs


@pytest.mark.parametrize("strategy", ["adaptive", "contrast", "g-optimal"])
def test_without_any_noise_a_few_rounds_do(strategy: str) -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), ARMS, noise="estimate")
    environment = ew.BilinearEnvironment(problem, np.diag([1.0, 0.2]), noise=0.0, rng=0)
    report = ew.identify(problem, environment, strategy=strategy, max_rounds=60, rng=1)
    assert report.certified
    assert report.rounds <= 10
    assert report.best_pair == (0, 0)


def test_progress_is_a_number_while_the_noise_has_no_bound() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), ARMS, noise="estimate")
    environment = ew.BilinearEnvironment(problem, np.diag([1.0, 0.2]), noise=1.0, rng=0)
    learner = ew.Learner(problem, strategy="g-optimal", stopping="union", rng=0)
    for _ in range(3):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
        assert np.isfinite(learner.verdict.progress)
