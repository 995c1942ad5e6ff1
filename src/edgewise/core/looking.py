"""The last look, made again: under another confidence, or at other rewards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgewise.base.arrays import Mask
from edgewise.core.evidence.measuring import ByPhase, as_rounds
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import Anytime
from edgewise.core.targets import Finding
from edgewise.core.targets.elimination import refuted_by


def is_at_its_look(state: LearnerState) -> bool:
    """Whether the last look was at the present phase as it is."""
    return state.verdict.round == state.rounds and state.phase_rounds > 0


def last_look(setting: Setting, state: LearnerState) -> Finding | None:
    """What is found at the round last judged; None if its statistics are gone."""
    target, number, closed = setting.target, state.verdict.round, state.closed
    if is_at_its_look(state):
        before, last = closed, as_rounds(state.statistics)
    elif number > 0 and len(closed):
        before, last = closed[:-1], as_rounds(closed[-1])
    else:
        return None
    then = replace(state, closed=before, refuted=_refuted_before(setting, state, before))
    return target.look(setting.at_look(state, number), then, np.array([number]), last)


def _refuted_before(setting: Setting, state: LearnerState, phases: ByPhase) -> Mask | None:
    """(q, P) what the phases before the last look had refuted, by what is known of them now."""
    if state.refuted is None or not isinstance(setting.rule, Anytime):
        return None
    return refuted_by(setting, setting.rule, phases)
