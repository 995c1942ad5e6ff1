"""The optimum itself, on forests and on graphs not much wider."""

from __future__ import annotations

import math

import numpy as np

from edgewise.allocation.instance.links import Links
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.optimum.elimination import Elimination, eliminate
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled

SMALL, LARGE = 1 << 20, 1 << 24
"""Entries of the largest table that is worth a try at once, and of the largest at all."""
_WORK = 20
"""Times as many entries may be computed in total."""


def dynamic_programming(objective: Objective, largest: int = LARGE) -> Allocation | None:
    r"""The best allocation if an elimination of low width is found, else None.

    Eliminating node v leaves to its remaining neighbours N(v) the table

    .. math:: \mu_v[a_{N(v)}] = \max_{a_v} \Big( u_v[a_v] + \sum_{u \in N(v)} w_{uv} W[a_u, a_v]
              + \sum_{c} \mu_c[a_v, a_{N(v)}] \Big)

    over the tables :math:`\mu_c` in which v is next. Exact for any kinds, directions, weights,
    node terms and candidates, in ``O(n K^(w + 1))`` for an elimination of width w.
    """
    K = objective.n_arms
    width = int(math.log(largest) / math.log(K)) - 1 if K > 1 else objective.graph.n_nodes
    width = min(max(width, 1), objective.graph.n_nodes)
    found = eliminate(objective.graph, width, 20 * largest)
    if found is None or not _affordable(found, K, largest):
        return None
    arms = _solve(objective.links, objective.rows, objective.node_tables, *found)
    return objective.optimum(arms, method="dynamic-programming")


def _affordable(elimination: Elimination, n_arms: int, largest: int) -> bool:
    """Forests always are; otherwise the tables are counted."""
    widths = np.diff(elimination.starts)
    return int(widths.max()) <= 1 or float((float(n_arms) ** (widths + 1)).sum()) <= _WORK * largest


@compiled
def _solve(
    links: Links, rows: Array, own: Array, order: Indices, starts: Indices, scopes: Indices
) -> Indices:
    """Tables forwards, arms backwards."""
    n, n_arms = own.shape
    position = np.empty(n, np.int64)
    position[order] = np.arange(n)
    bases = np.zeros(n + 1, np.int64)
    widest = 1
    for t in range(n):
        size = n_arms ** (starts[t + 1] - starts[t])
        bases[t + 1] = bases[t] + size
        widest = max(widest, size)
    tables = np.empty(bases[n])
    work = np.empty(widest * n_arms)
    child, sibling = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    for t in range(n):
        scope = scopes[starts[t] : starts[t + 1]]
        size = bases[t + 1] - bases[t]
        _collect(links, rows, own, order[t], scope, position, work, size)
        c = child[t]
        while c >= 0:
            inner = scopes[starts[c] : starts[c + 1]]
            _add_table(tables[bases[c] : bases[c + 1]], inner, scope, n_arms, work, size)
            c = sibling[c]
        for o in range(size):
            tables[bases[t] + o] = work[o * n_arms : (o + 1) * n_arms].max()
        if len(scope):
            parent = position[scope[0]]
            sibling[t], child[parent] = child[parent], t
    return _read_back(links, rows, own, order, starts, scopes, tables, bases, child, sibling)


@compiled
def _collect(
    links: Links,
    rows: Array,
    own: Array,
    v: int,
    scope: Indices,
    position: Indices,
    work: Array,
    size: int,
) -> None:
    """Node v's own reward and its edges to later nodes; the first of the scope varies fastest."""
    n_arms = own.shape[1]
    for o in range(size):
        work[o * n_arms : (o + 1) * n_arms] = own[v]
    for p in range(links.starts[v], links.starts[v + 1]):
        u = links.neighbours[p]
        if position[u] < position[v]:
            continue
        step = 1
        for node in scope:
            if node == u:
                break
            step *= n_arms
        slot = links.slots[p] if len(links.slots) else 0
        w = links.weights[p] if len(links.weights) else 1.0
        for o in range(size):
            row = rows[slot, (o // step) % n_arms]
            for k in range(n_arms):
                work[o * n_arms + k] += w * row[k]


@compiled
def _add_table(
    table: Array, inner: Indices, scope: Indices, n_arms: int, work: Array, size: int
) -> None:
    """Add the table of an earlier node, whose first node is the one being eliminated."""
    steps = np.zeros(len(scope), np.int64)
    step = n_arms
    for node in inner[1:]:
        for s in range(len(scope)):
            if scope[s] == node:
                steps[s] = step
        step *= n_arms
    digits = np.zeros(len(scope), np.int64)
    place = 0
    for o in range(size):
        for k in range(n_arms):
            work[o * n_arms + k] += table[place + k]
        for s in range(len(scope)):  # count up by one, the first digit fastest
            place += steps[s]
            digits[s] += 1
            if digits[s] < n_arms:
                break
            place -= n_arms * steps[s]
            digits[s] = 0


@compiled
def _read_back(
    links: Links,
    rows: Array,
    own: Array,
    order: Indices,
    starts: Indices,
    scopes: Indices,
    tables: Array,
    bases: Indices,
    child: Indices,
    sibling: Indices,
) -> Indices:
    n, n_arms = own.shape
    arms = np.full(n, -1, np.int64)
    for t in range(n - 1, -1, -1):
        v = order[t]
        field = own[v].copy()
        for p in range(links.starts[v], links.starts[v + 1]):
            a = arms[links.neighbours[p]]
            if a >= 0:
                w = links.weights[p] if len(links.weights) else 1.0
                field += w * rows[links.slots[p] if len(links.slots) else 0, a]
        c = child[t]
        while c >= 0:
            place, step = bases[c], n_arms
            for node in scopes[starts[c] + 1 : starts[c + 1]]:
                place += arms[node] * step
                step *= n_arms
            field += tables[place : place + n_arms]
            c = sibling[c]
        arms[v] = field.argmax()
    return arms
