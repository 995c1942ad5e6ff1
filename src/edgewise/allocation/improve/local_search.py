"""Best response: move one node at a time to its best arm until none can improve."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.links import Links, write_field
from edgewise.allocation.instance.objective import Objective, checked_joint_arm
from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled

_EPS = np.finfo(float).eps
_VISITS = 1 << 20
"""Nodes visited between two looks at the clock: a fraction of a second."""


class Queue(NamedTuple):
    """Nodes waiting for a visit, first in, first out, in a ring."""

    nodes: Indices
    """(n,)"""
    waits: Mask
    """(n,) whether a node is in the queue."""
    ends: Indices
    """Where the first is, and how many there are."""


def local_search(objective: Objective, start: ArrayLike) -> Allocation:
    r"""Coordinate ascent on F from a given joint arm; the value never falls.

    A visited node i takes the arm that maximises its part of F,

    .. math:: H_i[k] = u_i[k] + \sum_{\text{arcs } (i,j)} w_{ij} W[k, a_j] +
              \sum_{\text{arcs } (j,i)} w_{ji} W[a_j, k],

    in ``O(K deg(i))``; after a move its neighbours are visited again. Deterministic: nodes wait
    in a first-in-first-out queue, ties keep the present arm, then the lowest index. Any kinds,
    directions, weights, node terms and candidates.

    A move must gain more than rounding can fake, so every move raises F in exact arithmetic
    and the search ends.

    Parameters
    ----------
    objective
        What to maximise.
    start
        (n,) joint arm. A node that may not take its arm moves to one it may, whatever the gain.
    """
    arms = checked_joint_arm(start, objective.graph.n_nodes, objective.n_arms).copy()
    ascend(objective, arms)
    return objective.certify(arms, method="local-search")


def ascend(objective: Objective, arms: Indices, deadline: Deadline | None = None) -> None:
    """:func:`local_search` in place, on a valid joint arm; no further than the deadline.

    Stopped early it has still never lowered F. With candidates every node is visited once
    whatever the time, lest one keep an arm it may not take.
    """
    masks, groups = objective.grouped_candidates
    n = len(arms)
    queue = Queue(np.arange(n, dtype=np.int32), np.ones(n, bool), np.array([0, n]))
    visits = _VISITS if objective.candidates is None else n
    # bytes where they suffice: the arms of neighbours are read at random, out of the cache
    small = objective.n_arms <= 256
    compact: Indices = arms.astype(np.uint8) if small else arms.astype(np.int32)
    rows, own = objective.rows, objective.node_rewards
    while _ascend(objective.links, rows, own, masks, groups, compact, queue, visits):
        if deadline is not None and deadline.passed:
            break
    arms[:] = compact


@compiled
def _best_allowed(field: Array, allowed: Mask, present: int) -> int:
    best = present if allowed[present] else -1
    for k in range(len(field)):
        if allowed[k] and (best < 0 or field[k] > field[best]):
            best = k
    return best


@compiled
def _largest(responses: Array) -> Array:
    """(slots,) largest absolute entry of each response table."""
    largest = np.empty(len(responses))
    for slot in range(len(responses)):
        largest[slot] = np.abs(responses[slot]).max()
    return largest


@compiled
def _field_size(links: Links, largest: Array, unary: Array, i: int) -> float:
    """What the absolute terms of a field of node ``i`` sum to at most."""
    size = np.abs(unary[i]).max() if len(unary) else 0.0
    for p in range(links.starts[i], links.starts[i + 1]):
        w = abs(links.weights[p]) if len(links.weights) else 1.0
        size += w * largest[links.slots[p] if len(links.slots) else 0]
    return size


@compiled
def _ascend(
    links: Links,
    responses: Array,
    unary: Array,
    masks: Mask,
    groups: Indices,
    arms: Indices,
    waiting: Queue,
    visits: int,
) -> bool:
    """Visit so many nodes; whether any are left to visit."""
    n, (queue, waits, ends) = len(arms), waiting
    largest = _largest(responses)
    field = np.empty(responses.shape[-1])
    head, length = ends[0], ends[1]
    while length and visits:
        visits -= 1
        i = queue[head]
        head = head + 1 if head + 1 < n else 0
        length -= 1
        waits[i] = False
        write_field(links, responses, unary, arms, i, field)
        allowed = masks[groups[i]]
        best = _best_allowed(field, allowed, arms[i])
        if best == arms[i]:
            continue
        # two sums of deg + 1 terms, each off by at most (deg + 2) eps/2 size: doubled
        degree = links.starts[i + 1] - links.starts[i]
        margin = 2.0 * (degree + 2) * _EPS * _field_size(links, largest, unary, i)
        if allowed[arms[i]] and not field[best] - field[arms[i]] > margin:
            continue
        arms[i] = best
        for p in range(links.starts[i], links.starts[i + 1]):
            j = links.neighbours[p]
            if not waits[j]:
                waits[j] = True
                last = head + length
                queue[last if last < n else last - n] = j
                length += 1
    ends[0], ends[1] = head, length
    return bool(length > 0)
