"""Much data, numbers of any size, no noise at all: the gate speaks, is silent, or is an error."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.instances import THREE_ARMS

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.core.gate.effects import Effect, Kept, see_numbers
from edgewise.core.gate.local import _log_ratio
from edgewise.core.gate.rows import sight_of
from edgewise.core.gate.size import residuals
from edgewise.core.gate.structure import _log_means
from edgewise.core.gate.sums import SPREADS, TIME, Sums
from edgewise.core.gate.watch import Told, Watch, look, watch_rounds
from edgewise.errors import NotFinite

MATRIX = np.array([[0.3, 0.2], [0.1, 0.9]])


@given(
    arrays(float, (2, 2), elements=st.floats(-1e7, 1e7)),
    arrays(float, (3, 2, 2), elements=st.floats(-1e7, 1e7)),
    arrays(float, 3, elements=st.floats(-1e7, 1e7)),
    st.integers(0, 2),
)
def test_means_of_bets_as_by_hand(now: Array, then: Array, best: Array, to_come: int) -> None:
    found = _log_means(now, then, best, 3 + to_come)
    for form in range(2):
        bets = (now[form] - then[:, form] - best[:, None]).ravel()
        bets = np.append(bets, np.zeros(2 * to_come))
        slow = np.logaddexp.reduce(bets) - np.log(len(bets))
        assert found[form] == pytest.approx(slow, rel=1e-12, abs=1e-9)


def test_a_bet_that_cannot_be_computed_is_not_a_bet_lost() -> None:
    then, best = np.zeros((1, 1, 2)), np.zeros(1)
    assert np.isnan(_log_means(np.array([[np.nan, 0.0]]), then, best, 1)).all()
    perfect = _log_means(np.zeros((1, 2)), then, np.array([np.inf]), 1)
    assert perfect == -np.inf


def rounds_of(problem: ew.Problem, sizes: list[float], scale: float = 1.0) -> list[Told]:
    """Rounds with uniform joint arms, from the model, with noise of these deviations."""
    rng, told = np.random.default_rng(7), []
    ends = problem.graph.arcs
    for number, size in enumerate(sizes, start=1):
        arms = rng.integers(0, 3, problem.graph.n_nodes).astype(np.int32)
        x, y = THREE_ARMS[arms[ends[:, 0]]], THREE_ARMS[arms[ends[:, 1]]]
        means = np.einsum("ai,ij,aj->a", x, MATRIX, y)
        rewards = scale * (means + size * rng.standard_normal(len(means)))
        told.append(Told(number, 0, arms, rewards, None))
    return told


def test_noise_that_grows_late_in_much_data_is_noticed() -> None:
    """Bets on structure are long lost by then, to e^-700 and below; warnings are errors here."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=1000), THREE_ARMS, noise=0.3)
    told = rounds_of(problem, [0.3] * 20 + [0.6] * 12)
    before, after = (watch_rounds(problem, ew.Gate(), some) for some in (told[:20], told))
    assert before is not None
    assert after is not None
    assert before.spoken == ()
    assert "noise" in {one.form for one in after.spoken}


@pytest.mark.parametrize("levels", ["none", "channel", "round"])
@pytest.mark.parametrize("noise", [0.3, "estimate", 1e-40])
@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e90])
def test_rounding_is_no_contradiction_and_an_outlier_is(
    levels: Any, noise: Any, scale: float
) -> None:
    """Data without any noise; then one reward that is not, and not below the stated noise."""
    graph = ew.Graph.from_edges([(i, (i + s) % 10) for s in (1, 2) for i in range(10)])
    problem = ew.Problem(graph, THREE_ARMS, noise=noise, levels=levels)
    told = rounds_of(problem, [0.0] * 6, scale)  # whole blocks, also with levels
    watch = watch_rounds(problem, ew.Gate(), told)
    assert watch is not None
    assert watch.spoken == ()
    wrong = told[-1].rewards.copy()
    wrong[3] += 1e3 * max(scale, 0.0 if noise == "estimate" else noise)
    watch = watch_rounds(problem, ew.Gate(), [*told[:-1], told[-1]._replace(rewards=wrong)])
    assert watch is not None
    assert watch.spoken
    assert all(np.isfinite(one.odds) for one in watch.spoken)


def test_what_cannot_be_computed_is_an_error() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=20), THREE_ARMS, noise=0.3)
    told = rounds_of(problem, [0.3] * 3)[-1]
    watch = watch_rounds(problem, ew.Gate(), rounds_of(problem, [0.3] * 2))
    assert isinstance(watch, Watch)
    broken = replace(watch, rounds=3, growth=np.full_like(watch.growth, np.nan))
    with pytest.raises(NotFinite, match="the gate"):
        look(problem, ew.Gate(), broken, told, now=True)


def test_drift_after_very_many_rounds_is_integrated_out_in_full() -> None:
    """Arms as unit vectors: the time is the sum of the time's products with the rows."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2), noise=0.1)
    sight, rng = sight_of(problem), np.random.default_rng(0)
    sums, columns = Sums.nothing(sight), []
    for number in (1, 2, 3, 300_000, 300_001):
        arms = rng.integers(0, 2, 6).astype(np.int32)
        rows = sight.rows(arms, rng.standard_normal(problem.n_rewards))
        sums = sums.after(rows, number, centred=False)
        columns.append(number / TIME * np.column_stack([np.ones(len(rows.full)), rows.full]))
    D = np.vstack(columns)
    _, found = see_numbers(Kept(sight, sums, None), np.array([Effect.DRIFT]))
    singular = np.linalg.svd(D, compute_uv=False)
    slow = np.log1p(SPREADS[:, None] ** 2 * singular**2).sum(axis=1)
    assert found.determinant[0] == pytest.approx(slow, abs=1e-2)
    assert (found.squares >= 0.0).all()


def test_residuals_of_rounding_are_none() -> None:
    X, which = np.array([[1.0, 0.1], [0.3, 1.0]]), np.array([0, 1, 0, 1, 0, 1])
    y = 1e12 * (X @ [0.3, 0.7])[which]
    exact = residuals(X, which, np.ones(6), y, np.zeros(6))
    assert (exact.squares, exact.largest) == (0.0, 0.0)
    y[2] += 1e4
    assert residuals(X, which, np.ones(6), y, np.zeros(6)).position == 2


def test_of_two_numbers_that_contradict_each_other_the_larger_is_named() -> None:
    X, which = np.eye(2), np.array([0, 1, 1, 0, 1])
    for wrong, y in ((3, [0.5, 0.1, 0.2, 1e5, 0.3]), (0, [1e5, 0.1, 0.2, 0.5, 0.3])):
        assert residuals(X, which, np.ones(5), np.array(y), np.zeros(5)).position == wrong


def test_a_prediction_that_fails_beyond_all_bounds_gives_a_finite_bet() -> None:
    logs = _log_ratio(np.full(4, 1e12), np.full((4, 1), 1e6), freedom=5.0)
    assert np.isfinite(logs).all()
    assert (logs > 20.0).all()
