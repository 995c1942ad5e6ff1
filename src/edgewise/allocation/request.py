"""What the caller asked for, checked: which method, from where, how long, which bound."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.bounds import best_upper_bound
from edgewise.allocation.bounds.best import EFFORTS
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective, checked_joint_arm
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.instance.search import Allocator, Progress, Search, on_stderr, silent
from edgewise.allocation.starts.greedy import greedy
from edgewise.base.arrays import Indices
from edgewise.base.choice import pick
from edgewise.base.randomness import Rng, generator
from edgewise.errors import InvalidArgument, WeakBound

Start: TypeAlias = Allocation | ArrayLike | Literal["greedy"] | None
Progressing: TypeAlias = Callable[[Progress], None] | bool

_BUILDERS = ("bipartite", "two-arm", "greedy", "brute-force")
"""Methods that do not start from anything."""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """How to allocate; each setting means what it means to :func:`~edgewise.allocate`."""

    method: str | Allocator = "auto"
    bound: str | None = "fast"
    start: Start = None
    rng: Rng = 0
    time_limit: float | None = None
    progress: Progressing = False

    def __post_init__(self) -> None:
        if self.bound is not None:
            pick("bound", self.bound, EFFORTS, own="None for the one at no cost")
        if not isinstance(self.progress, bool) and not callable(self.progress):
            raise InvalidArgument(
                f"progress is {self.progress!r}; pass True for a line per stage, a function to be "
                "called with a Progress, for example print, or False"
            )

    def search(self, objective: Objective) -> Search:
        """The settings of a search that begins now."""
        return Search(
            generator(self.rng),
            _checked_start(objective, self.start, self.method),
            Deadline(self.time_limit),
            on_stderr() if self.progress is True else self.progress or silent,
        )

    def before_bound(self, search: Search) -> Search:
        """The part of a limited time that is for the search: half if a tight bound must follow."""
        return search.shortened(0.5) if self.bound == "tight" else search

    def bounded(self, objective: Objective, found: Allocation, search: Search) -> Allocation:
        """The allocation with the best upper bound of the effort asked for."""
        if self.bound is None or found.proved_optimal:
            return found
        search.tell("bound", found)
        left = None if search.deadline.limit is None else max(search.deadline.remaining, 0.1)
        try:
            best = best_upper_bound(
                objective, effort=self.bound, time_limit=left, rng=search.rng, value=found.value
            )
        except MemoryError:  # the search has done its work: that is not lost
            warnings.warn(
                f"there was not enough memory for the bound of effort {self.bound!r}; the "
                f"allocation is kept, with the bound {found.bound!r}: pass bound=None, or use a "
                "machine with more memory for a better one",
                WeakBound,
                stacklevel=4,
            )
            return found
        return found.with_bound(best.value, best.name, best.failure_probability)


_STARTS: dict[str, Callable[[Objective], Allocation]] = {"greedy": greedy}
"""Starts by their public name."""


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
        return pick("start", start, _STARTS, own="an allocation or its arms")(objective).arms
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
