"""When a trial ends, and with what: the one place that decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations

import numpy as np

from edgewise.base.arrays import Array, Mask
from edgewise.base.checks import number
from edgewise.core.claim import Confirmation
from edgewise.errors import InvalidArgument
from edgewise.trial.comparison import Comparison


class TrialEnding(Enum):
    """Why no further pair is asked for."""

    BETTER = "the candidate is better than the baseline"
    NO_WORSE = "the candidate is no worse than the baseline by more than the margin"
    WORSE = "the candidate is worse than the baseline: keep the baseline"
    KNOWN = "the difference is known to within the width asked for"
    SAME = "the candidate is the baseline: there is nothing to measure"
    BUDGET_SPENT = "the pairs are spent and the difference is not decided"
    ABANDONED = "the trial was ended by hand before the difference was decided"
    RUNNING = "still measuring"


@dataclass(frozen=True)
class Goal:
    """What a trial is to find out."""

    margin: float = 0.0
    """End also when the candidate is worse by at most this; a loss beyond it counts as worse."""
    width: float | None = None
    """End when intervals are as narrow as this, and only then."""

    def __post_init__(self) -> None:
        margin = number("margin", self.margin, least=0.0, unit="the loss that would not matter")
        object.__setattr__(self, "margin", margin)
        if self.width is not None:
            width = number("width", self.width, above=0.0, unit="the width of an interval")
            object.__setattr__(self, "width", width)
        if self.width is not None and self.margin:
            raise InvalidArgument(
                "margin and width are two goals; give one: a trial with a width ends when the "
                "interval is that narrow, whatever it says",
                argument="width",
            )


@dataclass(frozen=True, eq=False)
class Standing:
    """Where the candidates of a trial stand; candidate 0 is the baseline."""

    ending: TrialEnding
    alive: Mask
    """(J,) which candidates are still deployed."""
    over: Array
    """(J, J) by how much row is better than column at least; NaN on the diagonal."""
    winner: int | None = None
    """The candidate to deploy, by the measurement; None while that is open."""

    def verdict_on(self, candidate: int, margin: float) -> Confirmation:
        """Whether a candidate has been borne out, or beaten by another."""
        if bool((self.over[:, candidate] > margin).any()):
            return Confirmation.CONTRADICTED
        if candidate > 0 and self.over[candidate, 0] > -margin:
            return Confirmation.CONFIRMED
        return Confirmation.UNCONFIRMED

    @property
    def best(self) -> int:
        """The winner, or while there is none the candidate that loses least by its lower ends."""
        return int(np.nanmin(self.over, axis=1).argmax()) if self.winner is None else self.winner


def judge(goal: Goal, comparisons: Sequence[Comparison], n_candidates: int) -> Standing:
    """Where the candidates stand by what was measured; RUNNING if nothing is decided.

    ``comparisons``: of every two candidates i < j, "j minus i", in lexicographic order.
    """
    over = _lower_ends(comparisons, n_candidates)
    everyone = np.ones(n_candidates, np.bool_)
    if goal.width is not None:
        widths = [high - low for low, high in (one.interval for one in comparisons)]
        narrow = max(widths) <= goal.width
        winner = _better(over, 0.0) or _baseline(over, 0.0) if narrow else None
        ending = TrialEnding.KNOWN if narrow else TrialEnding.RUNNING
        return Standing(ending, everyone, over, winner)
    for ending, winner in (
        (TrialEnding.BETTER, _better(over, 0.0)),
        (TrialEnding.WORSE, _baseline(over, goal.margin)),
        (TrialEnding.NO_WORSE, _better(over, goal.margin)),
    ):
        if winner is not None:
            return Standing(ending, everyone, over, winner)
    beaten = np.asarray((over > goal.margin).any(axis=0))
    return Standing(TrialEnding.RUNNING, ~beaten, over)


def _lower_ends(comparisons: Sequence[Comparison], n_candidates: int) -> Array:
    """(J, J) by how much row is better than column at least; NaN on the diagonal."""
    over = np.full((n_candidates, n_candidates), np.nan)
    for (i, j), comparison in zip(combinations(range(n_candidates), 2), comparisons, strict=True):
        low, high = comparison.interval
        over[j, i], over[i, j] = low, -high
    return over


def _better(over: Array, margin: float) -> int | None:
    """The candidate that is best by its lower ends, if it loses to none by the margin or more."""
    worst = np.nanmin(over, axis=1)
    leader = 1 + int(worst[1:].argmax())
    return leader if worst[leader] > -margin else None


def _baseline(over: Array, margin: float) -> int | None:
    """The baseline, if it is better than every candidate by more than the margin."""
    return 0 if bool((over[0, 1:] > margin).all()) else None
