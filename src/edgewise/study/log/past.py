"""A study whose first rounds were measured in another: under another model, or question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.errors import InvalidArgument
from edgewise.study.log.given_phases import Phases, PlanWithPhases


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
    chosen: str = "this model was"
    """What was chosen after they were seen, in words."""
    outside: str = ""
    """Which of them were added to the other study, and what that means, in words."""

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
        words = {name: str(tree[name]) for name in ("chosen", "outside") if name in tree}
        return cls(tree["study"], int(tree["rounds"]), ends, bool(tree["follows"]), **words)

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @property
    def phases(self) -> Phases:
        """The first and the last round of each phase."""
        return tuple(zip((1, *(end + 1 for end in self.phase_ends)), self.phase_ends, strict=False))

    def __str__(self) -> str:
        """What it means for the guarantee, in words."""
        if not self.rounds:
            chosen = self.chosen.capitalize()
            return f"{chosen} chosen before the first round of study {self.study!r}."
        return f"{self._seen()} {self.outside}".strip()

    def _seen(self) -> str:
        rounds = "Round 1 was" if self.rounds == 1 else f"Rounds 1 to {self.rounds} were"
        seen = f"{rounds} seen (in study {self.study!r}) before {self.chosen} chosen"
        if self.follows:
            return (
                f"{seen}, and their joint arms followed what was seen: no certificate that rests "
                "on them covers that; confirm it with a new study."
            )
        return (
            f"{seen}; a certificate that rests on them holds if the model does, and does not "
            "cover that choice."
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
    return replace(setting, plan=PlanWithPhases(setting.plan, past.phases))
