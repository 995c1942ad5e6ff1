"""What is certified: the best pair of arms, or the global reward of a joint arm."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.instances import THREE_ARMS as ARMS

import edgewise as ew
from edgewise.allocation.instance.objective import global_reward
from edgewise.core.evidence.evidence import Evidence
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.reporting import compile_report
from edgewise.core.revision import reconsider
from edgewise.core.setting import Setting
from edgewise.core.stopping import Anytime, Mixture, Union, knows_widths
from edgewise.core.stopping.mixture import log_mixture
from edgewise.core.strategies import Adaptive
from edgewise.core.targets.allocation import NEARLY
from edgewise.errors import InvalidArgument
from edgewise.simulation import replicate

CIRCLE = ew.Graph.circle(n_nodes=8)
TREE = ew.Graph.from_edges([(0, 1), (1, 2), (1, 3), (3, 4)], directed=True, kinds=[0, 0, 1, 1])
M = np.array([[1.0, 0.3], [0.3, 0.2]])
MASK = np.arange(24).reshape(8, 3) % 5 > 0


# -- which target ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "options", "target"),
    [
        (ew.Problem(CIRCLE, ARMS), {}, "pair"),
        (ew.Problem(TREE, ARMS), {}, "allocation"),
        (ew.Problem(CIRCLE, ARMS, candidates=MASK), {}, "allocation"),
        (ew.Problem(TREE, ARMS), {"target": "pair"}, "pair"),
        (ew.Problem(CIRCLE, ARMS), {"target": "allocation"}, "allocation"),
        (ew.Problem(CIRCLE, ARMS), {"strategy": "paper"}, "pair"),
    ],
)
def test_the_default_target(problem: ew.Problem, options: dict[str, Any], target: str) -> None:
    assert ew.Learner(problem, **options).report().target.name == target


class Blunt:
    """A rule of the user's own, without confidence widths."""

    name = "blunt"
    assumes = "nothing"
    allows_ridge = False
    allows_phases = True
    needs_phases = False

    def is_due(self, rounds: Any) -> Any:
        return np.ones(len(rounds), bool)

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Any:  # noqa: ARG002
        return (evidence.gaps + epsilon) / evidence.deviations


def test_rules_without_widths_certify_pairs_only() -> None:
    problem = ew.Problem(TREE, ARMS)
    assert ew.Learner(problem, stopping=Blunt()).report().target.name == "pair"
    with pytest.raises(InvalidArgument, match=r"'blunt' gives no confidence widths.*anytime"):
        ew.Learner(problem, stopping=Blunt(), target="allocation")
    with pytest.raises(InvalidArgument, match="no confidence widths"):
        ew.Learner(ew.Problem(CIRCLE, ARMS), strategy="paper", target="allocation")
    with pytest.raises(InvalidArgument, match="no target is called 'best'; choose one of"):
        ew.Learner(problem, target="best")


# -- confidence widths -----------------------------------------------------------------------


@pytest.mark.parametrize("variance", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("log_odds", [0.5, 5.0, 30.0])
def test_the_mixtures_width_is_where_its_e_value_reaches_the_odds(
    variance: float, log_odds: float
) -> None:
    rule = Mixture()
    width = rule.contrast_width(np.array([variance]), rounds=1, log_odds=log_odds)
    found = log_mixture(width / variance, np.array([1.0 / variance]), rule.scales)
    assert_allclose(found, log_odds, rtol=1e-9, atol=1e-9)
    assert np.array_equal(
        Anytime().contrast_width(np.array([variance]), rounds=9, log_odds=log_odds), width
    )


def test_the_unions_width_is_that_of_its_looks() -> None:
    width = Union().contrast_width(np.array([4.0]), rounds=3, log_odds=2.0)
    assert_allclose(width, 2.0 * math.sqrt(2.0 * (2.0 + math.log(3 * 4))))  # the third look
    for rule in (Anytime(), Mixture(), Union()):
        assert knows_widths(rule)


# -- certified allocations -------------------------------------------------------------------


def test_one_cell_everywhere_is_the_papers_case() -> None:
    """On a bipartite graph in the paper's setting both targets have the same events; without
    tolerance they stop together."""
    problem = ew.Problem(CIRCLE, ARMS, noise=0.5)
    options: dict[str, Any] = {"repetitions": 10, "epsilon": 0.0, "rng": 4, "strategy": "g-optimal"}
    grid = {math.ceil(1.1**i) for i in range(100)}
    pair = replicate(problem, M, target="pair", **options)
    allocation = replicate(problem, M, target="allocation", **options)
    assert allocation.certified.all()
    for early, late in zip(pair.rounds.tolist(), allocation.rounds.tolist(), strict=True):
        assert late == min(number for number in grid if number >= early)


@pytest.mark.parametrize("strategy", ["adaptive", "contrast", "g-optimal"])
def test_a_tree_of_two_kinds_is_solved(strategy: str) -> None:
    rng = np.random.default_rng(5)
    matrices = rng.normal(size=(2, 2, 2))
    problem = ew.Problem(TREE, ARMS, noise=0.2)
    environment = ew.BilinearEnvironment(problem, matrices, rng=1)
    report = ew.identify(problem, environment, strategy=strategy, delta=1e-6, rng=2)
    assert report.certified
    assert report.regret is not None
    assert report.allocation is not None
    best = ew.allocate(TREE, ARMS, matrices, method="brute-force")
    reached = global_reward(TREE, ARMS @ matrices @ ARMS.T, report.allocation.arms)
    assert best.value - reached <= report.regret.bound <= report.epsilon
    assert_allclose(
        report.epsilon, 0.01 * (report.allocation.upper_bound - report.allocation.lower_bound)
    )
    assert report.regret.optimisation == 0.0  # exact on a tree
    assert "100% estimation" in report.guarantee or report.regret.bound == 0.0


def test_a_tolerance_is_one_of_the_global_reward() -> None:
    problem = ew.Problem(TREE, ARMS, noise=0.5)
    matrices = np.stack([M, M.T])
    rounds = []
    for epsilon in (0.2, 2.0):
        environment = ew.BilinearEnvironment(problem, matrices, rng=1)
        report = ew.identify(problem, environment, epsilon=epsilon, rng=2)
        assert report.certified
        assert report.regret is not None
        assert report.regret.bound <= epsilon == report.epsilon
        rounds.append(report.rounds)
    assert rounds[0] > rounds[1]


def test_reports_inside_a_phase_use_finished_phases_only() -> None:
    """The widths behind the regret are those of the last phase's end, whatever the rewards since;
    a report at the end of a phase is the verdict's own."""
    problem = ew.Problem(TREE, ARMS, noise=1.0)
    learner = ew.Learner(problem, epsilon=1e-6, rng=0)
    environment = ew.BilinearEnvironment(problem, np.stack([M, M.T]), rng=1)
    inside = ends = 0
    for _ in range(60):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
        state, regret = learner._state, learner.report().regret
        if state.phase_rounds == 0 and state.answer is not None:
            assert regret == state.answer.regret
            ends += 1
        elif len(state.closed.information):
            quiet = replace(state, statistics=CellStatistics.zero(learner._setting.plan.cells))
            shown = learner.report().allocation
            same = compile_report(learner._setting, quiet, ew.Ending.RUNNING)
            assert regret is not None
            assert same.regret is not None
            assert same.allocation is not None
            assert shown is not None
            if np.array_equal(same.allocation.arms, shown.arms):
                assert regret.bound == same.regret.bound
                inside += 1
    assert inside > 5
    assert ends > 5


def test_what_is_left_may_be_optimisation() -> None:
    """Next to no noise, and a graph too dense to prove the optimum: rounds do not help."""
    rng = np.random.default_rng(3)
    pairs = [(i, j) for i in range(60) for j in range(i) if rng.random() < 0.5]
    problem = ew.Problem(ew.Graph.from_edges(pairs), np.eye(3), noise=1e-6)
    matrix = np.array([[0.0, 1.0, 0.9], [1.0, 0.1, 0.8], [0.9, 0.8, 0.0]])
    environment = ew.BilinearEnvironment(problem, matrix, rng=1)
    report = ew.identify(
        problem, environment, target="allocation", epsilon=1e-3, max_rounds=200, rng=0
    )
    assert report.ending is ew.Ending.STALLED
    assert not report.certified
    assert report.regret is not None
    assert report.regret.optimisation > 0.9 * report.regret.bound
    assert "optimisation, which a better allocation or bound reduces" in report.guarantee
    runs = replicate(
        problem, matrix, repetitions=1, target="allocation", epsilon=1e-3, max_rounds=10**6, rng=0
    )
    assert runs.rounds[0] < 20  # a simulated run gives up as well
    assert not runs.certified.any()


@pytest.mark.parametrize("strategy", ["adaptive", "g-optimal"])
def test_noise_without_a_bound_yet_is_no_reason_to_give_up(strategy: str) -> None:
    stated = ew.Problem(ew.Graph.circle(n_nodes=5), ARMS, noise=0.3)
    environment = ew.BilinearEnvironment(stated, np.diag([1.0, 0.2]), rng=0)
    report = ew.identify(
        replace(stated, noise="estimate"),
        environment,
        target="allocation",
        strategy=strategy,
        epsilon=1.0,
        rng=1,
    )
    assert report.certified


def test_negative_weights_and_node_terms() -> None:
    rng = np.random.default_rng(8)
    graph = ew.Graph.from_edges(
        [(0, 1), (1, 2), (2, 3), (3, 0)], directed=True, weights=[1.0, -1.0, 2.0, -0.5]
    )
    problem = ew.Problem(graph, rng.normal(size=(4, 2)), noise=0.1, node_term=True)
    matrix, beta = rng.normal(size=(2, 2)), rng.normal(size=2)
    environment = ew.BilinearEnvironment(problem, matrix, beta=beta, rng=1)
    report = ew.identify(problem, environment, delta=1e-6, rng=2)
    assert report.certified
    assert report.allocation is not None
    best = ew.allocate(graph, problem.arms, matrix, beta=beta, method="brute-force")
    tables = problem.arms @ matrix @ problem.arms.T + (problem.arms @ beta)[:, None]
    reached = global_reward(graph, tables, report.allocation.arms)
    assert best.value - reached <= report.epsilon + 1e-9


def test_settings_know_their_tolerance() -> None:
    problem = ew.Problem(CIRCLE, ARMS)
    options: dict[str, Any] = {"delta": 0.05, "strategy": "adaptive", "stopping": None}
    for epsilon, tolerance in [(None, 0.0), (0.3, 0.3)]:
        setting = Setting.of(problem, epsilon=epsilon, **options)
        assert setting.target.tolerance(setting.epsilon, None) == tolerance


def test_a_rule_that_looks_rarely_is_asked_whenever_it_looks() -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=7), ARMS, noise=3.0)
    options: dict[str, Any] = {"strategy": "g-optimal", "target": "allocation", "epsilon": 0.5}
    environment = ew.BilinearEnvironment(problem, np.diag([2.0, 1.0]), rng=0)
    learner = ew.Learner(problem, stopping=Union(growth=2.0), delta=1e-300, rng=0, **options)
    looks = []
    for number in range(1, 70):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
        looks += [number] if learner.verdict.round == number else []
    assert looks == [1, 2, 4, 8, 16, 32, 64]


def test_a_report_shows_the_allocation_that_was_certified() -> None:
    """Judged again inside a phase with a larger tolerance, the verdict is about its own round."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=7), ARMS, noise=2.0)
    differed = 0
    for seed in range(6):
        options: dict[str, Any] = {"target": "allocation", "epsilon": 0.0, "rng": seed}
        learner = ew.Learner(problem, **options)
        environment = ew.BilinearEnvironment(problem, np.zeros((2, 2)), rng=seed)
        while learner.rounds < 27 or learner._state.phase_rounds == 0:
            ticket = learner.ask()
            learner.tell(ticket, environment(ticket.arms))
        state, setting = learner._state, learner._setting
        assert state.answer is not None
        wider = replace(setting, epsilon=1.001 * state.answer.regret.bound)
        judged = reconsider(wider, state)
        assert judged.verdict.stop
        report = compile_report(wider, judged, ew.Ending.CERTIFIED)
        fresh = compile_report(setting, state, ew.Ending.RUNNING)
        assert report.allocation is not None
        assert fresh.allocation is not None
        assert np.array_equal(report.allocation.arms, state.answer.arms)
        assert report.regret is not None
        assert report.regret.bound <= report.epsilon
        differed += not np.array_equal(fresh.allocation.arms, state.answer.arms)
    assert differed > 0  # or the test would say nothing


def test_progress_does_not_fall_when_only_the_bound_is_loose() -> None:
    rng = np.random.default_rng(3)
    pairs = [(i, j) for i in range(40) for j in range(i) if rng.random() < 0.3]
    problem = ew.Problem(ew.Graph.from_edges(pairs), np.eye(3), noise=0.001)
    matrix = np.array([[0.0, 1.0, 0.9], [1.0, 0.1, 0.8], [0.9, 0.8, 0.0]])
    environment = ew.BilinearEnvironment(problem, matrix, rng=1)
    learner = ew.Learner(problem, target="allocation", epsilon=0.5, rng=0)
    progress = []
    for _ in range(4):
        ticket = learner.ask()
        learner.tell(ticket, environment(ticket.arms))
        progress.append(learner.verdict.progress)
    assert progress[-1] == max(progress) == NEARLY
    assert str(learner._setting.forecast(learner._state)) in ("no end in sight", "None")


def test_what_is_shown_is_asked_before_the_first_look() -> None:
    problem = ew.Problem(CIRCLE, ARMS, noise=0.1)
    learner = ew.Learner(problem, strategy=Adaptive(growth=1.0), rng=0)
    assert not learner.report().shows_best_everywhere
