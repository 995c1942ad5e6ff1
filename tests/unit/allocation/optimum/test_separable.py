"""Where arms do not interact every node decides for itself, and that is the optimum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import edgewise as ew
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.optimum.brute_force import brute_force
from edgewise.allocation.optimum.separable import separable


def instance(seed: int, *, directed: bool, interaction: float = 0.0) -> Objective:
    rng = np.random.default_rng(seed)
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]
    graph = ew.Graph.from_edges(
        edges, directed=directed, kinds=[0, 1, 0, 1, 1], weights=rng.standard_normal(5)
    )
    tables = rng.standard_normal((2, 3, 1)) + rng.standard_normal((2, 1, 3))
    tables += interaction * rng.standard_normal((2, 3, 3))
    candidates = rng.random((5, 3)) < 0.7
    candidates[:, 0] = True
    return Objective.of(graph, tables, candidates, rng.standard_normal((5, 3)))


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_best_arm_of_every_node_is_the_best_joint_arm(seed: int, directed: bool) -> None:
    objective = instance(seed, directed=directed)
    found, best = separable(objective), brute_force(objective)
    assert found is not None
    assert found.value == pytest.approx(best.value)
    assert found.proved_optimal


@pytest.mark.parametrize("directed", [True, False])
def test_tables_with_interaction_are_left_to_others(directed: bool) -> None:
    objective = instance(0, directed=directed, interaction=1e-6)
    assert separable(objective) is None


def test_automatic_search_uses_it() -> None:
    graph = ew.Graph.complete(n_nodes=30)
    unary = np.random.default_rng(0).standard_normal((30, 4))
    found = ew.allocate_table(graph, np.add.outer(np.arange(4.0), np.arange(4.0)), unary=unary)
    assert found.method == "separable"
    assert found.arms.tolist() == (unary + 2 * 29 * np.arange(4.0)).argmax(axis=1).tolist()
