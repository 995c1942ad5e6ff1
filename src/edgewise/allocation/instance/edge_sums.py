"""Sums over all edges: the reward of a joint arm, and the least and most it could be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled
from edgewise.network.graph import Graph


class Network(NamedTuple):
    """The graph as compiled code reads it; ``kinds`` and ``weights`` are empty when absent."""

    starts: Indices
    neighbours: Indices
    edge_ids: Indices
    edges: Indices
    kinds: Indices
    weights: Array

    @classmethod
    def of(cls, graph: Graph) -> Network:
        """The arrays of a graph and of its adjacency; nothing is copied."""
        rows = graph.adjacency
        return cls(rows.starts, rows.neighbours, rows.edge_ids, *graph.columns)


def free_extremes(graph: Graph, tables: Array) -> tuple[float, float]:
    """Least and most that one arc per edge could sum to when every node may take every arm."""
    positive, negative = _weight_totals(graph)
    least, most = tables.min(axis=(1, 2)), tables.max(axis=(1, 2))
    return float(positive @ least + negative @ most), float(positive @ most + negative @ least)


def masked_extremes(
    graph: Graph, tables: Array, masks: Mask, groups: Indices
) -> tuple[float, float]:
    """The same when node ``i`` may take the arms ``masks[groups[i]]``."""
    least, most = _extremes_by_group(tables, masks)
    lower, upper = _sum_extremes(*graph.columns, masks, groups, least, most)
    return float(lower), float(upper)


def node_extremes(unary: Array, candidates: Mask | None) -> tuple[Array, Array]:
    """(n,) least and most that every node could earn by its own arm."""
    allowed = True if candidates is None else candidates
    least = unary.min(axis=1, where=allowed, initial=np.inf)
    most = unary.max(axis=1, where=allowed, initial=-np.inf)
    return least, most


def absolute_weight(graph: Graph) -> float:
    """Sum of the absolute weights of all edges."""
    return float(len(graph.edges) if graph.weights is None else np.abs(graph.weights).sum())


def _weight_totals(graph: Graph) -> tuple[Array, Array]:
    """(q,) sums of the positive and of the negative weights of each kind."""
    if graph.weights is None:
        return sum_by_kind(graph, None), np.zeros(graph.n_kinds)
    above, below = np.maximum(graph.weights, 0.0), np.minimum(graph.weights, 0.0)
    return sum_by_kind(graph, above), sum_by_kind(graph, below)


def sum_by_kind(graph: Graph, values: Array | None) -> Array:
    """(q,) sums over the edges of each kind of numbers (E,); how many there are when None."""
    if graph.kinds is not None:
        return np.bincount(graph.kinds, values, graph.n_kinds).astype(float)
    # numpy sums pairwise, bincount does not
    return np.array([len(graph.edges) if values is None else values.sum()], dtype=float)


@compiled
def _add(total: float, lost: float, term: float) -> tuple[float, float]:
    """``total + term``, and what this and earlier additions rounded away (Knuth's two-sum)."""
    result = total + term
    back = result - total
    return result, lost + ((total - (result - back)) + (term - back))


@compiled
def sum_over_arcs(
    edges: Indices,
    kinds: Indices,
    weights: Array,
    directed: bool,
    tables: Array,
    unary: Array,
    arms: Indices,
) -> float:
    """F(a), correct to the last places whatever the number of edges; no temporary arrays."""
    total, lost = 0.0, 0.0
    for e in range(len(edges)):
        a, b = arms[edges[e, 0]], arms[edges[e, 1]]
        q = kinds[e] if len(kinds) else 0
        reward = tables[q, a, b]
        if not directed:
            reward += tables[q, b, a]
        if len(weights):
            reward *= weights[e]
        total, lost = _add(total, lost, reward)
    for i in range(len(unary)):
        total, lost = _add(total, lost, unary[i, arms[i]])
    return total + lost


@compiled
def _extremes_by_group(tables: Array, masks: Mask) -> tuple[Array, Array]:
    """(G, q, K): least and most of ``W_q[k, l]`` over the arms ``l`` that a group may take."""
    n_kinds, n_arms, _ = tables.shape
    least = np.full((len(masks), n_kinds, n_arms), np.inf)
    most = np.full((len(masks), n_kinds, n_arms), -np.inf)
    for g in range(len(masks)):
        for q in range(n_kinds):
            for k in range(n_arms):
                for other in range(n_arms):
                    if masks[g, other]:
                        least[g, q, k] = min(least[g, q, k], tables[q, k, other])
                        most[g, q, k] = max(most[g, q, k], tables[q, k, other])
    return least, most


@compiled
def _sum_extremes(
    edges: Indices,
    kinds: Indices,
    weights: Array,
    masks: Mask,
    groups: Indices,
    least: Array,
    most: Array,
) -> tuple[float, float]:
    lower, lower_lost, upper, upper_lost = 0.0, 0.0, 0.0, 0.0
    for e in range(len(edges)):
        first, second = groups[edges[e, 0]], groups[edges[e, 1]]
        q = kinds[e] if len(kinds) else 0
        w = weights[e] if len(weights) else 1.0
        low, high = np.inf, -np.inf
        for k in range(masks.shape[1]):
            if masks[first, k]:
                low = min(low, least[second, q, k])
                high = max(high, most[second, q, k])
        if w < 0.0:
            low, high = high, low
        lower, lower_lost = _add(lower, lower_lost, w * low)
        upper, upper_lost = _add(upper, upper_lost, w * high)
    return lower + lower_lost, upper + upper_lost
