"""The learner with the contrast strategy: independent nodes, new laws in every phase."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.instances import FOUR_ARMS as ARMS
from tests.instances import TAIL as PAIRS
from tests.instances import TAIL_KINDS as KINDS
from tests.instances import TAIL_MASK as MASK
from tests.instances import TAIL_WEIGHTS as WEIGHTS
from tests.saved import as_json, same

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.aim import Aim
from edgewise.core.evidence.statistics import CellStatistics, observe
from edgewise.core.learner import advance, initial_state
from edgewise.core.setting import Setting
from edgewise.core.strategies import Contrast
from edgewise.core.strategies.contrast import ContrastPhases
from edgewise.core.strategies.plan import upcoming
from edgewise.errors import InvalidArgument
from edgewise.simulation import paper_instance, replicate


def problem_on(graph: ew.Graph, arms: Array = ARMS, **options: Any) -> ew.Problem:
    return ew.Problem(graph, arms, noise=0.1, **options)


PROBLEMS = {
    "plain": problem_on(ew.Graph.from_edges(PAIRS)),
    "star": problem_on(ew.Graph.star(n_nodes=6)),
    "complete": problem_on(ew.Graph.complete(n_nodes=5)),
    "one edge": problem_on(ew.Graph.matching(n_nodes=2)),
    "directed": problem_on(ew.Graph.from_edges(PAIRS, directed=True)),
    "kinds": problem_on(ew.Graph.from_edges(PAIRS, kinds=KINDS)),
    "a kind of one edge": problem_on(ew.Graph.from_edges(PAIRS, kinds=[0, 0, 0, 0, 0, 1])),
    "masks": problem_on(ew.Graph.from_edges(PAIRS), candidates=MASK),
    "node term": problem_on(ew.Graph.from_edges(PAIRS), node_term=True),
    "twins": problem_on(ew.Graph.from_edges(PAIRS), np.vstack([ARMS, ARMS, -ARMS[:2]])),
    "d = 1": problem_on(ew.Graph.from_edges(PAIRS), np.array([[1.0], [0.5], [-0.8]])),
    "everything": problem_on(
        ew.Graph.from_edges(PAIRS, directed=True, kinds=KINDS, weights=WEIGHTS),
        candidates=MASK,
        node_term=True,
    ),
    "everything, both directions": problem_on(
        ew.Graph.from_edges(PAIRS, kinds=KINDS, weights=WEIGHTS), candidates=MASK, node_term=True
    ),
}


def truth_of(problem: ew.Problem, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    q, d = problem.graph.n_kinds, problem.dimension
    truth = {"matrix": rng.normal(size=(q, d, d))}
    if problem.node_term:
        truth["beta"] = rng.normal(size=(q, d))
    return truth


def environment_of(problem: ew.Problem, rng: int = 0) -> ew.BilinearEnvironment:
    return ew.BilinearEnvironment(problem, rng=rng, **truth_of(problem))


def run(learner: ew.Learner, n_rounds: int, seed: int = 7) -> ew.Learner:
    environment = environment_of(learner.problem, seed)
    for _ in range(n_rounds):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
    return learner


@pytest.mark.parametrize("rule", ["anytime", "mixture"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_truth_is_identified(name: str, rule: str) -> None:
    """delta = 1e-6, so a wrong answer is a wrong program."""
    problem = PROBLEMS[name]
    runs = replicate(
        problem,
        **truth_of(problem),
        repetitions=3,
        strategy="contrast",
        stopping=rule,
        target="pair",
        delta=1e-6,
        max_rounds=5000,
        rng=2,
    )
    assert runs.certified.all(), runs
    assert runs.correct.all()


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_joint_arm_is_allowed(name: str) -> None:
    problem = PROBLEMS[name]
    learner = ew.Learner(problem, strategy="contrast", delta=1e-300, rng=1)
    environment = environment_of(problem)
    for _ in range(25):
        ticket = learner.ask()
        if problem.candidates is not None:
            assert problem.candidates[np.arange(len(ticket.arms)), ticket.arms].all()
        learner.tell(ticket, environment(ticket.arms))


def test_the_report_says_what_was_done() -> None:
    problem = PROBLEMS["plain"]
    report = ew.identify(problem, environment_of(problem), strategy="contrast", rng=0)
    assert report.certified
    assert (report.strategy, report.stopping) == ("contrast", "anytime")
    assert report.designs == ()


@pytest.mark.parametrize("options", [{"growth": 0.0}, {"explore": 0.0}, {"explore": 1.0}])
def test_senseless_settings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="growth must be above 0, explore between 0 and 1"):
        Contrast(**options)


def test_rules_for_fixed_designs_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="lets rewards decide"):
        ew.Learner(PROBLEMS["plain"], strategy="contrast", stopping="union")


def test_missing_rewards_only_cost_rounds() -> None:
    """One edge of the five is ever measured; then a fifth of all arcs at random."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=5), np.eye(3), noise=0.1)
    environment = ew.BilinearEnvironment(problem, np.diag([2.0, 1.0, 1.0]), rng=0)
    rng = np.random.default_rng(0)

    def one_edge(arms: Indices) -> Array:
        rewards = environment(arms)
        rewards[2:] = np.nan
        return rewards

    def most_arcs(arms: Indices) -> Array:
        rewards = environment(arms)
        rewards[rng.random(len(rewards)) < 0.2] = np.nan
        return rewards

    for incomplete in (one_edge, most_arcs):
        report = ew.identify(problem, incomplete, strategy="contrast", rng=1, max_rounds=3000)
        assert report.certified
        assert report.best_pair == (0, 0)


# -- decentralised: what a node needs to know --------------------------------------------------


def test_nodes_need_the_seed_and_the_laws_only() -> None:
    """A node that hears the laws of the phase computes its own arm, without the others."""
    problem = PROBLEMS["everything"]
    learner = run(ew.Learner(problem, strategy="contrast", delta=1e-300, rng=3), 12)
    plan, state = learner._setting.plan, learner._state
    assert isinstance(plan, ContrastPhases)
    assert len(state.aim.kinds) > 0
    laws = plan.laws(state.aim)
    for node, arm in enumerate(learner.ask().arms):
        alone = laws.draw(seed=state.seed, round=state.rounds + 1, start=node, stop=node + 1)
        assert alone.tolist() == [arm]


def test_the_first_phase_draws_from_the_g_optimal_laws() -> None:
    problem = PROBLEMS["masks"]
    first, g_optimal = (
        ew.Learner(problem, strategy=name, rng=4).ask().arms for name in ("contrast", "g-optimal")
    )
    assert np.array_equal(first, g_optimal)


def test_laws_are_a_function_of_the_aim() -> None:
    """Computed anew by another plan from a copy of the aim: the same to the last bit."""
    problem = PROBLEMS["kinds"]
    learner = run(ew.Learner(problem, strategy="contrast", delta=1e-300, rng=3), 15)
    aim = learner._state.aim
    copy = Aim(
        **{name: np.copy(value) for name, value in vars(aim).items() if name != "length"},
        length=aim.length,
    )
    plans: list[Any] = [learner._setting.plan, Contrast()(problem)]
    first, again = (plan.laws(each).weights for plan, each in zip(plans, (aim, copy), strict=True))
    assert np.array_equal(first, again)
    assert not np.allclose(first, plans[1].everywhere.weights)


def test_laws_serve_the_open_contrasts() -> None:
    """On the paper's instance most mass goes to the three arms in question."""
    arms, matrix = paper_instance(7, 0.1)
    problem = ew.Problem(ew.Graph.circle(n_edges=156), arms)
    setting = Setting.of(problem, delta=0.05, epsilon=0.0, strategy="contrast", stopping=None)
    plan, environment = setting.plan, ew.BilinearEnvironment(problem, matrix, rng=0)
    assert isinstance(plan, ContrastPhases)
    state = initial_state(setting, 5)
    while not state.verdict.stop:
        last, joint = state, plan.joint_arm(problem, state)
        told = observe(problem.graph, plan.cells, joint, environment(joint))
        state = advance(setting, state, told[None])
    law = plan.laws(last.aim).weights[0]
    assert law[[0, 1, 7]].sum() > 0.7
    assert plan.everywhere.weights[0, [0, 1, 7]].sum() < 0.5


def test_rounds_of_a_phase_at_once_or_one_by_one() -> None:
    """The same state to the last bit; rounds of two phases are refused."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2))
    setting = Setting.of(problem, delta=1e-9, epsilon=0.0, strategy="contrast", stopping=None)
    rng, state = np.random.default_rng(3), initial_state(setting, 5)
    lengths = set()
    while state.rounds < 100:
        counts, information, _ = upcoming(setting.plan, problem, state, 50)
        told = CellStatistics(counts, information, rng.normal(size=counts.shape), information)
        one_by_one = state
        for r in range(len(told)):
            one_by_one = advance(setting, one_by_one, told[r : r + 1])
        if len(one_by_one.closed) > len(state.closed):
            too_many = CellStatistics(*(np.concatenate([part, part]) for part in _parts(told)))
            with pytest.raises(InvalidArgument, match="phase ends before the last"):
                advance(setting, state, too_many)
        state = advance(setting, state, told)
        assert same(state.to_tree(), one_by_one.to_tree())
        lengths.add(len(told))
    assert max(lengths) > 3


def _parts(told: CellStatistics) -> tuple[Any, ...]:
    return told.observations, told.information, told.rewards, told.squares


def test_fewer_rounds_than_fixed_laws_more_than_coordinated_ones() -> None:
    """Means are about 10, 36 and 151 (docs/strategies.md): far apart."""
    arms, matrix = paper_instance(5, 0.1)
    problem = ew.Problem(ew.Graph.circle(n_edges=156), arms)
    adaptive, contrast, fixed = (
        replicate(problem, matrix, repetitions=10, strategy=name, rng=0).mean_rounds
        for name in ("adaptive", "contrast", "g-optimal")
    )
    assert 1.3 * adaptive < contrast < fixed / 2


# -- saving ----------------------------------------------------------------------------------


@pytest.mark.parametrize("medium", [dict, as_json], ids=["dict", "json"])
@pytest.mark.parametrize("name", ["plain", "masks", "everything"])
@pytest.mark.parametrize("pause", [0, 1, 9, 23])
def test_restoring_continues_bit_for_bit(
    medium: Callable[[dict[str, Any]], Any], name: str, pause: int
) -> None:
    """Long phases, so that most pauses fall inside one."""
    problem, strategy = PROBLEMS[name], Contrast(growth=0.6)
    learner = run(ew.Learner(problem, rng=5, strategy=strategy, delta=1e-300), pause)
    if pause == 23:
        assert learner._state.phase_rounds > 0
        assert len(learner._state.closed.information) > 0
    restored = ew.Learner.restore(problem, medium(learner.save()), strategy=strategy)
    rng = np.random.default_rng(1)
    for _ in range(25):
        assert np.array_equal(restored.ask().arms, learner.ask().arms)
        rewards = rng.normal(size=problem.graph.n_arcs)
        for each in (learner, restored):
            each.tell(each.ask(), rewards)
    assert str(restored.save()) == str(learner.save())


def test_other_laws_that_were_saved_are_kept() -> None:
    """Another machine may have solved the first design to other last digits."""
    problem = PROBLEMS["plain"]
    learner = ew.Learner(problem, strategy="contrast", rng=0)
    saved = learner.save()
    saved["plan"]["laws"] = np.array([[0.0, 0.0, 0.0, 1.0]])
    assert ew.Learner.restore(problem, saved).ask().arms.tolist() == [3] * 5


def test_replications_do_not_depend_on_jobs() -> None:
    problem = PROBLEMS["plain"]
    options: dict[str, Any] = {
        **truth_of(problem),
        "repetitions": 4,
        "strategy": "contrast",
        "rng": 1,
    }
    alone, together = (replicate(problem, jobs=jobs, **options) for jobs in (1, 2))
    assert alone.rounds.tolist() == together.rounds.tolist()
    setting = Setting.of(problem, delta=0.1, epsilon=0.0, strategy="contrast", stopping=None)
    assert pickle.loads(pickle.dumps(setting)).plan.phasing == setting.plan.phasing


def test_a_seed_fixes_a_run() -> None:
    problem = PROBLEMS["star"]
    runs = [
        replicate(problem, **truth_of(problem), repetitions=5, strategy="contrast", rng=seed)
        for seed in (1, 1, 2)
    ]
    assert runs[0].rounds.tolist() == runs[1].rounds.tolist()
    assert runs[0].rounds.tolist() != runs[2].rounds.tolist()


def test_one_phase_does_not_see_its_own_rewards() -> None:
    """Two worlds that differ from the start of a phase on draw the same arms until it ends."""
    problem = replace(PROBLEMS["everything"], noise=1.0)
    noise = np.random.default_rng(8).normal(size=(2, 40, problem.graph.n_arcs))

    def world(start: int) -> tuple[list[Indices], list[int]]:
        learner = ew.Learner(problem, strategy=Contrast(growth=0.4), delta=1e-300, rng=0)
        arms, phases = [], []
        for number in range(40):
            phases.append(len(learner._state.closed.information))
            ticket = learner.ask()
            arms.append(ticket.arms)
            learner.tell(ticket, noise[int(number >= start), number])
        return arms, phases

    arms, phases = world(40)
    starts = [phases.index(phase) for phase in sorted(set(phases))]
    differs = 0
    for start, end in pairwise(starts):
        others, other_phases = world(start)
        assert other_phases[: end + 1] == phases[: end + 1]
        assert all(map(np.array_equal, arms[:end], others[:end]))
        differs += not all(map(np.array_equal, arms[end:], others[end:]))
    assert differs > 0


def test_laws_are_kept_for_a_phase() -> None:
    problem = PROBLEMS["plain"]
    learner = run(ew.Learner(problem, strategy=Contrast(growth=2.0), delta=1e-300, rng=3), 4)
    plan, aim = learner._setting.plan, learner._state.aim
    assert isinstance(plan, ContrastPhases)
    assert plan.laws(aim) is plan.laws(aim)
    assert_allclose(plan.laws(aim).weights.sum(axis=1), 1.0)
