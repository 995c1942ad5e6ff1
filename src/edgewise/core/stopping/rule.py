"""What a stopping rule is."""

from __future__ import annotations

from typing import Protocol, TypeGuard

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.evidence.duels import Duels
from edgewise.core.evidence.evidence import Evidence


class StoppingRule(Protocol):
    """Turns evidence into how strongly every rival is refuted."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def assumes(self) -> str:
        """What must hold for the error to be at most delta, in words."""

    @property
    def allows_ridge(self) -> bool:
        """Whether the rule is meant for the paper's biased estimate (A_0 = I)."""

    @property
    def allows_phases(self) -> bool:
        """Whether the rule stays valid when joint arms depend on earlier phases' rewards."""

    @property
    def needs_phases(self) -> bool:
        """Whether the rule looks only when a phase ends."""

    def is_due(self, rounds: Indices) -> Mask:
        """After which rounds the rule looks at the data, besides ends of phases."""

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Array:
        """(R, q, P) strength against each rival, roughly rounds had / rounds needed.

        A rival is refuted at 1 or more; the rule stops when all are.
        """


class RatioRule(StoppingRule, Protocol):
    """A stopping rule that looks at gaps over their deviations only."""

    def needed(self, rounds: Indices, n_arcs: int, n_arms: int, *, delta: float) -> Array:
        """(R,) the squared standardised gap at which a rival is refuted."""


def knows_ratio(rule: StoppingRule) -> TypeGuard[RatioRule]:
    """Whether it can be said beforehand what refutes a rival."""
    return callable(getattr(rule, "needed", None))


class ConfidenceRule(StoppingRule, Protocol):
    """A stopping rule that also knows how far an estimated contrast can be off."""

    def contrast_width(self, variances: Array, *, rounds: int, log_odds: float) -> Array:
        """(T,) in units of sigma: how far below the truth estimates with these variances may lie.

        Each contrast ever lies further below with probability at most ``exp(-log_odds)``, at the
        rounds at which the rule looks.
        """


def knows_widths(rule: StoppingRule) -> TypeGuard[ConfidenceRule]:
    """Whether the rule can bound what an allocation may miss."""
    return callable(getattr(rule, "contrast_width", None))


class WeighingRule(ConfidenceRule, Protocol):
    """A confidence rule that may give some contrasts more of delta than others."""

    @property
    def weighs(self) -> bool:
        """Whether it does."""

    def margins(
        self,
        learning: Duels,
        since: Duels,
        *,
        weights: Array,
        even: float,
        noise: float,
        nats: float,
    ) -> Array:
        """(T,) how far above their estimates contrasts may lie.

        All of them stay below, at all ends of phases at once, with probability 1 - exp(-nats).
        ``weights`` (T,) depend on the phases in ``learning`` only and add up to 1 at most over all
        contrasts; so does ``even``, the same for each.
        """


def weighs(rule: StoppingRule) -> TypeGuard[WeighingRule]:
    """Whether contrasts have different shares of delta."""
    return bool(getattr(rule, "weighs", False))


class CountingRule(StoppingRule, Protocol):
    """A stopping rule whose error adds up over looks, so that every look has its price."""

    def surcharge(self, rounds: int, extra: int) -> float:
        """By how much log(1/delta) grows at this round after so many extra looks."""


def counts_looks(rule: StoppingRule) -> TypeGuard[CountingRule]:
    """Whether a look at other data at the same round costs something."""
    return callable(getattr(rule, "surcharge", None))
