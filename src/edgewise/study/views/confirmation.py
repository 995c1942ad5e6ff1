"""What the trials of a study say about its answer: confirmed, unconfirmed or contradicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Indices
from edgewise.core.claim import Confirmation
from edgewise.core.model.problem import Problem
from edgewise.core.report import Baseline, Report
from edgewise.errors import InvalidArgument
from edgewise.trial.pairs import TrialRecord
from edgewise.trial.report import TrialReport, in_words
from edgewise.trial.rule import TrialEnding
from edgewise.trial.setup import named

RECOMMENDED = "recommended"

Candidates = Mapping[str, ArrayLike] | Sequence[str]
"""Joint arms by name, or names that the report knows: recommended, best common, best seen."""


def candidates_of(
    report: Report, candidate: ArrayLike | None, candidates: Candidates | None
) -> Mapping[str, ArrayLike]:
    """The candidates of a trial by name; the recommended joint arm if none is given."""
    if candidate is not None or isinstance(candidates, Mapping):
        return named(candidate, candidates)
    known = {row.name: row.arms for row in report.baselines}
    if report.allocation is not None:
        known = {RECOMMENDED: report.allocation.arms, **known}
    wanted = [RECOMMENDED] if candidates is None else list(candidates)
    for name in wanted:
        if name not in known:
            raise InvalidArgument(
                f"the report has no joint arm called {name!r} ("
                f"{', '.join(known) or 'nothing is estimable yet'}); pass the joint arms in "
                "candidate= or candidates=, or tell more rounds first",
                argument="candidates",
            )
    return {name: known[name] for name in wanted}


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured of a joint arm."""

    confirmation: Confirmation
    trial: TrialReport
    text: str
    instead: Indices
    """(n,) what to deploy, by the measurement."""


def measured_of(problem: Problem, trials: Sequence[TrialRecord], arms: Indices) -> Measured | None:
    """What the latest trial of a joint arm (n,) found; None if there was none."""
    for trial in reversed(trials):
        same = np.flatnonzero((trial.design.arms == arms).all(axis=1))
        if len(same):
            return _judged(problem, trial, int(same[0]))
    return None


def _judged(problem: Problem, trial: TrialRecord, candidate: int) -> Measured:
    standing, report = trial.standing, TrialReport.of(problem, trial)
    verdict = standing.verdict_on(candidate, trial.design.goal.margin)
    best = standing.best if verdict is Confirmation.CONTRADICTED else candidate
    text = _text(report, verdict, candidate, best)
    return Measured(verdict, report, text, trial.design.arms[best])


def _text(report: TrialReport, verdict: Confirmation, candidate: int, best: int) -> str:
    """In words, the advice first."""
    found = _against_baseline(report, candidate)
    if verdict is Confirmation.CONTRADICTED:
        instead = "the baseline" if best == 0 else f"{report.names[best]!r}"
        return (
            f"Contradicted by measurement: deploy {instead}, not what the model recommends. {found}"
        )
    if verdict is Confirmation.CONFIRMED:
        return f"Confirmed by measurement: {found}"
    if report.ending is TrialEnding.SAME or candidate == 0:
        return "The recommended configuration is the baseline: keep today's setting."
    return f"Not confirmed by measurement so far: {found}"


def _against_baseline(report: TrialReport, candidate: int) -> str:
    """What was measured of a candidate, or of the best one if it is the baseline."""
    one = report.leading if candidate == 0 else report.comparisons[candidate - 1]
    return "" if one is None else f"{in_words(one)}; no model assumed."


def with_measured(report: Report, found: Measured, objective: Objective | None) -> Report:
    """A report that says first what was measured of its answer, and keeps to it."""
    said = replace(report, confirmation=found.confirmation, measured=found.text)
    best = report.allocation
    if found.confirmation is not Confirmation.CONTRADICTED or best is None:
        return said
    value = np.nan if objective is None else objective.value(found.instead)
    kept = replace(best, arms=found.instead, value=value, proved_optimal=False, method="trial")
    lost = Baseline("by the model", best.arms, best.value)
    return replace(said, allocation=kept, regret=None, baselines=(lost, *report.baselines))
