"""How much edges share: everything, as much as the data say, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from edgewise.core.local.homogeneity import score_test
from edgewise.core.local.normal_equations import NormalEquations

_LEVEL = 0.05
"""How often `auto` leaves the shared matrix although all edges of a kind are equal."""


class Pooling(StrEnum):
    """The value of Omega, the covariance of an edge's deviation from its kind."""

    SHARED = "shared"
    """Omega = 0: one matrix per kind."""
    PARTIAL = "partial"
    """Omega learnt."""
    NONE = "none"
    """Omega without bound: every edge by itself; what its rounds do not show, its kind says."""


@dataclass(frozen=True)
class PoolingDecision:
    """What `auto` came to."""

    pooling: Pooling
    p_value: float | None
    """Of the score test; None if the rounds could not tell."""


def decide(equations: NormalEquations, *, level: float = _LEVEL) -> PoolingDecision:
    """`auto`: "partial" if the score test says that edges differ, else "shared".

    To be asked once, on the first phase, which then does not count as evidence. Rounds that
    cannot tell decide for "shared".
    """
    test = score_test(equations)
    if test is None:
        return PoolingDecision(Pooling.SHARED, None)
    differs = test.p_value < level
    return PoolingDecision(Pooling.PARTIAL if differs else Pooling.SHARED, test.p_value)
