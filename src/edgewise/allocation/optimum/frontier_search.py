"""The best allocation by deciding node after node, keeping what may still beat the best known.

Ours because it carries the proof: no library drops states by the bounds of a split.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.bounds.cycles.split_bound import Held, absolute_size
from edgewise.allocation.bounds.cycles.step_tables import Whole
from edgewise.allocation.bounds.rounding import PAIRWISE, gamma
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.result import ROUNDING
from edgewise.allocation.optimum.completions import Rewards, completion
from edgewise.allocation.optimum.states import Decision, States, expand
from edgewise.base.arrays import Array, Indices, Mask

_SLICE = 1 << 14
"""States between two looks at the clock: some 20 ms."""


class Found(NamedTuple):
    """What a frontier search knows in the end."""

    arms: Indices | None
    """(n,) the best joint arm met that beats the value to beat; None if there was none."""
    complete: bool
    """Whether no better one can have been missed."""


class _Layer(NamedTuple):
    node: int
    parents: Indices
    arms: Indices


def frontier_search(
    held: Held,
    order: Indices,
    value: float,
    *,
    room: int,
    deadline: Deadline,
    narrowing: bool = True,
) -> Found:
    r"""The best allocation worth more than ``value``.

    Nodes are decided in the given order. Of all allocations of the decided nodes S that agree on
    the frontier b (decided nodes with undecided neighbours) only the best counts, so the states
    after each decision are the joint arms of the frontier, as in dynamic programming. A state
    that earned g is dropped when

    .. math:: g + h(b) \le \text{value}, \qquad
              h(b) \ge \max_{a : a_{\mathrm{frontier}} = b} F(a) - F_S(a)

    with h the :func:`completion` of a split. With the split's bound one percent above the value,
    as odd cycles give it on sparse graphs, a few thousand states are left out of
    :math:`10^{12}`.

    Parameters
    ----------
    held
        The objective, split.
    order
        (n,) from :func:`frontier_order`.
    value
        What is known to be reached.
    room
        States that may be kept at a time. Beyond, the ones with the lowest bounds are dropped
        (a beam search) and the search is not complete.
    deadline
        When to give up.
    narrowing
        Go on when states had to be dropped for lack of room; else give up then.
    """
    rewards = Rewards.of(*held)
    threshold = value + _tolerance(held, value)
    numbers: Indices = np.zeros(1, np.int64)
    earned = np.zeros(1)
    layers: list[_Layer] = []
    frontier: list[int] = []
    decided = np.zeros(len(order), bool)
    complete = True
    for node in order.tolist():
        decided[node] = True
        decision, frontier = _decision(rewards, frontier, node, decided)
        states = States.empty(min(room, len(numbers) * len(decision.own)))
        count, least = 0, threshold
        for at in range(0, len(numbers), _SLICE):
            part = slice(at, at + _SLICE)
            count, least = expand(numbers[part], earned[part], at, decision, least, states, count)
            complete = complete and least == threshold
            if deadline.passed or not (complete or narrowing):
                return Found(None, False)
        if count == 0:
            return Found(None, complete)
        numbers, earned = states.numbers[:count].copy(), states.earned[:count].copy()
        layers.append(_Layer(node, states.parents[:count].copy(), states.arms[:count].copy()))
    return Found(_read_back(layers, held.whole, int(earned.argmax())), complete)


def _tolerance(held: Held, value: float) -> float:
    """By how much a bound must exceed the value to count: what rounding may fake, and no more.

    A bound is a sum of all parts, each met a few times; ``error`` is the most that it is off by.
    Then no allocation exceeds the value by more than ``ROUNDING`` and twice the error.
    """
    whole, split = held
    terms = len(whole.unary) + len(whole.edges) + len(whole.cycles.edges)
    error = 4.0 * gamma(2.0 * terms + PAIRWISE) * absolute_size(whole, split)
    return ROUNDING * abs(value) + error


def _decision(
    rewards: Rewards, frontier: list[int], node: int, decided: Mask
) -> tuple[Decision, list[int]]:
    """What deciding ``node`` means for the states, and the frontier after it."""
    whole, (n, n_arms) = rewards.whole, rewards.nodes.shape
    both = [*frontier, node]
    place = np.full(n, -1)
    place[both] = np.arange(len(both))
    rest = completion(rewards, place, decided, len(both))
    remaining = _next_to_undecided(whole, decided)
    radices = whole.allowed[both].sum(axis=1)
    strides, following, size = np.zeros(len(both), np.int64), [], 1
    for j, i in enumerate(both):
        if remaining[i]:
            strides[j] = size
            size *= int(radices[j])
            following.append(i)
    digits = np.flatnonzero(whole.allowed[node])
    ahead = np.zeros((len(both), n_arms, len(digits)))
    ahead[:-1] = rest.pairs[-1, :-1, digits].transpose(1, 2, 0)
    ahead[-1, 0] = rest.nodes[-1, digits]
    decision = Decision(
        radices[:-1],
        np.argsort(~whole.allowed[frontier], axis=1, kind="stable"),
        strides,
        rewards.nodes[node, digits],
        np.ascontiguousarray(_gains(rewards, place, node, decided)[: len(frontier), :, digits]),
        rest,
        np.argwhere(rest.pairs[:-1, :-1].any(axis=(2, 3))),
        ahead,
    )
    return decision, following


def _gains(rewards: Rewards, place: Indices, node: int, decided: Mask) -> Array:
    """(f + 1, K, K) what ``node`` earns with each place of the frontier."""
    n_arms = rewards.nodes.shape[1]
    gains = np.zeros((int(place.max()) + 1, n_arms, n_arms))
    for (i, j), table in zip(rewards.whole.edges, rewards.shared, strict=True):
        if node in (i, j) and decided[i] and decided[j]:
            gains[place[i + j - node]] += table if j == node else table.T
    return gains


def _next_to_undecided(whole: Whole, decided: Mask) -> Mask:
    """(n,) whether a node has an edge to an undecided one."""
    near = np.zeros(len(decided), bool)
    first, second = whole.edges.T
    near[first[~decided[second]]] = True
    near[second[~decided[first]]] = True
    return near


def _read_back(layers: list[_Layer], whole: Whole, state: int) -> Indices:
    """(n,) the decisions that led to the last state."""
    arms = np.empty(len(layers), np.int64)
    for node, parents, digits in reversed(layers):
        arms[node] = np.flatnonzero(whole.allowed[node])[digits[state]]
        state = int(parents[state])
    return arms
