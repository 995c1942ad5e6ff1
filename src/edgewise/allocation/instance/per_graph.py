"""What depends on the graph only is computed once per graph and forgotten with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from edgewise.network.graph import Graph

_R = TypeVar("_R")


def per_graph(function: Callable[[Graph], _R]) -> Callable[[Graph], _R]:
    """Remember ``function(graph)`` for as long as the graph lives.

    An oracle is called thousands of times on one graph, each time with other tables. Graphs are
    immutable and compared by identity, so remembering changes nothing but the time. The result
    must not hold the graph itself, or neither would ever be freed.

    >>> calls = []
    >>> count = per_graph(lambda graph: calls.append(graph.n_nodes))
    >>> graph = Graph.circle(n_nodes=3)
    >>> count(graph), count(graph), calls
    (None, None, [3])
    """
    known: WeakKeyDictionary[Graph, _R] = WeakKeyDictionary()

    @wraps(function)
    def remembered(graph: Graph) -> _R:
        try:
            return known[graph]
        except KeyError:
            result = known[graph] = function(graph)
            return result

    return remembered
