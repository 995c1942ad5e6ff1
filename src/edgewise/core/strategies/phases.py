"""Phases: what each is for, and when it is over.

Rounds come in phases. Inside a phase, joint arms may depend on the rewards of earlier phases only;
that is what the proofs of the stopping rules ask for. When a phase ends, the target says which
contrasts are open and what they need. That is the aim of the next phase; how the aim becomes joint
arms is the strategy's own business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from edgewise.base.border import border
from edgewise.core.aim import Aim
from edgewise.core.evidence.coverage import sees, sees_everything
from edgewise.core.evidence.measuring import all_of
from edgewise.core.evidence.optimism import growth
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState

_MOST_CONTRASTS = 256
"""A phase is laid out for so many contrasts at most, those that need most."""

_PATIENCE = 20
"""A phase that cannot make its contrasts estimable (missing rewards) ends after so many times
its length in overtime, rather than never."""


_WITH_LEVELS = 4
_SHORTEST_CAP = 8


class Phasing(Protocol):
    """How rounds are divided into phases."""

    @property
    def is_endless(self) -> bool:
        """Whether there is one phase only: joint arms never depend on rewards."""

    def first(self) -> Aim:
        """What the first phase is laid out for."""

    def next(self, state: LearnerState, open: Aim | None) -> Aim:  # noqa: A002
        """What the next phase is laid out for, given the contrasts that are open when it starts.

        ``open`` is None while some direction has not been observed.
        """

    def is_over(self, cells: Cells, state: LearnerState) -> bool:
        """Whether the present phase ends here; must not depend on its rewards."""


@dataclass(frozen=True)
class OnePhase:
    """Joint arms never depend on rewards."""

    is_endless: bool = True

    def first(self) -> Aim:
        """Everything alike."""
        return Aim.everything(0)

    def next(self, state: LearnerState, open: Aim | None) -> Aim:  # noqa: A002, ARG002
        """Never asked for."""
        return state.aim

    def is_over(self, cells: Cells, state: LearnerState) -> bool:  # noqa: ARG002
        """Never."""
        return False


@border
@dataclass(frozen=True)
class GrowingPhases:
    """Each phase lasts ``growth`` times the rounds so far, at least ``shortest``."""

    growth: float
    shortest: int = 1
    is_endless: bool = False

    def first(self) -> Aim:
        """Everything alike, for longer if it takes more to see every direction."""
        return Aim.everything(self.shortest)

    def next(self, state: LearnerState, open: Aim | None) -> Aim:  # noqa: A002
        """The open contrasts that need most."""
        length = max(self.shortest, int(self.growth * state.rounds))
        if open is None:  # rewards were missing: some direction is still unseen
            return Aim.everything(length)
        return open.at_most(_MOST_CONTRASTS, length=length)

    def surely_left(self, state: LearnerState) -> int:
        """Rounds to come that belong to the present phase, whatever they show."""
        return max(1, state.aim.length - state.phase_rounds)

    def is_over(self, cells: Cells, state: LearnerState) -> bool:
        """After its length, once its contrasts (at first: all directions) can be estimated."""
        aim = state.aim
        if state.phase_rounds < aim.length:
            return False
        if state.phase_rounds >= overtime(cells, state) + _PATIENCE * aim.length:
            return True
        if len(aim.kinds) == 0:
            return sees_everything(cells, state.statistics)
        return sees(cells, state.statistics, aim)


@dataclass(frozen=True)
class EvenPhases:
    """A first phase until everything can be estimated; then phases of equal length."""

    shortest: int
    length: int
    is_endless: bool = False

    def first(self) -> Aim:
        """Everything alike."""
        return Aim.everything(self.shortest)

    def next(self, state: LearnerState, open: Aim | None) -> Aim:  # noqa: A002, ARG002
        """Everything alike."""
        return Aim.everything(self.length)

    def is_over(self, cells: Cells, state: LearnerState) -> bool:
        """The first as long as it takes, the others after their length."""
        if state.phase_rounds < state.rounds:
            return state.phase_rounds >= self.length
        return GrowingPhases(0.0, self.shortest).is_over(cells, state)


@dataclass(frozen=True)
class InformationPhases:
    """A first phase until everything can be estimated; then phases that each add information.

    A phase is over when log det A has grown by ``growth``, in some kind; or after a quarter of the
    rounds so far, at least eight, lest missing rewards keep it for ever.
    """

    first_phase: Phasing
    growth: float
    is_endless: bool = False

    def first(self) -> Aim:
        """The other strategy's."""
        return self.first_phase.first()

    def next(self, state: LearnerState, open: Aim | None) -> Aim:  # noqa: A002, ARG002
        """Everything alike, for when rewards were missing."""
        return Aim.everything(self.first().length)

    def is_over(self, cells: Cells, state: LearnerState) -> bool:
        """By the information of the phase and of those before it."""
        closed = state.closed
        before = all_of(closed[:-1], closed[-1]) if len(closed) else None
        if before is None or not sees_everything(cells, before):
            return self.first_phase.is_over(cells, state)
        if state.phase_rounds >= max(_SHORTEST_CAP, state.rounds // 4):
            return True
        pairs = zip(before.grams(cells), state.statistics.grams(cells), strict=True)
        return any(growth(A, more) >= self.growth for A, more in pairs)


@dataclass(frozen=True)
class ShareOfRounds:
    """Phases of a share of the rounds before, at least one: whatever they have shown."""

    share: float
    is_endless: bool = False

    def first(self) -> Aim:
        """One round."""
        return Aim.everything(1)

    def next(self, state: LearnerState, open: Aim | None) -> Aim:  # noqa: A002, ARG002
        """Everything alike."""
        return Aim.everything(max(1, int(self.share * state.rounds)))

    def is_over(self, cells: Cells, state: LearnerState) -> bool:  # noqa: ARG002
        """After its length."""
        return state.phase_rounds >= state.aim.length


@dataclass(frozen=True)
class ShortPhases:
    """The phases of another strategy, cut short after so many rounds."""

    inner: Phasing
    most: int
    is_endless: bool = False

    def first(self) -> Aim:
        """The other strategy's."""
        return self.inner.first()

    def next(self, state: LearnerState, open: Aim | None) -> Aim:  # noqa: A002
        """The other strategy's."""
        return self.inner.next(state, open)

    def is_over(self, cells: Cells, state: LearnerState) -> bool:
        """After so many rounds, or when the other strategy has seen enough."""
        return state.phase_rounds >= self.most or self.inner.is_over(cells, state)


def overtime(cells: Cells, state: LearnerState) -> int:
    """Rounds by which a phase can estimate its contrasts unless rewards are missing.

    Its length, and one for every parameter: an edge shows one cell a round.
    """
    return state.aim.length + cells.n_parameters


def shortest_phase(problem: Problem) -> int:
    """Rounds that a phase lasts at least: with a level per channel, one of T rounds loses 1/T."""
    return _WITH_LEVELS if problem.has_channel_levels else 1
