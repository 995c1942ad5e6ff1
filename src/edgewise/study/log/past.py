"""A study that was modelled anew: its first rounds were measured under another model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from edgewise.base.arrays import Indices
from edgewise.core.aim import Aim
from edgewise.core.design.g_optimal import Design
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.strategies import Plan
from edgewise.core.strategies.phases import Phasing
from edgewise.errors import InvalidArgument


@dataclass(frozen=True)
class Past:
    """The rounds that were seen before the model was chosen."""

    study: str
    """The study that measured them."""
    rounds: int
    phase_ends: tuple[int, ...]
    """The last round of every phase that they make here; the last of all is one."""
    follows: bool
    """Whether inside these phases joint arms depended on rewards."""

    @classmethod
    def of(cls, study: str, problem: Problem, rounds: int, phase_ends: tuple[int, ...]) -> Past:
        """Of rounds whose phases ended there, now seen under the model of ``problem``.

        The phases stay as they were: inside them joint arms do not depend on rewards, which is
        what the proofs of the rules need. With a level per channel, though, a phase of one round
        says nothing, and estimates per edge do not need phases: then all rounds are one.
        """
        ends = tuple(sorted({*phase_ends, rounds})) if rounds else ()
        together = problem.levels in ("channel", "both") or problem.pooling in ("partial", "auto")
        if together and len(ends) > 1:
            return cls(study, rounds, (rounds,), follows=True)
        return cls(study, rounds, ends, follows=False)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Past:
        """The inverse of :meth:`to_tree`."""
        ends = tuple(int(end) for end in tree["phase_ends"])
        return cls(tree["study"], int(tree["rounds"]), ends, bool(tree["follows"]))

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def __str__(self) -> str:
        """What it means for the guarantee, in words."""
        if not self.rounds:
            return f"The model was changed before the first round of study {self.study!r}."
        seen = "Round 1 was" if self.rounds == 1 else f"Rounds 1 to {self.rounds} were"
        if self.follows:
            return (
                f"{seen} seen (in study {self.study!r}) before this model was chosen, and their "
                "joint arms followed what was seen: no certificate that rests on them covers that; "
                "confirm it with a new study."
            )
        return (
            f"{seen} seen (in study {self.study!r}) before this model was chosen; a certificate "
            "that rests on them holds if the model does, and does not cover the choice of it."
        )


def after_past(setting: Setting, past: Past) -> Setting:
    """The setting of a study that begins with such rounds.

    Plans without phases need none as long as joint arms never depended on rewards.
    """
    in_phases = len(past.phase_ends) > 1 or past.follows
    if setting.plan.phasing.is_endless and not in_phases:
        return setting
    if in_phases and not setting.rule.allows_phases:
        raise InvalidArgument(
            f"in study {past.study!r} rewards decided what was deployed, and rule "
            f"{setting.rule.name!r} is proved only when they do not; use stopping='anytime' with "
            "strategy='adaptive', or stopping='mixture' with strategy='g-optimal'",
            argument="stopping",
        )
    return replace(setting, plan=_PlanAfter(setting.plan, past))


@dataclass(frozen=True)
class _PhasesAfter:
    """The phases of the past, then those of a strategy."""

    inner: Phasing
    past: Past
    is_endless: bool = False

    def first(self) -> Aim:
        return self.inner.first()

    def next(self, state: LearnerState, open: Aim | None) -> Aim:  # noqa: A002
        return self.inner.next(state, open)

    def is_over(self, cells: Cells, state: LearnerState) -> bool:
        if state.rounds <= self.past.rounds:
            return state.rounds in self.past.phase_ends
        return self.inner.is_over(cells, state)


@dataclass(frozen=True, eq=False)
class _PlanAfter:
    """A plan that takes over after the past."""

    inner: Plan
    past: Past

    @property
    def cells(self) -> Cells:
        return self.inner.cells

    @property
    def designs(self) -> tuple[Design, ...]:
        return self.inner.designs

    @property
    def stopping(self) -> str:
        return self.inner.stopping

    @property
    def ridge(self) -> float:
        return self.inner.ridge

    @property
    def phasing(self) -> _PhasesAfter:
        return _PhasesAfter(self.inner.phasing, self.past)

    def joint_arm(self, problem: Problem, state: LearnerState) -> Indices:
        return self.inner.joint_arm(problem, state)

    def to_tree(self) -> dict[str, Any]:
        return self.inner.to_tree()

    def from_tree(self, tree: Mapping[str, Any]) -> _PlanAfter:
        return replace(self, inner=self.inner.from_tree(tree))
