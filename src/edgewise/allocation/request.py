"""What the caller asked for, checked: where to start, how long, which bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.bounds import best_upper_bound
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective, checked_joint_arm
from edgewise.allocation.instance.result import ROUNDING, Allocation
from edgewise.allocation.instance.search import Allocator, Progress, Search, silent
from edgewise.allocation.starts.greedy import greedy
from edgewise.base.arrays import Indices
from edgewise.errors import InvalidArgument

Start: TypeAlias = Allocation | ArrayLike | Literal["greedy"] | None
Progressing: TypeAlias = Callable[[Progress], None] | Literal[False]

BOUNDS = ("fast", "tight", None)
_BUILDERS = ("bipartite", "two-arm", "greedy", "brute-force")
"""Methods that do not start from anything."""


def checked_search(
    objective: Objective,
    *,
    method: str | Allocator,
    bound: str | None,
    start: Start,
    rng: np.random.Generator | None,
    time_limit: float | None,
    progress: Progressing,
) -> Search:
    """The settings of a search, or what is wrong with them."""
    if bound not in BOUNDS:
        raise InvalidArgument(f'unknown bound {bound!r}; choose one of "fast", "tight", None')
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise InvalidArgument(
            f"rng is a {type(rng).__name__}; pass a generator, np.random.default_rng(seed)"
        )
    if time_limit is not None and not time_limit > 0.0:
        raise InvalidArgument(
            f"time_limit is {time_limit}; it is a positive number of seconds, or None for no limit"
        )
    if progress is not False and not callable(progress):
        raise InvalidArgument(
            f"progress is {progress!r}; pass a function to be called with a Progress, "
            "for example print, or False"
        )
    return Search(
        np.random.default_rng(0) if rng is None else rng,
        _checked_start(objective, start, method),
        Deadline(time_limit),
        progress or silent,
    )


def _checked_start(objective: Objective, start: Start, method: str | Allocator) -> Indices | None:
    """(n,) joint arm that the candidates allow."""
    if start is None:
        return None
    if method in _BUILDERS:
        raise InvalidArgument(
            f"method {method!r} builds its allocation from nothing, so start has no use; "
            'drop it, or use method="local-search", "anneal", "exact" or "auto"'
        )
    if isinstance(start, str):
        if start != "greedy":
            raise InvalidArgument(f'unknown start {start!r}; pass an allocation, arms or "greedy"')
        return greedy(objective).arms
    arms = start.arms if isinstance(start, Allocation) else start
    joint = checked_joint_arm(arms, objective.graph.n_nodes, objective.n_arms)
    if objective.candidates is not None:
        forbidden = np.flatnonzero(~objective.candidates[np.arange(len(joint)), joint])
        if len(forbidden):
            raise InvalidArgument(
                f"start gives node {forbidden[0]} arm {joint[forbidden[0]]}, which its candidates "
                "do not allow; start from an allocation for the same candidates"
            )
    return joint


def searching(search: Search, bound: str | None) -> Search:
    """The part of a limited time that is for the search: half if a tight bound must follow."""
    return search.shortened(0.5) if bound == "tight" else search


def tightened(
    objective: Objective, found: Allocation, search: Search, bound: str | None
) -> Allocation:
    """The allocation with the best upper bound of the effort asked for."""
    if bound is None or found.proved_optimal:
        return found
    search.tell("bound", found)
    left = None if search.deadline.limit is None else max(search.deadline.remaining, 0.1)
    best = best_upper_bound(
        objective, effort=bound, time_limit=left, rng=search.rng, value=found.value
    )
    if best.value >= found.upper_bound:
        return found
    return replace(
        found,
        upper_bound=max(best.value, found.value),  # by rounding alone
        proved_optimal=found.value >= best.value - ROUNDING * abs(best.value),
        bound=best.name,
        failure_probability=best.failure_probability,
    )
