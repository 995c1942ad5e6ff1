"""What can happen to a study. Events are appended to its log and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.measuring import Statistics
from edgewise.core.gate.watch import Watch
from edgewise.core.local.normal_equations import Phase


@dataclass(frozen=True, eq=False)
class Created:
    """The study was set up."""

    problem: Mapping[str, Any]
    """Graph, arms, labels, candidates and noise: see :mod:`edgewise.study.log.recipe`."""
    options: Mapping[str, Any]
    """Confidence, strategy and stopping rule."""
    memory: Mapping[str, Any]
    """What the plan computed and another machine might round differently."""
    seed: int
    max_rounds: int | None
    past: Mapping[str, Any] | None = None
    """Where its first rounds come from, if the study was modelled anew: see
    :mod:`edgewise.study.log.past`."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A round was handed out for deployment."""

    round: int
    attempt: int
    """1, and one more each time the round is cancelled."""
    phase: int
    """The phase the round belongs to, 0 for the first."""
    arms: Indices
    """(n,) as deployed: another machine might choose differently in the last digit."""


@dataclass(frozen=True, eq=False)
class Told:
    """Measurements of the pending round arrived. The round closes when none is missing."""

    round: int
    arcs: Indices | None
    """(k,) which arcs (links, nodes: what is measured) these are; None for all, in order."""
    values: Array
    """(k,)"""


@dataclass(frozen=True)
class Closed:
    """The pending round was closed with what had arrived."""

    round: int


@dataclass(frozen=True)
class Cancelled:
    """The pending round was given up: its measurements count for nothing."""

    round: int
    attempt: int


@dataclass(frozen=True, eq=False)
class Corrected:
    """Measurements turned out to be wrong, late, or no measurements at all."""

    round: int
    arcs: Indices
    """(k,)"""
    old: Array
    """(k,) what was on record; NaN where nothing was."""
    new: Array
    """(k,) what is right; NaN where there is no measurement."""
    revision: Revision | None
    """What follows for a round that was closed; None for the pending one."""


@dataclass(frozen=True, eq=False)
class Revision:
    """The statistics of the corrected round's phase, from the corrected log."""

    phase: int
    statistics: Statistics
    """(q, P)"""
    total: float
    """Sum of the round's rewards; NaN if some are missing."""
    best_arms: Indices | None
    """(n,) the joint arm with the largest total, after the correction."""
    by_edge: Phase | None = None
    """What the edges showed one by one, over all rounds; None where it is not kept."""
    by_edge_closed: Phase | None = None
    """The same, as of the last phase that is over."""
    watch: Watch | None = None
    """What the gate finds in the corrected log; None where it is not kept."""


@dataclass(frozen=True, eq=False)
class Added:
    """A round that was deployed before the study, or outside of it, was put on record."""

    round: int
    attempt: int
    """1, and one more each time a round of this number was cancelled."""
    first: int
    """The first of the rounds that were added together; they are a phase of their own."""
    last: int
    source: str
    """Where they come from, in the user's words."""
    digest: str
    """Of all of them: adding the same again changes nothing."""
    arms: Indices
    """(n,) as deployed."""
    rewards: Array
    """(m,) NaN where nothing was measured."""


@dataclass(frozen=True)
class Extended:
    """More was asked of the study than at first."""

    delta: float
    epsilon: float | None
    until: int
    """Rounds up to this one are taken even if the rule has stopped."""
    max_rounds: int | None


@dataclass(frozen=True, eq=False)
class TrialBegan:
    """A configuration is to be compared with the baseline, by measurement."""

    trial: int
    """1, 2, ... within the study."""
    design: Mapping[str, Any]
    """Candidates, confidence and coins: see :class:`edgewise.trial.pairs.TrialDesign`."""


@dataclass(frozen=True)
class TrialTold:
    """A round of the running trial was measured."""

    trial: int
    block: int
    """Which pair."""
    attempt: int
    candidate: int
    total: float
    """NaN for a gap, which begins the pair again."""


@dataclass(frozen=True)
class TrialRepeated:
    """The pair that is out was begun again."""

    trial: int
    block: int
    attempt: int
    """The one that was given up."""


@dataclass(frozen=True)
class TrialCorrected:
    """A figure of a trial turned out to be wrong."""

    trial: int
    block: int
    candidate: int
    old: float
    new: float


@dataclass(frozen=True)
class TrialEnded:
    """The trial was ended by hand."""

    trial: int


TrialEvent: TypeAlias = TrialBegan | TrialTold | TrialRepeated | TrialCorrected | TrialEnded
Event: TypeAlias = (
    Created | Asked | Told | Closed | Cancelled | Corrected | Added | Extended | TrialEvent
)


def round_of(event: Event) -> int:
    """The round an event belongs to; 0 for the study as a whole, and for its trials."""
    return 0 if isinstance(event, Created | Extended | TrialEvent) else event.round
