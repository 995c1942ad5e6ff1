"""Allocations that differ from a given one at few nodes only."""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop, heappush

import numpy as np

from edgewise.allocation.improve.local_search import local_search
from edgewise.allocation.instance.links import Links, write_field
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled


def with_few_changes(
    objective: Objective, arms: Indices, home: Indices, most: int, last: Mask
) -> Indices:
    """A joint arm (n,) that differs from ``home`` (n,) at ``most`` nodes at most.

    The better of two greedy ways. The nodes of ``arms`` return to ``home`` one after the other, the
    one whose return costs least first: nodes that only gain together stay together. Or nodes leave
    ``home``, the one that gains most first. Those that are then away move to their best arms. Nodes
    in ``last`` (n,) may not stay at home: they return last and leave first.
    """
    if int((arms != home).sum()) <= most:
        return arms
    start = home.astype(np.int64)
    given = objective.links, objective.rows, objective.node_rewards
    returned, left = arms.astype(np.int64), start.copy()
    _return_cheapest(*given, returned, start, last, most)
    _leave_for_most(*given, objective.allowed, left, start, last, most)
    found = [_settled(objective, few, start) for few in (returned, left)]
    return max(found, key=lambda few: (int((few != home)[last].sum()), objective.value(few)))


def _settled(objective: Objective, arms: Indices, home: Indices) -> Indices:
    """Nodes that are away at their best arms, the others as they are."""
    here = np.arange(objective.n_arms) == arms[:, None]
    away = (arms != home)[:, None]
    free = replace(objective, candidates=here | (objective.allowed & away))
    found: Indices = local_search(free, arms).arms
    return found


@compiled
def _loss(
    links: Links,
    responses: Array,
    unary: Array,
    arms: Indices,
    home: Indices,
    i: int,
    field: Array,
) -> float:
    """What the return of node ``i`` costs, the others as they are."""
    write_field(links, responses, unary, arms, i, field)
    return float(field[arms[i]] - field[home[i]])


@compiled
def _return_cheapest(
    links: Links,
    responses: Array,
    unary: Array,
    arms: Indices,
    home: Indices,
    last: Mask,
    most: int,
) -> None:
    field, losses = np.empty(responses.shape[-1]), np.empty(len(arms))
    neighbours = links.neighbours.astype(np.int64)  # the type that nodes have in the heap
    heap, away = [(0, 0.0, -1)], 0
    for i in range(len(arms)):
        if arms[i] != home[i]:
            away += 1
            losses[i] = _loss(links, responses, unary, arms, home, i, field)
            heappush(heap, (int(last[i]), losses[i], i))
    while away > most:
        _, loss, i = heappop(heap)
        if i < 0 or arms[i] == home[i] or loss != losses[i]:  # came back, or is out of date
            continue
        arms[i] = home[i]
        away -= 1
        for p in range(links.starts[i], links.starts[i + 1]):
            j = neighbours[p]
            if arms[j] != home[j]:
                losses[j] = _loss(links, responses, unary, arms, home, j, field)
                heappush(heap, (int(last[j]), losses[j], j))


@compiled
def _leave_for_most(
    links: Links,
    responses: Array,
    unary: Array,
    allowed: Mask,
    arms: Indices,
    home: Indices,
    last: Mask,
    most: int,
) -> None:
    field, targets = np.empty(responses.shape[-1]), np.empty(len(arms), np.int64)
    gains = np.empty(len(arms))
    for i in range(len(arms)):
        gains[i], targets[i] = _best_gain(links, responses, unary, allowed, arms, i, last, field)
    for _ in range(most):
        i = int(gains.argmax())
        if not gains[i] > 0.0:
            return
        arms[i], gains[i] = targets[i], -np.inf
        for p in range(links.starts[i], links.starts[i + 1]):
            j = links.neighbours[p]
            if arms[j] == home[j]:
                gains[j], targets[j] = _best_gain(
                    links, responses, unary, allowed, arms, j, last, field
                )


@compiled
def _best_gain(
    links: Links,
    responses: Array,
    unary: Array,
    allowed: Mask,
    arms: Indices,
    i: int,
    last: Mask,
    field: Array,
) -> tuple[float, int]:
    """What node ``i`` gains by its best allowed arm, and which that is; no limit if it must go."""
    write_field(links, responses, unary, arms, i, field)
    best = -1
    for k in range(len(field)):
        if allowed[i, k] and k != arms[i] and (best < 0 or field[k] > field[best]):
            best = k
    if best < 0:
        return -np.inf, best
    return (np.inf if last[i] else field[best] - field[arms[i]]), best
