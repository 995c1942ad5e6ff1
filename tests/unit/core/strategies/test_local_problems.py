"""What strategies do where levels, own terms or classes of edges are to be told apart."""

from typing import Any

import numpy as np
import pytest
from tests.instances import TAIL, TAIL_KINDS

import edgewise as ew
from edgewise.core.strategies.contrast import ContrastPhases
from edgewise.core.strategies.independent import g_optimal_laws
from edgewise.simulation import replicate

CLOSE = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.3]])
"""Two of them are a G-optimal design, on which a constant feature cannot be told from a level."""
LOCAL: list[dict[str, Any]] = [
    {"levels": True},
    {"levels": "round"},
    {"measured": "node"},
    {"measured": "link", "levels": True},
]


def problem(**options: Any) -> ew.Problem:
    return ew.Problem(ew.Graph.from_edges(TAIL), CLOSE, noise=0.1, **options)


def n_arms_shown(options: dict[str, Any]) -> int:
    return int((g_optimal_laws(problem(**options), 1e-6)[0].weights > 1e-3).sum())


@pytest.mark.parametrize("options", LOCAL)
def test_designs_show_enough_arms_to_tell_levels_and_own_terms_from_m(
    options: dict[str, Any],
) -> None:
    assert n_arms_shown({}) == 2
    assert n_arms_shown({"measured": "link"}) == 2
    assert n_arms_shown(options) == 3


@pytest.mark.parametrize("strategy", ["adaptive", "g-optimal", "contrast"])
@pytest.mark.parametrize("options", LOCAL)
def test_every_strategy_certifies(options: dict[str, Any], strategy: str) -> None:
    runs = replicate(
        problem(**options),
        [[1.0, 0.2], [0.0, 0.4]],
        strategy=strategy,
        target="allocation",
        epsilon=2.0,
        levels=1.0 if options.get("levels") is True else None,
        round_levels=1.0 if options.get("levels") == "round" else 0.0,
        repetitions=2,
        max_rounds=400,
        rng=0,
    )
    assert runs.certified.all(), runs
    assert runs.errors == 0


@pytest.mark.parametrize("strategy", ["adaptive", "contrast"])
def test_phases_are_long_enough_for_levels(strategy: str) -> None:
    graph = ew.Graph.from_edges(TAIL, kinds=TAIL_KINDS)
    local = ew.Problem(graph, CLOSE, levels=True, noise=0.1)
    learner = ew.Learner(local, strategy=strategy, rng=0, delta=1e-9)
    environment = ew.BilinearEnvironment(local, np.eye(2), levels=1.0, rng=1)
    lengths = []
    for _ in range(40):
        ticket = learner.ask()
        before = learner._state.phase_rounds + 1
        learner.tell(ticket, environment(ticket.arms))
        if learner._state.phase_rounds == 0:
            lengths.append(before)
    assert len(lengths) >= 3
    assert min(lengths) >= 4


def test_contrast_lays_out_class_by_class() -> None:
    """Each class has parameters of its own there, so that its information is invertible."""
    graph = ew.Graph.from_edges(TAIL, kinds=TAIL_KINDS)
    local = ew.Problem(graph, CLOSE, levels=True)
    plan = ew.strategies.Contrast()(local)
    assert isinstance(plan, ContrastPhases)
    assert plan.cells.joint
    assert not plan.expected.cells.joint
    assert np.array_equal(plan.cells.pairs, plan.expected.cells.pairs)


def test_without_pooling_the_kind_answers_for_what_an_edge_has_not_shown() -> None:
    arms = np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]])
    graph = ew.Graph.circle(n_nodes=6)
    problem = ew.Problem(graph, arms, noise=0.2, measured="link", pooling="none")
    network = ew.BilinearEnvironment(problem, [[0.2, 0.3], [0.3, -0.4]], rng=0)
    learner = ew.Learner(problem, rng=0)
    for _ in range(2):
        ticket = learner.ask()
        learner.tell(ticket, network(ticket.arms))
    report = learner.report()
    assert not report.certified
    assert report.allocation is not None
    assert "needs about 5 rounds of its own" in report.guarantee


def test_thompson_draws_evenly_until_the_phases_that_count_have_shown_everything() -> None:
    """With pooling="auto" the first phase decides and is no evidence: nothing is known after it."""
    arms = np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]])
    problem = ew.Problem(ew.Graph.circle(n_nodes=12), arms, noise=1.0, pooling="auto")
    network = ew.BilinearEnvironment(problem, [[0.2, 0.3], [0.3, -0.4]], rng=0)
    learner = ew.Learner(problem, strategy="thompson", delta=1e-300, rng=0)
    shown = []
    for _ in range(24):
        ticket = learner.ask()
        learner.tell(ticket, network(ticket.arms))
        shown.append(len(set(ticket.arms.tolist())))
    assert learner._state.pooling == "shared"
    assert min(shown[8:16]) > 1  # the phase after the decision is drawn, not the best of nothing
    assert learner.report().allocation is not None
