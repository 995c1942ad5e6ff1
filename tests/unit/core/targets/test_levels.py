"""Parts of delta: they add up to no more than delta, and go where a good joint arm may be."""

from dataclasses import replace
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.core.evidence.measuring import ByPhase
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.setting import Setting
from edgewise.core.targets.levels import AllAlike, ByWeight, confidence, n_events, shows_one_cell

ARMS = np.array([[1.0, 0.2], [-0.3, 1.0], [0.6, -0.8]])
PATHS = [(0, 1), (1, 2), (2, 0), (2, 3)]
PROBLEMS: dict[str, ew.Problem] = {
    "one cell everywhere": ew.Problem(ew.Graph.circle(n_nodes=6), ARMS),
    "odd circle": ew.Problem(ew.Graph.circle(n_nodes=5), ARMS),
    "directed kinds": ew.Problem(
        ew.Graph.from_edges(PATHS, directed=True, kinds=[0, 1, 1, 0]), ARMS
    ),
    "candidates": ew.Problem(
        ew.Graph.from_edges(PATHS),
        ARMS,
        candidates=np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]], bool),
    ),
    "nodes with own terms": ew.Problem(
        ew.Graph.from_edges(PATHS, directed=True), ARMS, measured="node"
    ),
    "noise estimated": ew.Problem(ew.Graph.circle(n_nodes=5), ARMS, noise="estimate"),
}


def run(problem: ew.Problem, rounds: int, seed: int = 1, **options: Any) -> tuple[Setting, ByPhase]:
    """A learner's setting and closed phases."""
    learner = ew.Learner(problem, target="allocation", rng=0, trust_model=True, **options)
    rng = np.random.default_rng(seed)
    shape = problem.graph.n_nodes if problem.measured == "node" else problem.graph.n_arcs
    for _ in range(rounds):
        learner.tell(learner.ask(), rng.normal(size=shape))
    return learner._setting, learner._state.closed


def total_weight(sure: ByWeight, kind: int, showable: Array) -> Array:
    """(P', P') weights of all contrasts of a kind."""
    cells = np.flatnonzero(showable)
    weights = np.zeros((len(cells), len(cells)))
    for i, j in permutations(range(len(cells)), 2):
        weights[i, j] = sure._weights(kind, cells[i : i + 1], cells[j : j + 1])[0]
    return weights


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("rounds", [8, 20])
def test_parts_of_delta_add_up(name: str, rounds: int) -> None:
    problem = PROBLEMS[name]
    setting, phases = run(problem, rounds)
    sure = confidence(setting, phases, rounds, 1.0)
    assert isinstance(sure, ByWeight)
    cells = setting.plan.cells
    by_kind = [total_weight(sure, kind, row) for kind, row in enumerate(cells.showable)]
    if shows_one_cell(problem):  # whichever it is
        assert_allclose(by_kind[0].sum(axis=1), 1.0)
        return
    own = 0 if cells.own is None else len(cells.own) * 3 * 2
    assert_allclose(sum(w.sum() for w in by_kind) + own * sure.even, 1.0)
    assert_allclose(sure.even * n_events(problem, cells), 1.0)


def test_weights_do_not_depend_on_what_is_bet_on_with_them() -> None:
    """The rewards of later phases, turned round, change margins and no weight."""
    setting, phases = run(PROBLEMS["directed kinds"], 20)
    sure = confidence(setting, phases, 20, 1.0)
    assert isinstance(sure, ByWeight)
    assert isinstance(phases, CellStatistics)
    since = np.arange(len(phases)) >= sure.learnt_from
    assert since.any()
    turned = replace(
        phases, rewards=np.where(since[:, None, None], -phases.rewards, phases.rewards)
    )
    again = confidence(setting, turned, 20, 1.0)
    assert isinstance(again, ByWeight)
    assert (again.learnt_from, again.even) == (sure.learnt_from, sure.even)
    assert np.array_equal(again.above, sure.above)
    assert np.array_equal(again.below, sure.below)


@pytest.mark.parametrize("seed", range(4))
def test_a_cell_is_as_plausible_as_it_is_near_to_what_the_best_joint_arm_shows(seed: int) -> None:
    problem = PROBLEMS["odd circle"]
    setting, phases = run(problem, 12, seed)
    sure = confidence(setting, phases, 12, 1.0)
    assert isinstance(sure, ByWeight)
    cells, features = setting.plan.cells, setting.plan.cells.features[0]
    A, b = phases[: sure.learnt_from].normal(cells, 0)[0]
    theta = np.linalg.solve(A, b)

    def shown(arms: tuple[int, ...]) -> list[int]:
        return [int(cells.pair_index[arms[i], arms[j]]) for i, j in problem.graph.edges.tolist()]

    best = max(product(range(3), repeat=5), key=lambda arms: (features @ theta)[shown(arms)].sum())
    expected = []
    for c in range(len(features)):
        behind = []
        for h in set(shown(best)):
            y = features[h] - features[c]
            deviation = np.sqrt(y @ np.linalg.solve(A, y))
            behind.append(max(y @ theta, 0.0) / deviation if y.any() else 0.0)
        expected.append(np.exp(-0.5 * min(behind) ** 2))
    assert sure.learnt_from == 1
    assert_allclose(sure.below[0], expected, rtol=1e-6)


def test_rules_that_do_not_weigh_treat_all_contrasts_alike() -> None:
    for rule in ("rivalwise", "mixture"):
        setting, phases = run(PROBLEMS["odd circle"], 12, stopping=rule)
        sure = confidence(setting, phases, 12, 1.0)
        assert isinstance(sure, AllAlike)
        assert sure.learnt_from == 0
