"""The best pair by elimination: cells are refuted for good, until one is left in every kind."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.core.aim import Aim
from edgewise.core.evidence.duels import twins
from edgewise.core.evidence.evidence import Evidence, gather
from edgewise.core.evidence.measuring import (
    ByPhase,
    Statistics,
    Total,
    all_of,
    as_rounds,
    with_present,
)
from edgewise.core.model.cells import Cells
from edgewise.core.state import LearnerState
from edgewise.core.stopping import Anytime, Verdict
from edgewise.core.stopping.anytime import Contest
from edgewise.core.targets.forecast import HORIZON, Forecast
from edgewise.core.targets.needs import information_wanted, pooled
from edgewise.core.targets.target import Finding, nothing_open

if TYPE_CHECKING:
    from edgewise.core.setting import Setting

_STEPS = 400
"""Rounds ahead at which a forecast asks the rule, up to the horizon."""

_BETTING_COST = 3.0
"""Typical price of not knowing leader and gap, in log capital."""


@dataclass(frozen=True, eq=False)
class Standing:
    """What is left after a look."""

    refuted: Mask
    """(q, P) the cells that cannot be the best of their kind, or that no edge can show."""
    contests: tuple[Contest, ...]
    """Per kind, about the cells that were left before the look."""


def look(
    setting: Setting, rule: Anytime, state: LearnerState, number: int, present: Statistics
) -> Finding:
    """Refute what can be refuted, for good, at the end of a phase."""
    cells = setting.plan.cells
    everything = all_of(state.closed, present)
    standing = _stand(setting, rule, with_present(state.closed, present), state.refuted)
    evidence = _evidence(setting, standing, number, everything)
    if (evidence.leaders < 0).any():
        unknown = Verdict(False, number, (), None, 0.0)
        return Finding(0, unknown, nothing_open, refuted=standing.refuted)
    leaders = _leaders(cells, evidence.theta[0], standing.refuted)
    rivals = _rivals(cells, leaders, standing.refuted)
    strength = _strength(setting, rule, standing.contests, leaders)
    verdict = _verdict(cells, number, leaders, np.where(rivals, strength, np.inf))
    if standing.refuted.all(axis=1).any():
        verdict = replace(verdict, stop=False, rival=None, progress=0.0, contradicted=True)

    def still_open() -> Aim:
        leading = replace(evidence, leaders=leaders[None])
        return _open(setting, everything, leading, standing.contests, rivals & (strength < 1.0))

    over = verdict.stop or verdict.contradicted
    return Finding(0, verdict, nothing_open if over else still_open, refuted=standing.refuted)


def refuted_by(setting: Setting, rule: Anytime, phases: ByPhase) -> Mask | None:
    """(q, P) what the ends of these phases have refuted, one after the other; None before any."""
    refuted = None
    for count in range(1, len(phases) + 1):
        refuted = _stand(setting, rule, phases[:count], refuted).refuted
    return refuted


def forecast(setting: Setting, rule: Anytime, state: LearnerState) -> Forecast | None:
    """When all but one would be refuted if information kept growing as it has."""
    cells = setting.plan.cells
    phases = with_present(state.closed, state.statistics) if state.phase_rounds else state.closed
    standing = _stand(setting, rule, phases, state.refuted)
    evidence = _evidence(setting, standing, state.rounds, state.total)
    if (evidence.leaders < 0).any() or not np.isfinite(evidence.noise[0]):
        return None
    leaders = _leaders(cells, evidence.theta[0], standing.refuted)
    rivals = _rivals(cells, leaders, standing.refuted)
    ahead = np.ceil(state.rounds * np.geomspace(1.0, HORIZON, _STEPS)).astype(np.int64)

    def is_over(step: int, shift: float) -> bool:
        factor = float(ahead[step]) / state.rounds
        later = tuple(contest.grown(factor, shift) for contest in standing.contests)
        return bool((_strength(setting, rule, later, leaders)[rivals] >= 1.0).all())

    def further(shift: float) -> int | None:
        low, high = 0, _STEPS - 1
        if not is_over(high, shift):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if is_over(middle, shift) else (middle + 1, high)
        return max(1, int(ahead[low]) - state.rounds)

    return Forecast.within(further)


def _stand(setting: Setting, rule: Anytime, phases: ByPhase, before: Mask | None) -> Standing:
    """What is left after the last of the phases (J, q, P)."""
    cells = setting.plan.cells
    refuted = ~cells.showable if before is None else before.copy()
    noise = _noise(setting, phases)
    contests = tuple(
        rule.contest(cells, kind, phases, left=np.flatnonzero(~refuted[kind]), noise=noise)
        for kind in range(len(refuted))
    )
    threshold = _threshold(setting)
    for kind, contest in enumerate(contests):
        refuted[kind, contest.cells] = rule.against(contest) >= threshold
    return Standing(frozen(refuted, np.bool_), contests)


def _evidence(setting: Setting, standing: Standing, number: int, everything: Total) -> Evidence:
    """Least squares on all rounds: what is planned by, not what is bet on."""
    noise = np.array([standing.contests[0].noise])
    cells, round_ = setting.plan.cells, np.array([number])
    return gather(setting.problem, cells, round_, everything[None], noise=noise)


def _threshold(setting: Setting) -> float:
    """Log capital at which a cell is refuted: every kind with a choice has its part of delta."""
    choices = int((setting.plan.cells.showable.sum(axis=1) > 1).sum())
    return math.log(max(choices, 1) / setting.contrast_delta)


def _noise(setting: Setting, phases: ByPhase) -> Array:
    """(J,) sigma, or a bound on it as known after each phase."""
    if setting.problem.noise != "estimate":
        return np.full(len(phases), setting.problem.stated_noise)
    known = [setting.noise_after(phases[:j], as_rounds(phases[j]))[0] for j in range(len(phases))]
    return np.array(known)


def _leaders(cells: Cells, theta: Array, refuted: Mask) -> Indices:
    """(q,) the cell with the largest estimate among those left; among all if none is."""
    allowed = np.where(refuted.all(axis=1, keepdims=True), cells.showable, ~refuted)
    best: Indices = np.where(allowed, cells.means(theta), -np.inf).argmax(axis=1)
    return best


def _rivals(cells: Cells, leaders: Indices, refuted: Mask) -> Mask:
    """(q, P) the cells left that are not the leader, nor the same as it."""
    rivals = ~refuted
    for kind in range(len(leaders)):
        left = np.flatnonzero(rivals[kind])
        rivals[kind, left] = ~twins(cells.features[kind], leaders[kind : kind + 1], left)[0]
    return rivals


def _strength(
    setting: Setting, rule: Anytime, contests: tuple[Contest, ...], leaders: Indices
) -> Array:
    """(q, P) log capital over what refutes; infinite where a cell was refuted before."""
    epsilon = setting.target.tolerance(setting.epsilon, None)
    strength = np.full(setting.plan.cells.showable.shape, np.inf)
    for kind, (contest, leader) in enumerate(zip(contests, leaders, strict=True)):
        capital = rule.against(contest)
        if epsilon > 0:
            capital = np.maximum(capital, rule.within(contest, int(leader), epsilon))
        strength[kind, contest.cells] = capital / _threshold(setting)
    return strength


def _verdict(cells: Cells, number: int, leaders: Indices, strength: Array) -> Verdict:
    """Where it stands, by the strength (q, P) against each rival, infinite for the others."""
    kind, pair = np.unravel_index(int(strength.argmin()), strength.shape)
    weakest = max(float(strength[kind, pair]), 0.0)
    pairs = tuple((int(k), int(l)) for k, l in cells.pairs[leaders])
    if weakest == math.inf:
        return Verdict(True, number, pairs, None, 1.0)
    k, l = cells.pairs[pair].tolist()
    return Verdict(weakest >= 1.0, number, pairs, (int(kind), k, l), weakest)


def _open(
    setting: Setting,
    everything: Total,
    evidence: Evidence,
    contests: tuple[Contest, ...],
    rivals: Mask,
) -> Aim:
    """The rivals (q, P) that are not refuted, against the leaders."""
    gaps, variances = pooled(setting, everything, evidence)
    kinds, pairs = np.nonzero(rivals)
    leaders = evidence.leaders[0]
    had = np.zeros(rivals.shape)
    for kind, contest in enumerate(contests):
        row = np.flatnonzero(contest.claimants == leaders[kind])
        had[kind, contest.cells] = contest.all.information[row].sum(axis=0)
    wanted = information_wanted(
        gaps[kinds, pairs] + setting.target.tolerance(setting.epsilon, None),
        variances[kinds, pairs],
        float(evidence.noise[0]),
        _threshold(setting) + _BETTING_COST,
    )
    return Aim.lacking(kinds, leaders[kinds], pairs, wanted=wanted, had=had[kinds, pairs])
