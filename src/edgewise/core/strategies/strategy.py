"""What a strategy is."""

from __future__ import annotations

from typing import Protocol

from edgewise.core.model.problem import Problem
from edgewise.core.strategies.plan import Plan


class Strategy(Protocol):
    """Makes the plan of a problem."""

    @property
    def name(self) -> str:
        """What users call it."""

    def __call__(self, problem: Problem, /) -> Plan:
        """Decide how the joint arms are chosen."""
