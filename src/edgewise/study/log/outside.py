"""Rounds that were deployed before a study, or outside of it: a phase of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from edgewise.base.arrays import Array, Indices
from edgewise.core.setting import Setting
from edgewise.study.log.given_phases import PlanWithPhases

SOURCE = "deployed outside of the study"
"""What added rounds are called if the user says nothing."""


@dataclass(frozen=True)
class Outside:
    """Rounds that were added together."""

    first: int
    last: int
    source: str
    """Where they come from, in the user's words."""
    digest: str

    @property
    def rounds(self) -> str:
        """Which, in words."""
        if self.first == self.last:
            return f"round {self.first}"
        return f"rounds {self.first} to {self.last}"


def digest_of(arms: Sequence[Indices], rewards: Sequence[Array]) -> str:
    """What rounds with the same joint arms and rewards have in common, and no others."""
    found = hashlib.sha256()
    for one, values in zip(arms, rewards, strict=True):
        found.update(one.astype("<i4").tobytes())
        found.update(values.astype("<f8").tobytes())
    return found.hexdigest()[:32]


def with_outside(setting: Setting, outside: tuple[Outside, ...]) -> Setting:
    """The setting of a study with such rounds.

    They are phases, in which joint arms may depend on earlier rewards. Rules that allow no such
    thing count them like any other round; that assumes more, which :func:`in_words` says.
    """
    if not outside or not setting.rule.allows_phases:
        return setting
    given = tuple((one.first, one.last) for one in outside)
    return replace(setting, plan=PlanWithPhases(setting.plan, given))


def in_words(outside: tuple[Outside, ...], *, phases: bool) -> str:
    """What such rounds mean for the guarantee; empty if there are none.

    ``phases`` says whether the rule allows joint arms to depend on earlier rewards.
    """
    if not outside:
        return ""
    parts = [f"{one.rounds} ({one.source})" for one in outside]
    listed = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    seen = "their rewards or at those of the phase that was running" if phases else "any rewards"
    return (
        f"Added from outside: {listed}; what rests on them holds if nobody chose their arms, or "
        f"left rounds out, by looking at {seen}."
    )
