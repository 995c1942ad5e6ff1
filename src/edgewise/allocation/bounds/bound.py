"""A number that no allocation exceeds, and the argument that proves it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """An upper bound on the global reward of every allocation.

    >>> min(Bound(10.0, "edge-by-edge"), Bound(9.5, "odd-cycle"))
    Bound(value=9.5, name='odd-cycle', failure_probability=0.0)
    """

    value: float
    """No allocation is worth more; rounding errors are on the safe side."""
    name: str
    """Which argument proves it: see docs/bounds.md."""
    failure_probability: float = 0.0
    """0 for a theorem; else the most that a random proof of it can err by, over its draws."""

    @classmethod
    def probable(cls, value: float, name: str, failure_probability: float) -> Bound:
        """A bound whose name says so if it has a random proof.

        >>> Bound.probable(1.0, "sdp", 1e-9).name
        'sdp (fails with probability 1e-09)'
        """
        suffix = f" (fails with probability {failure_probability:g})" if failure_probability else ""
        return cls(value, name + suffix, failure_probability)

    def __lt__(self, other: Bound) -> bool:
        return self.value < other.value
