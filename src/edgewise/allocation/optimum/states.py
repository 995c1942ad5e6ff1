"""The joint arms that a frontier may have, each with the most that was earned on the way to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.optimum.completions import Completion
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled


class States(NamedTuple):
    """Room for joint arms of a frontier, found by their number."""

    numbers: Indices
    """(room,) the joint arm, its arms as digits."""
    earned: Array
    """(room,) the most that the decided nodes and edges can have earned."""
    bounds: Array
    """(room,) no allocation through this state is worth more."""
    parents: Indices
    """(room,) the state before the last decision."""
    arms: Indices
    """(room,) which arm was the last decision, as a digit."""
    table: Indices
    """(at least 2 room,) where to find a number: open addressing, -1 where empty."""

    @classmethod
    def empty(cls, room: int) -> States:
        """Room for at least so many."""
        slots = 1 << int(2 * room - 1).bit_length()
        return cls(
            np.empty(room, np.int64),
            np.empty(room),
            np.empty(room),
            np.empty(room, np.int32),
            np.empty(room, np.int16),
            np.full(slots, -1, np.int32),
        )


class Decision(NamedTuple):
    """A node to be decided, seen from the frontier before; digit d of place j is an arm."""

    radices: Indices
    """(f,) number of arms that each node of the frontier may take."""
    choices: Indices
    """(f, K) the arm of every digit."""
    strides: Indices
    """(f + 1,) weight of every digit in the numbers to come; 0 for nodes that leave."""
    own: Array
    """(D,) what the new node earns by itself, for each of its digits."""
    gains: Array
    """(f, K, D) what it earns with a node of the frontier: ``[that node's arm, its own digit]``."""
    rest: Completion
    """Of what remains undecided, for the frontier and the new node."""
    joined: Indices
    """(p, 2) places of the frontier whose pairs of arms matter to ``rest``."""
    ahead: Array
    """(f + 1, K, D) its pairs with the new node, by the arm and the new node's digit; the last
    is the new node's own, in row 0."""


@compiled
def expand(
    numbers: Indices,
    earned: Array,
    offset: int,
    decision: Decision,
    threshold: float,
    states: States,
    count: int,
) -> tuple[int, float]:
    """Add all that can follow from some states; return how many there are, and the threshold.

    What cannot exceed ``threshold`` is dropped. When the room is full the worse half is dropped
    and the threshold raised.
    """
    f, n_choices = len(decision.radices), len(decision.own)
    arms = np.empty(f, np.int64)
    worth, rest = np.empty(n_choices), np.empty(n_choices)
    for s in range(len(numbers)):
        base = _read(numbers[s], decision, arms)
        _judge(earned[s], decision, arms, worth, rest)
        for d in range(n_choices):
            bound = worth[d] + rest[d]
            if not bound > threshold:
                continue
            if count == len(states.numbers):
                threshold = max(threshold, _drop_worse_half(states))
                count //= 2
                if not bound > threshold:
                    continue
            number = base + decision.strides[f] * d
            slot = _find(states, number)
            if states.table[slot] < 0:
                states.table[slot] = count
                states.numbers[count] = number
                states.earned[count] = -np.inf
                count += 1
            place = states.table[slot]
            if worth[d] > states.earned[place]:
                states.earned[place], states.bounds[place] = worth[d], bound
                states.parents[place], states.arms[place] = offset + s, d
    return count, threshold


@compiled
def _read(number: int, decision: Decision, arms: Indices) -> int:
    """Write the arms of a frontier; return its number among the next without the new node."""
    base = 0
    for j in range(len(arms)):
        digit = number % decision.radices[j]
        number //= decision.radices[j]
        arms[j] = decision.choices[j, digit]
        base += digit * decision.strides[j]
    return base


@compiled
def _judge(earned: float, decision: Decision, arms: Indices, worth: Array, rest: Array) -> None:
    """Write what is earned after each choice, and the most that may follow."""
    f, completion = len(arms), decision.rest
    common = completion.constant
    for j in range(f):
        common += completion.nodes[j, arms[j]]
    for p in range(len(decision.joined)):
        j, i = decision.joined[p, 0], decision.joined[p, 1]
        common += completion.pairs[j, i, arms[j], arms[i]]
    for d in range(len(worth)):
        worth[d] = earned + decision.own[d]
        rest[d] = common + decision.ahead[f, 0, d]
    for j in range(f):
        gains, ahead = decision.gains[j, arms[j]], decision.ahead[j, arms[j]]
        for d in range(len(worth)):
            worth[d] += gains[d]
            rest[d] += ahead[d]


@compiled
def _find(states: States, number: int) -> int:
    """The slot that has this number, or the empty one where it belongs."""
    last = len(states.table) - 1
    # Fibonacci hashing (Knuth): the high bits of a product with 2^64 / golden ratio
    slot = (np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)
    place = int(slot) & last
    while states.table[place] >= 0 and states.numbers[states.table[place]] != number:
        place = (place + 1) & last
    return place


@compiled
def _drop_worse_half(states: States) -> float:
    """Keep the half with the larger bounds; return the largest bound dropped."""
    order = np.argsort(-states.bounds, kind="mergesort")
    half = len(order) // 2
    kept = np.sort(order[:half])
    dropped = float(states.bounds[order[half]])
    states.numbers[:half] = states.numbers[kept]
    states.earned[:half] = states.earned[kept]
    states.bounds[:half] = states.bounds[kept]
    states.parents[:half] = states.parents[kept]
    states.arms[:half] = states.arms[kept]
    states.table[:] = -1
    for place in range(half):
        states.table[_find(states, states.numbers[place])] = place
    return dropped
