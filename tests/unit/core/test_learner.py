from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.instances import NAMED_SQUARE as GRAPH
from tests.instances import SMALL_PROBLEM as PROBLEM
from tests.instances import THREE_ARMS as ARMS
from tests.saved import as_json, same

import edgewise as ew
from edgewise.core.evidence.statistics import CellStatistics, count_rounds
from edgewise.core.learner import advance, initial_state
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import Mixture, Union
from edgewise.core.strategies import Adaptive, GOptimal
from edgewise.core.strategies.independent import IndependentNodes
from edgewise.errors import InvalidArgument, InvalidRewards, LearnerStopped, UnknownTicket

M = np.array([[1.0, 0.3], [-0.1, 0.2]])


def run(learner: ew.Learner, environment: Callable[[Any], Any], n_rounds: int) -> ew.Learner:
    for _ in range(n_rounds):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
    return learner


def started(n_rounds: int = 3, **options: Any) -> ew.Learner:
    options = {"rng": 5, "delta": 1e-300, "strategy": "g-optimal", **options}
    environment = ew.BilinearEnvironment(PROBLEM, M, rng=7)
    return run(ew.Learner(PROBLEM, **options), environment, n_rounds)


# -- ask and tell ----------------------------------------------------------------------------


def test_ask_is_idempotent_and_changes_nothing() -> None:
    learner = started()
    before = learner.save()
    first, second = learner.ask(), learner.ask()
    assert first.round == second.round == 4
    assert np.array_equal(first.arms, second.arms)
    assert same(before, learner.save())
    with pytest.raises(ValueError, match="read-only"):
        first.arms[0] = 0


def test_tell_moves_on() -> None:
    learner = started()
    old = learner.ask()
    learner.tell(old, np.zeros(10))
    new = learner.ask()
    assert (learner.rounds, new.round) == (4, 5)


BAD_REWARDS: list[tuple[Any, str]] = [
    (np.zeros(9), r"shape \(9,\); one per arc is needed, \(10,\)"),
    (np.zeros((10, 1)), r"shape \(10, 1\)"),
    (3.0, r"shape \(\)"),
    ([], r"shape \(0,\)"),
    (["high"] * 10, "rewards are numbers"),
    ([[0.0], [0.0, 1.0]], "not numbers"),
    ({"reward": 1.0}, "not numbers"),
    (np.zeros(10) + 1j, "not numbers"),
    (np.array([0.0] * 9 + [np.inf]), r"arc 9 \(c -> a\) is inf"),
    (np.array([-np.inf] + [0.0] * 9), r"arc 0 \(a -> b\) is -inf"),
    (np.array([0.0, 1e200] + [0.0] * 8), r"arc 1 \(b -> a\) is 1e\+200"),
]


@pytest.mark.parametrize(("rewards", "fact"), BAD_REWARDS)
def test_bad_rewards_change_nothing(rewards: Any, fact: str) -> None:
    learner = started()
    before, ticket = learner.save(), learner.ask()
    with pytest.raises(InvalidRewards, match=fact) as caught:
        learner.tell(ticket, rewards)
    assert "nothing was recorded" in str(caught.value)
    assert same(before, learner.save())
    learner.tell(ticket, np.zeros(10))  # the round is still open
    assert learner.rounds == 4


def bad_tickets(learner: ew.Learner) -> dict[str, tuple[Any, str]]:
    waiting = learner.ask()
    answered = started(0).ask()
    stranger = next(
        ticket
        for seed in range(100)
        if not np.array_equal((ticket := started(rng=seed).ask()).arms, waiting.arms)
    )
    return {
        "answered": (answered, "round 1 has been answered already"),
        "future": (ew.Ticket(5, waiting.arms), "round 5 was not asked for"),
        "foreign": (stranger, r"not with these arms \(round 4 is waiting\)"),
        "other arms": (ew.Ticket(4, (waiting.arms + 1) % 3), "not with these arms"),
        "too few arms": (ew.Ticket(4, waiting.arms[:2]), "not with these arms"),
        "number": (4, "a ticket from ask"),
        "nothing": (None, "a ticket from ask"),
    }


@pytest.mark.parametrize("case", bad_tickets(started()))
def test_bad_tickets_change_nothing(case: str) -> None:
    learner = started()
    before = learner.save()
    ticket, fact = bad_tickets(learner)[case]
    with pytest.raises(UnknownTicket, match=fact) as caught:
        learner.tell(ticket, np.zeros(10))
    assert "nothing was recorded" in str(caught.value)
    assert same(before, learner.save())


def test_a_ticket_may_be_rebuilt_from_plain_values() -> None:
    """The process that deployed the round may not be the one that tells it."""
    learner, other = started(), started()
    ticket = learner.ask()
    rewards = np.linspace(-1.0, 1.0, 10)
    learner.tell(ticket, rewards)
    other.tell(ew.Ticket(ticket.round, ticket.arms.tolist()), rewards.tolist())
    assert same(learner.save(), other.save())


@pytest.mark.parametrize("rule", ["mixture", "union", "paper"])
def test_missing_rewards_are_accepted(rule: str) -> None:
    learner = started(0, stopping=rule)
    for _ in range(4):
        learner.tell(learner.ask(), np.full(10, np.nan))
    assert learner.rounds == 4
    assert not learner.verdict.stop
    assert learner.save()["state"]["statistics"]["information"].sum() == 0
    partial = np.ones(10)
    partial[:3] = np.nan
    learner.tell(learner.ask(), partial)
    assert 0 < learner.save()["state"]["statistics"]["information"].sum() <= 7


def test_masked_rewards_are_missing() -> None:
    learner, other = started(), started()
    values = np.linspace(-1.0, 1.0, 10)
    hidden = np.arange(10) % 3 == 0
    learner.tell(learner.ask(), np.ma.masked_array(values, hidden))
    other.tell(other.ask(), np.where(hidden, np.nan, values))
    assert same(learner.save(), other.save())


# -- stopping and endings --------------------------------------------------------------------


def test_a_stopped_learner_takes_no_more_rounds() -> None:
    learner = ew.Learner(PROBLEM, rng=1)
    environment = ew.BilinearEnvironment(PROBLEM, M, rng=2)
    while not learner.verdict.stop:
        last = learner.ask()
        learner.tell(last, environment(last.arms))
    before = learner.save()
    with pytest.raises(LearnerStopped, match=rf"after round {learner.rounds}; read report\(\)"):
        learner.ask()
    for ticket in (last, ew.Ticket(last.round + 1, last.arms)):
        with pytest.raises(UnknownTicket):
            learner.tell(ticket, np.zeros(10))
    assert same(before, learner.save())
    restored = ew.Learner.restore(PROBLEM, before)
    assert restored.verdict == learner.verdict
    report = learner.report()
    assert report.certified
    assert report.ending is ew.Ending.CERTIFIED
    assert report.verdict.round == report.rounds == learner.rounds


def test_the_budget_is_an_ending() -> None:
    environment = ew.BilinearEnvironment(PROBLEM, M, rng=2)
    report = ew.identify(PROBLEM, environment, delta=1e-9, max_rounds=5, rng=0)
    assert report.rounds == 5
    assert report.ending is ew.Ending.BUDGET_SPENT
    assert not report.certified
    assert report.allocation is not None
    with pytest.raises(InvalidArgument, match="max_rounds is 0"):
        ew.identify(PROBLEM, environment, max_rounds=0)


BAD_OPTIONS: list[tuple[dict[str, Any], str, str]] = [
    ({"delta": 0.0}, "delta is 0.0", "strictly between 0 and 1"),
    ({"delta": 1.0}, "delta is 1.0", "e.g. 0.05"),
    ({"delta": -0.1}, "delta is -0.1", "strictly between 0 and 1"),
    ({"delta": np.nan}, "delta is nan", "strictly between 0 and 1"),
    ({"epsilon": -1e-9}, "epsilon is -1e-09", "at least 0"),
    ({"epsilon": np.nan}, "epsilon is nan", "finite"),
    ({"epsilon": np.inf}, "epsilon is inf", "finite"),
    (
        {"strategy": "magic"},
        "no strategy is called 'magic'",
        "'adaptive', 'contrast', 'g-optimal', 'optimistic', 'paper'",
    ),
    (
        {"stopping": "hope"},
        "no stopping rule is called 'hope'",
        "'anytime', 'mixture', 'paper', 'rivalwise', 'union'",
    ),
    ({"strategy": "adaptive", "stopping": "union"}, "decide what is deployed", "'anytime'"),
    ({"strategy": "adaptive", "stopping": "paper"}, "proved only when", "strategy='g-optimal'"),
    ({"strategy": "adaptive", "stopping": Union()}, "rule 'union'", "use stopping='anytime'"),
    ({"strategy": "g-optimal", "stopping": "anytime"}, "has no phases", "use stopping='mixture'"),
    ({"strategy": "paper", "stopping": "anytime"}, "when a phase ends", "strategy='adaptive'"),
    ({"strategy": "paper", "stopping": "mixture"}, "A_0 = I", "use stopping='paper'"),
    ({"strategy": "paper", "stopping": "union"}, "biases the estimate", "strategy='g-optimal'"),
]


@pytest.mark.parametrize(("options", "fact", "remedy"), BAD_OPTIONS)
def test_bad_options_are_refused(options: dict[str, Any], fact: str, remedy: str) -> None:
    environment = ew.BilinearEnvironment(PROBLEM, M, rng=2)
    calls: list[Callable[[], Any]] = [
        lambda: ew.Learner(PROBLEM, **options),
        lambda: ew.identify(PROBLEM, environment, **options),
        lambda: ew.simulation.replicate(PROBLEM, M, repetitions=1, **options),
    ]
    for call in calls:
        with pytest.raises(InvalidArgument, match=fact) as caught:
            call()
        assert remedy in str(caught.value)


@pytest.mark.parametrize(
    "problem",
    [
        ew.Problem(ew.Graph.from_edges([(0, 1)], directed=True), ARMS),
        ew.Problem(ew.Graph.from_edges([(0, 1), (1, 2)], kinds=[0, 1]), ARMS),
        ew.Problem(
            ew.Graph.from_edges([(0, 1)]), ARMS, candidates=np.array([[1, 1, 0], [1, 1, 1]], bool)
        ),
    ],
)
def test_paper_mode_stays_in_the_papers_setting(problem: ew.Problem) -> None:
    with pytest.raises(InvalidArgument, match=r"needs the paper's setting.*use strategy='g-opt"):
        ew.Learner(problem, strategy="paper")


def test_each_strategy_has_its_own_rule() -> None:
    own = {"g-optimal": "mixture", "paper": "paper", "adaptive": "anytime"}
    assert {name: ew.Learner(PROBLEM, strategy=name).report().stopping for name in own} == own
    mixed = ew.Learner(PROBLEM, strategy="adaptive", stopping="mixture")
    assert mixed.report().stopping == "mixture"


# -- reproducibility -------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"stopping": "union"}, {"strategy": "paper"}])
def test_same_seed_same_run(options: dict[str, Any]) -> None:
    first, second = started(20, **options), started(20, **options)
    assert same(first.save(), second.save())
    other = started(20, rng=6, **options)
    observations = [each.save()["state"]["statistics"]["observations"] for each in (first, other)]
    assert not np.array_equal(*observations)


@pytest.mark.parametrize("medium", [dict, as_json], ids=["dict", "json"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"strategy": "g-optimal", "stopping": "union", "epsilon": 0.1},
        {"strategy": "paper"},
        {"target": "allocation", "epsilon": 1e-9},
    ],
)
@pytest.mark.parametrize("pause", [0, 1, 13])
def test_restoring_continues_bit_for_bit(
    medium: Callable[[dict[str, Any]], Any], options: dict[str, Any], pause: int
) -> None:
    environment = ew.BilinearEnvironment(PROBLEM, M, rng=7)
    learner = run(ew.Learner(PROBLEM, rng=5, delta=1e-300, **options), environment, pause)
    saved = medium(learner.save())
    learner.ask()  # a round in the air when the process dies
    restored = ew.Learner.restore(PROBLEM, saved)
    assert np.array_equal(restored.ask().arms, learner.ask().arms)
    assert same(restored.save(), learner.save())
    rng = np.random.default_rng(1)
    for _ in range(15):
        rewards = rng.normal(size=10)
        rewards[rng.random(10) < 0.1] = np.nan
        for each in (learner, restored):
            each.tell(each.ask(), rewards)
    assert same(restored.save(), learner.save())
    assert str(restored.report()) == str(learner.report())


def test_saved_state_is_a_copy() -> None:
    learner = started()
    saved = learner.save()
    kept = learner.save()
    for value in saved.values():
        if isinstance(value, np.ndarray):
            value[:] = 0
    assert same(learner.save(), kept)


def test_another_problem_or_version_is_refused() -> None:
    saved = started().save()
    for other in (
        ew.Problem(GRAPH, ARMS, noise=0.6),
        ew.Problem(GRAPH, ARMS[::-1], noise=0.5),
        ew.Problem(ew.Graph.circle(n_nodes=4), ARMS, noise=0.5),
    ):
        with pytest.raises(InvalidArgument, match=r"another problem.*it was saved with"):
            ew.Learner.restore(other, saved)
    with pytest.raises(InvalidArgument, match="version 99"):
        ew.Learner.restore(PROBLEM, {**saved, "version": 99})


@pytest.mark.parametrize(
    ("options", "others"),
    [
        ({"stopping": Union(growth=2.0)}, {"stopping": Union()}),
        ({"stopping": Mixture(decades=(-2, 2))}, {"stopping": Mixture()}),
        ({"strategy": Adaptive(growth=0.3)}, {"strategy": Adaptive()}),
        ({"strategy": GOptimal(tolerance=0.1)}, {"strategy": GOptimal()}),
    ],
)
def test_other_settings_of_the_same_name_are_refused(
    options: dict[str, Any], others: dict[str, Any]
) -> None:
    """Union(growth=2) and Union() are both called 'union': going on with the other breaks delta."""
    saved = started(**options).save()
    with pytest.raises(InvalidArgument, match=r"it was made with .*pass \w+= as it was"):
        ew.Learner.restore(PROBLEM, saved, **others)
    for right in ({}, options):
        assert same(ew.Learner.restore(PROBLEM, saved, **right).save(), saved)


@dataclass(frozen=True)
class Narrow(Mixture):
    name: str = "narrow"


def test_a_rule_of_ones_own_is_needed_again() -> None:
    rule = Narrow()
    learner = started(stopping=rule)
    saved = learner.save()
    with pytest.raises(InvalidArgument, match="Narrow"):
        ew.Learner.restore(PROBLEM, saved)
    assert same(ew.Learner.restore(PROBLEM, saved, stopping=rule).save(), saved)


def block_run(
    setting: Setting, rounds: CellStatistics, sizes: list[int], n_rounds: int
) -> LearnerState:
    state = initial_state(setting, 11)
    position = 0
    for size in [*sizes, n_rounds]:
        if state.verdict.stop or position >= n_rounds:
            break
        state = advance(setting, state, rounds[position : min(position + size, n_rounds)])
        position += size
    return state


@settings(max_examples=30)
@given(
    st.lists(st.integers(1, 40), max_size=10),
    st.sampled_from(["mixture", "union", "paper", "as printed"]),
    st.sampled_from([1e-30, 0.05]),
    st.integers(0, 20),
)
def test_blocks_of_any_size_give_the_same_state(
    sizes: list[int], rule: str, delta: float, seed: int
) -> None:
    n_rounds = 80
    printed = rule == "as printed"
    setting = Setting.of(
        PROBLEM,
        delta=delta,
        epsilon=0.0,
        strategy="paper" if printed else "g-optimal",
        stopping="paper" if printed else rule,
    )
    cells = setting.plan.cells
    assert isinstance(setting.plan, IndependentNodes)
    n, N = count_rounds(GRAPH, cells, setting.plan.laws, seed=11, first_round=1, n_rounds=n_rounds)
    rng = np.random.default_rng(seed)
    means = np.array([(ARMS[k] @ M @ ARMS[l] + ARMS[l] @ M @ ARMS[k]) / 2 for k, l in cells.pairs])
    Y = N * means + 0.5 * np.sqrt(N) * rng.normal(size=N.shape)
    rounds = CellStatistics(n, N, Y, Y**2)
    one_by_one = block_run(setting, rounds, [1] * n_rounds, n_rounds)
    blocks = block_run(setting, rounds, sizes, n_rounds)
    assert same(one_by_one.to_tree(), blocks.to_tree())
    if delta == 0.05 and rule == "mixture":
        assert one_by_one.verdict.stop  # the comparison covers stopping inside a block


@settings(max_examples=30)
@given(
    st.lists(st.integers(1, 60), max_size=6),
    st.sampled_from(["mixture", "union", "paper"]),
    st.integers(0, 1000),
)
def test_blocks_agree_when_leaders_change_and_kinds_differ(
    sizes: list[int], rule: str, seed: int
) -> None:
    """Near ties, duplicate arms and two kinds: leader and closest rival change all the time."""
    graph = ew.Graph.from_edges(GRAPH.edges, kinds=[0, 0, 1, 1, 0])
    problem = ew.Problem(graph, np.vstack([ARMS, ARMS[:1]]))
    setting = Setting.of(problem, delta=0.9, epsilon=0.5, strategy="g-optimal", stopping=rule)
    cells, n_rounds = setting.plan.cells, 120
    assert isinstance(setting.plan, IndependentNodes)
    n, N = count_rounds(graph, cells, setting.plan.laws, seed=11, first_round=1, n_rounds=n_rounds)
    Y = np.sqrt(N) * np.random.default_rng(seed).normal(size=N.shape)
    rounds = CellStatistics(n, N, Y, Y**2)
    one_by_one = block_run(setting, rounds, [1] * n_rounds, n_rounds)
    assert same(one_by_one.to_tree(), block_run(setting, rounds, sizes, n_rounds).to_tree())


# -- the report ------------------------------------------------------------------------------


def test_report_before_anything_is_estimable() -> None:
    report = ew.Learner(PROBLEM, rng=0).report()
    assert report.ending is ew.Ending.RUNNING
    assert not report.certified
    assert report.allocation is None
    assert report.baselines == ()
    assert report.best_pairs == ()
    assert np.isnan(report.matrix).all()
    assert report.noise_estimate is None
    assert report.guarantee == "After 0 rounds not every direction has been observed yet."
    assert "not estimable yet" in str(report)
    with pytest.raises(InvalidArgument, match="tell more rounds first"):
        report.best_pair  # noqa: B018


def test_report_of_a_certified_run() -> None:
    environment = ew.BilinearEnvironment(PROBLEM, M, rng=2)
    report = ew.identify(PROBLEM, environment, delta=0.01, strategy="g-optimal", rng=3)
    assert report.certified
    assert report.best_pair == (0, 0)
    assert report.best_pairs == ((0, 0),)
    assert report.matrix.shape == (2, 2)
    assert_allclose(report.matrix, report.matrix.T)
    assert_allclose(report.tables[0], ARMS @ report.matrix @ ARMS.T, atol=1e-12)
    assert report.design.weights.shape == (3,)
    assert (report.delta, report.epsilon, report.strategy) == (0.01, 0.0, "g-optimal")
    assert report.allocation is not None
    assert report.allocation.arms.tolist() == [0, 0, 0, 0]
    assert report.shows_best_everywhere
    assert report.guarantee.startswith(
        "With probability at least 0.99, no pair of arms beats (0, 0) on an edge. Every edge of "
        "the allocation shows the best pair, so no joint arm is better."
    )
    assert "Assumes independent Gaussian noise" in report.guarantee
    assert [row.name for row in report.baselines] == ["best common", "best seen"]
    assert report.noise_estimate is not None
    assert report.noise_estimate.low < 0.5 < report.noise_estimate.high
    text = str(report)
    assert text.startswith(f"Certified after {report.rounds} rounds")
    assert report.guarantee in text


def test_report_with_tolerance_and_labels() -> None:
    problem = ew.Problem(GRAPH, ARMS, noise=0.5, arm_labels=["low", "mid", "high"])
    environment = ew.BilinearEnvironment(problem, M, rng=2)
    report = ew.identify(problem, environment, epsilon=0.25, rng=3)
    assert "no pair of arms beats (low, low) on an edge by more than 0.25." in report.guarantee
    assert "no joint arm is better by more than 2.5 in total" in report.guarantee


def test_report_on_an_odd_circle_claims_only_half() -> None:
    """The best pair has two arms and cannot be shown everywhere on a triangle."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=3), np.eye(2), noise=0.1)
    environment = ew.BilinearEnvironment(problem, [[0.0, 1.0], [1.0, 0.0]], rng=1)
    report = ew.identify(problem, environment, rng=2)
    assert report.best_pair == (0, 1)
    assert not report.shows_best_everywhere
    assert "half-way from the worst to the best" in report.guarantee


def test_report_outside_the_papers_setting_says_so() -> None:
    graph = ew.Graph.from_edges([(0, 1), (1, 2), (2, 0)], directed=True)
    problem = ew.Problem(graph, np.eye(2), noise=0.1)
    environment = ew.BilinearEnvironment(problem, [[0.0, 1.0], [0.3, 0.0]], rng=1)
    report = ew.identify(problem, environment, rng=2)
    assert (report.target.name, report.best_pair) == ("allocation", (0, 1))
    assert "no joint arm beats the allocation by more than" in report.guarantee
    assert "estimation, which more rounds reduce" in report.guarantee


def test_report_of_several_kinds() -> None:
    graph = ew.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)], kinds=["x", "x", "x", "y"])
    problem = ew.Problem(graph, np.eye(2), noise=0.1)
    environment = ew.BilinearEnvironment(problem, [np.diag([1.0, 0.0]), np.diag([0.0, 1.0])], rng=1)
    report = ew.identify(problem, environment, target="pair", rng=2)
    assert report.best_pairs == ((0, 0), (1, 1))
    assert report.matrix.shape == (2, 2, 2)
    assert "(0, 0) and (1, 1) on an edge of its kind" in report.guarantee
    with pytest.raises(InvalidArgument, match=r"2 edge kinds.*read report.best_pairs"):
        report.best_pair  # noqa: B018


def test_report_of_an_unfinished_run() -> None:
    report = started(10).report()
    assert report.ending is ew.Ending.RUNNING
    assert report.guarantee.startswith("Not certified: after round 10 the evidence against the")
    assert f"{report.verdict.progress:.0%}" in report.guarantee
    assert report.allocation is not None


def test_best_seen_is_the_fully_observed_round_with_the_largest_total() -> None:
    problem = ew.Problem(GRAPH, ARMS, noise=5.0)
    learner = ew.Learner(problem, rng=4, delta=1e-9)
    environment = ew.BilinearEnvironment(problem, M, rng=7)
    totals, joints = [], []
    for number in range(30):
        ticket = learner.ask()
        rewards = environment(ticket.arms)
        if number % 2:
            rewards[3] = np.nan  # incomplete rounds do not compete
            rewards[4] += 50.0
        learner.tell(ticket, rewards)
        totals.append(-np.inf if number % 2 else rewards.sum())
        joints.append(ticket.arms)
    report = learner.report()
    seen = {row.name: row for row in report.baselines}
    best = joints[int(np.argmax(totals))]
    assert np.array_equal(seen["best seen"].arms, best)
    value = sum(float(report.tables[0, best[i], best[j]]) for i, j in GRAPH.arcs)
    assert_allclose(seen["best seen"].value, value)
    common = max(10 * float(report.tables[0, k, k]) for k in range(3))
    assert_allclose(seen["best common"].value, common)
    assert report.allocation is not None
    assert report.allocation.value >= common - 1e-9


def test_a_wrong_model_is_said_in_the_report() -> None:
    """Rewards that depend on whether two arms are equal are not bilinear in these arms."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=30), ARMS, noise=0.1)
    rng = np.random.default_rng(0)

    def environment(arms: Any) -> Any:
        i, j = problem.graph.arcs.T
        return (arms[i] == arms[j]) + 0.1 * arms[i] * arms[j] + 0.1 * rng.normal(size=60)

    options: dict[str, Any] = {"strategy": "g-optimal", "rng": 1, "max_rounds": 30}
    report = ew.identify(problem, environment, **options)
    assert report.lack_of_fit is None  # three arms in the plane: six cells, and p = 3 is below
    arms = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [0.8, -0.6]])
    problem = ew.Problem(problem.graph, arms, noise=0.1)
    report = ew.identify(problem, environment, **options)
    assert report.lack_of_fit is not None
    assert "the bilinear model does not hold: do not trust the certificate" in str(report)
