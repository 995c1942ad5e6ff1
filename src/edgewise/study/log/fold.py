"""The state of a study: a fold over its events. Pure; an event that cannot follow is an error."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.core.ending import Ending
from edgewise.core.learner import ending_after, initial_state, tell_round
from edgewise.core.revision import amend, end_phase, go_on, reconsider
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.errors import StorageError
from edgewise.study.log.events import (
    Added,
    Asked,
    Cancelled,
    Closed,
    Corrected,
    Created,
    Event,
    Extended,
    Revision,
    Told,
    TrialBegan,
    TrialCorrected,
    TrialEnded,
    TrialRepeated,
    TrialTold,
)
from edgewise.study.log.fold_trial import fold_trial
from edgewise.study.log.outside import Outside, with_outside
from edgewise.trial.pairs import TrialRecord


@dataclass(frozen=True, eq=False)
class Round:
    """A round that was handed out, and what is on record of it."""

    number: int
    attempt: int
    arms: Indices
    """(n,)"""
    rewards: Array
    """(m,) one per number that is measured, NaN where nothing has arrived."""

    @classmethod
    def unanswered(cls, asked: Asked, n_rewards: int) -> Round:
        """As handed out."""
        nothing = frozen(np.full(n_rewards, np.nan), float)
        return cls(asked.round, asked.attempt, asked.arms, nothing)

    def with_rewards(self, arcs: Indices | None, values: Array) -> Round:
        """With some of the measurements, or all."""
        if arcs is None:
            return replace(self, rewards=frozen(values, float))
        rewards = self.rewards.copy()
        rewards[arcs] = values
        return replace(self, rewards=frozen(rewards, float))

    @property
    def missing(self) -> int:
        """How many numbers have not been measured."""
        return int(np.isnan(self.rewards).sum())


@dataclass(frozen=True, eq=False)
class Certificate:
    """A stop of the rule: what it says holds whatever later rounds bring."""

    round: int
    delta: float
    epsilon: float | None
    pairs: tuple[tuple[int, int], ...]
    """The best pair of arms of each edge kind, if that was the target; else the leaders."""
    arms: Indices | None
    """(n,) the certified joint arm, if the target is an allocation."""
    regret: float | None
    """No joint arm is better than ``arms`` by more, in global reward."""
    withdrawn: int | None = None
    """The round after which the data contradicted the model it rests on; None if they do not."""

    @classmethod
    def of(cls, learner: LearnerState, delta: float, epsilon: float | None) -> Certificate:
        """What the present verdict, a stop, certifies."""
        verdict, answer = learner.verdict, learner.answer
        arms = None if answer is None else frozen(answer.arms, np.int32)
        regret = None if answer is None else answer.regret.bound
        return cls(verdict.round, delta, epsilon, verdict.pairs, arms, regret)


@dataclass(frozen=True, eq=False)
class StudyState:
    """Everything a study knows, but for the rewards of single rounds."""

    learner: LearnerState
    delta: float
    epsilon: float | None
    max_rounds: int | None
    until: int = 0
    """Rounds up to this one are taken whatever the rule says."""
    pending: Round | None = None
    attempts: int = 0
    """How often the next round has been cancelled."""
    phase_ends: tuple[int, ...] = ()
    """The last round of every phase that is over."""
    totals: Array = field(default_factory=lambda: frozen([], float))
    """(rounds,) sum of each round's rewards; NaN if some were missing."""
    progress: Array = field(default_factory=lambda: frozen([], float))
    """(rounds,) progress of the verdict after each round, as known then."""
    certificates: tuple[Certificate, ...] = ()
    trials: tuple[TrialRecord, ...] = ()
    """Of recommended joint arms against a baseline; the last may be running."""
    outside: tuple[Outside, ...] = ()
    """Rounds that were deployed before the study, or outside of it."""

    @property
    def ending(self) -> Ending:
        """Whether further rounds are taken, and why not."""
        return ending_after(self.learner, max_rounds=self.max_rounds, until=self.until)

    def phase_of(self, number: int) -> int:
        """The phase that a closed round belongs to."""
        return int(np.searchsorted(np.array(self.phase_ends, np.int64), number))

    def phase_rounds(self, phase: int) -> tuple[int, int]:
        """First and last closed round of a phase."""
        first = 1 if phase == 0 else self.phase_ends[phase - 1] + 1
        over = phase < len(self.phase_ends)
        return first, self.phase_ends[phase] if over else self.learner.rounds

    def to_tree(self) -> dict[str, Any]:
        """As plain values, for snapshots; :mod:`edgewise.study.log.snapshot` reads them back."""
        simple = {one.name: getattr(self, one.name) for one in fields(self)}
        return simple | {
            "learner": self.learner.to_tree(),
            "pending": None if self.pending is None else vars(self.pending),
            "certificates": [vars(one) for one in self.certificates],
            "trials": [one.to_tree() for one in self.trials],
            "outside": [vars(one) for one in self.outside],
        }


def start(setting: Setting, created: Created) -> StudyState:
    """The state right after creation."""
    learner = initial_state(setting, created.seed)
    known = 0 if created.past is None else int(created.past["rounds"])
    return StudyState(learner, setting.delta, setting.epsilon, created.max_rounds, until=known)


def setting_of(base: Setting, state: StudyState) -> Setting:
    """The setting as it stands: confidence may have been extended, rounds added."""
    return with_outside(replace(base, delta=state.delta, epsilon=state.epsilon), state.outside)


def fold(base: Setting, state: StudyState, event: Event) -> StudyState:
    """The state after an event; ``base`` is the setting the study was created with."""
    match event:
        case Asked():
            return _asked(base, state, event)
        case Told(arcs=arcs, values=values):
            _require_pending(state, event.round)
            return _with_rewards(base, state, arcs, values)
        case Closed():
            _require_pending(state, event.round)
            return _closed(base, state)
        case Cancelled(attempt=attempt):
            _require_pending(state, event.round)
            return replace(state, pending=None, attempts=attempt)
        case Corrected(revision=revision):
            if revision is None:
                _require_pending(state, event.round)
                return _with_rewards(base, state, event.arcs, event.new)
            return _corrected(base, state, event.round, revision)
        case Added():
            return _added(base, state, event)
        case Extended():
            return _extended(base, state, event)
        case TrialBegan() | TrialTold() | TrialRepeated() | TrialCorrected() | TrialEnded():
            return replace(state, trials=fold_trial(state.trials, event))
        case Created():
            raise StorageError(
                "the log creates the study twice, so it is damaged; restore it from a backup"
            )


def _asked(base: Setting, state: StudyState, event: Asked) -> StudyState:
    if state.pending is not None or event.round != state.learner.rounds + 1:
        raise _damaged(f"hands out round {event.round} after {state.learner.rounds} closed ones")
    if event.phase != len(state.phase_ends):
        raise StorageError(
            f"round {event.round} belongs to phase {event.phase} by the log, and to phase "
            f"{len(state.phase_ends)} as computed here: this machine does not reproduce the "
            "arithmetic of the one that wrote the log; go on with the study there"
        )
    return replace(state, pending=Round.unanswered(event, base.problem.n_rewards))


def _with_rewards(
    base: Setting, state: StudyState, arcs: Indices | None, values: Array
) -> StudyState:
    """Measurements of the pending round; when none is missing any more, it closes."""
    pending = _pending(state).with_rewards(arcs, values)
    after = replace(state, pending=pending)
    return after if pending.missing else _closed(base, after)


def _closed(base: Setting, state: StudyState) -> StudyState:
    pending = _pending(state)
    setting = setting_of(base, state)
    learner = tell_round(setting, state.learner, pending.arms, pending.rewards)
    if learner.rounds < state.until:
        learner = go_on(setting, learner)
    return _with_round(state, learner, pending.rewards)


def _with_round(state: StudyState, learner: LearnerState, rewards: Array) -> StudyState:
    """The state with one more round, which made the learner what it is."""
    after = replace(
        state,
        pending=None,
        attempts=0,
        totals=frozen(np.append(state.totals, rewards.sum()), float),
        progress=frozen(np.append(state.progress, learner.verdict.progress), float),
    )
    return _learned(after, learner)


def _added(base: Setting, state: StudyState, event: Added) -> StudyState:
    """A round that was deployed elsewhere: it costs no budget, and nothing deployed changes."""
    block = Outside(event.first, event.last, event.source, event.digest)
    if event.round == event.first:
        state = _begun(base, state, block)
    known = state.outside[-1:] == (block,) and block.first <= event.round <= block.last
    if state.pending is not None or event.round != state.learner.rounds + 1 or not known:
        raise _damaged(f"adds round {event.round} after {state.learner.rounds} closed ones")
    learner = tell_round(setting_of(base, state), state.learner, event.arms, event.rewards)
    learner = replace(learner, deployed=state.learner.deployed)
    limit = state.max_rounds
    still_wanted = max(state.until - state.learner.rounds, 0)
    after = replace(
        state,
        max_rounds=None if limit is None else limit + 1,
        until=learner.rounds + still_wanted if still_wanted else state.until,
    )
    return _with_round(after, learner, event.rewards)


def _begun(base: Setting, state: StudyState, block: Outside) -> StudyState:
    """The state before the first of several added rounds: the present phase ends there."""
    if base.rule.allows_phases and state.learner.phase_rounds:
        state = _learned(state, end_phase(setting_of(base, state), state.learner))
    return replace(state, outside=(*state.outside, block))


def _learned(state: StudyState, learner: LearnerState) -> StudyState:
    """The state with another learner: notes ends of phases, and stops."""
    ends = state.phase_ends
    if len(learner.closed) > len(ends):
        ends = (*ends, learner.rounds)
    certificates = state.certificates
    held = {(one.delta, one.epsilon) for one in certificates}
    if learner.contradictions:
        certificates = tuple(_withdrawn(one, learner.rounds) for one in certificates)
    elif learner.verdict.stop and (state.delta, state.epsilon) not in held:
        certificates = (*certificates, Certificate.of(learner, state.delta, state.epsilon))
    return replace(state, learner=learner, phase_ends=ends, certificates=certificates)


def _withdrawn(certificate: Certificate, number: int) -> Certificate:
    """No longer counting after that round, if it did until then."""
    return replace(certificate, withdrawn=certificate.withdrawn or number)


def _corrected(base: Setting, state: StudyState, number: int, revision: Revision) -> StudyState:
    if number > state.learner.rounds or revision.phase != state.phase_of(number):
        raise _damaged(f"corrects round {number} of phase {revision.phase}, which there is not")
    totals = state.totals.copy()
    totals[number - 1] = revision.total
    learner = replace(
        state.learner,
        best_arms=revision.best_arms,
        best_total=float(np.nanmax(totals)) if revision.best_arms is not None else -np.inf,
        by_edge=revision.by_edge,
        by_edge_closed=revision.by_edge_closed,
        watch=revision.watch,
    )
    setting = setting_of(base, state)
    learner = amend(setting, learner, revision.phase, revision.statistics)
    # certificates rest on what turned out to be wrong: only the present verdict counts
    after = replace(state, totals=frozen(totals, float), certificates=())
    return _learned(after, learner)


def _extended(base: Setting, state: StudyState, event: Extended) -> StudyState:
    after = replace(
        state,
        delta=event.delta,
        epsilon=event.epsilon,
        until=event.until,
        max_rounds=event.max_rounds,
    )
    setting, learner = setting_of(base, after), state.learner
    if (event.delta, event.epsilon) != (state.delta, state.epsilon):
        learner = reconsider(setting, learner)
    if learner.rounds < event.until:
        learner = go_on(setting, learner)
    return _learned(after, learner)


def _require_pending(state: StudyState, number: int) -> None:
    if state.pending is None or state.pending.number != number:
        raise _damaged(f"answers round {number}, which is not out")


def _pending(state: StudyState) -> Round:
    assert state.pending is not None
    return state.pending


def _damaged(fact: str) -> StorageError:
    return StorageError(f"the log {fact}, so it is damaged; restore it from a backup or an export")
