"""What a stopping rule is, and how its answer becomes a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.evidence.evidence import Evidence
from edgewise.core.model.cells import Cells


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


@runtime_checkable
class ConfidenceRule(Protocol):
    """A stopping rule that also knows how far an estimated contrast can be off."""

    def width(self, variances: Array, *, rounds: int, log_odds: float) -> Array:
        """(T,) in units of sigma: how far below the truth estimates with these variances may lie.

        Each contrast ever lies further below with probability at most ``exp(-log_odds)``, at the
        rounds at which the rule looks.
        """


@dataclass(frozen=True)
class Verdict:
    """Where the comparison stands."""

    stop: bool
    """Whether the target is reached with the confidence asked for."""
    round: int
    """The round after which this was judged; 0 before any."""
    pairs: tuple[tuple[int, int], ...]
    """The leading pair of arms of each edge kind; empty while not estimable."""
    rival: tuple[int, int, int] | None
    """(kind, k, l) of the rival closest to the leader of its kind; None if there is none."""
    progress: float
    """Strength against that rival: about the fraction of the rounds needed; stops at 1."""
    stalled: bool = False
    """Whether more rounds would not help: what is left is optimisation."""

    @classmethod
    def none_yet(cls) -> Verdict:
        """Before the first look."""
        return cls(stop=False, round=0, pairs=(), rival=None, progress=0.0)


def judge(evidence: Evidence, cells: Cells, strength: Array) -> tuple[int, Verdict]:
    """Position of the first round at which every rival is refuted (else the last), and verdict.

    ``strength`` (R, q, P) is what a rule made of the evidence.
    """
    estimable = np.all(evidence.leaders >= 0, axis=1)
    strength = np.where(estimable[:, None, None], strength, -np.inf)
    weakest = strength.min(axis=(1, 2))
    stops = np.flatnonzero(weakest >= 1.0)
    position = int(stops[0]) if len(stops) else len(weakest) - 1
    if not estimable[position]:
        return position, Verdict(False, int(evidence.rounds[position]), (), None, 0.0)
    leaders = cells.pairs[evidence.leaders[position]]
    rival = None
    if np.isfinite(weakest[position]):
        kind, pair = np.unravel_index(int(strength[position].argmin()), strength.shape[1:])
        k, l = cells.pairs[pair].tolist()
        rival = (int(kind), k, l)
    verdict = Verdict(
        stop=bool(len(stops)),
        round=int(evidence.rounds[position]),
        pairs=tuple((int(k), int(l)) for k, l in leaders),
        rival=rival,
        progress=max(float(weakest[position]), 0.0),
    )
    return position, verdict
