"""Making a report: estimate, allocate and compare, from the statistics alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array, Indices
from edgewise.base.scales import staying_finite
from edgewise.core.earnings import earnings_of
from edgewise.core.ending import Ending
from edgewise.core.evidence.by_edge import edges_differ, local_network
from edgewise.core.evidence.coverage import unseen_pairs
from edgewise.core.evidence.drawing import expected_coins
from edgewise.core.evidence.estimated import own_terms
from edgewise.core.evidence.least_squares import estimate
from edgewise.core.evidence.measuring import ByPhase, with_present
from edgewise.core.evidence.noise import estimate_noise
from edgewise.core.gate.forms import is_local
from edgewise.core.gate.lack_of_fit import lack_of_fit
from edgewise.core.gate.sensitivity import unnoticed_in_words
from edgewise.core.local.estimate import LocalEstimate, estimate_locally
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Regret
from edgewise.core.report import Baseline, Estimated, Report
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import counts_looks
from edgewise.core.targets.allocation import bounds_regret, recommend
from edgewise.core.targets.target import may_estimate

_LOCALLY = (
    "that the matrices of a kind's edges vary around a common one like independent Gaussian draws, "
    "and independent Gaussian noise"
)


class Advice(NamedTuple):
    """What to deploy, and what that is compared with."""

    allocation: Allocation
    regret: Regret | None
    baselines: tuple[Baseline, ...]


Adviser: TypeAlias = Callable[[Setting, LearnerState, Array, Array], Advice | None]
"""From the parameters (q, p) and tables (q, K, K) that are estimated; None while some are not."""


@staying_finite("the estimate")
def compile_report(
    setting: Setting, state: LearnerState, ending: Ending, *, advise: Adviser | None = None
) -> Report:
    """Estimate, allocate and compare, from the statistics alone.

    ``advise`` allocates where the edges are not at hand.
    """
    problem, plan, target = setting.problem, setting.plan, setting.target
    theta = estimate(plan.cells, state.total, ridge=plan.ridge)
    matrices = _without_direction(problem, plan.cells.matrices(theta))
    tables = _without_direction(problem, plan.cells.tables(theta))
    local = target.estimate(setting, state) if may_estimate(target) else None
    if local is None:
        found = (advise or _advice)(setting, state, theta, tables)
    else:
        found = _local_advice(problem, state, local)
    baselines = () if found is None else found.baselines
    allocation = None if found is None else found.allocation
    unbiased = theta if plan.ridge == 0 else estimate(plan.cells, state.total)
    report = Report(
        problem=problem,
        rounds=state.rounds,
        ending=ending,
        verdict=state.verdict,
        delta=setting.delta,
        epsilon=target.tolerance(setting.epsilon, allocation),
        target=target,
        strategy=setting.strategy.name,
        stopping=setting.rule.name,
        assumes=_assumptions(setting, state, local is not None),
        designs=plan.designs,
        matrices=matrices,
        node_terms=plan.cells.node_terms(theta),
        tables=tables,
        allocation=allocation,
        regret=None if found is None else found.regret,
        baselines=baselines,
        noise_estimate=estimate_noise(state.total),
        lack_of_fit=lack_of_fit(
            plan.cells,
            state.total,
            unbiased,
            state.watch,
            None if is_local(problem) else state.by_phase,
        ),
        unseen=() if np.isfinite(theta).all() else _unseen(setting, state),
        homogeneity=edges_differ(state.by_edge),
        estimated=None if local is None else _estimated(setting, state, local, baselines),
        edge_tables=None if local is None else local.network.edge_tables(local.theta),
        contradictions=state.contradictions,
        unwatched=_unwatched(setting, state),
        unnoticed=_unnoticed(setting, state),
        tie=state.tie,
    )
    if report.contradictions:  # what is proved under a model that does not hold is not proved
        return replace(report, regret=None)
    if problem.baseline is not None:
        report = replace(report, earnings=earnings_of(setting, state))
    certified = target.regret(report)
    return report if certified is None else replace(report, regret=certified)


def _unwatched(setting: Setting, state: LearnerState) -> str:
    """Why nobody asked whether the data contradict the model; empty if that was asked."""
    if setting.gate is None:
        return "The model was trusted: nobody asked whether the data contradict it."
    if state.watch is None:
        return (
            "Nobody asked whether the data contradict the model: the sums that takes would be "
            "large here; pass gate=Gate(always=True) to have them kept."
        )
    return ""


def _unnoticed(setting: Setting, state: LearnerState) -> str:
    """What the gate may have missed, of an answer that it let pass; empty if there is none."""
    passed = state.verdict.stop and not state.contradictions
    pooling = state.pooling or setting.problem.pooling
    if not passed or pooling == "partial" or setting.gate is None or state.watch is None:
        return ""
    return unnoticed_in_words(setting.problem, setting.gate, state.watch)


def expected_objective(setting: Setting, state: LearnerState) -> Objective | None:
    """The estimated global reward of joint arms, as the report has it; None if not estimable."""
    problem, plan, target = setting.problem, setting.plan, setting.target
    local = target.estimate(setting, state) if may_estimate(target) else None
    if local is not None:
        return local.objective
    theta = estimate(plan.cells, state.total, ridge=plan.ridge)
    if not np.isfinite(theta).all():
        return expected_coins(problem, plan.cells, with_present(state.closed, state.statistics))
    return _objective(setting, theta, _without_direction(problem, plan.cells.tables(theta)))


def _without_direction(problem: Problem, tables: Array) -> Array:
    """(q, K, K) or (q, d, d), the same from either end unless edges have a direction."""
    return tables if problem.graph.directed else 0.5 * (tables + tables.transpose(0, 2, 1))


def _objective(setting: Setting, theta: Array, tables: Array) -> Objective:
    problem = setting.problem
    own = own_terms(problem, setting.plan.cells, theta)
    return Objective.of(problem.classes.graph, tables, problem.candidates, own)


def _local_advice(problem: Problem, state: LearnerState, local: LocalEstimate) -> Advice:
    """The local model's, about which nothing is proved."""
    return Advice(local.allocation, None, _baselines(problem, state, local.objective))


def _advice(setting: Setting, state: LearnerState, theta: Array, tables: Array) -> Advice | None:
    """The allocation for the estimate and its regret; at a verdict, those it is about.

    None while nothing can be estimated. Without pooling, what an edge has not shown yet comes from
    its kind; rewards of 0 and 1 have a prior.
    """
    problem = setting.problem
    if not np.isfinite(theta).all():
        seen = with_present(state.closed, state.statistics)
        coins = expected_coins(problem, setting.plan.cells, seen) if state.rounds else None
        if coins is not None:
            baselines = _baselines(problem, state, coins)
            return Advice(solve(coins, Request()), None, baselines)
        if problem.pooling != "none" or state.by_edge is None or not state.rounds:
            return None
        pooled = estimate_locally(local_network(problem), state.by_edge, pooling="none")
        return None if pooled is None else _local_advice(problem, state, pooled)
    objective = _objective(setting, theta, tables)
    baselines = _baselines(problem, state, objective)
    answer = state.answer
    if answer is not None and (state.verdict.stop or state.verdict.round == state.rounds):
        return Advice(_as_found(objective, answer.arms), answer.regret, baselines)
    phases = _visible_phases(setting, state)
    judging = setting.at_look(state, state.rounds)
    guess = None if phases is None else recommend(judging, state.total, phases, state.rounds)
    if guess is not None:
        return Advice(guess.found, guess.regret, baselines)
    return Advice(solve(objective, Request()), None, baselines)


def _as_found(objective: Objective, arms: Indices) -> Allocation:
    """The joint arm with bounds for the estimate."""
    again = solve(objective, Request(start=arms))
    if np.array_equal(again.arms, arms):
        return again
    same = objective.certify(arms, method=again.method)
    return replace(
        same,
        upper_bound=max(again.upper_bound, same.value),
        bound=again.bound,
        proved_optimal=again.proved_optimal and same.value >= again.value,
    )


def _estimated(
    setting: Setting, state: LearnerState, local: LocalEstimate, baselines: tuple[Baseline, ...]
) -> Estimated:
    """What is expected of the local model's allocation, against what runs today if it is known."""
    if baselines:
        against = baselines[0].arms
        name = "the best common arm" if setting.problem.baseline is None else "the baseline"
    else:
        against, name = setting.problem.candidate_sets.masks.argmax(axis=1), "the first arms"
        against = against[setting.problem.candidate_sets.groups]
    gain, deviation = local.gain(against)
    tolerance = setting.target.tolerance(setting.epsilon, local.allocation)
    looked = state.verdict.round == state.rounds and state.verdict.progress > 0
    return Estimated(
        gain=gain,
        deviation=deviation,
        interval=local.interval(against),
        baseline=name,
        worth_of_rounds=tolerance / state.verdict.progress if looked else None,
        noise=local.fit.sigma,
        small_kinds=local.small_kinds,
        spread=local.spread,
        unmeasured=0 if state.by_edge is None else int((state.by_edge.counts == 0).sum()),
    )


def estimated_now(setting: Setting, state: LearnerState) -> Estimated | None:
    """What the local model expects of its allocation; None where the answer rests on no such."""
    target = setting.target
    local = target.estimate(setting, state) if may_estimate(target) else None
    if local is None:
        return None
    baselines = _baselines(setting.problem, state, local.objective)
    return _estimated(setting, state, local, baselines)


def _unseen(setting: Setting, state: LearnerState) -> tuple[tuple[int, int, int], ...]:
    """The pairs that no round has told from the others."""
    return tuple(unseen_pairs(setting.plan.cells, state.total)) if state.rounds else ()


def _visible_phases(setting: Setting, state: LearnerState) -> ByPhase | None:
    """(J, q, P) the phases from which the rule can bound a regret now; None if it cannot."""
    if not bounds_regret(setting.plan, setting.rule):
        return None
    whole = with_present(state.closed, state.statistics)
    if setting.rule.needs_phases:
        over = state.verdict.round == state.rounds
        return whole if over and state.phase_rounds else state.closed
    return whole if setting.rule.is_due(np.array([state.rounds])).all() else None


def _assumptions(setting: Setting, state: LearnerState, estimated: bool) -> str:
    if estimated:
        return _LOCALLY
    said = [setting.rule.assumes]
    if setting.problem.noise == "estimate":
        said.append("noise that is Gaussian with one deviation, as it is estimated")
    if setting.robust:
        said.append("rewards that are out of the question do not count")
    if state.extra_looks:
        said.append(_on_extra_looks(setting, state.extra_looks))
    return "; ".join(said)


def _on_extra_looks(setting: Setting, count: int) -> str:
    """What corrections and late measurements mean for the proof."""
    looks = "a correction or late measurement was" if count == 1 else "corrections and late "
    looks += "" if count == 1 else f"measurements were {count} times"
    if counts_looks(setting.rule):
        return f"{looks} followed by a look, which the rule has charged for"
    return (
        f"{looks} followed by a look at other data than the rule had judged: that they came, and "
        "when, has nothing to do with the rewards"
    )


def _baselines(problem: Problem, state: LearnerState, objective: Objective) -> tuple[Baseline, ...]:
    """What runs today, if known; the best common arm, and the best joint arm actually deployed."""
    masks, _ = problem.candidate_sets
    allowed = np.flatnonzero(np.all(masks, axis=0))
    common = [
        _valued(objective, "best common", np.full(problem.graph.n_nodes, arm)) for arm in allowed
    ]
    rows = sorted(common, key=lambda row: -row.value)[:1]
    if problem.baseline is not None:
        rows.insert(0, _valued(objective, "baseline", problem.baseline))
    if state.best_arms is not None:
        rows.append(_valued(objective, "best seen", state.best_arms))
    return tuple(rows)


def _valued(objective: Objective, name: str, arms: Indices) -> Baseline:
    return Baseline(name, arms, objective.value(arms))
