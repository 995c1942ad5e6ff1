"""The min-fill rule on linked neighbour lists, compiled."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from edgewise.base.arrays import Indices, Mask
from edgewise.base.compiled import compiled

_JOINS = 5_000_000
"""Edges that an elimination may add before it is given up: 120 MB."""


class Lists(NamedTuple):
    """Neighbours of each node as linked cells; eliminated nodes stay until somebody passes."""

    heads: Indices
    """(n,) first cell of each node, -1 when there is none."""
    lengths: Indices
    """(n,) cells of each node."""
    degrees: Indices
    """(n,) neighbours not yet eliminated."""
    alive: Mask
    """(n,)"""
    nodes: Indices
    """Node in each cell."""
    following: Indices
    """Next cell, -1 at the end."""
    used: Indices
    """(2,) cells in use, steps spent."""


@compiled
def min_fill(
    starts: Indices, neighbours: Indices, width: int, work: int
) -> tuple[bool, Indices, Indices, Indices]:
    """Whether all nodes went within ``width`` and ``work``; order, scope starts, scopes."""
    n = len(starts) - 1
    lists = _lists(starts, neighbours, width)
    position = np.full(n, n, np.int64)
    order = np.empty(n, np.int64)
    scope_starts = np.zeros(n + 1, np.int64)
    scopes = np.empty(len(lists.nodes) // 2, np.int32)  # each edge is in one scope
    fills = np.full(n, -1, np.int64)
    near = np.empty(width + 1, np.int64)
    heap = [0 for _ in range(0)]  # empty, of integers
    for i in range(n):
        fills[i] = _fill(lists, i, width, near)
        if fills[i] >= 0:
            heap.append(int(fills[i]) * n + i)
    heapify(heap)
    t = 0
    while len(heap) and lists.used[1] <= work:
        key = heappop(heap)
        i = key % n
        if not lists.alive[i] or fills[i] != key // n:
            continue  # eliminated, or its key has changed since
        d = _gather(lists, i, width, near)
        order[t], position[i] = i, t
        scopes[scope_starts[t] : scope_starts[t] + d] = near[:d]
        scope_starts[t + 1] = scope_starts[t] + d
        t += 1
        if not _remove(lists, i, near[:d].copy()):
            return False, order, scope_starts, scopes
        _refresh(lists, scopes[scope_starts[t - 1] : scope_starts[t]], key >= n, fills, heap, width)
    _sort_scopes(scope_starts, scopes, position, t)
    return t == n, order, scope_starts, scopes[: scope_starts[t]].copy()


@compiled
def _lists(starts: Indices, neighbours: Indices, width: int) -> Lists:
    """Cells for the given links, and room for joins: an elimination leaves n * width in all."""
    n = len(starts) - 1
    room = len(neighbours) + 2 * min(n * width, _JOINS)
    lists = Lists(
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.ones(n, np.bool_),
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.zeros(2, np.int64),
    )
    for i in range(n):
        for p in range(starts[i], starts[i + 1]):
            j = neighbours[p]
            if i < j and not _joined(lists, i, j):  # two arcs may join the same two nodes
                _join(lists, i, j)
    return lists


@compiled
def _joined(lists: Lists, i: int, j: int) -> bool:
    if lists.lengths[j] < lists.lengths[i]:
        i, j = j, i
    cell = lists.heads[i]
    while cell >= 0:
        lists.used[1] += 1
        if lists.nodes[cell] == j:
            return True
        cell = lists.following[cell]
    return False


@compiled
def _join(lists: Lists, i: int, j: int) -> bool:
    """Make two nodes neighbours; False when there is no room."""
    if lists.used[0] + 2 > len(lists.nodes):
        return False
    a, b = np.int64(i), np.int64(j)
    for _ in range(2):
        cell = lists.used[0]
        lists.used[0] += 1
        lists.nodes[cell], lists.following[cell] = b, lists.heads[a]
        lists.heads[a] = cell
        lists.lengths[a] += 1
        lists.degrees[a] += 1
        a, b = b, a
    return True


@compiled
def _gather(lists: Lists, i: int, width: int, near: Indices) -> int:
    """Write the neighbours left to node ``i`` and unlink the others; their number."""
    count, before, cell = 0, -1, lists.heads[i]
    while cell >= 0 and count <= width:
        lists.used[1] += 1
        if lists.alive[lists.nodes[cell]]:
            near[count] = lists.nodes[cell]
            count += 1
            before = cell
        else:
            lists.lengths[i] -= 1
            if before < 0:
                lists.heads[i] = lists.following[cell]
            else:
                lists.following[before] = lists.following[cell]
        cell = lists.following[cell]
    return count


@compiled
def _fill(lists: Lists, i: int, width: int, near: Indices) -> int:
    """How many pairs of neighbours of node ``i`` are not joined; -1 with too many neighbours."""
    if lists.degrees[i] > width:
        return -1
    d = _gather(lists, i, width, near)
    missing = 0
    for a in range(d):
        for b in range(a):
            missing += not _joined(lists, near[a], near[b])
    return missing


@compiled
def _remove(lists: Lists, i: int, near: Indices) -> bool:
    """Take node ``i`` out and join its neighbours; False when there is no room."""
    lists.alive[i] = False
    for a in range(len(near)):
        lists.degrees[near[a]] -= 1
        for b in range(a):
            if not _joined(lists, near[a], near[b]) and not _join(lists, near[a], near[b]):
                return False
    return True


@compiled
def _refresh(
    lists: Lists, near: Indices, joined: bool, fills: Indices, heap: list[int], width: int
) -> None:
    """New keys for the neighbours of an eliminated node, and if it joined some, for theirs."""
    n = len(fills)
    room = np.empty(width + 1, np.int64)
    beyond = np.empty(width + 1, np.int64)
    for i in near:
        fills[i] = _fill(lists, i, width, room)
        if fills[i] >= 0:
            heappush(heap, int(fills[i]) * n + int(i))
        if not joined or lists.degrees[i] > width:
            continue
        for b in range(_gather(lists, i, width, beyond)):
            j = beyond[b]
            fills[j] = _fill(lists, j, width, room)
            if fills[j] >= 0:
                heappush(heap, int(fills[j]) * n + int(j))


@compiled
def _sort_scopes(starts: Indices, scopes: Indices, position: Indices, count: int) -> None:
    for t in range(count):
        for a in range(starts[t] + 1, starts[t + 1]):
            node, b = scopes[a], a
            while b > starts[t] and position[scopes[b - 1]] > position[node]:
                scopes[b] = scopes[b - 1]
                b -= 1
            scopes[b] = node
