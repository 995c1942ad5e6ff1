"""How many rounds are left, roughly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgewise.core.arrays import Array, Indices
from edgewise.core.evidence import Evidence
from edgewise.core.learner import look
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState

_RIVALS = 32
"""So many of the weakest comparisons are projected: the others end earlier."""

_HORIZON = 1000.0
"""An end later than so many times the rounds had is not worth a number."""

_STEPS = 400

_DEVIATIONS = 2.0
"""The range holds the gaps within so many standard errors."""


@dataclass(frozen=True)
class Forecast:
    """Further rounds until the rule stops; None where no end is in sight."""

    rounds: int | None
    """If the gaps are what they are estimated to be."""
    low: int | None
    """If every gap is two standard errors larger."""
    high: int | None
    """If every gap is two standard errors smaller."""

    def __str__(self) -> str:
        if self.rounds is None:
            return "no end in sight"
        high = "no end in sight" if self.high is None else f"{self.high}"
        return f"about {self.rounds} more rounds ({self.low} to {high})"


def forecast(setting: Setting, state: LearnerState) -> Forecast | None:
    r"""When the rule itself would stop if information kept growing as it has.

    After t rounds a comparison has the gap :math:`\hat\Delta` and the deviation s. At a later
    round t' its deviation is projected to :math:`s\sqrt{t/t'}`, the gap stays, and the rule is
    asked; the range comes from the gaps :math:`\hat\Delta \pm 2s`. A strategy that turns to the
    rivals still open does better than its past: the forecast is then too long. It is a guess for
    planning, not a guarantee. None when there is nothing to project: the rule has stopped, or
    some comparison has not been seen yet.
    """
    if state.rounds == 0 or state.verdict.stop:
        return None
    now = np.array([state.rounds])
    evidence, strength = look(setting, state, now, state.statistics[None])
    compared = evidence.gaps[0] < np.inf
    if (evidence.leaders < 0).any() or not np.isfinite(evidence.gaps[0][compared]).all():
        return None
    order = np.argsort(strength[0][compared], kind="stable")[:_RIVALS]
    gaps = evidence.gaps[0][compared][order]
    deviations = evidence.deviations[0][compared][order]
    ahead = np.ceil(state.rounds * np.geomspace(1.0, _HORIZON, _STEPS)).astype(np.int64)

    def further(shift: float) -> int | None:
        later = _projected(evidence, ahead, gaps + shift * deviations, deviations)
        least = setting.rule(later, delta=setting.delta, epsilon=setting.epsilon).min(axis=(1, 2))
        stops = np.flatnonzero(least >= 1.0)
        return max(1, int(ahead[stops[0]]) - state.rounds) if len(stops) else None

    return Forecast(further(0.0), further(_DEVIATIONS), further(-_DEVIATIONS))


def _projected(evidence: Evidence, ahead: Indices, gaps: Array, deviations: Array) -> Evidence:
    """Evidence (R, 1, T) after the rounds ahead (R,), for gaps and deviations (T,) of today."""
    shrink = np.sqrt(evidence.rounds[-1] / ahead)
    shape = (len(ahead), 1, len(gaps))
    return replace(
        evidence,
        rounds=ahead,
        theta=np.full((len(ahead), 1, 0), np.nan),
        leaders=np.zeros((len(ahead), 1), np.int64),
        gaps=np.broadcast_to(gaps, shape).copy(),
        deviations=shrink[:, None, None] * deviations,
    )
