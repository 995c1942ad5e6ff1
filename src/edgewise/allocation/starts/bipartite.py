"""Algorithm 1: cut the graph greedily, show the best pair of arms across the cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.instance.edge_sums import Network
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.per_graph import per_graph
from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Indices, Mask, frozen
from edgewise.base.compiled import compiled
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph


def bipartite(objective: Objective) -> Allocation:
    r"""Algorithm 1 of the paper, in ``O(K^2 + n + m)``.

    With :math:`(k, l) = \arg\max W` the nodes of one side of :func:`greedy_cut` take arm k, those
    of the other side arm l. At least half of the arcs cross, the others show
    :math:`W[k,k]` or :math:`W[l,l]`, and :math:`F_{\min} \le m \min_k W[k,k]`; hence

    .. math:: \frac{F - F_{\min}}{F_{\max} - F_{\min}} \ge \frac12

    wherever :func:`half_guarantee_holds`. Negative weights are accepted without that guarantee.
    """
    _require_setting(objective)
    k, l = np.unravel_index(objective.tables[0].argmax(), objective.tables[0].shape)
    arms = np.where(greedy_cut(objective.graph), l, k)
    return objective.certify(arms, method="bipartite")


@per_graph
def greedy_cut(graph: Graph) -> Mask:
    """(n,) True for the nodes of V2, False for those of V1.

    Nodes in order; a node joins V2 if it has strictly more neighbours in V1 than in V2 among
    the nodes before it, else V1. With weights, "more" compares the sums of the weights of the
    edges to either side (the paper has no weights). If they are >= 0, at least half of the
    total weight crosses. Direction and kind are ignored.

    >>> greedy_cut(Graph.circle(n_nodes=5)).tolist()
    [False, True, False, True, False]
    """
    cut: Mask = frozen(_greedy_sides(Network.of(graph)) < 0, np.bool_)
    return cut


def half_guarantee_holds(graph: Graph, candidates: ArrayLike | None = None) -> bool:
    """Whether Algorithm 1 reaches half of the differential reward on this graph.

    One kind, both directions, weights >= 0, all arms everywhere: the setting of the proof.
    """
    return graph.is_uniform and (candidates is None or bool(np.all(candidates)))


def _require_setting(objective: Objective) -> None:
    graph = objective.graph
    obstacles = {
        "the edges are directed": graph.directed,
        f"there are {graph.n_kinds} edge kinds": graph.n_kinds > 1,
        "some nodes may not take all arms": objective.candidates is not None,
        "nodes earn rewards by their own arm": objective.unary is not None,
    }
    found = [fact for fact, present in obstacles.items() if present]
    if found:
        raise InvalidArgument(
            f"{' and '.join(found)}; Algorithm 1 is defined for undirected edges of one kind, "
            'all arms everywhere and no node term: use method="auto" or "local-search"'
        )


@compiled
def _greedy_sides(network: Network) -> Indices:
    """(n,) +1 in V1, -1 in V2; 0 while unassigned, so that a plain sum sees only earlier nodes."""
    sides = np.zeros(len(network.starts) - 1, np.int8)
    for i in range(len(sides)):
        balance = 0.0
        for p in range(network.starts[i], network.starts[i + 1]):
            side = sides[network.neighbours[p]]
            if len(network.weights):
                balance += network.weights[network.edge_ids[p]] * side
            else:
                balance += side
        sides[i] = -1 if balance > 0.0 else 1
    return sides
