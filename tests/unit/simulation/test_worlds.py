"""Simulations of problems that are not plain: levels, own terms, covariates, unequal edges."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.instances import FOUR_ARMS, TAIL, TAIL_KINDS, THREE_ARMS

import edgewise as ew
from edgewise.core.learner import initial_state
from edgewise.core.regret import Answer, Regret
from edgewise.core.setting import Setting
from edgewise.core.stopping import Verdict
from edgewise.core.targets.truth import Truth
from edgewise.errors import InvalidArgument, InvalidProblem
from edgewise.simulation import HierarchicalWorld, replicate
from edgewise.simulation.environment import measured_means

GRAPH = ew.Graph.from_edges(TAIL, kinds=TAIL_KINDS)
M = np.array([[[1.0, 0.3], [0.0, -0.5]], [[0.2, 0.0], [0.7, 0.1]]])
ARMS = np.array([0, 1, 2, 3, 1])


def quiet(**options: Any) -> ew.Problem:
    return ew.Problem(GRAPH, FOUR_ARMS, **{"noise": 1e-12, **options})


def means_of(problem: ew.Problem, **terms: Any) -> Any:
    return measured_means(problem, Truth.of(problem, M, **terms), ARMS)


# -- levels and noise --------------------------------------------------------------------------


@pytest.mark.parametrize("measured", ["arc", "link", "node", "total"])
def test_levels_are_added_to_every_round(measured: Any) -> None:
    problem = quiet(measured=measured, levels=True)
    given = np.arange(1.0, problem.n_rewards + 1.0)
    environment = ew.BilinearEnvironment(problem, M, levels=given, rng=0)
    for _ in range(2):
        assert_allclose(environment(ARMS), means_of(problem) + given, atol=1e-9)


def test_levels_are_drawn_once_and_levels_of_rounds_every_round() -> None:
    problem = quiet(measured="link")
    drawn = ew.BilinearEnvironment(problem, M, levels=7.0, rng=0)
    assert drawn.levels is not None
    assert 1.0 < np.std(drawn.levels) < 30.0
    assert_allclose(drawn(ARMS), drawn(ARMS), atol=1e-9)
    weather = ew.BilinearEnvironment(problem, M, round_levels=7.0, rng=0)
    first, second = (weather(ARMS) - means_of(problem) for _ in range(2))
    assert_allclose(first, first[0], atol=1e-9)
    assert_allclose(second, second[0], atol=1e-9)
    assert abs(first[0] - second[0]) > 1e-3


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"noise": [2.0, 8.0]}, np.repeat([2.0, 8.0, 2.0, 8.0, 2.0, 8.0], 2)),
        ({"noise": [2.0, 8.0], "measured": "link"}, [2.0, 8.0, 2.0, 8.0, 2.0, 8.0]),
        ({"noise": [1.0, 2.0, 3.0, 4.0, 5.0], "measured": "node"}, [1.0, 2.0, 3.0, 4.0, 5.0]),
        ({"noise": 3.0, "measured": "total"}, [3.0]),
    ],
)
def test_rademacher_noise_shows_the_deviation_of_every_reward(
    options: dict[str, Any], expected: Any
) -> None:
    problem = quiet(**options)
    environment = ew.BilinearEnvironment(problem, M, law="rademacher", rng=0)
    signs = []
    for _ in range(20):
        noise = environment(ARMS) - means_of(problem)
        assert_allclose(np.abs(noise), expected)
        signs.append(np.sign(noise))
    assert -1.0 < np.mean(signs) < 1.0


def test_noise_of_ones_own() -> None:
    environment = ew.BilinearEnvironment(
        quiet(), M, noise=np.arange(12.0), law=lambda _, size: np.ones(size), rng=0
    )
    assert_allclose(environment(ARMS) - means_of(quiet()), np.arange(12.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": [1.0, 2.0]}, r"levels has shape \(2,\).*\(12,\)"),
        ({"levels": np.nan}, "levels"),
        ({"noise": [1.0]}, r"noise has shape \(1,\)"),
        ({"law": "cauchy"}, "no law is called 'cauchy'; choose one of 'gaussian', 'rademacher'"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        ew.BilinearEnvironment(quiet(), M, **options)


# -- own terms, covariates, a matrix per edge --------------------------------------------------


def test_own_terms_need_a_problem_that_has_them() -> None:
    with pytest.raises(InvalidProblem, match="own_term=False"):
        ew.BilinearEnvironment(quiet(), M, own=[1.0, 0.0])
    with pytest.raises(InvalidProblem, match=r"own has shape \(3,\).*\(2,\)"):
        ew.BilinearEnvironment(quiet(measured="node"), M, own=np.ones(3))
    without = ew.BilinearEnvironment(quiet(measured="node"), M, rng=0)
    own = ew.BilinearEnvironment(quiet(measured="node"), M, own=[1.0, 2.0], rng=0)
    assert_allclose(own(ARMS) - without(ARMS), FOUR_ARMS[ARMS] @ [1.0, 2.0], atol=1e-9)


def test_one_matrix_for_all_ignores_covariates() -> None:
    graph = ew.Graph.from_edges(TAIL, covariates={"length": np.arange(6.0)})
    problem = ew.Problem(graph, FOUR_ARMS)
    tables = Truth.of(problem, M[0]).edge_tables
    assert_allclose(tables, np.broadcast_to(FOUR_ARMS @ M[0] @ FOUR_ARMS.T, tables.shape))
    varied = Truth.of(problem, M).edge_tables
    for edge in range(6):
        expected = FOUR_ARMS @ (M[0] + edge * M[1]) @ FOUR_ARMS.T
        assert_allclose(varied[edge], expected, atol=1e-12)


def test_a_matrix_per_edge() -> None:
    each = np.random.default_rng(0).standard_normal((6, 2, 2))
    truth = Truth.of(quiet(), each)
    assert_allclose(truth.edge_tables, FOUR_ARMS @ each @ FOUR_ARMS.T)
    by_class = truth.by_class(quiet())
    assert_allclose(by_class[1], truth.edge_tables[[1, 3, 5]].mean(axis=0))
    assert_allclose((-truth).edge_tables, -truth.edge_tables)


def test_plain_worlds_are_known_by_kind() -> None:
    truth = Truth.of(quiet(), M)
    assert truth.graph is GRAPH
    assert_allclose(truth.by_class(quiet()), FOUR_ARMS @ M @ FOUR_ARMS.T)


# -- worlds drawn from the hierarchical model --------------------------------------------------


def world(spread: float, **options: Any) -> HierarchicalWorld:
    graph = ew.Graph.circle(n_nodes=400)
    problem = ew.Problem(graph, THREE_ARMS, **options)
    return HierarchicalWorld.draw(problem, M[0], spread=spread, rng=1)


def test_edges_scatter_around_their_kind_as_asked() -> None:
    drawn = world(0.3).matrices - M[0]
    size = 0.3 * np.sqrt((M[0] ** 2).mean())
    n = drawn.size
    assert abs(drawn.mean()) < 4.9 * size / np.sqrt(n)
    assert abs((drawn**2).mean() / size**2 - 1.0) < 4.9 * np.sqrt(2.0 / n)
    assert_allclose(world(0.0).matrices, np.broadcast_to(M[0], (400, 2, 2)))
    assert_array_equal(world(0.3).matrices, world(0.3).matrices)
    assert not world(0.3).matrices.flags.writeable


def test_kinds_that_are_as_many_as_edges_are_not_taken_for_edges() -> None:
    graph = ew.Graph.from_edges(TAIL, kinds=[5, 4, 3, 2, 1, 0])
    problem = ew.Problem(graph, FOUR_ARMS, noise=1e-12)
    each = np.random.default_rng(0).standard_normal((6, 2, 2))
    drawn = HierarchicalWorld.draw(problem, each, spread=0.0, rng=0)
    assert_allclose(drawn.matrices, each[::-1])
    assert_allclose(drawn.truth.edge_tables, FOUR_ARMS @ each[::-1] @ FOUR_ARMS.T)
    expected = ew.BilinearEnvironment(problem, each, rng=0)(ARMS)
    assert_allclose(drawn.environment(rng=0)(ARMS), expected)


@pytest.mark.parametrize("measured", ["arc", "node"])
def test_the_best_joint_arm_of_a_world(measured: Any) -> None:
    problem = quiet(measured=measured, pooling="none")
    own = [0.4, -1.0] if measured == "node" else None
    drawn = HierarchicalWorld.draw(problem, M, spread=0.8, own=own, rng=2)
    rng = np.random.default_rng(0)
    values = []
    for arms in rng.integers(0, 4, (300, 5)):
        rewards = drawn.environment(rng=0)(arms)
        assert_allclose(drawn.value(arms), rewards.sum(), atol=1e-8)
        values.append(rewards.sum())
    assert drawn.best.proved_optimal
    assert drawn.best.value >= max(values)
    assert_allclose(drawn.best.value, drawn.value(drawn.best.arms))


def test_beta_goes_by_kind_as_well() -> None:
    problem = quiet(node_term=True)
    beta = np.array([[1.0, 0.0], [0.0, 3.0]])
    drawn = HierarchicalWorld.draw(problem, M, spread=0.0, beta=beta, rng=0)
    assert drawn.beta is not None
    assert_allclose(drawn.beta, beta[TAIL_KINDS])
    assert_allclose(drawn.truth.edge_tables, Truth.of(problem, M, beta).edge_tables)


@pytest.mark.parametrize("spread", [-0.1, np.nan])
def test_bad_spreads(spread: float) -> None:
    with pytest.raises(InvalidArgument, match="spread"):
        world(spread)
    with pytest.raises(InvalidArgument, match=r"matrix has shape \(3, 2, 2\)"):
        HierarchicalWorld.draw(quiet(), np.ones((3, 2, 2)), spread=0.1)


# -- replicate ---------------------------------------------------------------------------------

CLEAR = np.array([[2.0, 0.0], [0.0, 0.5]])


def runs(problem: ew.Problem, **options: Any) -> Any:
    usual: dict[str, Any] = {"repetitions": 4, "max_rounds": 200, "rng": 0}
    return replicate(problem, CLEAR, **{**usual, **options})


@pytest.mark.parametrize(
    "options",
    [
        {"levels": True},
        {"levels": "both", "measured": "link"},
        {"measured": "node"},
        {"pooling": "none"},
        {"noise": [0.1, 0.2]},
    ],
)
def test_problems_that_are_not_plain_are_solved(options: dict[str, Any]) -> None:
    problem = ew.Problem(GRAPH, FOUR_ARMS, **{"noise": 0.1, **options})
    levels = 1.0 if "levels" in options else None
    found = runs(problem, levels=levels, target="allocation", epsilon=3.0)
    assert found.certified.all()
    assert found.errors == 0


def test_round_by_round_has_the_law_of_cell_by_cell() -> None:
    """A law of one's own that is the usual one takes the other way; means agree within noise."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), THREE_ARMS, noise=1.0)
    options: dict[str, Any] = {"repetitions": 150, "strategy": "g-optimal"}
    by_cell = runs(problem, **options).rounds
    by_round = runs(problem, law=lambda rng, size: rng.standard_normal(size), **options).rounds
    error = np.sqrt((by_cell.var() + by_round.var()) / 150)
    assert abs(by_cell.mean() - by_round.mean()) < 4.9 * error


def test_every_repetition_draws_a_world_and_jobs_do_not_matter() -> None:
    problem = ew.Problem(GRAPH, FOUR_ARMS, noise=0.2, pooling="none")
    options: dict[str, Any] = {"spread": 0.5, "target": "allocation", "epsilon": 3.0}
    alone, together = runs(problem, **options), runs(problem, jobs=2, **options)
    assert_array_equal(alone.rounds, together.rounds)
    assert_array_equal(alone.correct, together.correct)
    assert len(set(alone.rounds.tolist())) > 1
    assert alone.errors == 0


# -- judging ------------------------------------------------------------------------------------


def test_answers_are_judged_by_the_tables_of_edges_and_own_terms() -> None:
    problem = ew.Problem(GRAPH, FOUR_ARMS, measured="node", pooling="none")
    drawn = HierarchicalWorld.draw(problem, M, spread=1.0, own=[3.0, -2.0], rng=5)
    setting = Setting.of(
        problem, delta=0.1, epsilon=1.0, strategy="adaptive", stopping=None, target="allocation"
    )
    state = initial_state(setting, 0)

    def right(arms: Any, bound: float, truth: Truth) -> bool:
        told = replace(state, answer=Answer(np.asarray(arms), Regret(bound, 0.0)))
        return setting.target.is_correct(setting, told, truth)

    assert right(drawn.best.arms, 0.0, drawn.truth)
    other = np.ones(5, int)
    short = drawn.best.value - drawn.value(other)
    assert short > 0.1
    assert not right(other, 0.9 * short, drawn.truth)
    assert right(other, 1.1 * short, drawn.truth)
    assert not right(drawn.best.arms, 0.0, -drawn.truth)


def test_pairs_are_judged_class_by_class() -> None:
    problem = ew.Problem(GRAPH, FOUR_ARMS, levels=True)
    truth = Truth.of(problem, M)
    setting = Setting.of(
        problem, delta=0.1, epsilon=0.0, strategy="adaptive", stopping=None, target="pair"
    )
    state = initial_state(setting, 0)
    means = truth.tables + truth.tables.transpose(0, 2, 1)
    best = tuple(
        (int(k), int(l)) for k, l in (np.unravel_index(one.argmax(), (4, 4)) for one in means)
    )
    for pairs, expected in ((best, True), (best[::-1], best[0] == best[1])):
        told = replace(state, verdict=Verdict(True, 1, pairs, None, 1.0))
        assert setting.target.is_correct(setting, told, truth) == expected
    assert best[0] != best[1]
