"""The best two arms for a given cut of the nodes into two sides."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.starts.bipartite import greedy_cut
from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.base.compiled import compiled
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph


def two_arm(objective: Objective) -> Allocation:
    """The best ordered pair of arms for the cut of Algorithm 1, see :func:`best_pair`.

    Never worse than Algorithm 1, which uses the same cut, nor than the best common arm.
    """
    cut = greedy_cut(objective.graph)
    return objective.certify(best_pair(objective, cut), method="two-arm")


def best_pair(objective: Objective, cut: Mask) -> Indices:
    r"""(n,) joint arm: k where ``cut`` is False, l where True, for the best ordered (k, l).

    With :math:`m_{12}` arcs from the first side to the second, :math:`m_{21}` back, :math:`m_1`
    and :math:`m_2` inside (sums of weights when there are weights), it maximises

    .. math:: m_{12} W[k,l] + m_{21} W[l,k] + m_1 W[k,k] + m_2 W[l,l],

    summed over the kinds, plus what the nodes of either side earn themselves. For
    undirected edges :math:`W[k,l] = W[l,k]`, the published form.
    """
    if objective.candidates is not None:
        raise InvalidArgument(
            "some nodes may not take all arms, and a pair of arms serves all nodes; "
            'use method="auto" or "local-search"'
        )
    worth = pair_worth(arcs_by_side(objective.graph, cut), objective.tables)
    if objective.unary is not None:
        second = objective.unary[cut].sum(axis=0)
        worth += objective.unary[~cut].sum(axis=0)[:, None] + second
    k, l = np.unravel_index(worth.argmax(), worth.shape)
    return np.where(cut, l, k)


def arcs_by_side(graph: Graph, cut: Mask) -> Array:
    """(q, 2, 2) number (or weight) of the arcs of each kind from each side of a cut to each."""
    totals = sum_by_side(*graph.columns, frozen(cut, np.int8), graph.n_kinds)
    return totals if graph.directed else totals + totals.transpose(0, 2, 1)


def pair_worth(totals: Array, tables: Array) -> Array:
    """(K, K) what edges are worth if one side takes arm k and the other l.

    ``totals`` (q, 2, 2) are the arcs by side, ``tables`` (q, K, K) their rewards.
    """
    worth = np.zeros(tables.shape[1:])
    for ((inside1, across), (back, inside2)), W in zip(totals, tables, strict=True):
        diagonal = np.diagonal(W)
        worth += across * W + back * W.T + inside1 * diagonal[:, None] + inside2 * diagonal
    return worth


@compiled
def sum_by_side(
    edges: Indices, kinds: Indices, weights: Array, side: Indices, n_kinds: int
) -> Array:
    """(q, 2, 2) weight of the edges of each kind by the sides of their first and second node."""
    totals = np.zeros((n_kinds, 2, 2))
    for e in range(len(edges)):
        q = kinds[e] if len(kinds) else 0
        w = weights[e] if len(weights) else 1.0
        totals[q, side[edges[e, 0]], side[edges[e, 1]]] += w
    return totals
