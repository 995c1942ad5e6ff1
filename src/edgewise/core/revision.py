"""Revising the past: other rewards than first told, or another confidence than first asked for.

Decisions taken since are not taken again. Their joint arms were chosen from what was known then,
and phases stay where they were: that is what the proofs of the stopping rules need.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.scales import staying_finite
from edgewise.core.evidence.measuring import (
    Statistics,
    after,
    measure,
    nothing_measured,
    with_present,
)
from edgewise.core.gate.watch import Told, look
from edgewise.core.learner import is_phase_over, next_phase
from edgewise.core.looking import is_at_its_look, last_look
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState


def sum_rounds(setting: Setting, rounds: Iterable[tuple[Indices, Array]]) -> Statistics:
    """Statistics (q, P) of a phase from its rounds: joint arms (n,) and rewards (m,), in order.

    The same sums, to the last bit, as telling the rounds one by one. Taking a wrong reward out of
    a sum instead would leave its rounding error behind, and a gross one leaves nothing else.
    """
    total, _ = nothing_measured(setting.problem, setting.plan.cells)
    for arms, rewards in rounds:
        total = after(total, measure(setting.problem, setting.plan.cells, arms, rewards))[-1]
    return total


@staying_finite("the estimate after this correction")
def amend(
    setting: Setting, state: LearnerState, phase: int, statistics: Statistics
) -> LearnerState:
    """The state in which a phase (0 is the first) has other statistics (q, P), judged again.

    That is an extra look, which rules whose error adds up over looks charge for. A first phase that
    decided how edges are pooled still does not count.
    """
    if phase == 0 and len(state.closed) and setting.problem.pooling == "auto":
        return reconsider(setting, state)
    if phase == len(state.closed):
        return _look_again(setting, replace(state, statistics=statistics))
    before, behind = state.closed[:phase], state.closed[phase + 1 :]
    closed = with_present(before, statistics)
    for later in range(len(behind)):
        closed = with_present(closed, behind[later])
    return _look_again(setting, replace(state, closed=closed))


def _look_again(setting: Setting, state: LearnerState) -> LearnerState:
    """At other data than the last look had; not, if its statistics are gone."""
    if not (is_at_its_look(state) or (state.verdict.round and len(state.closed))):
        return state
    return reconsider(setting, replace(state, extra_looks=state.extra_looks + 1))


@staying_finite("the estimate")
def reconsider(setting: Setting, state: LearnerState) -> LearnerState:
    """The state with its last verdict judged again, from the statistics it was judged by.

    Between the looks of a rule that looks rarely, the statistics of the last look are gone, and the
    verdict stands until the next.
    """
    seen = last_look(setting, state)
    if seen is None:
        return state
    later = replace(state, verdict=seen.verdict, answer=seen.answer, refuted=seen.refuted, tie=None)
    return later if seen.verdict.stop else go_on(setting, later)


def go_on(setting: Setting, state: LearnerState) -> LearnerState:
    """The state from which rounds are taken although the rule has stopped, or had.

    The phase that the stop ended is over, as if there had been no stop.
    """
    if not is_at_its_look(state) or not is_phase_over(setting, state):
        return state  # before the look, which goes through all phases: this is asked every round
    seen = last_look(setting, state)
    return state if seen is None else next_phase(setting, state, seen.open())


def end_phase(setting: Setting, state: LearnerState) -> LearnerState:
    """The state in which the present phase is over before its time; nothing is judged.

    What it found counts when the next phase is looked at. The moment must not have been chosen by
    the phase's own rewards.
    """
    told = Told(
        state.rounds,
        len(state.closed),
        arms=np.zeros(0, np.int32),  # what the round was is not asked when a phase ends
        rewards=np.zeros(0),
        by_edge=state.by_edge,
        before=state.by_edge_closed,
        over=True,
        pooling=state.pooling or setting.problem.pooling,
    )
    watch = look(setting.problem, setting.gate, state.watch, told)
    return next_phase(setting, replace(state, watch=watch), None)
