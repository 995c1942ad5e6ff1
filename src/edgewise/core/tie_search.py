"""Looking for ties: are all open rivals too close to the leader to be told from it?"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from edgewise.core.evidence.evidence import gather
from edgewise.core.evidence.measuring import as_rounds
from edgewise.core.looking import is_at_its_look, last_look
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import Anytime
from edgewise.core.targets.pair import BestPair
from edgewise.core.tie import Tie, is_asked

_FIRST = 100
"""Rounds before the first check; then whenever they have doubled."""
_DOUBLINGS, _HALVINGS = 60, 20


def look_for_ties(setting: Setting, state: LearnerState) -> LearnerState:
    """The state with what is known of ties, if it is time to check: after a look of the rule."""
    if not setting.ties or not isinstance(setting.target, BestPair) or not _is_time(state):
        return state
    before = 0 if state.tie is None else state.tie.times
    times = before + 1 if _is_close(setting, state) else 0
    if not is_asked(times):
        return replace(state, tie=Tie(state.rounds, times))
    forecast = setting.forecast(state)
    further = 0 if forecast is None else forecast.rounds
    tie = Tie(state.rounds, times, _certifying(setting, state), further)
    return replace(state, tie=tie)


def _is_time(state: LearnerState) -> bool:
    verdict, last = state.verdict, 0 if state.tie is None else state.tie.round
    judged = verdict.round == state.rounds and not (verdict.stop or verdict.contradicted)
    return judged and state.rounds >= max(_FIRST, 2 * last)


def _is_close(setting: Setting, state: LearnerState) -> bool:
    """Whether every open rival is within one standard error of the leader."""
    noise = _noise(setting, state)
    cells, total = setting.plan.cells, state.total
    evidence = gather(
        setting.problem, cells, np.array([state.rounds]), total[None], noise=np.array([noise])
    )
    if (evidence.leaders < 0).any() or not np.isfinite(noise):
        return False
    rivals = np.isfinite(evidence.gaps[0])
    if isinstance(setting.rule, Anytime):
        still_open = rivals if state.refuted is None else rivals & ~state.refuted
    else:
        epsilon = setting.target.tolerance(setting.epsilon, None)
        strength = setting.rule(evidence, delta=setting.contrast_delta, epsilon=epsilon)
        still_open = rivals & (strength[0] < 1.0)
    ratio = evidence.standardised(0.0)[0]
    return bool(still_open.any() and (ratio[still_open] <= 1.0).all())


def _noise(setting: Setting, state: LearnerState) -> float:
    """Sigma, or a bound on it from all phases."""
    if is_at_its_look(state) or not len(state.closed):
        return float(setting.noise_after(state.closed, as_rounds(state.statistics))[0])
    closed = state.closed
    return float(setting.noise_after(closed[:-1], as_rounds(closed[-1]))[0])


def _certifying(setting: Setting, state: LearnerState) -> float:
    """The smallest tolerance that the last look would have certified, within a millionth."""

    def is_enough(epsilon: float) -> bool:
        found = last_look(replace(setting, epsilon=epsilon), state)
        return found is not None and found.verdict.stop

    high = _noise(setting, state) / math.sqrt(state.rounds)
    for _ in range(_DOUBLINGS):
        if is_enough(high):
            break
        high *= 2.0
    low = high / 2.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
