"""The learner with the adaptive strategy: phases, from the first round to the report."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.instances import FOUR_ARMS as ARMS
from tests.instances import TAIL as PAIRS
from tests.instances import TAIL_KINDS as KINDS
from tests.instances import TAIL_MASK as MASK
from tests.saved import as_json, same

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.aim import Aim
from edgewise.core.evidence.evidence import gather, gather_phases
from edgewise.core.evidence.measuring import after, with_present
from edgewise.core.evidence.statistics import CellStatistics, observe
from edgewise.core.learner import advance, initial_state, is_phase_over
from edgewise.core.model.cells import Cells
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.strategies import Adaptive
from edgewise.core.strategies.plan import upcoming
from edgewise.core.targets.pair import _open
from edgewise.core.targets.truth import Truth
from edgewise.errors import InvalidArgument, InvalidRewards
from edgewise.simulation import replicate

RULES = ["anytime", "mixture"]


# -- the truth is found ----------------------------------------------------------------------


@dataclass(frozen=True)
class Instance:
    """A problem and its truth."""

    problem: ew.Problem
    matrices: Array
    beta: Array | None = None

    def environment(self, rng: int = 0) -> ew.BilinearEnvironment:
        return ew.BilinearEnvironment(self.problem, self.matrices, beta=self.beta, rng=rng)

    def best_pairs(self) -> list[set[tuple[int, int]]]:
        """The best pairs of each kind, by the definition: all of them, should some be equal."""
        graph, X = self.problem.graph, self.problem.arms
        allowed = self.problem.candidates
        may = np.ones((graph.n_nodes, len(X)), bool) if allowed is None else allowed
        answers = []
        for kind in range(graph.n_kinds):
            value: dict[tuple[int, int], float] = {}
            for e, (i, j) in enumerate(graph.edges.tolist()):
                if graph.kinds is not None and graph.kinds[e] != kind:
                    continue
                for k in np.flatnonzero(may[i]).tolist():
                    for l in np.flatnonzero(may[j]).tolist():
                        there = X[k] @ self.matrices[kind] @ X[l]
                        back = X[l] @ self.matrices[kind] @ X[k]
                        if self.beta is not None:
                            there += X[k] @ self.beta[kind]
                            back += X[l] @ self.beta[kind]
                        if graph.directed:
                            value[k, l] = float(there)
                        else:
                            value[min(k, l), max(k, l)] = float(there + back) / 2
            top = max(value.values())
            answers.append({pair for pair, its in value.items() if its > top - 1e-9})
        return answers


def instance(seed: int = 0, *, graph: ew.Graph | None = None, **options: Any) -> Instance:
    rng = np.random.default_rng(seed)
    shape = {key: options.pop(key) for key in ("directed", "kinds", "weights") if key in options}
    graph = ew.Graph.from_edges(PAIRS, **shape) if graph is None else graph
    noise = options.pop("noise", 0.1)
    problem = ew.Problem(graph, options.pop("arms", ARMS), noise=noise, **options)
    q, d = graph.n_kinds, problem.dimension
    beta = rng.normal(size=(q, d)) if problem.node_term else None
    return Instance(problem, rng.normal(size=(q, d, d)), beta)


WEIGHTS = [1.0, -2.0, 0.5, 3.0, 1.0, 0.7]

INSTANCES = {
    "plain": instance(),
    "star": instance(graph=ew.Graph.star(n_nodes=6)),
    "complete": instance(graph=ew.Graph.complete(n_nodes=5)),
    "circle": instance(graph=ew.Graph.circle(n_nodes=7)),
    "matching": instance(graph=ew.Graph.matching(n_nodes=8)),
    "one edge": instance(graph=ew.Graph.matching(n_nodes=2)),
    "directed": instance(directed=True),
    "one directed edge": instance(graph=ew.Graph.from_edges([(0, 1)], directed=True)),
    "kinds": instance(kinds=KINDS),
    "a kind of one edge": instance(kinds=[0, 0, 0, 0, 0, 1]),
    "weights": instance(weights=WEIGHTS),
    "masks": instance(candidates=MASK),
    "node term": instance(node_term=True),
    "twins": instance(arms=np.vstack([ARMS, ARMS, -ARMS[:2]])),
    "d = 1": instance(arms=np.array([[1.0], [0.5], [-0.8]])),
    "everything": instance(
        4, directed=True, kinds=KINDS, weights=WEIGHTS, candidates=MASK, node_term=True
    ),
    "everything, both directions": instance(
        5, kinds=KINDS, weights=WEIGHTS, candidates=MASK, node_term=True
    ),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", INSTANCES)
def test_the_truth_is_identified(name: str, rule: str) -> None:
    """delta = 1e-6, so a wrong answer is a wrong program."""
    case = INSTANCES[name]
    options: dict[str, Any] = {"stopping": rule, "delta": 1e-6, "target": "pair"}
    report = ew.identify(case.problem, case.environment(1), max_rounds=3000, **options)
    assert report.certified, report
    for pair, best in zip(report.best_pairs, case.best_pairs(), strict=True):
        assert pair in best
    assert (report.strategy, report.stopping) == ("adaptive", rule)
    runs = replicate(
        case.problem,
        case.matrices,
        beta=case.beta,
        repetitions=3,
        max_rounds=3000,
        rng=2,
        **options,
    )
    assert runs.certified.all()
    assert runs.correct.all()


@pytest.mark.parametrize("name", INSTANCES)
def test_every_joint_arm_is_allowed(name: str) -> None:
    case = INSTANCES[name]
    learner = ew.Learner(case.problem, strategy="adaptive", delta=1e-300)
    environment = case.environment()
    allowed = case.problem.candidates
    for _ in range(25):
        ticket = learner.ask()
        assert ticket.arms.shape == (case.problem.graph.n_nodes,)
        if allowed is not None:
            assert allowed[np.arange(len(ticket.arms)), ticket.arms].all()
        learner.tell(ticket, environment(ticket.arms))


def test_many_rivals() -> None:
    """465 pairs of arms: more than a phase is laid out for."""
    rng = np.random.default_rng(3)
    arms = rng.normal(size=(30, 2))
    arms /= np.linalg.norm(arms, axis=1, keepdims=True)
    case = instance(arms=arms, graph=ew.Graph.circle(n_nodes=20), noise=0.1)
    learner = ew.Learner(case.problem, strategy="adaptive")
    environment = case.environment()
    widest = 0
    while not learner.verdict.stop and learner.rounds < 300:
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
        widest = max(widest, len(learner._state.aim.kinds))
    assert learner.verdict.stop
    assert learner.verdict.pairs[0] in case.best_pairs()[0]
    assert 1 < widest <= 256


def test_a_tie_ends_with_a_tolerance_only() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2), noise=0.1)
    tie = Instance(problem, np.diag([1.0, 1.0])[None])
    report = ew.identify(problem, tie.environment(), strategy="adaptive", max_rounds=60)
    assert report.ending is ew.Ending.BUDGET_SPENT
    assert report.rounds == 60
    loose = ew.identify(problem, tie.environment(), strategy="adaptive", epsilon=0.2, max_rounds=60)
    assert loose.certified


def test_a_single_arm_needs_no_comparison() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.ones((1, 1)))
    report = ew.identify(problem, lambda _: np.ones(8), strategy="adaptive", max_rounds=5)
    assert (report.rounds, report.certified, report.best_pair) == (1, True, (0, 0))


@pytest.mark.parametrize(
    ("strategy", "contradicted"),
    [(Adaptive(), True), (Adaptive(even=1, doubt=0.0), True), (Adaptive(doubt=0.0), False)],
)
def test_a_round_with_all_arms_shows_a_missing_feature(
    strategy: Adaptive, contradicted: bool
) -> None:
    """Five arms on a line, features (1, u), rewards with u^2: two arms fit some matrix."""
    arms = np.column_stack([np.ones(5), np.linspace(-1.0, 1.0, 5)])
    problem = ew.Problem(ew.Graph.circle(n_nodes=40), arms, noise=0.1)
    i, j = problem.graph.arcs.T
    rng = np.random.default_rng(3)

    def rewards(joint: Indices) -> Array:
        u = arms[joint, 1]
        means = 0.5 * (u[i] * u[j] + u[i] + u[j]) - 1.5 * u[i] ** 2
        return np.asarray(means + 0.1 * rng.standard_normal(len(i)))

    learner = ew.Learner(problem, strategy=strategy, rng=0)
    shown = len(set(learner.ask().arms.tolist()))
    while learner.ending(max_rounds=4) is ew.Ending.RUNNING:
        ticket = learner.ask()
        learner.tell(ticket, rewards(ticket.arms))
    assert (shown == 5) == contradicted
    assert bool(learner.contradictions) == contradicted
    report = learner.report(max_rounds=4)
    assert ("a missing feature would go unnoticed" in str(report)) == report.certified
    assert report.certified == (not contradicted)


@pytest.mark.parametrize("options", [{"growth": 0.0}, {"growth": -1.0}, {"power": 0.0}])
def test_senseless_settings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match="both must be above 0"):
        Adaptive(**options)


@pytest.mark.parametrize("doubt", [-1.0, math.inf])
def test_a_doubt_is_a_variance(doubt: float) -> None:
    with pytest.raises(InvalidArgument, match=r"doubt is .* at least 0"):
        Adaptive(doubt=doubt)


def test_units_of_weights_do_not_change_what_is_doubted() -> None:
    graph = ew.Graph.circle(n_nodes=12)
    arms = np.random.default_rng(0).standard_normal((5, 2))
    first = [
        ew.Learner(ew.Problem(graph.with_weights(np.full(12, size)), arms), rng=0).ask().arms
        for size in (2.0**-20, 2.0**-26)
    ]
    assert first[0].tolist() == first[1].tolist()


# -- cases that used to last for ever ----------------------------------------------------------


@pytest.mark.parametrize("d", [6, 8])
def test_one_edge_with_many_parameters(d: int) -> None:
    """A single edge shows one cell a round: 21 or 36 rounds to see every direction."""
    problem = ew.Problem(ew.Graph.matching(n_nodes=2), np.eye(d), noise=0.05)
    truth = np.diag([2.0] + [1.0] * (d - 1))
    runs = replicate(problem, truth, repetitions=2, strategy="adaptive", max_rounds=150, rng=0)
    assert runs.certified.all()
    assert runs.correct.all()
    assert runs.rounds.min() >= d * (d + 1) // 2


@pytest.mark.parametrize("directed", [False, True])
def test_arms_only_others_may_have_do_not_distract(directed: bool) -> None:
    """Node 0 must not wait for its neighbour to show the long arm, which it may not have."""
    arms = np.array([[1.0, 0.1], [0.1, 1.0], [0.5, 0.4], [1000.0, 300.0]])
    mask = np.array([[1, 1, 0, 0], [0, 0, 1, 0]], bool)
    graph = ew.Graph.from_edges([(0, 1)], directed=directed)
    problem = ew.Problem(graph, arms, noise=0.01, candidates=mask)
    runs = replicate(problem, np.eye(2), repetitions=10, strategy="adaptive", max_rounds=50, rng=0)
    assert runs.certified.all()
    assert runs.correct.all()
    assert runs.rounds.tolist() == [2] * 10  # one round for each of the two cells


@pytest.mark.parametrize("dead", [range(8), range(2, 10), range(1, 9)])
def test_edges_that_are_never_measured(dead: range) -> None:
    """Four sensors of five are broken for good: the layout alone would show the living edge, if it
    comes last in line, the same arms for ever."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=5), np.eye(3), noise=0.1)
    case = Instance(problem, np.diag([2.0, 1.0, 1.0])[None])
    environment = case.environment()

    def broken(arms: Indices) -> Array:
        rewards = environment(arms)
        rewards[list(dead)] = np.nan
        return rewards

    report = ew.identify(problem, broken, strategy="adaptive", rng=1, max_rounds=2000)
    if dead == range(1, 9):  # one direction only of each of two edges: S is not identifiable
        assert report.ending is ew.Ending.BUDGET_SPENT
        assert report.best_pairs == ()
    else:
        assert report.certified
        assert report.best_pair == (0, 0)


# -- missing rewards -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["plain", "star", "kinds", "directed", "masks", "everything"])
@pytest.mark.parametrize("pattern", ["some arcs", "most arcs", "whole rounds", "late start"])
def test_missing_rewards_only_cost_rounds(name: str, pattern: str) -> None:
    case = INSTANCES[name]
    environment, rng = case.environment(3), np.random.default_rng(4)
    count = iter(range(10**6))

    def gaps(arms: Indices) -> Array:
        rewards, number = environment(arms), next(count)
        share = {"some arcs": 0.2, "most arcs": 0.6}.get(pattern, 0.0)
        rewards[rng.random(len(rewards)) < share] = np.nan
        if (pattern == "whole rounds" and number % 3) or (pattern == "late start" and number < 40):
            rewards[:] = np.nan
        return rewards

    report = ew.identify(case.problem, gaps, target="pair", delta=1e-6, max_rounds=4000)
    assert report.certified, report
    for pair, best in zip(report.best_pairs, case.best_pairs(), strict=True):
        assert pair in best


def test_bad_rewards_change_nothing() -> None:
    case = INSTANCES["kinds"]
    learner = run(ew.Learner(case.problem, strategy="adaptive", delta=1e-300), case, 7)
    before, ticket = learner.save(), learner.ask()
    rewards = np.zeros(12)
    rewards[3] = np.inf
    with pytest.raises(InvalidRewards, match="nothing was recorded"):
        learner.tell(ticket, rewards)
    assert same(before, learner.save())
    assert np.array_equal(learner.ask().arms, ticket.arms)


# -- saving ----------------------------------------------------------------------------------


def run(learner: ew.Learner, case: Instance, n_rounds: int, seed: int = 7) -> ew.Learner:
    environment = case.environment(seed)
    for _ in range(n_rounds):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
    return learner


@pytest.mark.parametrize("medium", [dict, as_json], ids=["dict", "json"])
@pytest.mark.parametrize("name", ["plain", "star", "everything", "kinds"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("pause", [0, 1, 2, 9, 23])
def test_restoring_continues_bit_for_bit(
    medium: Callable[[dict[str, Any]], Any], name: str, rule: str, pause: int
) -> None:
    """Long phases, so that most pauses fall inside one; rewards are missing on the way."""
    case, strategy = INSTANCES[name], Adaptive(growth=0.6)
    options: dict[str, Any] = {"strategy": strategy, "stopping": rule, "delta": 1e-300}
    learner = run(ew.Learner(case.problem, rng=5, **options), case, pause)
    if pause == 23:
        assert learner._state.phase_rounds > 0
        assert len(learner._state.closed.information) > 0
    saved = medium(learner.save())
    learner.ask()  # a round in the air when the process dies
    restored = ew.Learner.restore(case.problem, saved, strategy=strategy)
    assert np.array_equal(restored.ask().arms, learner.ask().arms)
    assert same(restored.save(), learner.save())
    rng = np.random.default_rng(1)
    for _ in range(25):
        rewards = rng.normal(size=case.problem.graph.n_arcs)
        rewards[rng.random(len(rewards)) < 0.1] = np.nan
        for each in (learner, restored):
            each.tell(each.ask(), rewards)
    assert same(restored.save(), learner.save())
    assert str(restored.report()) == str(learner.report())
    assert len(learner._state.closed.information) > 1


def test_saved_state_is_a_copy() -> None:
    case = INSTANCES["star"]
    learner = run(ew.Learner(case.problem, strategy="adaptive", delta=1e-300), case, 12)
    saved, kept = learner.save(), learner.save()

    def wipe(values: Any) -> None:
        for value in values.values():
            if isinstance(value, np.ndarray):
                value[:] = 0
            elif isinstance(value, dict):
                wipe(value)

    wipe(saved)
    assert same(learner.save(), kept)
    assert not same(saved, kept)


def test_no_randomness_is_used() -> None:
    case = INSTANCES["circle"]
    first, second = (
        run(ew.Learner(case.problem, strategy="adaptive", rng=seed, delta=1e-300), case, 15)
        for seed in (1, 2)
    )
    assert np.array_equal(first.ask().arms, second.ask().arms)
    states = [{**each.save()["state"], "seed": 0} for each in (first, second)]
    assert same(*states)


# -- phases ----------------------------------------------------------------------------------


def trace(
    case: Instance, rewards: Callable[[int, Indices], Array], n_rounds: int, **options: Any
) -> tuple[list[Indices], list[int], list[LearnerState]]:
    """Joint arms, the phase each belongs to, and the state after each round."""
    options = {"strategy": Adaptive(growth=0.4), "delta": 1e-300, **options}
    learner = ew.Learner(case.problem, rng=0, **options)
    arms, phases, states = [], [], []
    for number in range(n_rounds):
        phases.append(len(learner._state.closed.information))
        ticket = learner.ask()
        arms.append(ticket.arms)
        learner.tell(ticket, rewards(number, ticket.arms))
        states.append(learner._state)
    return arms, phases, states


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["plain", "star", "everything", "node term"])
def test_a_phase_does_not_depend_on_its_own_rewards(name: str, rule: str) -> None:
    """What the proof of the rule rests on. Two worlds agree until a phase starts and then have
    rewards as different as can be: inside the phase the joint arms agree, and so does its length.
    """
    case, n_rounds = INSTANCES[name], 40
    noise = np.random.default_rng(8).normal(size=(2, n_rounds, case.problem.graph.n_arcs))
    missing = np.random.default_rng(9).random(noise.shape[1:]) < 0.1

    def world(start: int, other: bool) -> Callable[[int, Indices], Array]:
        def rewards(number: int, arms: Indices) -> Array:
            values: Array = 0.1 * noise[0, number]
            if other and number >= start:
                values = 0.3 * noise[1, number] - values
            values[missing[number]] = np.nan
            return values

        return rewards

    arms, phases, _ = trace(case, world(n_rounds, other=False), n_rounds, stopping=rule)
    starts = [phases.index(phase) for phase in sorted(set(phases))]
    assert len(starts) > 4
    after_differs = 0
    for start, end in pairwise(starts):
        others, other_phases, _ = trace(case, world(start, other=True), n_rounds, stopping=rule)
        assert other_phases[: end + 1] == phases[: end + 1]
        for number in range(end):
            assert np.array_equal(arms[number], others[number])
        after_differs += not all(map(np.array_equal, arms[end:], others[end:]))
    assert after_differs > 0  # later phases do depend on the rewards: there was something to check
    assert max(end - start for start, end in pairwise(starts)) > 3


@pytest.mark.parametrize("name", ["plain", "star", "everything"])
def test_anytime_looks_when_a_phase_ends_and_mixture_always(name: str) -> None:
    case = INSTANCES[name]
    environment = case.environment()
    for rule in RULES:
        options = {"stopping": rule, "target": "pair"}  # an allocation is looked at less often
        _, _, states = trace(case, lambda _, arms: environment(arms), 30, **options)
        looks = [state.verdict.round == state.rounds for state in states]
        ends = [state.phase_rounds == 0 for state in states]
        assert any(ends)
        assert not all(ends)
        assert looks == (ends if rule == "anytime" else [True] * 30)


def test_anytime_stops_only_where_a_phase_ends() -> None:
    case = INSTANCES["star"]
    learner = ew.Learner(case.problem, strategy=Adaptive(growth=1.0))
    environment = case.environment()
    while not learner.verdict.stop:
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
    state = learner._state
    assert state.phase_rounds >= state.aim.length  # left open, so that report() sees the stop
    assert is_phase_over(learner._setting, state)
    assert learner.verdict.round == state.rounds


def rank_of(cells: Cells, statistics: CellStatistics, kind: int, extra: Array | None = None) -> int:
    """Rank of the rows shown in a phase, by singular values; with more rows on request."""
    rows = cells.features[kind][statistics.information[kind] > 0]
    if extra is not None:
        rows = np.vstack([rows, extra])
    return int(np.linalg.matrix_rank(rows, tol=1e-8))


@pytest.mark.parametrize("name", INSTANCES)
def test_phases_last_until_their_contrasts_can_be_estimated(name: str) -> None:
    """No shorter than the stated length, and no longer than needed after that."""
    case = INSTANCES[name]
    environment = case.environment()
    setting = Setting.of(
        case.problem, delta=1e-300, epsilon=0.0, strategy="adaptive", stopping="anytime"
    )
    plan, cells = setting.plan, setting.plan.cells
    state = initial_state(setting, 0)
    beyond = 0
    for _ in range(40):
        arms = plan.joint_arm(case.problem, state)
        told = observe(case.problem.graph, cells, arms, environment(arms))
        observations, information, _ = upcoming(plan, case.problem, state, 10)
        assert np.array_equal(observations, told.observations[None])
        assert np.array_equal(information, told.information[None])
        before, state = state, advance(setting, state, told[None])
        phase = after(before.statistics, told[None])[0]
        assert isinstance(phase, CellStatistics)
        aim, length = before.aim, before.phase_rounds + 1
        contrasts = aim.contrasts(cells)
        estimable = all(
            rank_of(cells, phase, kind) == cells.dimensions[kind]
            if not len(aim.kinds)
            else rank_of(cells, phase, kind)
            == rank_of(cells, phase, kind, contrasts[aim.kinds == kind])
            for kind in range(len(cells.features))
        )
        ended = state.phase_rounds == 0
        assert ended == (length >= aim.length and estimable)
        beyond += ended and length > aim.length
        assert state.rounds == before.rounds + 1
        if ended:
            closed = state.closed[-1]
            assert np.array_equal(closed.information, phase.information)
            assert state.aim.length == max(1, int(0.1 * state.rounds))
    if name in {"star", "one edge"}:
        assert beyond > 3


def test_the_centre_of_a_star_shows_one_arm_a_round() -> None:
    """So the first phase needs at least d rounds, whatever the number of leaves."""
    for d in (2, 4):
        case = instance(graph=ew.Graph.star(n_nodes=60), arms=np.eye(d))
        _, phases, _ = trace(case, lambda *_: np.zeros(118), 12)
        assert phases.count(0) >= d
        circle = instance(graph=ew.Graph.circle(n_nodes=60), arms=np.eye(d))
        _, phases, _ = trace(circle, lambda *_: np.zeros(120), 12)
        assert phases.count(0) == 1


@pytest.mark.parametrize("rule", RULES)
def test_phases_add_up_to_everything_seen(rule: str) -> None:
    case = INSTANCES["kinds"]
    cells = Cells.of(case.problem)
    environment = case.environment()
    told: list[CellStatistics] = []

    def rewards(_: int, arms: Indices) -> Array:
        values = environment(arms)
        told.append(observe(case.problem.graph, cells, arms, values))
        return values

    _, phases, states = trace(case, rewards, 30, stopping=rule)
    final = states[-1]
    for name in ("observations", "information", "rewards", "squares"):
        everything = sum(getattr(each, name) for each in told)
        assert_allclose(getattr(final.total, name), everything, rtol=1e-12, atol=1e-12)
        for phase in range(len(final.closed.information)):
            part = sum(
                getattr(each, name) for each, its in zip(told, phases, strict=True) if its == phase
            )
            found = getattr(final.closed[phase], name)
            assert_allclose(found, part, rtol=1e-12, atol=1e-12)


def test_the_report_uses_all_rounds_together() -> None:
    case = INSTANCES["plain"]
    cells = Cells.of(case.problem)
    learner = ew.Learner(case.problem, strategy="adaptive", delta=1e-300)
    environment, everything = case.environment(), CellStatistics.zero(cells)
    for _ in range(20):
        ticket = learner.ask()
        rewards = environment(ticket.arms)
        told = observe(case.problem.graph, cells, ticket.arms, rewards)
        everything = everything.followed_by(told[None])[0]
        learner.tell(ticket, rewards)
    plain = gather(case.problem, cells, np.array([20]), everything[None])
    report = learner.report()
    assert_allclose(report.tables, cells.tables(plain.theta[0]), rtol=1e-9)
    assert report.noise_estimate is not None
    assert report.noise_estimate.low < 0.1 < report.noise_estimate.high
    assert report.lack_of_fit is not None
    assert report.designs == ()
    with pytest.raises(InvalidArgument, match="changes its mind as it learns"):
        report.design  # noqa: B018
    assert report.ending is ew.Ending.RUNNING
    assert "Not certified: after round" in report.guarantee


# -- what a phase aims at --------------------------------------------------------------------


def test_refuted_rivals_leave_the_aim() -> None:
    case = instance(noise=0.3)
    environment = case.environment()
    setting = Setting.of(
        case.problem, delta=0.05, epsilon=0.0, strategy="adaptive", stopping="rivalwise"
    )
    plan, cells = setting.plan, setting.plan.cells
    state = initial_state(setting, 0)
    left: list[int] = []
    while not state.verdict.stop:
        arms = plan.joint_arm(case.problem, state)
        told = observe(case.problem.graph, cells, arms, environment(arms))
        before, state = state, advance(setting, state, told[None])
        if state.verdict.stop or state.phase_rounds > 0:
            continue
        phases = with_present(before.closed, after(before.statistics, told[None])[-1])
        evidence = gather_phases(case.problem, cells, state.rounds, phases)
        strength = setting.rule(evidence, delta=0.05, epsilon=0.0)
        leader = int(evidence.leaders[0, 0])
        open_rivals = np.flatnonzero(strength[0, 0] < 1.0)
        assert state.aim.rivals.tolist() == open_rivals.tolist()
        assert set(state.aim.leaders.tolist()) == {leader}
        assert state.aim.needs.max() == 1.0
        assert state.aim.needs.min() > 0.0
        left.append(len(open_rivals))
    assert left[-1] < left[0] == len(cells.pairs) - 1


def test_closer_rivals_need_more() -> None:
    """Equal information on all cells: what is needed goes with one over the gap squared."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(3), noise=0.01)
    setting = Setting.of(problem, delta=0.05, epsilon=0.0, strategy="adaptive", stopping=None)
    plan, cells = setting.plan, setting.plan.cells
    state = initial_state(setting, 0)
    means = np.arange(6.0)[None]
    counts = np.full((1, 6), 10)
    statistics = CellStatistics(counts, 1.0 * counts, counts * means, counts * means**2)
    state = replace(state, statistics=statistics, rounds=37)
    evidence = gather(problem, cells, np.array([37]), statistics[None])
    nothing = np.zeros((1, 1, 6), bool)
    nothing[0, 0, 5] = True  # the leader

    def aim_without(refuted: Any) -> Aim:
        return plan.phasing.next(state, _open(setting, statistics, evidence, refuted))

    aim = aim_without(nothing)
    assert aim.leaders.tolist() == [5] * 5
    assert aim.rivals.tolist() == [0, 1, 2, 3, 4]
    assert (np.diff(aim.needs) > 0).all()
    assert_allclose(aim.needs, 1.0 / (5.0 - np.arange(5.0)) ** 2, rtol=1e-6)
    assert aim.length == 3
    refuted = nothing.copy()
    refuted[0, 0, :3] = True
    assert aim_without(refuted).rivals.tolist() == [3, 4]


def test_replications_run_the_learner() -> None:
    """With next to no noise cell-level and edge-level runs deploy the same number of rounds."""
    for name in ("plain", "star", "everything", "kinds"):
        case = INSTANCES[name]
        quiet = replace(case.problem, noise=1e-9)
        options: dict[str, Any] = {"target": "pair", "rng": 0}
        environment = ew.BilinearEnvironment(quiet, case.matrices, beta=case.beta, rng=1)
        report = ew.identify(quiet, environment, **options)
        runs = replicate(quiet, case.matrices, beta=case.beta, repetitions=2, **options)
        assert runs.rounds.tolist() == [report.rounds] * 2
        cells = Cells.of(quiet)
        truth = Truth.of(quiet, case.matrices, case.beta)
        means = cells.averages(truth.tables)
        found = report.tables[:, cells.pairs[:, 0], cells.pairs[:, 1]]
        assert_allclose(found[cells.showable], means[cells.showable], atol=1e-6)
