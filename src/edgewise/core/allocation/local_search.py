"""Best response: move one node at a time to its best arm until none can improve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from edgewise.core.allocation.edge_sums import Network
from edgewise.core.allocation.objective import Objective, checked_joint_arm
from edgewise.core.allocation.result import Allocation
from edgewise.core.arrays import Array, Indices, Mask
from edgewise.core.compiled import compiled

_EPS = np.finfo(float).eps


def local_search(objective: Objective, start: ArrayLike) -> Allocation:
    r"""Coordinate ascent on F from a given joint arm; the value never falls.

    A visited node i takes the arm that maximises its part of F,

    .. math:: H_i[k] = \sum_{\text{arcs } (i,j)} w_{ij} W[k, a_j] +
              \sum_{\text{arcs } (j,i)} w_{ji} W[a_j, k],

    in ``O(K deg(i))``; after a move its neighbours are visited again. Deterministic: nodes wait
    in a first-in-first-out queue, ties keep the present arm, then the lowest index. Any kinds,
    directions, weights and candidates.

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
    _ascend(objective.network, objective.responses, *objective.grouped_candidates, arms)
    return objective.certify(arms, method="local-search")


@compiled
def write_field(
    network: Network, responses: Array, largest: Array, arms: Indices, i: int, field: Array
) -> float:
    """Write H_i into ``field``; return the sum of ``|w| largest[kind]``, its possible size."""
    field[:] = 0.0
    size = 0.0
    for p in range(network.starts[i], network.starts[i + 1]):
        e = network.edge_ids[p]
        w = network.weights[e] if len(network.weights) else 1.0
        q = network.kinds[e] if len(network.kinds) else 0
        side = 1 if len(responses) == 2 and network.edges[e, 0] != i else 0
        row = responses[side, q, arms[network.neighbours[p]]]
        for k in range(len(field)):
            field[k] += w * row[k]
        size += abs(w) * largest[q]
    return size


@compiled
def _best_allowed(field: Array, allowed: Mask, present: int) -> int:
    best = present if allowed[present] else -1
    for k in range(len(field)):
        if allowed[k] and (best < 0 or field[k] > field[best]):
            best = k
    return best


@compiled
def _ascend(
    network: Network, responses: Array, masks: Mask, groups: Indices, arms: Indices
) -> None:
    n = len(arms)
    largest = np.empty(responses.shape[1])
    for q in range(len(largest)):
        largest[q] = np.abs(responses[:, q]).max()
    field = np.empty(responses.shape[-1])
    queue = np.arange(n)
    waits = np.ones(n, np.bool_)
    head, length = 0, n
    while length:
        i = queue[head]
        head = (head + 1) % n
        length -= 1
        waits[i] = False
        size = write_field(network, responses, largest, arms, i, field)
        allowed = masks[groups[i]]
        best = _best_allowed(field, allowed, arms[i])
        # two sums of deg terms, each off by at most (deg + 1) eps/2 size: doubled
        degree = network.starts[i + 1] - network.starts[i]
        margin = 2.0 * (degree + 1) * _EPS * size
        if allowed[arms[i]] and not field[best] - field[arms[i]] > margin:
            continue
        arms[i] = best
        for p in range(network.starts[i], network.starts[i + 1]):
            j = network.neighbours[p]
            if not waits[j]:
                waits[j] = True
                queue[(head + length) % n] = j
                length += 1
