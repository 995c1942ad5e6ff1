"""Nothing left to decide: rivals that cannot be told from the leader in any reasonable time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_BEYOND = 100
"""A forecast of so many times the rounds so far is beyond reason."""
_TIMES = 2
"""So often in a row rivals must have been close: one look may be chance."""


@dataclass(frozen=True)
class Tie:
    """What the last check found, after at least 100 rounds and whenever they had doubled."""

    round: int
    """After which it was made."""
    times: int
    """Checks in a row at which every open rival was within one standard error of the leader."""
    epsilon: float = 0.0
    """The tolerance that would have certified the answer then; asked once it was close twice."""
    further: int | None = 0
    """Rounds still needed by the forecast; None if no end is in sight."""

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Tie:
        """From plain values."""
        further = tree["further"]
        return cls(
            int(tree["round"]),
            int(tree["times"]),
            float(tree["epsilon"]),
            None if further is None else int(further),
        )

    def holds(self, max_rounds: int | None) -> bool:
        """Whether going on would be in vain: an end beyond the budget, or beyond reason."""
        if self.times < _TIMES:
            return False
        if self.further is None or self.further >= _BEYOND * self.round:
            return True
        return max_rounds is not None and self.round + self.further > max_rounds


def is_asked(times: int) -> bool:
    """Whether rivals were close often enough for forecast and tolerance to be asked for."""
    return times >= _TIMES
