"""Tables split among cycles: exact on one cycle, and the gradient is the slope."""

import numpy as np
import pytest

from edgewise.allocation.bounds.cycles.odd_cycles import packing_bound
from edgewise.allocation.bounds.cycles.packing import odd_walks
from edgewise.allocation.bounds.cycles.smooth_split import smooth_bound
from edgewise.allocation.bounds.cycles.split_bound import held_by_packing, split_bound
from edgewise.allocation.bounds.cycles.step_tables import Split, maxima
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.optimum.brute_force import brute_force
from edgewise.network.graph import Graph


def example(seed: int, n: int = 5) -> Objective:
    rng = np.random.default_rng(seed)
    graph = Graph.from_edges(
        Graph.complete(n_nodes=n).edges,
        directed=True,
        kinds=rng.permutation(np.arange(n * (n - 1) // 2) % 2),
    )
    mask = rng.random((n, 3)) < 0.8
    mask[:, 0] = True
    return Objective.of(graph, rng.standard_normal((2, 3, 3)), mask, rng.standard_normal((n, 3)))


def test_gradient_is_the_slope_of_the_smooth_bound() -> None:
    rng = np.random.default_rng(0)
    objective = example(0)
    whole = held_by_packing(objective, odd_walks(objective.graph).packing).whole
    steps = rng.standard_normal((len(whole.cycles.edges), 3, 3))
    ends = rng.standard_normal((len(whole.edges), 2, 3))
    slope = Split(np.empty_like(steps), np.empty_like(ends))
    smooth_bound(whole, Split(steps, ends), 0.5, slope)
    along = Split(rng.standard_normal(steps.shape), rng.standard_normal(ends.shape))

    def value(t: float) -> float:
        moved = Split(steps + t * along.steps, ends + t * along.ends)
        return smooth_bound(whole, moved, 0.5, Split(np.empty_like(steps), np.empty_like(ends)))

    # arms that are not allowed have no part in the bound, nor in its gradient
    expected = float((slope.steps * along.steps).sum() + (slope.ends * along.ends).sum())
    assert (value(1e-5) - value(-1e-5)) / 2e-5 == pytest.approx(expected, rel=1e-5)


def test_smooth_bound_is_above_and_tends_to_the_bound() -> None:
    objective = example(1)
    whole = held_by_packing(objective, odd_walks(objective.graph).packing).whole
    rng = np.random.default_rng(1)
    split = Split(
        rng.standard_normal((len(whole.cycles.edges), 3, 3)),
        rng.standard_normal((len(whole.edges), 2, 3)),
    )
    slope = Split(np.empty_like(split.steps), np.empty_like(split.ends))
    hard = float(maxima(whole, split).sum())
    soft = [smooth_bound(whole, split, heat, slope) for heat in (1.0, 0.1, 0.01)]
    assert soft[0] > soft[1] > soft[2] > hard
    assert soft[2] == pytest.approx(hard, rel=0.05)


def test_one_cycle_is_solved_exactly() -> None:
    """A single odd cycle holds the whole whole, whatever the kinds and node terms."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        graph = Graph.from_edges(Graph.circle(n_nodes=5).edges, kinds=[0, 1, 0, 1, 1])
        objective = Objective.of(
            graph, rng.standard_normal((2, 3, 3)), None, rng.standard_normal((5, 3))
        )
        bound = split_bound(objective, odd_walks(graph).packing, seconds=0.3)
        assert bound is not None
        assert bound.value == pytest.approx(brute_force(objective).value, abs=0.02)


def test_never_worse_than_the_packing_it_starts_from() -> None:
    rng = np.random.default_rng(2)
    table = rng.random((4, 4)) - np.eye(4)
    objective = Objective.of(Graph.complete(n_nodes=7), table)
    packing = odd_walks(objective.graph).packing
    bound = split_bound(objective, packing, seconds=0.2)
    assert bound is not None
    assert bound.value <= packing_bound(objective, packing).value + 1e-9


def test_too_little_time_gives_none() -> None:
    objective = example(3)
    assert split_bound(objective, odd_walks(objective.graph).packing, seconds=1e-9) is None
