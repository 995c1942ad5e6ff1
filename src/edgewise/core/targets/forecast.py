"""How many rounds are left, roughly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.evidence import Evidence, gather
from edgewise.core.state import LearnerState
from edgewise.core.stopping import ConfidenceRule
from edgewise.core.targets.allocation import NEARLY
from edgewise.core.targets.regret import n_events

if TYPE_CHECKING:
    from edgewise.core.setting import Setting

_RIVALS = 32
"""So many of the weakest comparisons are projected: the others end earlier."""

_HORIZON = 1000.0
"""An end later than so many times the rounds had is not worth a number."""

_STEPS = 400

_DEVIATIONS = 2.0
"""The range holds the gaps within so many standard errors."""


@dataclass(frozen=True)
class Forecast:
    """Further rounds until the target is reached; None where no end is in sight."""

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
        return f"about {self.rounds} more ({self.low} to {high})"


def forecast(setting: Setting, state: LearnerState) -> Forecast | None:
    r"""When the target would be reached if information kept growing as it has.

    *Pair*: after t rounds a comparison has the gap :math:`\hat\Delta` and the deviation s. At a
    later round t' its deviation is projected to :math:`s\sqrt{t/t'}`, the gap stays, and the rule
    is asked; the range comes from the gaps :math:`\hat\Delta \pm 2s`. *Allocation*: widths must
    shrink to a share f, so :math:`t' = t/f^2`; the range comes from two standard errors of the
    worst case's loss.

    A strategy that turns to what is still open does better than its past: the forecast is then
    too long. It is a guess for planning, not a guarantee. None when there is nothing to project:
    the target is reached, or some comparison has not been seen yet.
    """
    if state.rounds == 0 or state.verdict.stop:
        return None
    return _FORECASTS[setting.target](setting, state)


def _until_pair(setting: Setting, state: LearnerState) -> Forecast | None:
    present = state.statistics[None]
    evidence = gather(
        setting.problem,
        setting.plan.cells,
        np.array([state.rounds]),
        present,
        noise=setting.noise_after(state.closed, present),
        closed=state.closed,
        ridge=setting.plan.ridge,
    )
    compared = evidence.gaps[0] < np.inf
    known = np.isfinite(evidence.gaps[0][compared]).all() and np.isfinite(evidence.noise[0])
    if (evidence.leaders < 0).any() or not known:
        return None
    strength = setting.rule(evidence, delta=setting.contrast_delta, epsilon=setting.tolerance)
    order = np.argsort(strength[0][compared], kind="stable")[:_RIVALS]
    gaps = evidence.gaps[0][compared][order]
    variances = evidence.variances[0][compared][order]
    deviations = evidence.noise[0] * np.sqrt(variances)
    ahead = np.ceil(state.rounds * np.geomspace(1.0, _HORIZON, _STEPS)).astype(np.int64)

    def further(shift: float) -> int | None:
        later = _projected(evidence, ahead, gaps + shift * deviations, variances)
        strength = setting.rule(later, delta=setting.contrast_delta, epsilon=setting.tolerance)
        stops = np.flatnonzero(strength.min(axis=(1, 2)) >= 1.0)
        return max(1, int(ahead[stops[0]]) - state.rounds) if len(stops) else None

    return Forecast(further(0.0), further(_DEVIATIONS), further(-_DEVIATIONS))


def _until_allocation(setting: Setting, state: LearnerState) -> Forecast | None:
    if not state.verdict.pairs or state.verdict.stalled:
        return None
    if state.verdict.progress >= NEARLY:  # the bound is too loose, not the estimate
        return Forecast(None, None, None)
    assert isinstance(setting.rule, ConfidenceRule)  # Setting.of has seen to it
    log_odds = math.log(n_events(setting.problem, setting.plan.cells) / setting.contrast_delta)
    widths = setting.rule.width(np.ones(1), rounds=state.rounds, log_odds=log_odds)
    per_deviation = float(widths[0])
    share = math.sqrt(state.verdict.progress)

    def further(shift: float) -> int | None:
        needed = share + shift / per_deviation
        if needed <= _HORIZON**-0.5:
            return None
        return max(1, math.ceil(state.verdict.round / needed**2) - state.rounds)

    return Forecast(further(0.0), further(_DEVIATIONS), further(-_DEVIATIONS))


_FORECASTS = {"pair": _until_pair, "allocation": _until_allocation}


def _projected(evidence: Evidence, ahead: Indices, gaps: Array, variances: Array) -> Evidence:
    """Evidence (R, 1, T) after the rounds ahead (R,), for gaps and variances (T,) of today."""
    shrink = evidence.rounds[-1] / ahead
    shape = (len(ahead), 1, len(gaps))
    return replace(
        evidence,
        rounds=ahead,
        theta=np.full((len(ahead), 1, 0), np.nan),
        leaders=np.zeros((len(ahead), 1), np.int64),
        gaps=np.broadcast_to(gaps, shape).copy(),
        variances=shrink[:, None, None] * variances,
        noise=np.full(len(ahead), evidence.noise[-1]),
    )
