"""Limits hold in every round, whatever strategy they are put around, and learning goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import edgewise as ew
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Indices
from edgewise.core.learner import initial_state, tell_round
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.strategies.limits.limited import LimitedPhases
from edgewise.core.strategies.limits.reach import Reach, near
from edgewise.core.strategies.worlds import recommended
from edgewise.errors import InvalidArgument
from edgewise.strategies import Adaptive, Contrast, GOptimal, Limited, Safe, Strategy, Thompson

ANGLES = np.linspace(-1.0, 1.0, 7)
ARMS = np.column_stack([np.ones(7), ANGLES, ANGLES**2])
MATRIX = np.array([[0.4, 0.9, -0.6], [0.9, 0.3, 0.2], [-0.6, 0.2, -1.5]])


def problem(n_nodes: int = 8, **options: Any) -> ew.Problem:
    """A circle whose arms are angles in their order; all are at the middle one today."""
    return ew.Problem(
        ew.Graph.circle(n_nodes=n_nodes), ARMS, **{"noise": 0.3, "baseline": 3, **options}
    )


def run(
    task: ew.Problem, strategy: Strategy, n_rounds: int, seed: int = 0
) -> list[tuple[LearnerState, Indices]]:
    """The states of a run, each with the joint arm that followed; no rule stops it."""
    setting = Setting.of(task, delta=1e-200, epsilon=0.0, strategy=strategy, stopping=None)
    environment = ew.BilinearEnvironment(task, MATRIX, rng=seed)
    state, found = initial_state(setting, seed), []
    for _ in range(n_rounds):
        arms = setting.plan.joint_arm(task, state)
        found.append((state, arms))
        state = tell_round(setting, state, arms, environment(arms))
    return found


INNER = [Adaptive(), Contrast(), GOptimal(), Thompson(first=4, phase=3)]


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(INNER),
    st.sampled_from([None, 1, 2, 5]),
    st.sampled_from([None, 1, 2]),
    st.sampled_from([None, 2, 3]),
    st.integers(0, 100),
)
def test_every_round_keeps_the_limits(
    inner: Strategy, changed: int | None, steps: int | None, within: int | None, seed: int
) -> None:
    task = problem()
    limited = Limited(inner, changed=changed, steps=steps, within=within)
    assert task.baseline is not None
    before: Indices = task.baseline
    for state, arms in run(task, limited, 24, seed):
        if changed is not None:
            assert (arms != before).sum() <= changed
        if steps is not None:
            assert np.abs(arms - before).max() <= steps
        if within is not None:
            centre = task.baseline if state.centre is None else state.centre
            left, now = np.abs(before - centre), np.abs(arms - centre)
            assert ((now <= within) | (now <= left)).all()
            if changed is None and steps is None:
                assert (now <= within).all()
        before = arms


@pytest.mark.parametrize("inner", INNER, ids=lambda inner: inner.name)
def test_a_limit_that_does_not_bind_changes_nothing(inner: Strategy) -> None:
    loose = Limited(inner, changed=8, steps=6, within=6)
    free, same = run(problem(), inner, 20), run(problem(), loose, 20)
    for (_, expected), (_, arms) in zip(free, same, strict=True):
        assert arms.tolist() == expected.tolist()


def test_a_node_crosses_what_is_worse_on_the_way() -> None:
    """From the middle the next arms are worse than the first, and the last is the best."""
    task = problem(candidates=None)
    table = np.zeros((7, 7))
    table[:] = (np.array([0.5, 0.4, 0.3, 0.2, 0.1, 0.0, 1.0])[:, None]) / 4.0
    world = Objective.of(task.graph, table + table.T)
    here: Indices = np.zeros(8, np.int32)
    everything = np.ones((8, 7), np.bool_)
    for _ in range(6):
        here = Reach(here, everything, everything, 1, None).best(world, 0.0)
    assert (here == 6).all()


def value_within(world: Objective, reach: Reach, cost: float) -> float:
    """The best that few changes allow, by trying all of them."""
    assert reach.changed is not None
    n, n_arms = reach.region.shape
    best = -np.inf
    for number in range(n_arms**n):
        arms = np.array([number // n_arms**i % n_arms for i in range(n)])
        away = int((arms != reach.deployed).sum())
        if away <= reach.changed:
            best = max(best, world.value(arms) - cost * away)
    return best


def test_few_changes_are_nearly_the_best_few() -> None:
    """Against brute force: never above it, never below staying, and 1 % of the gain lost in all."""
    gains = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        graph = ew.Graph.circle(n_nodes=5)
        world = Objective.of(graph, rng.standard_normal((3, 3)), None, rng.normal(size=(5, 3)))
        here = rng.integers(0, 3, 5).astype(np.int32)
        everything = np.ones((5, 3), np.bool_)
        reach = Reach(here, everything, everything, None, int(rng.integers(1, 4)))
        cost = float(rng.choice([0.0, 0.5]))
        arms = reach.best(world, cost)
        found = world.value(arms) - cost * int((arms != here).sum())
        best = value_within(world, reach, cost)
        stay = world.value(here)
        assert stay - 1e-9 <= found <= best + 1e-9
        gains.append((found - stay, best - stay))
    ours, theirs = np.sum(gains, axis=0)
    assert ours > 0.99 * theirs


def test_a_switching_cost_is_weighed_against_the_gain() -> None:
    costs, changes = (0.0, 0.5, 100.0), []
    for cost in costs:
        rounds = run(problem(), Limited(Thompson(), switching_cost=cost), 40)[8:]
        arms = np.array([arms for _, arms in rounds])
        changes.append(int((arms[1:] != arms[:-1]).sum()))
    assert changes[0] > changes[1] > changes[2] == 0


def test_safe_and_limits_hold_together() -> None:
    task = problem(noise=0.1)
    safe = Safe(
        largest_loss=1.0, worst_loss=0.2, strategy=Limited(GOptimal(), steps=1, changed=3), phase=2
    )
    assert task.baseline is not None
    before, moved = task.baseline, 0
    for _, arms in run(task, safe, 40):
        assert np.abs(arms - before).max() <= 1
        assert (arms != before).sum() <= 3
        moved += int((arms != task.baseline).sum())
        before = arms
    assert moved > 0


def test_with_nothing_to_lose_safe_goes_home_as_fast_as_limits_allow() -> None:
    task = problem()
    safe = Safe(largest_loss=0.0, worst_loss=1.0, strategy=Limited(GOptimal(), steps=1, changed=3))
    setting = Setting.of(task, delta=0.05, epsilon=None, strategy=safe, stopping=None)
    state = replace(initial_state(setting, 0), deployed=np.full(8, 6, np.int32))
    total = [int(np.abs(np.full(8, 6) - 3).sum())]
    for _ in range(8):
        arms = setting.plan.joint_arm(task, state)
        total.append(int(np.abs(arms - 3).sum()))
        state = replace(state, deployed=arms, rounds=state.rounds + 1)
    assert total == [24, 21, 18, 15, 12, 9, 6, 3, 0]


def test_a_trust_region_around_a_strategy_without_phases_gets_phases() -> None:
    plan = Limited(GOptimal(), within=2)(problem())
    assert isinstance(plan, LimitedPhases)
    assert not plan.phasing.is_endless
    assert plan.stopping == "anytime"
    assert Limited(GOptimal(), steps=1)(problem()).phasing.is_endless
    assert Limited(GOptimal(), steps=1)(problem()).stopping == "mixture"


@pytest.mark.parametrize("inner", INNER, ids=lambda inner: inner.name)
def test_a_trust_region_moves_to_the_best_of_what_it_held(inner: Strategy) -> None:
    """By its width a phase at most, though the model would have jumped to arms nobody tried."""
    task, limited = problem(n_nodes=6, noise=1.0), Limited(inner, within=2)
    plan = limited(task)
    everything = np.ones((6, 7), np.bool_)
    centre, beyond, moves = np.full(6, 3), 0, 0
    for state, _ in run(task, limited, 40, seed=3):
        assert task.baseline is not None
        now = task.baseline if state.centre is None else state.centre
        if (now != centre).any():
            wished = recommended(task, plan.cells, state, everything)
            assert wished is not None
            held = near(everything, centre, 2)
            best = recommended(task, plan.cells, state, held)
            assert best is not None
            assert now.tolist() == best.tolist()
            assert np.abs(now - centre).max() <= 2
            beyond += int(np.abs(wished - centre).max() > 2)
            moves += 1
        centre = now
    assert moves > 0
    assert beyond > 0  # following the model's own answer would have failed above


def test_what_the_local_model_answers_lies_in_the_trust_region() -> None:
    task = problem(pooling="partial", noise=1.0)
    thompson = Thompson(first=6, phase=4)
    learner = ew.Learner(task, strategy=Limited(thompson, within=1), rng=0)
    free = ew.Learner(task, strategy=thompson, rng=0)
    environment = ew.BilinearEnvironment(task, MATRIX, rng=0)
    assert task.baseline is not None
    away = []
    for one in (learner, free):
        for _ in range(6):
            ticket = one.ask()
            one.tell(ticket, environment(ticket.arms))
        found, report = one.local_estimate(), one.report()
        assert found is not None
        assert report.allocation is not None
        assert found.allocation.arms.tolist() == report.allocation.arms.tolist()
        away.append(int(np.abs(found.allocation.arms - task.baseline).max()))
    assert away[0] <= 2 < away[1]  # one step to the centre of the second phase, one from there


def test_certificates_are_still_reached() -> None:
    task = problem()
    for limited in (Limited(steps=1), Limited(changed=2), Limited(steps=2, changed=3)):
        runs = ew.simulation.replicate(
            task, MATRIX, repetitions=5, strategy=limited, target="allocation", rng=0
        )
        assert runs.certified.all()
        assert runs.errors == 0


def test_a_saved_learner_goes_on_from_what_is_deployed() -> None:
    task, limited = problem(), Limited(Thompson(first=3, phase=2), steps=1, changed=2, within=2)
    learner = ew.Learner(task, strategy=limited, rng=0)
    environment = ew.BilinearEnvironment(task, MATRIX, rng=0)
    for _ in range(9):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
        saved = json.loads(json.dumps(learner.save(), default=lambda array: array.tolist()))
        other = ew.Learner.restore(task, saved)
        assert learner.ask().arms.tolist() == other.ask().arms.tolist()


def test_a_cancelled_round_is_asked_for_again() -> None:
    study = ew.Study.create("tilts", problem(), strategy=Limited(steps=1, changed=2), rng=0)
    environment = ew.BilinearEnvironment(study.problem, MATRIX, rng=0)
    study.tell(study.ask(), environment(study.ask().arms))
    first = study.ask()
    study.cancel(first)
    assert study.ask().arms.tolist() == first.arms.tolist()


# -- wrong input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"changed": 0}, "changed is 0, which leaves no joint arm but one; at least 1 node"),
        ({"steps": 0}, "steps is 0, which leaves no joint arm but one; at least 1 step"),
        ({"within": -1}, "within is -1, which leaves no joint arm but one"),
        ({"switching_cost": -0.5}, "switching_cost is -0.5; what the change of a node costs"),
        ({"switching_cost": float("nan")}, "switching_cost is nan"),
    ],
)
def test_limits_that_leave_nothing_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message.replace("(", r"\(")):
        Limited(**settings)


def test_the_smallest_step_that_would_do_is_named() -> None:
    allowed = np.ones((8, 7), np.bool_)
    allowed[2, 1:3] = False
    task = problem(candidates=allowed)
    with pytest.raises(InvalidArgument, match=r"node 2 .* arm 0 and arm 3.*at least steps=3"):
        Limited(steps=2)(task)
    assert Limited(steps=3)(task) is not None


def test_the_smallest_region_that_would_do_is_named() -> None:
    task = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(5), baseline=np.full(6, 2))
    with pytest.raises(InvalidArgument, match=r"within is 1, .* allow at least within=2"):
        Limited(within=1)(task)
    assert Limited(within=2)(task) is not None


def test_other_wrong_uses_say_what_to_do() -> None:
    with pytest.raises(InvalidArgument, match="pass Problem"):
        Limited(steps=1)(problem(baseline=None))
    safe = Safe(largest_loss=1.0, worst_loss=1.0)
    with pytest.raises(InvalidArgument, match="put Safe outside"):
        Limited(safe, steps=1)(problem())
    with pytest.raises(InvalidArgument, match="all other limits in one"):
        Limited(Limited(steps=1), changed=1)(problem())
