"""How a rule's answer becomes a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.scales import overflowed
from edgewise.core.evidence.evidence import Evidence
from edgewise.core.model.cells import Cells


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
    settled: bool = False
    """Whether more rounds are expected to bring less than was asked for."""
    contradicted: bool = False
    """Whether every pair of some kind has been refuted: the rewards do not fit what is assumed."""

    @classmethod
    def none_yet(cls) -> Verdict:
        """Before the first look."""
        return cls(stop=False, round=0, pairs=(), rival=None, progress=0.0)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Verdict:
        """From plain values; lists instead of tuples are fine."""
        pairs = tuple((int(k), int(l)) for k, l in tree["pairs"])
        rival = None if tree["rival"] is None else tuple(tree["rival"])
        return cls(**{**tree, "pairs": pairs, "rival": rival})


def judge(evidence: Evidence, cells: Cells, strength: Array) -> tuple[int, Verdict]:
    """Position of the first round at which every rival is refuted (else the last), and verdict.

    ``strength`` (R, q, P) is what a rule made of the evidence.
    """
    _require_finite(evidence, strength)
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


def _require_finite(evidence: Evidence, strength: Array) -> None:
    """Raise NotFinite if numbers have overflowed: infinite evidence would certify anything."""
    if np.isinf(evidence.theta).any() or np.isnan(strength).any():
        raise overflowed("the estimate")
