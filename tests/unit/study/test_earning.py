"""Strategies that earn, on record: what arrives in pieces, late, again, or never."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.ending import Ending
from edgewise.core.learner import initial_state, tell_round
from edgewise.core.reporting import compile_report
from edgewise.core.setting import Setting
from edgewise.core.strategies import Limited, Optimistic, Strategy, Thompson

N = 5
COINS = np.array([[[0.5, 0.8], [0.2, 0.7]], [[0.5, 0.2], [0.8, 0.6]]])
STRATEGIES: list[Strategy] = [
    Thompson(),
    Optimistic(),
    Limited(Thompson(), changed=2),
    Limited(Optimistic(), within=1),
]
everyone = pytest.mark.parametrize(
    "strategy", STRATEGIES, ids=lambda one: repr(one).split("name")[0]
)
kinds = pytest.mark.parametrize("coins", [True, False], ids=["coins", "unequal"])


def problem(*, coins: bool) -> ew.Problem:
    """A chain whose rewards are 0 or 1; or one whose edges are alike but not equal."""
    edges = [(i, i + 1) for i in range(N - 1)]
    graph = ew.Graph.from_edges(edges, directed=True, kinds=[i % 2 for i in range(N - 1)])
    options: dict[str, Any] = (
        {"noise": "bernoulli"} if coins else {"noise": 0.3, "pooling": "partial"}
    )
    return ew.Problem(graph, np.eye(2), baseline=np.zeros(N, np.int32), **options)


def rewards(number: int, arms: Indices, *, coins: bool) -> Array:
    """(m,) what a round shows: the same for the same round and arms."""
    rng, edges = np.random.default_rng([5, number]), np.arange(N - 1)
    means = COINS[edges % 2, arms[:-1], arms[1:]]
    if coins:
        return (rng.random(N - 1) < means).astype(float)
    return np.asarray(means + 0.1 * edges + 0.3 * rng.standard_normal(N - 1))


@everyone
@kinds
def test_pieces_cancelled_and_failed_rounds_change_nothing_else(
    strategy: Strategy, coins: bool
) -> None:
    """As a learner that is told everything at once, and NaN where nothing came."""
    task = problem(coins=coins)
    learner = ew.Learner(task, strategy=strategy, rng=3, trust_model=True)
    study = ew.Study.create("earning", task, strategy=strategy, rng=3, trust_model=True)
    for number in range(1, 15):
        expected, ticket = learner.ask(), study.ask()
        assert_array_equal(ticket.arms, expected.arms)
        seen = rewards(number, expected.arms, coins=coins)
        if number % 4 == 1:
            study.cancel(ticket)
            ticket = study.ask()
            assert_array_equal(ticket.arms, expected.arms)
        if number % 5 == 2:  # the round failed, or half of it
            seen[: 2 + number % 3] = np.nan
        for place in np.random.default_rng(number).permutation(N - 1):
            piece = np.full(N - 1, np.nan)
            piece[place] = seen[place]
            if not np.isnan(piece).all():
                study.tell(ticket, piece)
        if np.isnan(seen).any():
            study.close(ticket)
        learner.tell(expected, seen)
        if number % 3 == 0:  # another process goes on
            study = ew.Study.load("earning", storage=study.storage)
    ours, theirs = study.report(), learner.report()
    assert_array_equal(ours.allocation.arms, theirs.allocation.arms)  # type: ignore[union-attr]
    assert_allclose(ours.tables, theirs.tables)


@everyone
@kinds
def test_what_comes_late_counts_as_if_it_had_been_in_time(strategy: Strategy, coins: bool) -> None:
    """Rounds deployed meanwhile stay; what is known in the end is the same."""
    task = problem(coins=coins)
    study = ew.Study.create("late", task, strategy=strategy, epsilon=1e-9, rng=1, trust_model=True)
    study.extend(rounds=20)  # nothing ends it before
    setting = Setting.of(
        task, delta=0.05, epsilon=1e-9, strategy=strategy, stopping=None, trust_model=True
    )
    prompt, tickets, gaps = initial_state(setting, 1), [], (2, 5, 8)
    for number in range(1, 10):
        ticket = study.ask()
        seen = rewards(number, ticket.arms, coins=coins)
        prompt = tell_round(setting, prompt, ticket.arms, seen)
        study.tell(ticket, np.where(np.arange(N - 1) > 0, np.nan, seen) if number in gaps else seen)
        if number in gaps:
            study.close(ticket)
        tickets.append(ticket)
    expected = compile_report(setting, prompt, Ending.RUNNING)
    assert not np.allclose(known(study.report()), known(expected), equal_nan=True)
    for number in (8, 2, 5):
        arms = tickets[number - 1].arms
        study.correct(tickets[number - 1], rewards(number, arms, coins=coins))
    assert_allclose(known(study.report()), known(expected), rtol=1e-6, atol=1e-9)
    again = ew.Study.load("late", storage=study.storage)
    assert_array_equal(again.ask().arms, study.ask().arms)


def known(report: ew.Report) -> Array:
    """What the rounds say of rewards, flat; and what the answer is worth by it."""
    tables = report.tables if report.edge_tables is None else report.edge_tables
    assert report.allocation is not None
    return np.append(tables, report.allocation.value)
