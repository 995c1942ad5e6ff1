"""The optimum on sparse graphs of moderate width: bounds by odd cycles, states by the frontier."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.bounds.cycles.cycles import Packing
from edgewise.allocation.bounds.cycles.odd_cycles import table_packing
from edgewise.allocation.bounds.cycles.packing import is_small, odd_walks
from edgewise.allocation.bounds.cycles.short_cycles import short_odd_cycles
from edgewise.allocation.bounds.cycles.split_bound import (
    MOST_NUMBERS,
    Held,
    held_by_packing,
    split_size,
)
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation, meets
from edgewise.allocation.optimum.frontier import frontier_order
from edgewise.allocation.optimum.frontier_search import frontier_search

_PACKING_SECONDS = 3.0
_CYCLES_PER_EDGE = 4
_DESCENT = (3e-3, 150), (1e-3, 250)
"""Smoothing and rounds of the first bound."""
_AGAIN = 1e-3, 60
"""The same after a node was fixed."""
_BEAM, _ROOM = 1 << 13, 1 << 18
"""States of a search for a better allocation, and of one that is to prove that there is none."""


def has_narrow_frontiers(objective: Objective) -> bool:
    """Whether :func:`conditioned` may be tried: a matter of milliseconds."""
    graph, (masks, groups) = objective.graph, objective.grouped_candidates
    return is_small(graph) and frontier_order(graph, masks.sum(axis=1)[groups]) is not None


def conditioned(objective: Objective, best: Allocation, deadline: Deadline) -> Allocation | None:
    """The optimum, proved; or with the bound reached in time; or None where this does not pay.

    A frontier search settles most problems at once. Where it runs out of room, the free node
    that most walks visit is fixed on each of its arms in turn. The bound of each case is
    descended on again, which is often enough to discard it, and its frontier is narrower.
    """
    root = _split(objective, deadline) if has_narrow_frontiers(objective) else None
    if root is None:
        return None
    best, settled = _searched(objective, root, best, _BEAM, deadline)
    open_cases = [] if settled else [(root.bound.value, root)]
    while open_cases and not deadline.passed:
        bound, case = open_cases.pop()
        if meets(best.value, bound):
            continue
        best, settled = _searched(objective, case, best, _ROOM, deadline)
        if settled:
            continue
        if deadline.passed:
            open_cases.append((bound, case))
            break
        open_cases += _fixed(case, deadline)
    return _concluded(objective, best, [bound for bound, _ in open_cases])


def _split(objective: Objective, deadline: Deadline) -> Held | None:
    """The best split over packed and short odd cycles; None if there would be too many parts."""
    graph = objective.graph
    if graph.is_uniform:
        packing = table_packing(objective, seconds=_PACKING_SECONDS, deadline=deadline)
    else:
        packing = odd_walks(graph).packing
    cycles = packing.cycles.joined(short_odd_cycles(graph, _CYCLES_PER_EDGE * len(graph.edges)))
    if split_size(objective, cycles) > MOST_NUMBERS:
        return None
    amounts = np.zeros(len(cycles.lengths))
    amounts[: len(packing.amounts)] = packing.amounts
    held = held_by_packing(objective, Packing(cycles, amounts))
    for heat, rounds in _DESCENT:
        held = held.descended(heat, rounds, deadline)
    return held


def _searched(
    objective: Objective, case: Held, best: Allocation, room: int, deadline: Deadline
) -> tuple[Allocation, bool]:
    """The better of the best allocation and the case's own; whether the case is settled."""
    order = frontier_order(objective.graph, case.whole.allowed.sum(axis=1))
    assert order is not None  # nodes fixed since the first one can only narrow the frontier
    found = frontier_search(
        case, order, best.value, room=room, deadline=deadline, narrowing=room == _BEAM
    )
    if found.arms is not None:
        better = objective.certify(found.arms, method="exact")
        best = better if better.value > best.value else best
    return best, found.complete


def _fixed(case: Held, deadline: Deadline) -> list[tuple[float, Held]]:
    """The cases of one more node fixed, with their bounds, the most promising last."""
    whole = case.whole
    free = whole.allowed.sum(axis=1) > 1
    steps = np.bincount(whole.cycles.nodes, minlength=len(free))
    node = int(np.where(free, steps, -1).argmax())
    cases = []
    for arm in np.flatnonzero(whole.allowed[node]):
        allowed = whole.allowed.copy()
        allowed[node] = False
        allowed[node, arm] = True
        fixed = case._replace(whole=whole._replace(allowed=allowed))
        fixed = fixed.descended(*_AGAIN, deadline)
        cases.append((fixed.bound.value, fixed))
    return sorted(cases, key=lambda pair: pair[0])


def _concluded(objective: Objective, best: Allocation, bounds: list[float]) -> Allocation:
    """The optimum if no case is open, else what the open ones leave possible."""
    if bounds:
        return best.with_bound(max(best.value, *bounds), "branch-and-bound")
    return objective.optimum(best.arms, method="exact")
