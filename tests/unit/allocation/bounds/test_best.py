"""The entry point: which bound wins, what is refused."""

import time

import numpy as np
import pytest

from edgewise.allocation.bounds import Bound, best_upper_bound
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Indices
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph

MAX_CUT = [[0, 1], [1, 0]]
PETERSEN = Graph.from_edges(
    [(i, (i + 1) % 5) for i in range(5)]
    + [(i, i + 5) for i in range(5)]
    + [(i + 5, (i + 2) % 5 + 5) for i in range(5)]
)


def tight(graph: Graph, tables: object = MAX_CUT) -> float:
    objective = Objective.of(graph, tables)  # type: ignore[arg-type]
    return best_upper_bound(objective, effort="tight", time_limit=1.0).value


def test_pentagon_is_solved_by_its_own_cycle() -> None:
    bound = best_upper_bound(Objective.of(Graph.circle(n_nodes=5), MAX_CUT))
    assert bound.name == "odd-cycle"
    assert bound.value == pytest.approx(8.0, rel=1e-12)


def test_long_odd_circle() -> None:
    assert tight(Graph.circle(n_nodes=101)) == pytest.approx(200.0, rel=1e-12)


def test_petersen_graph_has_a_cut_of_12() -> None:
    # twelve pentagons, each edge in four: a packing of 3 pentagons, 15 - 3 = 12 edges
    assert tight(PETERSEN) == pytest.approx(24.0, rel=1e-6)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 10])
def test_complete_graphs(n: int) -> None:
    """SDP value n^2 / 4; the optimum is its integer part."""
    assert n * n // 4 <= tight(Graph.complete(n_nodes=n)) / 2 <= n * n / 4 + 1e-4


def test_three_colours_on_a_complete_graph() -> None:
    """The spectral bound of Max-3-Cut on K_6 is exact: three pairs, 12 of 15 edges."""
    assert tight(Graph.complete(n_nodes=6), 1 - np.eye(3)) == pytest.approx(24.0, rel=1e-3)


def test_attained_bounds_are_found_at_once() -> None:
    even = Objective.of(Graph.circle(n_nodes=6), MAX_CUT)
    assert best_upper_bound(even, effort="tight").name == "edge-by-edge"
    alone = Objective.of(Graph.complete(n_nodes=4), [[2, 1], [1, 0]])
    assert best_upper_bound(alone, effort="tight").name == "edge-by-edge"


def test_work_ends_when_a_known_value_is_met() -> None:
    objective = Objective.of(Graph.circle(n_nodes=5), MAX_CUT)
    bound = best_upper_bound(objective, effort="tight", value=8.0)
    assert bound.name == "odd-cycle"  # the quick one: no later bound was asked


def test_a_passed_deadline_leaves_the_quick_bounds() -> None:
    objective = Objective.of(Graph.complete(n_nodes=9), MAX_CUT)
    bound = best_upper_bound(objective, effort="tight", time_limit=1e-9)
    assert bound.value <= best_upper_bound(objective).value


def test_random_seed_changes_no_conclusion() -> None:
    objective = Objective.of(Graph.complete(n_nodes=9), MAX_CUT)
    values = [
        best_upper_bound(
            objective, effort="tight", time_limit=0.5, rng=np.random.default_rng(seed)
        ).value
        for seed in (0, 0, 1)
    ]
    assert values[0] == values[1]
    assert values[2] == pytest.approx(values[0], rel=1e-3)


def test_bounds_are_ordered_by_value() -> None:
    assert min(Bound(2.0, "a"), Bound(1.0, "b"), Bound(3.0, "c")).name == "b"


def test_prepared_graphs_answer_in_a_millisecond() -> None:
    rng = np.random.default_rng(0)
    keys = rng.choice(80 * 79 // 2, 160, replace=False)
    pairs = np.column_stack(np.triu_indices(80, 1))[keys]
    graph = Graph(80, _with_path(pairs))
    objectives = [Objective.of(graph, rng.random((6, 6)) - np.eye(6)) for _ in range(50)]
    best_upper_bound(objectives[0])
    start = time.perf_counter()
    for objective in objectives:
        best_upper_bound(objective)
    assert time.perf_counter() - start < 50 * 3e-3  # a tenth of that on an idle machine


def _with_path(pairs: Indices) -> Indices:
    """No node isolated."""
    path = np.column_stack([np.arange(79), np.arange(1, 80)])
    return np.unique(np.concatenate([np.sort(pairs, axis=1), path]), axis=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effort": "wild"}, "no effort is called 'wild'"),
        ({"time_limit": 0.0}, "positive number of seconds"),
        ({"time_limit": float("nan")}, "positive number of seconds"),
    ],
)
def test_wrong_calls_are_explained(options: dict[str, object], message: str) -> None:
    objective = Objective.of(Graph.circle(n_nodes=3), MAX_CUT)
    with pytest.raises(InvalidArgument, match=message):
        best_upper_bound(objective, **options)  # type: ignore[arg-type]
