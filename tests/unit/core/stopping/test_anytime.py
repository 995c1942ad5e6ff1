"""Capital staked against cells: the formula of docs/stopping.md, and that it is a fair game."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.duels import Duels, meet
from edgewise.core.evidence.statistics import ByPhase, CellStatistics
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.stopping.anytime import Anytime, Contest
from edgewise.core.stopping.bets import Stakes, log_bets
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
CELLS = Cells.of(Problem(Graph.circle(n_nodes=6), ARMS))
EVERYONE: Indices = np.arange(len(CELLS.pairs))
RULE = Anytime()


def bet(score: float, information: float, unit: float, stakes: Stakes) -> float:
    """What one unit of capital becomes, letter by letter."""
    total = 0.0
    for scale, share in zip(stakes.scales, stakes.shares, strict=True):
        r = scale * unit
        z = score / math.sqrt(information + r)
        total += share * 2 * math.sqrt(r / (information + r)) * math.exp(z * z / 2) * norm.cdf(z)
    return total


def phases_of(counts: Array, rewards: Array) -> ByPhase:
    shape = (len(counts), 1, len(EVERYONE))
    nothing = np.zeros(shape)
    return CellStatistics(
        nothing.astype(int), counts.reshape(shape), rewards.reshape(shape), nothing
    )


def some_phases(seed: int, count: int = 4) -> ByPhase:
    """The first shows every cell, the others some."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, (count, len(EVERYONE))).astype(float)
    counts[0] += 2.0
    means = rng.standard_normal(len(EVERYONE))
    return phases_of(counts, counts * means + np.sqrt(counts) * rng.standard_normal(counts.shape))


def contest_of(phases: ByPhase, left: Indices = EVERYONE, sigma: float = 1.0) -> Contest:
    return RULE.contest(CELLS, 0, phases, left=left, noise=np.full(len(phases), sigma))


# -- bets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "information"), [(0.5, 1.0), (6.0, 4.0), (25.0, 30.0)])
def test_a_bet_is_an_average_over_half_normal_drifts(score: float, information: float) -> None:
    unit, stakes = 0.8, Stakes(0.5, count=1)
    duels = Duels(*(np.array([[value]]) for value in (score, information, unit)))
    root = math.sqrt(0.5 * unit)
    expected, _ = quad(
        lambda g: 2 * root * norm.pdf(g * root) * math.exp(g * score - g * g * information / 2),
        0.0,
        20.0,
        limit=500,
    )
    assert_allclose(np.exp(log_bets(duels, stakes, noise=1.0)), expected, rtol=1e-6)


def test_a_bet_is_divided_among_sizes() -> None:
    stakes = Stakes(0.5, count=3)
    duels = Duels(*(np.array([[value]]) for value in (6.0, 4.0, 0.8)))
    assert_allclose(np.exp(log_bets(duels, stakes, noise=1.0)), bet(6.0, 4.0, 0.8, stakes))


def test_shares_of_a_bet_add_up() -> None:
    for count in (1, 2, 12):
        assert math.isclose(Stakes(0.5, count=count).shares.sum(), 1.0)


def test_nothing_is_bet_before_a_contrast_is_determined_and_losers_count_nothing() -> None:
    duels = Duels(
        *(np.array([values]) for values in ([0.0, -1.0, 0.0], [0.0, 2.0, 2.0], [0.0, 1.0, 1.0]))
    )
    assert np.array_equal(log_bets(duels, Stakes(0.5), noise=1.0)[0], [0.0, -np.inf, -np.inf])


def test_a_larger_bound_on_the_noise_never_helps() -> None:
    """Which is what the proof for unknown noise rests on."""
    for seed in range(20):
        phases = some_phases(seed)
        contest = contest_of(phases)
        before = RULE.against(contest)
        for noise in (1.2, 3.0, np.inf):
            after = RULE.against(replace(contest, noise=noise))
            assert (after <= before + 1e-12).all()
            before = after


# -- capital -----------------------------------------------------------------------------------


def slow_capital(phases: ByPhase, z: int, epsilon: float = 0.0, leader: int | None = None) -> float:
    """E_z of docs/stopping.md, claimant by claimant."""
    features, normal = CELLS.features[0], phases.normal(CELLS, 0)
    A, b = normal[0]
    estimates = features @ np.linalg.solve(A, b)
    best = estimates.argmax()
    spread = [(features[best] - f) @ np.linalg.solve(A, features[best] - f) for f in features]
    x = np.array(
        [
            (estimates[best] - e) / math.sqrt(s) if s else 0.0
            for e, s in zip(estimates, spread, strict=True)
        ]
    )
    plausible = np.exp(-0.5 * (1.5 * x) ** 2)
    chance = 0.95 * plausible / plausible.sum() + 0.05 / len(features)
    others = [k for k in range(len(features)) if k != z]

    def e(k: int, stretch: slice, first: float, count: int, tolerance: float) -> float:
        y = (features[k] - features[z])[None]
        met = meet(y, normal[stretch])
        score, information = float(met.score[0]), float(met.information[0])
        units = [float(meet(y, [phase]).information[0]) for phase in normal[stretch]]
        unit = next((u for u in units if u > 0), 0.0)
        score += tolerance * information
        if unit == 0.0:
            return 1.0
        return bet(score, information, unit, Stakes(first, count=count)) if score > 0 else 0.0

    u = 1.0 / len(others)
    won = u * sum(e(k, slice(0, 1), 1 / 12, 1, 0.0) for k in others)
    backed = others if leader is None else [leader]
    weighted = sum(
        chance[k] / (1.0 - chance[z]) * e(k, slice(1, None), 0.5, 12, epsilon) for k in backed
    )
    even = u * sum(e(k, slice(0, None), 1 / 12, 12, epsilon) for k in backed)
    return float((0.65 + 0.25 * won) * weighted + 0.1 * even)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_capital_is_what_the_formula_says(seed: int) -> None:
    phases = some_phases(seed)
    capital = np.exp(RULE.against(contest_of(phases)))
    for z in (0, 3):
        assert_allclose(capital[z], slow_capital(phases, z), rtol=1e-5)
    within = np.exp(RULE.within(contest_of(phases), 2, 0.3))
    assert_allclose(within[4], slow_capital(phases, 4, epsilon=0.3, leader=2), rtol=1e-5)


def test_weights_add_up_to_one_for_every_cell_and_none_is_for_itself() -> None:
    contest = contest_of(some_phases(3))
    assert_allclose(contest.weights.sum(axis=0), 1.0)
    assert not np.diag(contest.weights).any()
    assert_allclose(contest.even.sum(axis=0), 1.0)
    assert not np.diag(contest.even).any()


def test_cells_that_are_gone_change_nothing_for_the_others() -> None:
    phases = some_phases(4)
    few = np.array([1, 4])
    assert_allclose(
        RULE.against(contest_of(phases, few)), RULE.against(contest_of(phases))[few], rtol=1e-12
    )


def test_capital_against_the_best_cell_is_a_fair_game_and_counting_twice_is_not() -> None:
    """Its mean is at most 1: Rademacher noise, 55 equal cells; false alarm below 1e-6.

    Values are cut at 50, which only lowers the mean and makes it normal. The negative control
    bets on the phase that weights are learnt from, among cells enough to find a lucky one.
    """
    cells = Cells.of(Problem(Graph.circle(n_nodes=6), np.eye(10)))
    rng, n_cells, sigma = np.random.default_rng(0), len(cells.pairs), np.ones(2)
    counts = np.full((2, 1, n_cells), 4.0)
    fair, twice = np.empty((2, 1000))
    for run in range(len(fair)):
        rewards = rng.choice([-1.0, 1.0], (4, *counts.shape)).sum(axis=0)
        phases = CellStatistics(counts.astype(int), counts, rewards, counts)
        contest = RULE.contest(cells, 0, phases, left=np.array([0]), noise=sigma)
        fair[run] = min(math.exp(RULE.against(contest)[0]), 50.0)
        again = replace(contest, since=contest.learning)
        twice[run] = min(math.exp(RULE.against(again)[0]), 50.0)
    assert fair.mean() <= 1.0 + 5.0 * fair.std() / math.sqrt(len(fair))
    assert twice.mean() > 1.0 + 5.0 * twice.std() / math.sqrt(len(twice))


def test_shares_that_leave_nothing_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="early and even leave something"):
        Anytime(early=0.9, even=0.1)
