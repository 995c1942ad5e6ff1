"""How much edges share: everything, as much as the data say, or nothing."""

from __future__ import annotations

from enum import Enum


class Pooling(str, Enum):
    """The value of Omega, the covariance of an edge's deviation from its kind."""

    SHARED = "shared"
    """Omega = 0: one matrix per kind."""
    PARTIAL = "partial"
    """Omega learnt."""
    NONE = "none"
    """Omega without bound: every edge by itself; what its rounds do not show, its kind says."""
