"""Environments of one's own, traces, comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.strategies import Strategy
from edgewise.core.strategies.independent import GOptimal
from edgewise.simulation import compare, replicate, trace

M = np.array([[2.0, 0.0], [0.0, 1.0]])
Deploy = Callable[[Indices], Array]


@pytest.fixture(scope="module")
def problem() -> Problem:
    return ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2), noise=0.5)


# -- environments ----------------------------------------------------------------------------


def test_a_class_and_a_function_are_the_same_environment(problem: Problem) -> None:
    def make(rng: np.random.Generator) -> Deploy:
        return ew.BilinearEnvironment(problem, M, rng=rng)

    def deploy(arms: Indices, rng: np.random.Generator) -> Array:
        return ew.BilinearEnvironment(problem, M, rng=rng)(arms)

    class World:
        def __init__(self, rng: np.random.Generator, gain: float = 1.0) -> None:
            self.inner, self.gain = make(rng), gain

        def __call__(self, arms: Indices) -> Array:
            return self.gain * self.inner(arms)

    runs = [
        replicate(problem, M, environment=world, repetitions=5, rng=1)
        for world in (make, deploy, World)
    ]
    assert_array_equal(runs[0].rounds, runs[1].rounds)
    assert_array_equal(runs[0].rounds, runs[2].rounds)
    assert all(run.correct.all() for run in runs)


def test_an_environment_is_simulated_and_not_the_model(problem: Problem) -> None:
    def opposite(arms: Indices, rng: np.random.Generator) -> Array:
        return ew.BilinearEnvironment(problem, np.diag([1.0, 2.0]), rng=rng)(arms)

    runs = replicate(problem, M, environment=opposite, repetitions=5, rng=1)
    assert runs.certified.all()
    assert runs.errors == 5


def test_without_a_matrix_nobody_knows_what_is_right(problem: Problem) -> None:
    runs = replicate(
        problem,
        environment=lambda rng: ew.BilinearEnvironment(problem, M, rng=rng),
        repetitions=3,
        rng=1,
    )
    assert runs.judged is None
    assert "3 certified)" in repr(runs)
    with pytest.raises(ew.EdgewiseError, match="not known"):
        _ = runs.errors


def silent(rng: np.random.Generator) -> Deploy:
    del rng
    return lambda arms: np.zeros(2 * len(arms))


def short(rng: np.random.Generator) -> Deploy:
    del rng
    return lambda arms: np.zeros(len(arms))


@pytest.mark.parametrize(
    ("environment", "options", "fact"),
    [
        (3.0, {}, "environment is a float"),
        (lambda: None, {}, "needs 0 arguments"),
        (short, {}, "shape"),
        (silent, {"spread": 0.3}, "spread belongs to"),
        (silent, {"levels": np.ones(12)}, "levels belongs to"),
        (None, {}, "nothing to simulate"),
    ],
)
def test_wrong_environments(
    problem: Problem, environment: object, options: dict[str, object], fact: str
) -> None:
    with pytest.raises(ew.EdgewiseError, match=fact):
        replicate(problem, environment=environment, repetitions=1, rng=0, **options)  # type: ignore[arg-type]


# -- strategies of one's own -----------------------------------------------------------------


@dataclass(frozen=True)
class Stubborn:
    """As g-optimal, but every node always has arm 0 or 1 by the parity of node and round."""

    name: str = "stubborn"

    def __call__(self, problem: Problem, /) -> object:
        plan = GOptimal()(problem)

        class Plan(type(plan)):  # type: ignore[misc]
            def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
                nodes = np.arange(problem.graph.n_nodes)
                return np.asarray((nodes + state.rounds) % 2, np.int32)

        return Plan(**{name: getattr(plan, name) for name in plan.__dataclass_fields__})


def test_a_strategy_that_only_chooses_other_joint_arms_is_simulated_as_it_is(
    problem: Problem,
) -> None:
    """It never shows a pair of equal arms, so nothing can be certified."""
    strategy = Stubborn()
    runs = replicate(problem, M, strategy=strategy, repetitions=3, max_rounds=30, rng=0)  # type: ignore[arg-type]
    assert not runs.certified.any()
    usual = replicate(problem, M, strategy="g-optimal", repetitions=3, max_rounds=30, rng=0)
    assert usual.certified.all()


# -- traces ----------------------------------------------------------------------------------


def test_a_trace_is_the_run_of_identify(problem: Problem) -> None:
    def world() -> ew.BilinearEnvironment:
        return ew.BilinearEnvironment(problem, M, rng=1)

    run = trace(problem, world(), rng=3)
    report = ew.identify(problem, world(), rng=3)
    assert len(run) == report.rounds
    assert run.ending is report.ending is ew.Ending.CERTIFIED
    assert run.leaders[-1] == report.best_pairs
    assert run.progress[-1] >= 1.0
    assert run.arms.shape == (len(run), 6)
    assert (np.diff(run.phases) >= 0).all()
    frame = run.to_frame()
    assert frame.index.tolist() == list(range(1, len(run) + 1))
    assert frame["total"].tolist() == run.totals.tolist()


def test_a_trace_counts_what_is_missing(problem: Problem) -> None:
    def gaps(arms: Indices) -> Array:
        rewards = np.ones(12)
        rewards[:2] = np.nan
        return rewards

    run = trace(problem, gaps, max_rounds=4, rng=0)
    assert run.ending is ew.Ending.BUDGET_SPENT
    assert run.to_frame()["missing"].tolist() == [2] * 4
    assert run.totals.tolist() == [10.0] * 4


# -- comparisons -----------------------------------------------------------------------------


def test_a_comparison_gives_every_strategy_the_same_seeds(problem: Problem) -> None:
    found = compare(["adaptive", "g-optimal"], problem, M, repetitions=6, rng=4)
    again = compare(["g-optimal"], problem, M, repetitions=6, rng=4)
    assert_array_equal(found["g-optimal"].rounds, again["g-optimal"].rounds)
    frame = found.to_frame()
    assert frame.groupby("strategy")["rounds"].mean().to_dict() == {
        name: found[name].mean_rounds for name in found.names
    }
    assert "6 of 6 certified, 0 wrong" in str(found)


def test_strategies_of_one_name_are_told_apart(problem: Problem) -> None:
    strategies: list[str | Strategy] = ["adaptive", GOptimal(), GOptimal(even=0.2)]
    found = compare(strategies, problem, M, repetitions=2, rng=4)
    assert found.names == ("adaptive", "g-optimal 1", "g-optimal 2")
    with pytest.raises(ew.EdgewiseError, match="no 'paper' here"):
        found["paper"]


@pytest.mark.parametrize("strategies", ["adaptive", []])
def test_a_comparison_needs_a_list(problem: Problem, strategies: object) -> None:
    with pytest.raises(ew.EdgewiseError, match="must be a list"):
        compare(strategies, problem, M, repetitions=2)  # type: ignore[arg-type]


def test_the_picture_of_a_comparison_shows_every_strategy(problem: Problem) -> None:
    found = compare(["adaptive", "g-optimal"], problem, M, repetitions=6, rng=4)
    figure = ew.plots.figure_comparison(found)
    legend = figure.axes[0].get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert [label.split(":")[0] for label in labels] == ["adaptive", "g-optimal"]
