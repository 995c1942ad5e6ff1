"""One pass over the nodes by conditional expectations: as good as the best random law tried."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.links import Links
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.per_graph import per_graph
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.starts.mean_field import best_law
from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.base.compiled import compiled
from edgewise.network.graph import Graph

_HUGE = 3_000_000
"""Edges whose neighbour lists leave the cache."""


def greedy(objective: Objective) -> Allocation:
    r"""Every node in turn takes the arm best for its expected reward; ``O(K m)``.

    Nodes not yet decided are thought of as drawing their arm from a law p, independently. Each
    decision keeps the conditional expectation of F from falling, so with one kind and every arm
    everywhere

    .. math:: F(a) \ge \mathbb E_p[F] = m\, p^\top W p

    for the p used: the best that :func:`best_law` tried. In general, :math:`F(a) \ge
    \mathbb E_p[F]` with p restricted to the candidates of each node and rescaled.
    """
    return objective.certify(decide(objective, best_law(objective)), method="greedy")


def decide(objective: Objective, law: Array) -> Indices:
    """(n,) the joint arm of one pass, with undecided nodes distributed as ``law`` (K,)."""
    masks, groups = objective.grouped_candidates
    laws = _restricted(law, masks)
    means = np.einsum("gl,slk->gsk", laws, objective.rows)
    order = by_degree(objective.graph)
    return _decide(
        objective.links, objective.rows, objective.node_rewards, masks, groups, means, order
    )


def _restricted(law: Array, masks: Mask) -> Array:
    """(C, K) the law on the candidates of each group; uniform where it gives them nothing."""
    laws = np.where(masks, law, 0.0)
    total = laws.sum(axis=1, keepdims=True)
    uniform = masks / masks.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0.0, laws / np.where(total > 0.0, total, 1.0), uniform))


@per_graph
def by_degree(graph: Graph) -> Indices:
    """(n,) nodes, those with most neighbours first: they have most to lose from a bad arm.

    In a huge graph as they come: jumping about would take three times as long.
    """
    if len(graph.edges) > _HUGE:
        return frozen(np.arange(graph.n_nodes), np.int32)
    return frozen(np.argsort(-graph.degrees, kind="stable"), np.int32)


@compiled
def _decide(
    links: Links,
    rows: Array,
    unary: Array,
    masks: Mask,
    groups: Indices,
    means: Array,
    order: Indices,
) -> Indices:
    n_arms = rows.shape[-1]
    arms = np.full(len(order), -1, np.int64)
    field = np.empty(n_arms)
    for i in order:
        for k in range(n_arms):
            field[k] = unary[i, k] if len(unary) else 0.0
        for p in range(links.starts[i], links.starts[i + 1]):
            j = links.neighbours[p]
            slot = links.slots[p] if len(links.slots) else 0
            w = links.weights[p] if len(links.weights) else 1.0
            row = means[groups[j], slot] if arms[j] < 0 else rows[slot, arms[j]]
            for k in range(n_arms):
                field[k] += w * row[k]
        for k in range(n_arms):
            if masks[groups[i], k] and (arms[i] < 0 or field[k] > field[arms[i]]):
                arms[i] = k
    return arms
