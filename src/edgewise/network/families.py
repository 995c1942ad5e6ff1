"""The paper's four families of graphs, by name."""

from __future__ import annotations

from functools import cache

from edgewise.base.choice import pick
from edgewise.network.graph import Graph

FAMILIES = {
    "star": Graph.star,
    "complete": Graph.complete,
    "circle": Graph.circle,
    "matching": Graph.matching,
}


@cache
def graph_of(family: str, n_edges: int) -> Graph:
    """The member of a family with m observed directions.

    >>> graph_of("star", 12).n_nodes
    7
    """
    return pick("graph family", family, FAMILIES, own="a graph of your own")(n_edges=n_edges)
