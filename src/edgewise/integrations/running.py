"""Trying methods on a system that is simulated: what they deploy, and what they recommend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.base.randomness import Rng, draw_seed, generator
from edgewise.core.learner import Learner
from edgewise.core.local.estimate import LocalEstimate
from edgewise.core.model.problem import Problem
from edgewise.core.strategies import Strategy
from edgewise.errors import InvalidArgument


class System(Protocol):
    """A network whose true rewards a simulator knows."""

    @property
    def problem(self) -> Problem:
        """What is to be chosen, and what is measured."""

    @property
    def today(self) -> Indices:
        """(n,) the joint arm in use."""

    def means(self, arms: Indices) -> Array:
        """(R, C) what joint arms (R, n) would show without noise."""

    def measured(self, arms: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
        """(R, C) what a round with each joint arm (R, n) shows, NaN where missing; and the means.

        Together, since simulators that add noise to the means need not compute them twice.
        """

    def worths(self, totals: Array) -> Array:
        """(R,) what sums of the numbers are worth, above 0: of logarithms, the exponential."""


@dataclass(frozen=True, eq=False)
class Trail:
    """What a method did: joint arms deployed, and recommended after some rounds."""

    name: str
    worths: Array
    """(R,) true worth of every round."""
    marks: Indices
    """(M,) rounds after which it was asked for its answer."""
    recommended: Indices
    """(M, n)"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "worths", frozen(self.worths, float))
        object.__setattr__(self, "marks", frozen(self.marks, np.int64))
        object.__setattr__(self, "recommended", frozen(self.recommended, np.int64))


@dataclass(frozen=True, eq=False)
class Exploration:
    """A run of edgewise: its trail, and the model after the last round."""

    trail: Trail
    estimate: LocalEstimate
    learner: Learner


def measured_totals(system: System, arms: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
    """(R,) measured totals and true worths of joint arms (R, n); missing numbers count as 0."""
    numbers, means = system.measured(arms, rng)
    return np.nansum(numbers, axis=1), system.worths(means.sum(axis=1))


def gain_of(system: System, change: float) -> float:
    """What a change of the total is from today on, as a share of today's worth."""
    today = float(system.means(system.today[None]).sum())
    before, after = system.worths(np.array([today, today + change]))
    return float(after / before - 1.0)


def explore(
    system: System,
    strategy: Strategy,
    *,
    marks: Sequence[int],
    rng: Rng = None,
    watch: Callable[[Learner, float], None] | None = None,
) -> Exploration:
    """Let edgewise explore up to the last mark; the system's edges have matrices of their own.

    ``watch`` is called after every round with the learner and what the round was worth, measured.
    """
    checked = checked_marks(marks)
    random = generator(rng)
    # rounds go on to the last mark: with a gate a contradicted run ends once its estimate settles,
    # and methods could not be compared at the same marks; a trial judges the answer instead
    learner = Learner(system.problem, strategy=strategy, trust_model=True, rng=draw_seed(random))
    worths, answers = [], []
    for number in range(1, int(checked[-1]) + 1):
        ticket = learner.ask()
        numbers, means = system.measured(ticket.arms[None], random)
        learner.tell(ticket, numbers[0])
        worths.append(float(system.worths(means.sum(axis=1))[0]))
        if watch is not None:
            watch(learner, float(system.worths(np.nansum(numbers, axis=1))[0]))
        if number in checked:
            estimate = learner.local_estimate()
            answers.append(system.today if estimate is None else estimate.allocation.arms)
    if estimate is None:
        raise InvalidArgument(
            f"{len(worths)} rounds show nothing, as every number has a level of its own; try more"
        )
    trail = Trail("edgewise", np.array(worths), checked, np.array(answers))
    return Exploration(trail, estimate, learner)


def checked_marks(marks: Sequence[int]) -> Indices:
    """(M,) ascending rounds, at least one."""
    rounds = np.unique(np.asarray(marks, dtype=np.int64))
    if not len(rounds) or rounds[0] < 1:
        raise InvalidArgument(f"marks are {list(marks)}; give rounds from 1 on, at least one")
    return rounds
