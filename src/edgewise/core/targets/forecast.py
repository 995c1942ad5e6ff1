"""How many rounds are left, roughly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

HORIZON = 1000.0
"""An end later than so many times the rounds had is not worth a number."""

_DEVIATIONS = 2.0
"""The range holds the gaps within so many standard errors."""


@dataclass(frozen=True)
class Forecast:
    """Further rounds until the target is reached; None where no end is in sight.

    It is what would happen if information kept growing as it has. A strategy that turns to what is
    still open does better than its past: the forecast is then too long. A guess for planning, not
    a guarantee.
    """

    rounds: int | None
    """If the gaps are what they are estimated to be."""
    low: int | None
    """If every gap is two standard errors larger."""
    high: int | None
    """If every gap is two standard errors smaller."""

    @classmethod
    def within(cls, further: Callable[[float], int | None]) -> Forecast:
        """From the further rounds needed if gaps are so many standard errors larger."""
        return cls(further(0.0), further(_DEVIATIONS), further(-_DEVIATIONS))

    def __str__(self) -> str:
        if self.rounds is None:
            return "no end in sight"
        high = "no end in sight" if self.high is None else f"{self.high}"
        return f"about {self.rounds} more ({self.low} to {high})"
