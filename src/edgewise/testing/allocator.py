"""What an allocation method must keep to."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, ClassVar

import numpy as np

from edgewise.allocation.allocate import allocate_table
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.instance.search import Allocator, Search
from edgewise.base.arrays import Array, Indices
from edgewise.network.graph import Graph
from edgewise.testing.cases import OnCases

_CLOSE = 1e-9
"""Rounding, relative to the largest global reward."""

_PAIRS = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 0), (1, 4)]
_WEIGHTS = [1.0, 2.0, -1.0, 0.5, 1.0, -2.0, 0.1, 3.0]


def _objective(seed: int, *, n_arms: int = 3, **sort: Any) -> Objective:
    rng = np.random.default_rng(seed)
    directed = bool(sort.get("directed"))
    kinds = [0, 1] * 4 if sort.get("kinds") else None
    weights = _WEIGHTS if sort.get("weights") else None
    graph = Graph.from_edges(_PAIRS, directed=directed, kinds=kinds, weights=weights)
    raw = rng.normal(size=(graph.n_kinds, n_arms, n_arms))
    tables = raw if directed else 0.5 * (raw + raw.transpose(0, 2, 1))
    candidates = rng.random((6, n_arms)) < 0.6
    candidates[np.arange(6), rng.integers(n_arms, size=6)] = True
    return Objective.of(
        graph,
        tables,
        candidates if sort.get("candidates") else None,
        rng.normal(size=(6, n_arms)) if sort.get("unary") else None,
    )


_SORTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "one arm": {"n_arms": 1},
    "weights": {"weights": True},
    "directed": {"directed": True},
    "kinds": {"kinds": True},
    "candidates": {"candidates": True},
    "unary": {"unary": True},
    "everything": dict.fromkeys(("directed", "kinds", "weights", "candidates", "unary"), True),
}

OBJECTIVES: dict[str, tuple[Objective, ...]] = {
    name: tuple(_objective(seed, **sort) for seed in range(3)) for name, sort in _SORTS.items()
}
"""Three of every sort: six nodes, few enough arms to try all joint arms."""


class AllocatorContract(OnCases):
    """Subclass it as ``class TestMine(AllocatorContract)`` and return yours from ``allocator``.

    Where a method does not work on every sort of objective, set ``cases`` to some of
    ``OBJECTIVES``.
    """

    cases: ClassVar[Mapping[str, tuple[Objective, ...]]] = OBJECTIVES
    uses_start: ClassVar[bool] = True
    """Whether it starts from ``search.start`` if there is one; then it is never worse."""

    def allocator(self) -> Allocator:
        """Override: the method."""
        raise NotImplementedError("return the allocation method to be tested")

    def _found(self, objective: Objective, start: Indices | None = None) -> Allocation:
        return self.allocator()(objective, Search(np.random.default_rng(7), start))

    def test_every_node_gets_an_arm_it_may_have(self, case: tuple[Objective, ...]) -> None:
        """(n,) whole numbers among the candidates."""
        for objective in case:
            arms = self._found(objective).arms
            masks, groups = objective.grouped_candidates
            assert arms.shape == (objective.graph.n_nodes,)
            assert np.issubdtype(arms.dtype, np.integer)
            assert masks[groups, arms].all()

    def test_the_value_is_what_the_arms_are_worth(self, case: tuple[Objective, ...]) -> None:
        """Summed again, arc by arc."""
        for objective in case:
            found = self._found(objective)
            worth = _worth(objective, found.arms[None])[0]
            assert abs(found.value - worth) <= _CLOSE * (1.0 + abs(worth))

    def test_bounds_hold(self, case: tuple[Objective, ...]) -> None:
        """No joint arm is worth more than the upper or less than the lower bound."""
        for objective in case:
            found, worth = self._found(objective), _all_worth(objective)
            slack = _CLOSE * (1.0 + np.abs(worth).max())
            assert found.upper_bound >= worth.max() - slack
            assert found.lower_bound <= worth.min() + slack
            assert found.lower_bound <= found.value <= found.upper_bound

    def test_what_is_proved_optimal_is(self, case: tuple[Objective, ...]) -> None:
        """No joint arm is better."""
        for objective in case:
            found, worth = self._found(objective), _all_worth(objective)
            slack = _CLOSE * (1.0 + np.abs(worth).max())
            assert found.value >= worth.max() - slack or not found.proved_optimal

    def test_the_same_random_numbers_give_the_same_answer(
        self, case: tuple[Objective, ...]
    ) -> None:
        """All randomness comes from ``search.rng``."""
        for objective in case:
            first, second = self._found(objective), self._found(objective)
            assert np.array_equal(first.arms, second.arms)
            assert (first.value, first.upper_bound) == (second.value, second.upper_bound)

    def test_it_is_never_worse_than_its_start(self, case: tuple[Objective, ...]) -> None:
        """Whatever the start: here the best joint arm and the worst."""
        if not self.uses_start:
            return
        for objective in case:
            arms, worth = _all_arms(objective), _all_worth(objective)
            for start in (arms[worth.argmax()], arms[worth.argmin()]):
                found = self._found(objective, start)
                slack = _CLOSE * (1.0 + np.abs(worth).max())
                assert found.value >= objective.value(start) - slack

    def test_it_works_as_a_method_of_allocate(self, case: tuple[Objective, ...]) -> None:
        """Where a better upper bound is added, and the time may be limited."""
        for objective in case:
            found = allocate_table(
                objective.graph,
                objective.tables,
                method=self.allocator(),
                candidates=objective.candidates,
                unary=objective.unary,
                time_limit=0.05,
            )
            best = _all_worth(objective).max()
            assert found.value <= best + _CLOSE * (1.0 + abs(best))
            assert found.upper_bound >= best - _CLOSE * (1.0 + abs(best))
            assert found.method in repr(found)


def _all_arms(objective: Objective) -> Indices:
    """(A, n) every joint arm that the candidates allow."""
    masks, groups = objective.grouped_candidates
    options = [np.flatnonzero(masks[group]).tolist() for group in groups]
    return np.array(list(product(*options)))


def _all_worth(objective: Objective) -> Array:
    """(A,) of every joint arm."""
    return _worth(objective, _all_arms(objective))


def _worth(objective: Objective, arms: Indices) -> Array:
    """(A,) global rewards of joint arms (A, n), straight from the definition."""
    graph, total = objective.graph, np.zeros(len(arms))
    edges = zip(
        graph.edges.tolist(),
        graph.kind_of_edge.tolist(),
        graph.weight_of_edge.tolist(),
        strict=True,
    )
    for (i, j), kind, weight in edges:
        total += weight * objective.tables[kind, arms[:, i], arms[:, j]]
        if not graph.directed:
            total += weight * objective.tables[kind, arms[:, j], arms[:, i]]
    if objective.unary is not None:
        total += objective.unary[np.arange(graph.n_nodes), arms].sum(axis=1)
    return total
