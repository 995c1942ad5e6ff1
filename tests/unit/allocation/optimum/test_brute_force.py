import itertools

import numpy as np
import pytest

from edgewise.allocation.instance.objective import Objective, global_reward
from edgewise.allocation.optimum.brute_force import brute_force
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph

MAX_CUT = np.array([[0.0, 1.0], [1.0, 0.0]])
PETERSEN = [
    *((i, (i + 1) % 5) for i in range(5)),
    *((i, i + 5) for i in range(5)),
    *((5 + i, 5 + (i + 2) % 5) for i in range(5)),
]


@pytest.mark.parametrize(
    ("graph", "max_cut"),
    [
        (Graph.circle(n_nodes=5), 4),
        (Graph.from_edges(PETERSEN), 12),
        (Graph.complete(n_nodes=4), 4),
        (Graph.complete(n_nodes=9), 20),
        (Graph.star(n_nodes=8), 7),
    ],
)
def test_max_cut_is_the_special_case_with_twice_the_cut(graph: Graph, max_cut: int) -> None:
    result = brute_force(Objective(graph, MAX_CUT))
    assert result.value == 2 * max_cut
    assert result.upper_bound == 2 * max_cut
    assert result.lower_bound == 0
    assert result.proved_optimal


@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_a_python_loop_over_joint_arms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [(0, 1), (2, 1), (2, 3), (3, 0), (0, 4)]
    graph = Graph.from_edges(
        pairs, directed=True, kinds=[0, 1, 0, 1, 1], weights=rng.standard_normal(5)
    )
    tables = rng.standard_normal((2, 3, 3))
    allowed = rng.random((5, 3)) < 0.6
    allowed[:, 1] = True
    joint = itertools.product(*(np.flatnonzero(row).tolist() for row in allowed))
    values = [global_reward(graph, tables, arms) for arms in joint]
    result = brute_force(Objective(graph, tables, allowed))
    assert result.value == pytest.approx(max(values))
    assert result.lower_bound == pytest.approx(min(values))
    assert allowed[np.arange(5), result.arms].all()


def test_too_many_joint_arms_are_refused_with_their_number() -> None:
    with pytest.raises(InvalidArgument, match="16,777,216 joint arms"):
        brute_force(Objective(Graph.circle(n_nodes=24), MAX_CUT))
    with pytest.raises(InvalidArgument, match=r"about 10\^30103 joint arms"):
        brute_force(Objective(Graph.circle(n_nodes=100_000), MAX_CUT))
