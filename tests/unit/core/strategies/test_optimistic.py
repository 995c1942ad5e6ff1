"""Optimism: upper confidence values, rare switching, and the regret bound of the documents."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.instances import FOUR_ARMS as ARMS

import edgewise as ew
from edgewise.allocation.instance.objective import global_reward
from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.measuring import all_of
from edgewise.core.evidence.optimism import growth, simultaneous_width, upper_world
from edgewise.core.learner import initial_state, tell_round
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.strategies.worlds import shows_everything
from edgewise.errors import InvalidArgument
from edgewise.strategies import Limited, Optimistic, Strategy

MATRIX = np.array([[0.6, 0.5], [0.5, -0.3]])


def run(
    problem: ew.Problem, matrix: Array, strategy: Strategy, n_rounds: int, seed: int
) -> tuple[Setting, list[tuple[LearnerState, Indices]]]:
    """The states of a run, each with the joint arm that followed; no rule stops it."""
    setting = Setting.of(problem, delta=1e-200, epsilon=0.0, strategy=strategy, stopping=None)
    environment = ew.BilinearEnvironment(problem, matrix, rng=seed)
    state, found = initial_state(setting, seed), []
    for _ in range(n_rounds):
        arms = setting.plan.joint_arm(problem, state)
        found.append((state, arms))
        state = tell_round(setting, state, arms, environment(arms))
    return setting, found


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.booleans(), st.sampled_from([None, 0.5, 2.0]))
def test_upper_values_are_estimates_and_widths_cell_by_cell(
    seed: int, directed: bool, width: float | None
) -> None:
    """Against the definition: dense algebra for every joint arm of a triangle."""
    rng = np.random.default_rng(seed)
    graph = ew.Graph.from_edges(
        [(0, 1), (1, 2), (2, 0)], directed=directed, weights=rng.choice([-1.5, 1.0, 2.0], 3)
    )
    problem = ew.Problem(graph, ARMS[:3], noise=0.4)
    setting, states = run(problem, MATRIX, Optimistic(width=width), 12, seed)
    cells, closed = setting.plan.cells, states[-1][0].closed
    if not shows_everything(cells, closed):
        return
    world = upper_world(problem, cells, closed, width=width, delta=0.05)
    seen = all_of(closed[:-1], closed[-1])
    (A, b), features = seen[None].normal(cells, 0)[0], cells.features[0]
    inverse = np.linalg.inv(A)
    first = closed[0:1].normal(cells, 0)[0][0]
    chosen = simultaneous_width(first, A, 0.05) if width is None else width
    for arms in product(range(3), repeat=3):
        value = 0.0
        for (i, j), weight in zip(graph.edges, graph.weight_of_edge, strict=True):
            phi = features[cells.pair_index[arms[i], arms[j]]]
            reach = chosen * 0.4 * math.sqrt(phi @ inverse @ phi)
            directions = 1 if directed else 2
            value += directions * (weight * (phi @ inverse @ b) + abs(weight) * reach)
        assert world.value(np.array(arms)) == pytest.approx(value, rel=1e-6, abs=1e-8)


def test_the_joint_arm_changes_when_information_has_grown_and_not_before() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=10), ARMS, noise=0.5)
    setting, rounds = run(problem, MATRIX, Optimistic(growth=1.0), 120, 0)
    cells = setting.plan.cells
    switches = 0
    for (before, arms), (state, following) in pairwise(rounds):
        if len(before.closed) == 0:
            continue
        if state.phase_rounds > 0:
            assert arms.tolist() == following.tolist()
        else:
            switches += 1
            earlier = all_of(before.closed[:-1], before.closed[-1]).grams(cells)
            whole = all_of(state.closed[:-1], state.closed[-1]).grams(cells)
            grown = growth(earlier[0], whole[0] - earlier[0])
            assert grown >= math.log(2.0) or before.phase_rounds + 1 >= 8
    assert 3 <= switches <= 40


def covered(width: float | None, seed: int) -> bool:
    """Whether all cells stay below their upper values, and above the lower ones, in one run."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), ARMS, noise=0.5)
    setting, rounds = run(problem, MATRIX, Optimistic(width=width), 40, seed)
    cells = setting.plan.cells
    truth = cells.averages((ARMS @ MATRIX @ ARMS.T)[None])[0]
    for closed in {id(state.closed): state.closed for state, _ in rounds}.values():
        if not shows_everything(cells, closed):
            continue
        A, b = all_of(closed[:-1], closed[-1])[None].normal(cells, 0)[0]
        first = closed[0:1].normal(cells, 0)[0][0]
        chosen = simultaneous_width(first, A, 0.05) if width is None else width
        inverse = np.linalg.inv(A)
        spread = np.sqrt(np.einsum("ci,ij,cj->c", cells.features[0], inverse, cells.features[0]))
        if (np.abs(cells.features[0] @ inverse @ b - truth) > chosen * 0.5 * spread).any():
            return False
    return True


def test_the_proved_width_holds_at_all_times_and_a_narrow_one_does_not() -> None:
    """40 runs at delta = 0.05: more than 9 failures have a probability below 10^-4."""
    assert sum(not covered(None, seed) for seed in range(40)) <= 9
    assert sum(not covered(0.5, seed) for seed in range(10)) >= 8  # the control


def test_the_regret_stays_below_its_bound() -> None:
    """The theorem of docs/strategies.md, with the information that the run itself had."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), ARMS, noise=0.5)
    table, m = ARMS @ MATRIX @ ARMS.T, problem.graph.n_arcs
    best = ew.allocate(problem.graph, ARMS, MATRIX, method="brute-force").value
    worst = -ew.allocate(problem.graph, ARMS, -MATRIX, method="brute-force").value
    setting, rounds = run(problem, MATRIX, Optimistic(width=None), 200, 3)
    regret = np.cumsum([best - global_reward(problem.graph, table, arms) for _, arms in rounds])
    cells = setting.plan.cells
    first = sum(len(state.closed) == 0 for state, _ in rounds)
    for number in (50, 100, 199):
        state = rounds[number][0]
        start, now = state.closed[0].grams(cells)[0], state.total.grams(cells)[0]
        grown = growth(start, now - start)
        bursts = (first + grown / math.log(2.0)) * (best - worst)
        beta = 0.5 * simultaneous_width(start, now, 0.05)
        bound = bursts + 2.0 * beta * math.sqrt(2.0 * m * number * grown / math.log(2.0))
        assert regret[number - 1] <= bound
    assert regret[-1] - regret[99] < regret[99]


def test_edges_of_their_own_and_levels_are_taken_too() -> None:
    graph = ew.Graph.circle(n_nodes=8)
    for options in ({"pooling": "partial"}, {"measured": "node", "levels": True}):
        problem = ew.Problem(graph, ARMS, noise=0.3, **options)
        report = ew.identify(
            problem,
            ew.BilinearEnvironment(problem, MATRIX, rng=0),
            strategy="optimistic",
            max_rounds=30,
            rng=0,
        )
        assert report.allocation is not None
        value = global_reward(graph, ARMS @ MATRIX @ ARMS.T, report.allocation.arms)
        assert value >= 0.9 * ew.allocate(graph, ARMS, MATRIX).value


def test_limits_and_optimism_combine() -> None:
    problem = ew.Problem(
        ew.Graph.circle(n_nodes=8), ARMS, noise=0.3, baseline=np.zeros(8, np.int32)
    )
    _, rounds = run(problem, MATRIX, Limited(Optimistic(), changed=2), 30, 0)
    joint = np.array([arms for _, arms in rounds])
    assert ((joint[1:] != joint[:-1]).sum(axis=1) <= 2).all()


def test_bad_settings_are_refused_with_a_remedy() -> None:
    with pytest.raises(InvalidArgument, match="growth must be above 0"):
        Optimistic(growth=0.0)
    with pytest.raises(InvalidArgument, match="between 0 and 1"):
        Optimistic(delta=0.0)
    problem = ew.Problem(ew.Graph.circle(n_nodes=8), ARMS, pooling="partial")
    with pytest.raises(InvalidArgument, match="pass a number"):
        Optimistic(width=None)(problem)
