"""How a method is to search: from where, how long, with which random numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Indices
from edgewise.base.randomness import generator


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search stands."""

    stage: str
    """What is being done."""
    value: float
    """F of the best allocation so far."""
    upper_bound: float
    """No allocation is worth more."""
    seconds: float
    """Since the call."""


def silent(_: Progress, /) -> None:
    """Tell nobody."""


def on_stderr() -> Callable[[Progress], None]:
    """A line for whoever asked for progress=True: when a stage begins, or its value has risen."""
    last: list[tuple[str, float]] = []

    def say(now: Progress, /) -> None:
        if last != [(now.stage, now.value)]:
            last[:] = [(now.stage, now.value)]
            gap = f"{now.value:.6g} of at most {now.upper_bound:.6g}"
            sys.stderr.write(f"{now.stage}: {gap}, {now.seconds:.0f} s\n")

    return say


@dataclass(frozen=True, slots=True)
class Search:
    """The settings that methods share; each uses those that concern it."""

    rng: np.random.Generator = field(default_factory=lambda: generator(0))
    """The only source of randomness."""
    start: Indices | None = None
    """(n,) joint arm to start from; the answer is never worse."""
    deadline: Deadline = field(default_factory=Deadline)
    """Without a limit the effort is fixed by the size of the problem, not by the clock."""
    report: Callable[[Progress], None] = silent
    """Called now and then."""
    patient: bool = True
    """Go on until the deadline if there is one; else stop after the default effort."""

    def shortened(self, share: float) -> Search:
        """The same with a share of the time left, when time is limited."""
        if self.deadline.limit is None:
            return self
        return replace(self, deadline=Deadline(max(share * self.deadline.remaining, 1e-3)))

    def tell(self, stage: str, best: Allocation) -> None:
        """Report the best allocation so far."""
        seconds = self.deadline.seconds
        self.report(Progress(stage, best.value, best.upper_bound, seconds))


class Allocator(Protocol):
    """A method: from what to maximise to an allocation with its bounds."""

    def __call__(self, objective: Objective, search: Search, /) -> Allocation:
        """Allocate."""
        ...
