"""Where edges are alike but not equal: estimated, never certified; and deciding which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.saved import as_json, same

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.claim import Claim
from edgewise.core.ending import Ending
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.learner import initial_state, tell_round
from edgewise.core.local.estimate import estimate_locally
from edgewise.core.report import differs_in_words
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.errors import InvalidArgument
from edgewise.testing.cases import setting_of, too_many

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
MEAN = np.array([[0.2, 0.9], [0.8, 0.1]])
RING = ew.Graph.circle(n_nodes=8)
Deploy = Callable[[Indices], Array]


def problem_of(pooling: str = "partial", measured: str = "node", **options: Any) -> ew.Problem:
    graph = options.pop("graph", RING)
    return ew.Problem(graph, ARMS, noise=0.3, pooling=pooling, measured=measured, **options)  # type: ignore[arg-type]


def deploy(problem: ew.Problem, *, spread: float, seed: int = 0) -> Deploy:
    """Edges whose matrices stray from one another by ``spread``; noise as stated."""
    measurement, rng = local_network(problem).measurement, np.random.default_rng(seed)
    matrices = MEAN + spread * rng.standard_normal((len(problem.graph.edges), 2, 2))
    if not problem.graph.directed:  # whose model knows the symmetric part only
        matrices = 0.5 * (matrices + matrices.swapaxes(1, 2))

    def measure(arms: Indices) -> Array:
        x, y = ARMS[arms[measurement.first]], ARMS[arms[measurement.second]]
        terms = measurement.scale * np.einsum("ti,tij,tj->t", x, matrices[measurement.edge], y)
        rewards = np.zeros(measurement.n_channels)
        np.add.at(rewards, measurement.channel, terms)
        rewards = np.repeat(rewards, 2) if measurement.averages_directions else rewards
        return np.asarray(rewards + problem.stated_noise * rng.standard_normal(len(rewards)))

    return measure


def setting(problem: ew.Problem, **options: Any) -> Setting:
    return setting_of(_Case(problem), **{"target": None, **options})  # type: ignore[arg-type]


class _Case:
    def __init__(self, problem: ew.Problem) -> None:
        self.problem = problem


def states(chosen: Setting, measure: Deploy, rounds: int, seed: int = 0) -> list[LearnerState]:
    """The state after every round, whatever its verdict."""
    state, found = initial_state(chosen, seed), []
    for _ in range(rounds):
        arms = chosen.plan.joint_arm(chosen.problem, state)
        state = tell_round(chosen, state, arms, measure(arms))
        found.append(state)
        if state.verdict.stop:
            break
    return found


def told(problem: ew.Problem, measure: Deploy, rounds: int, **options: Any) -> ew.Learner:
    learner = ew.Learner(problem, rng=0, **options)
    while learner.rounds < rounds and not learner.verdict.stop:
        ticket = learner.ask()
        learner.tell(ticket, measure(ticket.arms))
    return learner


# -- which target ----------------------------------------------------------------------------


@pytest.mark.parametrize(("pooling", "name"), [("partial", "estimate"), ("auto", "auto")])
def test_the_target_follows_the_pooling(pooling: str, name: str) -> None:
    assert ew.Learner(problem_of(pooling)).report().target.name == name


@pytest.mark.parametrize("target", ["pair", "allocation"])
@pytest.mark.parametrize("pooling", ["partial", "auto"])
def test_certificates_of_one_matrix_are_refused_where_edges_have_their_own(
    pooling: str, target: str
) -> None:
    with pytest.raises(InvalidArgument, match=r"does not assume.*leave the target out"):
        ew.Learner(problem_of(pooling), target=target)


@pytest.mark.parametrize("target", ["estimate", "auto"])
def test_nothing_is_estimated_edge_by_edge_where_edges_share(target: str) -> None:
    with pytest.raises(InvalidArgument, match="pooling='partial'"):
        ew.Learner(problem_of("shared"), target=target)


def test_without_phases_nothing_can_be_decided() -> None:
    with pytest.raises(InvalidArgument, match=r"first phase.*adaptive"):
        ew.Learner(problem_of("auto"), strategy="g-optimal")


# -- the estimate ----------------------------------------------------------------------------


@pytest.mark.parametrize("measured", ["arc", "link", "node", "total"])
@pytest.mark.parametrize("strategy", ["adaptive", "g-optimal"])
def test_an_estimate_is_never_certified(measured: str, strategy: str) -> None:
    problem = problem_of(measured=measured)
    report = ew.identify(
        problem, deploy(problem, spread=0.5), epsilon=1e6, strategy=strategy, max_rounds=30, rng=0
    )
    assert report.ending is Ending.SETTLED
    assert not report.verdict.stop
    assert not report.certified
    assert report.claim is Claim.ESTIMATED
    assert report.regret is None
    assert report.estimated is not None
    assert "certified" not in report.guarantee.lower()
    assert "guarantee" not in str(report)
    assert "probability at least" not in str(report)


def test_it_settles_only_after_two_rounds_per_parameter_of_an_edge() -> None:
    """However much is tolerated: the spread of edges is not known before."""
    problem = problem_of()
    enough = 2 * local_network(problem).measurement.features.shape[2]
    assert enough == 8
    for state in states(setting(problem, epsilon=1e6), deploy(problem, spread=0.5), 20):
        settled = state.verdict.round >= enough
        assert state.verdict.settled == settled
        assert (state.verdict.progress == 1.0) == settled


def test_it_does_not_settle_while_more_could_be_gained() -> None:
    problem = problem_of()
    for state in states(setting(problem, epsilon=1e-9), deploy(problem, spread=0.5), 20):
        assert not state.verdict.settled
        assert 0.0 <= state.verdict.progress < 1.0


def test_the_report_says_what_the_local_model_expects() -> None:
    problem = problem_of()
    learner = told(problem, deploy(problem, spread=0.5), 12)
    report, said = learner.report(), learner.report().estimated
    chosen = setting(problem)
    (*_, state) = states(
        chosen, deploy(problem, spread=0.5), 12, seed=learner.save()["state"]["seed"]
    )
    assert state.by_edge is not None
    found = estimate_locally(local_network(problem), state.by_edge)
    assert found is not None
    assert said is not None
    assert report.allocation is not None
    assert report.allocation.arms.tolist() == found.allocation.arms.tolist()
    common = max(range(3), key=lambda arm: found.objective.value(np.full(8, arm)))
    assert (said.gain, said.deviation) == found.gain(np.full(8, common))
    assert said.interval == found.interval(np.full(8, common))
    assert said.baseline == "the best common arm"
    assert said.spread == found.spread
    assert said.noise == 0.3
    assert report.edge_tables is not None
    assert np.array_equal(report.edge_tables, found.network.edge_tables(found.theta))
    assert f"gain {said.gain:.4g}" in report.guarantee


def test_the_share_of_the_range_is_what_is_tolerated_by_default() -> None:
    problem = problem_of()
    report = told(problem, deploy(problem, spread=0.5), 12).report()
    assert report.allocation is not None
    width = report.allocation.upper_bound - report.allocation.lower_bound
    assert report.epsilon == pytest.approx(0.01 * width)


def test_edges_that_differ_get_joint_arms_that_one_matrix_would_not_give() -> None:
    """Mean true reward over worlds, of the joint arm estimated with and without an own matrix."""
    gains = []
    for seed in range(12):
        partial, shared = problem_of(measured="link"), problem_of("shared", measured="link")
        measure = deploy(partial, spread=1.0, seed=seed)
        quiet = deploy(replace(partial, noise=1e-9), spread=1.0, seed=seed)
        values = []
        for problem in (partial, shared):
            found = told(problem, measure, 24, strategy="g-optimal", delta=1e-30).report()
            assert found.allocation is not None
            values.append(quiet(found.allocation.arms).sum())
        gains.append(values[0] - values[1])
    assert np.mean(gains) > 3 * np.std(gains) / np.sqrt(12) > 0


def test_covariates_give_every_class_of_edges_a_leading_pair() -> None:
    graph = ew.Graph.from_edges(
        [(0, 1), (1, 2), (2, 3), (3, 0)], covariates=[[0.0], [1.0], [1.0], [3.0]]
    )
    problem = problem_of(graph=graph, measured="link")
    report = told(problem, deploy(problem, spread=0.5), 6).report()
    assert len(report.best_pairs) == 3
    assert report.shows_best_everywhere in (True, False)


def test_where_levels_explain_every_number_nothing_is_estimated() -> None:
    problem = problem_of(measured="total", levels="round")
    report = told(problem, deploy(problem, spread=0.5), 6).report()
    assert report.estimated is None
    assert report.claim is Claim.OPEN


# -- what "auto" comes to --------------------------------------------------------------------


def decided(spread: float, seed: int, measured: str = "node") -> str:
    problem = problem_of("auto", measured)
    chosen = setting(problem)
    after = states(chosen, deploy(problem, spread=spread, seed=seed), 40, seed)
    return next(state.pooling for state in after if state.pooling is not None)


@pytest.mark.parametrize("measured", ["link", "node"])
def test_equal_edges_come_to_be_shared_and_unequal_ones_not(measured: str) -> None:
    """Equal edges are taken for unequal in 5 % of runs; false alarm 1e-6."""
    runs = 40
    equal = [decided(0.0, seed, measured) for seed in range(runs)]
    assert not too_many(equal.count("partial"), runs, 0.05)
    unequal = [decided(1.5, seed, measured) for seed in range(10)]
    assert unequal.count("partial") >= 8


@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_it_is_decided_once_by_a_phase_that_is_no_evidence(spread: float) -> None:
    problem = problem_of("auto")
    chosen = setting(problem, delta=1e-9)
    after = states(chosen, deploy(problem, spread=spread, seed=1), 60)
    choices = [state.pooling for state in after]
    first = next(number for number, choice in enumerate(choices) if choice is not None)
    assert first > 0
    assert set(choices[:first]) == {None}
    assert set(choices[first:]) == {"shared" if spread == 0.0 else "partial"}
    assert not any(state.verdict.settled or state.verdict.stop for state in after[:first])
    assert not after[first].closed.grams(chosen.plan.cells).any()
    assert after[first].phase_rounds == 0
    ends = [number for number, state in enumerate(after) if state.phase_rounds == 0]
    assert [len(after[number].closed) for number in ends] == list(range(1, len(ends) + 1))
    assert len(ends) > 1


def test_alike_edges_are_certified_and_unequal_ones_estimated() -> None:
    problem = problem_of("auto", "link")
    alike = ew.identify(problem, deploy(problem, spread=0.0, seed=1), rng=0, max_rounds=3000)
    assert alike.claim is Claim.CERTIFIED
    assert alike.estimated is None
    assert alike.regret is not None
    assert alike.guarantee.startswith("By the first phase, edges of a kind are alike")
    unequal = ew.identify(problem, deploy(problem, spread=1.5, seed=1), rng=0, max_rounds=3000)
    assert unequal.claim is Claim.ESTIMATED
    assert unequal.guarantee.startswith("By the first phase, edges of a kind are unequal")
    assert "certified" not in unequal.guarantee.lower()


# -- saving ----------------------------------------------------------------------------------


@pytest.mark.parametrize("pooling", ["partial", "auto"])
@pytest.mark.parametrize("levels", ["none", "both"])
def test_a_restored_learner_goes_on_bit_for_bit(pooling: str, levels: str) -> None:
    problem = problem_of(pooling, levels=levels)
    measure, learner = deploy(problem, spread=0.7), ew.Learner(problem, rng=0)
    for _ in range(14):
        again = ew.Learner.restore(problem, as_json(learner.save()))
        ticket, other = learner.ask(), again.ask()
        assert np.array_equal(ticket.arms, other.arms)
        rewards = measure(ticket.arms)
        learner.tell(ticket, rewards)
        again.tell(other, rewards)
        assert same(as_json(learner.save()), as_json(again.save()))
        assert str(learner.report()) == str(again.report())


# -- whether edges differ, in every report ---------------------------------------------------


def words(spread: float, seed: int, rounds: int = 20) -> str:
    problem = problem_of("shared", "link")
    measure = deploy(problem, spread=spread, seed=seed)
    found = told(problem, measure, rounds, strategy="g-optimal", delta=1e-30).report().homogeneity
    assert found is not None
    return differs_in_words(found, problem)


def test_strongly_unequal_edges_are_told_within_twenty_rounds() -> None:
    said = [words(1.0, seed) for seed in range(10)]
    assert all("edges of a kind differ" in text for text in said)


def test_equal_edges_raise_the_alarm_as_rarely_as_stated() -> None:
    """Two tests at 1 % each; false alarm 1e-6."""
    runs = 100
    alarms = sum("no sign" not in words(0.0, seed) for seed in range(runs))
    assert not too_many(alarms, runs, 0.02)


def test_the_report_prints_it() -> None:
    problem = problem_of("shared", "link")
    report = told(problem, deploy(problem, spread=1.0), 20, delta=1e-30).report()
    assert "edges of a kind differ" in str(report)
    assert "pooling='partial'" in str(report)


# -- what is not estimable yet ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("measured", "remedy"),
    [("node", "measuring arcs or links"), ("total", "measuring nodes or links"), ("link", None)],
)
def test_pairs_that_cannot_be_told_apart_are_named(measured: str, remedy: str | None) -> None:
    levels = "channel" if measured == "link" else "none"  # else one round shows every pair
    problem = problem_of("shared", measured, levels=levels, arm_labels=["low", "mid", "high"])
    learner = ew.Learner(problem, rng=0)
    assert learner.report().unseen == ()
    ticket = learner.ask()
    learner.tell(ticket, np.ones(problem.n_rewards))
    report = learner.report()
    assert report.unseen
    _, k, l = report.unseen[0]
    names = ("low", "mid", "high")
    assert f"what tells ({names[k]}, {names[l]})" in report.guarantee
    assert (f"{len(report.unseen) - 3} more" in report.guarantee) == (len(report.unseen) > 3)
    assert "Deploy rounds that show them" in report.guarantee
    assert remedy is None or remedy in report.guarantee


def test_a_kind_of_one_edge_is_said_to_learn_with_the_others() -> None:
    ring = [(i, (i + 1) % 8) for i in range(8)]
    graph = ew.Graph.from_edges(ring, kinds=["near"] * 7 + ["far"])
    arms = np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]])
    problem = ew.Problem(graph, arms, noise=0.2, pooling="partial")
    network = ew.BilinearEnvironment(problem, [[[0.2, 0.3], [0.3, -0.4]]] * 2, rng=0)
    learner = ew.Learner(problem, rng=0)
    for _ in range(6):
        ticket = learner.ask()
        learner.tell(ticket, network(ticket.arms))
    report = learner.report()
    assert report.estimated is not None
    assert report.estimated.small_kinds == (1,)
    assert "Fewer than three measured edges of kind far" in report.guarantee
