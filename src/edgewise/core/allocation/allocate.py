"""The entry point: choose a method, run it, return the allocation with its bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from edgewise.core.allocation.bipartite import bipartite
from edgewise.core.allocation.brute_force import brute_force
from edgewise.core.allocation.constant import constant
from edgewise.core.allocation.local_search import local_search
from edgewise.core.allocation.objective import Objective
from edgewise.core.allocation.result import Allocation
from edgewise.core.allocation.tables import tables_of
from edgewise.core.allocation.two_arm import best_pair, two_arm
from edgewise.core.allocation.two_colouring import two_colouring
from edgewise.core.graph import Graph
from edgewise.core.whitening import checked_arms
from edgewise.errors import InvalidArgument


class Allocator(Protocol):
    """A method: from what to maximise to an allocation with its bounds."""

    def __call__(self, objective: Objective, /) -> Allocation:
        """Allocate."""
        ...


def allocate(
    graph: Graph,
    arms: ArrayLike,
    matrix: ArrayLike,
    *,
    method: str = "auto",
    beta: ArrayLike | None = None,
    candidates: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    time_limit: float | None = None,
) -> Allocation:
    r"""An arm for every node, maximising the global reward of a known model.

    .. math:: F(a) = \sum_{\text{arcs } (i,j)} w_{ij} \,
              (x_{a_i}^\top M_{\kappa(ij)} x_{a_j} + x_{a_i}^\top \beta_{\kappa(ij)})

    Parameters
    ----------
    graph
        Who interacts with whom; an undirected edge counts in both directions.
    arms
        (K, d), one row per arm.
    matrix
        M: (d, d), or (q, d, d) with one matrix per edge kind.
    method
        ``"auto"``: best effort, optimal at once where that is easy, never below Algorithm 1.
        ``"bipartite"``: Algorithm 1 of the paper (undirected, one kind, no candidates).
        ``"two-arm"``: the best ordered pair of arms for the same cut (no candidates).
        ``"local-search"``: best response from the best simple start.
        ``"brute-force"``: every joint arm, exact, at most 10^7 of them.
    beta
        Node term: (d,), or (q, d); None when there is none.
    candidates
        (n, K) boolean, True where a node may take an arm; None when all may take all.
    rng, time_limit
        Checked, but reserved: the present methods are deterministic and finish quickly.

    Returns
    -------
    Allocation
        Its ``method`` names what found the arms, so after ``"auto"`` it is the method chosen.

    Examples
    --------
    >>> allocate(Graph.circle(n_nodes=4), [[1, 0], [0, 1]], [[0, 1], [1, 0]])
    Allocation(n_nodes=4, value=8, upper_bound=8, proved optimal, method='two-colouring')
    """
    tables = tables_of(checked_arms(arms), matrix, beta, n_kinds=graph.n_kinds)
    return allocate_tables(
        graph, tables, method=method, candidates=candidates, rng=rng, time_limit=time_limit
    )


def allocate_tables(
    graph: Graph,
    tables: ArrayLike,
    *,
    method: str = "auto",
    candidates: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    time_limit: float | None = None,
) -> Allocation:
    """:func:`allocate` from the rewards themselves: (q, K, K) tables, or (K, K) for all kinds.

    On undirected graphs only the symmetric part of a table matters and is used.
    """
    if method not in METHODS:
        raise InvalidArgument(
            f"unknown allocation method {method!r}; choose one of {', '.join(map(repr, METHODS))}"
        )
    _check_effort(rng, time_limit)
    return METHODS[method](Objective.of(graph, tables, candidates))


def automatic(objective: Objective) -> Allocation:
    """The first start that is provably optimal, else the best start improved by local search."""
    found: list[Allocation] = []
    for start in _starts(objective):
        if start.proved_optimal:
            return start
        found.append(start)
    return _improved(objective, found)


def _local_search(objective: Objective) -> Allocation:
    return _improved(objective, list(_starts(objective)))


def _starts(objective: Objective) -> Iterator[Allocation]:
    """Cheap allocations, cheapest first."""
    yield constant(objective)
    if objective.candidates is not None:
        return  # the others give one pair of arms to all nodes
    sides = two_colouring(objective.graph)
    if sides is not None:
        yield objective.certify(best_pair(objective, sides), method="two-colouring")
    yield two_arm(objective)


def _improved(objective: Objective, starts: list[Allocation]) -> Allocation:
    best = max(starts, key=lambda start: start.value)
    return local_search(objective, best.arms)


def _check_effort(rng: np.random.Generator | None, time_limit: float | None) -> None:
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise InvalidArgument(
            f"rng is a {type(rng).__name__}; pass a generator, np.random.default_rng(seed)"
        )
    if time_limit is not None and not time_limit > 0.0:
        raise InvalidArgument(
            f"time_limit is {time_limit}; it is a positive number of seconds, or None for no limit"
        )


METHODS: dict[str, Allocator] = {
    "auto": automatic,
    "bipartite": bipartite,
    "two-arm": two_arm,
    "local-search": _local_search,
    "brute-force": brute_force,
}
"""Every method by its public name."""
