"""The local model's gate: its predictions against what came, and bets against their definition."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_t

import edgewise as ew
from edgewise.core.evidence.by_edge import sum_by_edge
from edgewise.core.gate.local import log_bets, predicted
from edgewise.core.gate.sums import SPREADS
from edgewise.simulation import HierarchicalWorld

GRAPH = ew.Graph.from_edges([(i, (i + s) % 8) for s in (1, 2) for i in range(8)], directed=True)
ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])
PROBLEM = ew.Problem(
    GRAPH, ARMS, noise=0.3, measured="node", levels="channel", pooling="partial", own_term=False
)
MATRIX = [[0.5, 0.2], [0.1, 0.3]]


def rounds_of(seed: int, n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    world = HierarchicalWorld.draw(PROBLEM, matrix=MATRIX, spread=0.3, rng=rng)
    network = ew.BilinearEnvironment(PROBLEM, world.truth, levels=1.0, rng=rng)
    arms = rng.integers(0, 3, (n, 8)).astype(np.int32)
    return arms, np.stack([network(one) for one in arms])


def test_predictions_are_as_sure_as_they_say() -> None:
    """Mean squares of 40 predicted phases: 1 if parameters were not widened, so at most 1.15."""
    squares = []
    for seed in range(10):
        arms, rewards = rounds_of(seed, 16)
        before = sum_by_edge(PROBLEM, zip(arms[:12], rewards[:12], strict=True))
        assert before is not None
        found = predicted(PROBLEM, before, arms[12:], rewards[12:])
        assert found is not None
        whitened = np.linalg.solve(np.linalg.cholesky(found.covariance), found.errors)
        squares.append(float(np.mean(whitened**2)))
        assert np.allclose(found.expected + found.errors, rewards[12:].ravel())
    assert 0.3 < np.mean(squares) < 1.15


def test_bets_by_their_definition() -> None:
    arms, rewards = rounds_of(3, 14)
    rewards[13, 2] = np.nan
    before = sum_by_edge(PROBLEM, zip(arms[:12], rewards[:12], strict=True))
    assert before is not None
    found = predicted(PROBLEM, before, arms[12:], rewards[12:])
    assert found is not None
    bets = log_bets(found)
    columns = {
        "round": (found.rounds[:, None] == np.arange(2)) * found.noise[:, None],
        "drift": (found.channels[:, None] == np.arange(8)) * found.noise[:, None],
        "noise": np.diag(found.noise),
        "calibration": np.diag(np.sqrt(np.diag(found.covariance))),
    }
    assert 1.0 <= found.freedom < np.inf
    null = multivariate_t(shape=found.covariance, df=found.freedom).logpdf(found.errors)
    for name, D in columns.items():
        for k, spread in enumerate(SPREADS):
            richer = found.covariance + spread**2 * D @ D.T
            expected = multivariate_t(shape=richer, df=found.freedom).logpdf(found.errors) - null
            assert bets[name][k] == pytest.approx(expected, abs=1e-9), name


def test_a_first_phase_and_levels_of_rounds_predict_nothing() -> None:
    arms, rewards = rounds_of(3, 4)
    before = sum_by_edge(PROBLEM, zip(arms[:1], rewards[:1], strict=True))
    assert before is not None
    assert predicted(PROBLEM, before, arms[1:], rewards[1:]) is None


@pytest.mark.parametrize("missing", [0, 1])
@pytest.mark.parametrize(("offset", "form"), [(0.0, None), (0.6, "round")])
def test_a_learner_with_edges_of_their_own(offset: float, form: str | None, missing: int) -> None:
    """Also if a channel is never measured: the others are predicted, and that is said."""
    learner = ew.Learner(PROBLEM, epsilon=1e-9, strategy="thompson", rng=1)
    rng = np.random.default_rng(1)
    world = HierarchicalWorld.draw(PROBLEM, matrix=MATRIX, spread=0.3, rng=rng)
    network = ew.BilinearEnvironment(PROBLEM, world.truth, levels=1.0, rng=rng)
    while learner.ending(max_rounds=40) is ew.Ending.RUNNING:
        ticket = learner.ask()
        rewards = network(ticket.arms) + offset * (ticket.round % 2)
        rewards[:missing] = np.nan
        learner.tell(ticket, rewards)
    forms = [one.form for one in learner.contradictions]
    assert forms == [] if form is None else form in forms
    again = ew.Learner.restore(PROBLEM, learner.save(), strategy=None)
    assert again.contradictions == learner.contradictions
    report = learner.report(max_rounds=40)
    assert (str(report.claim) == "contradicted") == (form is not None)
    assert report.estimated is not None
    assert report.estimated.unmeasured == missing
    if form is None:
        assert ("never measured" in report.guarantee) == bool(missing)


@pytest.mark.parametrize(
    ("spread", "offset", "pooling", "forms"),
    [
        (0.0, 0.0, "shared", set()),
        (0.0, 0.6, "shared", {"round"}),
        (1.0, 0.0, "partial", set()),
        (1.0, 0.9, "partial", {"round"}),
    ],
)
def test_what_auto_decides_is_what_is_watched(
    spread: float, offset: float, pooling: str, forms: set[str]
) -> None:
    problem = ew.Problem(GRAPH, ARMS, noise=0.3, pooling="auto")
    learner = ew.Learner(problem, epsilon=1e-9, strategy="thompson", rng=1)
    rng = np.random.default_rng(2)
    world = HierarchicalWorld.draw(problem, matrix=MATRIX, spread=spread, rng=rng)
    network = ew.BilinearEnvironment(problem, world.truth, rng=rng)
    while learner.ending(max_rounds=40) is ew.Ending.RUNNING:
        decided = learner._state.pooling is not None
        assert decided or not learner.contradictions, "the model is still open"
        ticket = learner.ask()
        learner.tell(ticket, network(ticket.arms) + offset * decided * (ticket.round % 2))
    assert learner._state.pooling == pooling
    assert forms <= {one.form for one in learner.contradictions}
    assert bool(forms) == bool(learner.contradictions)
