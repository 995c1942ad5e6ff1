"""What the data say against the model, and in what words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from edgewise.core.evidence.rewards import place_text
from edgewise.core.gate.forms import FORMS
from edgewise.core.model.problem import Problem


@dataclass(frozen=True)
class Contradiction:
    """A form that has spoken: data from the model would hardly ever make it."""

    form: str
    """See :class:`~edgewise.Gate`."""
    round: int
    """After which it was noticed."""
    odds: float
    """log10 of the evidence: data from the model reach it with probability at most 10^-odds."""
    position: int | None = None
    """The measured number that shows it most; None if all do alike."""
    at: int | None = None
    """The round that shows it most."""
    value: float | None = None
    """What was measured there, or how large the effect is."""
    expected: float | None = None
    """What the model says there."""

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return FORMS[self.form].remedy

    def where(self, problem: Problem) -> str:
        """Edge, round and value, as far as they are known."""
        parts = []
        if self.position is not None:
            parts.append(place_text(problem, self.position))
        if self.at is not None:
            parts.append(f"round {self.at}")
        if self.value is not None:
            parts.append(f"{_WHAT.get(self.form, 'value')} {self.value:.6g}")
        if self.expected is not None:
            parts.append(f"expected about {self.expected:.4g}")
        return ", ".join(parts)

    def in_words(self, problem: Problem) -> str:
        """What contradicts, where, and what to do."""
        where = self.where(problem)
        return (
            f"{FORMS[self.form].says}{f' ({where})' if where else ''}, noticed in round "
            f"{self.round}; {self.remedy}"
        )

    def to_tree(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Contradiction:
        """The inverse of :meth:`to_tree`."""
        return cls(**tree)


def noted(spoken: tuple[Contradiction, ...], new: Contradiction) -> tuple[Contradiction, ...]:
    """With one more, the strongest first; of a form that has spoken, the strongest stays.

    It keeps the round in which the form spoke first.
    """
    old = next((one for one in spoken if one.form == new.form), None)
    if old is not None:
        new = old if old.odds >= new.odds else replace(new, round=old.round)
    others = [one for one in spoken if one.form != new.form]
    return tuple(sorted([*others, new], key=lambda one: -one.odds))


def in_words(found: tuple[Contradiction, ...], problem: Problem) -> tuple[str, ...]:
    """The strongest in full, then what else speaks; empty if nothing does."""
    if len(found) < 2:
        return tuple(one.in_words(problem) for one in found)
    others = ", ".join(one.form for one in found[1:])
    return found[0].in_words(problem), f"other signs, perhaps of the same cause: {others}"


_WHAT = {
    "level": "level about",
    "round": "offset about",
    "edge": "deviation about",
    "cell": "deviation about",
    "noise": "measured noise",
    "outlier": "value",
}
