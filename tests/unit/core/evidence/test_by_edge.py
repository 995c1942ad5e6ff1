"""What the edges show one by one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.saved import as_json, same

import edgewise as ew
from edgewise.core.evidence.by_edge import (
    by_edge_after,
    decide_pooling,
    edges_differ,
    from_tree,
    local_network,
    nothing_by_edge,
    to_tree,
)
from edgewise.core.local.normal_equations import Phase
from edgewise.testing.cases import too_many

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
MEAN = np.array([[0.2, 0.9], [0.8, 0.1]])


def problem_of(n_nodes: int = 10, **options: Any) -> ew.Problem:
    return ew.Problem(ew.Graph.circle(n_nodes=n_nodes), ARMS, noise=0.3, **options)


def seen_of(problem: ew.Problem, rounds: int, *, spread: float, seed: int = 0) -> Phase | None:
    """Joint arms drawn evenly, and what they show."""
    network, rng = local_network(problem), np.random.default_rng(seed)
    channels, p = network.channels, network.measurement.features.shape[2]
    blocks = 0.5 * np.ones(p) + spread * rng.standard_normal((channels.n_blocks, p))
    sizes = channels.dimensions[channels.kinds]
    theta = np.concatenate([block[:size] for block, size in zip(blocks, sizes, strict=True)])
    seen = nothing_by_edge(problem)
    for _ in range(rounds):
        arms = rng.integers(3, size=problem.graph.n_nodes)
        means = np.add.reduceat(network.features(arms) * theta, channels.starts[:-1])
        means = np.repeat(means, 2) if problem.measured == "arc" else means
        rewards = means + problem.stated_noise * rng.standard_normal(len(means))
        seen = by_edge_after(problem, seen, arms, rewards)
    return seen


@pytest.mark.parametrize(
    ("n_nodes", "dimension", "options", "kept"),
    [
        (100, 3, {}, True),
        (600, 8, {}, False),  # 64^2 numbers for each of 600 edges
        (600, 8, {"measured": "node"}, False),
        (600, 8, {"pooling": "partial"}, True),
        (600, 8, {"pooling": "auto"}, True),
        (200, 6, {}, True),
        (200, 6, {"measured": "total"}, False),  # all edges feed one number
    ],
)
def test_it_is_kept_unless_it_is_large_and_nobody_asked(
    n_nodes: int, dimension: int, options: dict[str, Any], kept: bool
) -> None:
    problem = ew.Problem(ew.Graph.circle(n_nodes=n_nodes), np.eye(dimension), **options)
    assert (nothing_by_edge(problem) is not None) == kept


def test_what_is_not_kept_stays_so() -> None:
    problem = problem_of(measured="link")
    arms, rewards = np.zeros(10, np.int64), np.zeros(10)
    assert by_edge_after(problem, None, arms, rewards) is None
    assert to_tree(None) is None
    assert from_tree(None) is None
    assert decide_pooling(problem, None) == "shared"
    assert edges_differ(None) is None


def test_a_round_adds_its_features_and_numbers() -> None:
    problem, rng = problem_of(), np.random.default_rng(0)
    arms, rewards = rng.integers(3, size=10), rng.standard_normal(20)
    rewards[3] = np.nan
    seen = by_edge_after(problem, nothing_by_edge(problem), arms, rewards)
    assert seen is not None
    assert seen.counts[1] == 0  # one direction alone says nothing
    for edge in (0, 2, 9):
        assert seen.counts[edge] == 1
        assert seen.reward_means[edge] == pytest.approx(rewards[2 * edge : 2 * edge + 2].mean())


@pytest.mark.parametrize("levels", ["none", "channel", "round", "both"])
@pytest.mark.parametrize("rounds", [0, 4])
def test_it_survives_json_to_the_last_bit(levels: str, rounds: int) -> None:
    seen = seen_of(problem_of(measured="node", levels=levels), rounds, spread=0.3)
    tree = to_tree(seen)
    assert tree is not None
    again = from_tree(json.loads(json.dumps(tree, default=lambda array: array.tolist())))
    assert again is not None
    assert (again.rounds is None) == (levels in ("none", "channel"))
    back = to_tree(again)
    assert back is not None
    for name, value in tree.items():
        if name == "rounds":
            pairs = zip(value or (), back[name] or (), strict=True)
            assert all(np.array_equal(a, b) and a.shape == b.shape for a, b in pairs)
        else:
            assert same(value, back[name]), name


def test_a_tree_does_not_change_with_later_rounds() -> None:
    problem = problem_of(measured="link")
    seen = seen_of(problem, 3, spread=0.3)
    tree = to_tree(seen)
    by_edge_after(problem, seen, np.zeros(10, np.int64), np.ones(10))
    assert same(tree, to_tree(seen_of(problem, 3, spread=0.3)))


@pytest.mark.parametrize("pooling", ["shared", "partial"])
def test_a_restored_learner_has_seen_the_same(pooling: str) -> None:
    problem = problem_of(measured="node", pooling=pooling)
    learner, rng = ew.Learner(problem, rng=0), np.random.default_rng(1)
    for _ in range(3):
        learner.tell(learner.ask(), rng.standard_normal(10))
    saved = learner.save()
    again = ew.Learner.restore(problem, as_json(saved)).save()
    assert same(saved["state"]["by_edge"], again["state"]["by_edge"])


@pytest.mark.parametrize("measured", ["arc", "link", "node"])
def test_equal_edges_are_decided_to_be_shared(measured: str) -> None:
    """Wrongly in 5 % of runs; false alarm 1e-6."""
    problem, runs = problem_of(measured=measured, pooling="auto"), 100
    chosen = [
        decide_pooling(problem, seen_of(problem, 6, spread=0.0, seed=seed)) for seed in range(runs)
    ]
    assert set(chosen) <= {"shared", "partial"}
    assert not too_many(chosen.count("partial"), runs, 0.05)


@pytest.mark.parametrize("measured", ["arc", "link", "node"])
def test_unequal_edges_are_decided_to_be_partially_pooled(measured: str) -> None:
    problem = problem_of(measured=measured, pooling="auto")
    chosen = [
        decide_pooling(problem, seen_of(problem, 12, spread=1.0, seed=seed)) for seed in range(20)
    ]
    assert chosen.count("partial") >= 19


def test_whether_edges_differ_is_not_said_after_one_round() -> None:
    problem = problem_of(measured="link")
    assert edges_differ(seen_of(problem, 1, spread=1.0)) is None
    assert edges_differ(seen_of(problem, 2, spread=1.0)) is not None
