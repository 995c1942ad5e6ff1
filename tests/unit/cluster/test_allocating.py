from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.cluster.networks import network, rewards, weighted

import edgewise as ew
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array, Indices
from edgewise.cluster import (
    PartitionedGraph,
    PartitionedLearner,
    allocate,
    allocate_table,
    working_on,
)
from edgewise.cluster.allocation.allocating import METHODS
from edgewise.cluster.allocation.sweeps import Step
from edgewise.cluster.allocation.work import Work
from edgewise.cluster.engine import Here
from edgewise.errors import InvalidArgument

pytestmark = pytest.mark.filterwarnings("ignore::edgewise.errors.IsolatedNodes")
RNG = np.random.default_rng(7)
TABLE: Array = -np.abs(RNG.normal(size=(6, 6)))
TABLE = 0.5 * (TABLE + TABLE.T) + np.diag(RNG.normal(size=6) - 3.0)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> PartitionedGraph:
    return network(tmp_path_factory.mktemp("graph"))


@pytest.fixture(scope="module")
def directed(tmp_path_factory: pytest.TempPathFactory) -> PartitionedGraph:
    folder = tmp_path_factory.mktemp("directed")
    return PartitionedGraph.from_function(weighted, folder, n_partitions=16, directed=True)


@pytest.mark.parametrize("method", ["bipartite", "two-arm"])
def test_algorithm_1_and_two_arms_are_those_of_one_machine(
    graph: PartitionedGraph, method: str
) -> None:
    found = allocate_table(graph, TABLE, method=method)
    expected = ew.allocate_table(graph.load(), TABLE, method=method)
    assert np.array_equal(found.arms, expected.arms)
    assert found.value == pytest.approx(expected.value, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_values_and_bounds_hold(
    graph: PartitionedGraph, directed: PartitionedGraph, method: str
) -> None:
    cases = [(graph, TABLE[None])]
    if method != "bipartite":
        cases.append((directed, np.stack([TABLE, TABLE.T - 1.0])))
    for network_, tables in cases:
        objective = Objective.of(network_.load(), tables)
        found = allocate_table(network_, tables, method=method, sweeps=3)
        assert found.value == pytest.approx(objective.value(found.arms), rel=1e-11)
        assert objective.bounds[0] <= found.value <= found.upper_bound
        assert found.upper_bound <= objective.bounds[1] + 1e-9 * abs(found.value)


def test_odd_cycles_inside_partitions_lower_the_bound(tmp_path: Path) -> None:
    """Triangles that avoid equal neighbours: two of three edges at best, in every partition."""
    graph = PartitionedGraph.from_function(triangles, tmp_path, n_partitions=3)
    found = allocate_table(graph, [[0.0, 1.0], [1.0, 0.0]])
    assert found.upper_bound == pytest.approx(4.0 * 3 * 50)
    assert found.proved_optimal
    loose = allocate_table(graph, [[0.0, 1.0], [1.0, 0.0]], bound="edge-by-edge")
    assert loose.upper_bound == pytest.approx(6.0 * 3 * 50)


def triangles(number: int) -> Indices:
    first = 150 * number + 3 * np.arange(50)
    return np.concatenate([np.column_stack([first + i, first + (i + 1) % 3]) for i in range(3)])


@pytest.mark.parametrize("n_parts", [1, 2, 4])
def test_no_step_lowers_the_global_reward(
    graph: PartitionedGraph, directed: PartitionedGraph, n_parts: int
) -> None:
    """Also when all nodes move at once, where most moves conflict."""
    for network_, tables in ((graph, TABLE[None]), (directed, np.stack([TABLE, -TABLE]))):
        work = Work(Here(), network_, tables, seed=1)
        objective = Objective.of(network_.load(), tables)
        arms: Indices = np.random.default_rng(0).integers(6, size=network_.n_nodes).astype(np.uint8)
        value = objective.value(arms)
        for number in range(6):
            arms, gain, _ = work._step(arms, Step(1, number, n_parts, number % n_parts))
            later = objective.value(arms)
            assert gain >= 0.0
            assert later - value == pytest.approx(gain, abs=1e-9 * abs(value))
            value = later


def test_all_at_once_without_the_check_would_be_worse(graph: PartitionedGraph) -> None:
    """The negative control of the test above: neighbours that avoid each other, all moving."""
    tables = np.array([[[0.0, 1.0], [1.0, 0.0]]])
    work = Work(Here(), graph, tables, seed=1)
    rng = np.random.default_rng(0)
    good = work.improve(rng.integers(2, size=graph.n_nodes).astype(np.uint8), 0.0, 5)[0]
    everybody = Step(1, 1, 1, 0)
    there, gain, _ = work._step(good, everybody)
    assert work.value(there) == pytest.approx(work.value(good) + gain)
    bad = np.zeros(graph.n_nodes, np.uint8)
    unchecked = work._stir(bad, work.rows, np.zeros(1 << 15), everybody, 1.0)
    checked, gain, _ = work._step(bad, everybody)
    assert gain > 0.0
    assert work.value(checked) > work.value(unchecked)


def test_sweeps_come_near_the_search_of_one_machine(graph: PartitionedGraph) -> None:
    found = allocate_table(graph, TABLE)
    alone = ew.allocate_table(graph.load(), TABLE, method="local-search")
    worst = alone.lower_bound
    assert found.value - worst >= 0.99 * (alone.value - worst)


def test_four_workers_change_no_bit(graph: PartitionedGraph, tmp_path: Path) -> None:
    """Of an allocation, nor of a round of 10^6 arcs; one and two workers: test_learning.py."""
    here = allocate_table(graph, TABLE, sweeps=2, bound=None)
    problem = ew.Problem(network(tmp_path, size=64_000), np.eye(3), noise=3.0)
    alone = PartitionedLearner(problem, rng=1)
    alone.run_round(rewards)
    with working_on("local", workers=4) as engine:
        there = allocate_table(graph, TABLE, sweeps=2, bound=None, dask=engine.client)  # type: ignore[attr-defined]
        learner = PartitionedLearner(problem, rng=1, dask=engine)
        learner.run_round(rewards)
    assert np.array_equal(here.arms, there.arms)
    assert (here.value, here.upper_bound) == (there.value, there.upper_bound)
    for name, told in alone.state.closed.to_tree().items():
        assert np.array_equal(told, learner.state.closed.to_tree()[name])


def test_a_start_is_never_left_for_a_worse_end(graph: PartitionedGraph) -> None:
    best = allocate_table(graph, TABLE, bound=None)
    for method in ("best-response", "anneal"):
        again = allocate_table(graph, TABLE, start=best.arms, method=method, sweeps=2, bound=None)
        assert again.value >= best.value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method is 'magic'"),
        ({"sweeps": 0}, "sweeps is 0"),
        ({"bound": "wish"}, "bound is 'wish'"),
        ({"start": [0, 1]}, "joint arm has shape"),
    ],
)
def test_wrong_options_are_refused(
    graph: PartitionedGraph, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        allocate_table(graph, TABLE, **options)


def test_other_graphs_are_refused(directed: PartitionedGraph, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="must be a PartitionedGraph"):
        allocate(ew.Graph.circle(n_nodes=3), np.eye(2), np.eye(2))
    with pytest.raises(InvalidArgument, match="Algorithm 1 is defined"):
        allocate_table(directed, TABLE, method="bipartite")
    with pytest.raises(InvalidArgument, match="at most 255"):
        allocate_table(directed, np.zeros((300, 300)))
