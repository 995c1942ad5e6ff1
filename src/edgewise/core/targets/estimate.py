"""Where edges are alike but not equal: the best joint arm of the local model, estimated."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Indices, Mask
from edgewise.base.wording import counted
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.evidence.measuring import ByRound
from edgewise.core.local.estimate import LocalEstimate, estimate_locally
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Answer, Regret
from edgewise.core.state import LearnerState
from edgewise.core.stopping import StoppingRule, Verdict
from edgewise.core.strategies import Plan
from edgewise.core.strategies.plan import trusted_by
from edgewise.core.targets.allocation import NEARLY, BestAllocation, on_grid, tolerated
from edgewise.core.targets.forecast import Forecast
from edgewise.core.targets.target import Finding, Target, may_estimate, nothing_open
from edgewise.core.targets.truth import Truth
from edgewise.errors import InvalidArgument

if TYPE_CHECKING:
    from edgewise.core.report import Report
    from edgewise.core.setting import Setting


_ROUNDS_PER_PARAMETER = 2


@dataclass(frozen=True)
class BestEstimate:
    """Never certified; settled when further rounds are expected to gain less than epsilon.

    Without an epsilon, less than ``share`` of the range of global rewards, as estimated.
    """

    share: float = 0.01
    name: str = "estimate"

    def check(self, problem: Problem, plan: Plan, rule: StoppingRule) -> None:  # noqa: ARG002
        """Only for a problem whose edges have parameters of their own."""
        if problem.pooling not in ("partial", "auto"):
            raise InvalidArgument(
                f"target 'estimate' with pooling={problem.pooling!r}: it is what the local model "
                "has to offer; pass Problem(..., pooling='partial'), or target='allocation'"
            )

    def is_due(self, setting: Setting, rounds: Indices) -> Mask:  # noqa: ARG002
        """On a geometric grid: a look fits the model and searches."""
        return on_grid(rounds)

    def look(
        self, setting: Setting, state: LearnerState, rounds: Indices, cumulative: ByRound
    ) -> Finding:
        """Fit, recommend, and ask what knowing more would be worth."""
        del cumulative  # the local model is fitted to what the edges showed one by one
        number, last = int(rounds[-1]), len(rounds) - 1
        found = self.estimate(setting, state)
        if found is None:
            return Finding(last, Verdict(False, number, (), None, 0.0), nothing_open)
        worth = found.worth_of_knowing(state.seed + number)
        tolerance = self.tolerance(setting.epsilon, found.allocation)
        settled = worth <= tolerance and number >= _enough(found)
        verdict = Verdict(
            stop=False,
            round=number,
            pairs=_leading_pairs(found),
            rival=None,
            progress=1.0 if settled else min(tolerance / max(worth, tolerance), NEARLY),
            settled=settled,
        )
        allocation = found.allocation
        left = 0.0 if allocation.proved_optimal else allocation.upper_bound - allocation.value
        return Finding(last, verdict, nothing_open, Answer(allocation.arms, Regret(math.inf, left)))

    def estimate(self, setting: Setting, state: LearnerState) -> LocalEstimate | None:
        """The local model fitted to all rounds; None while they say nothing."""
        return local_estimate(setting, state)

    def forecast(self, setting: Setting, state: LearnerState) -> Forecast | None:  # noqa: ARG002
        """None: there is no certificate to wait for."""
        return None

    def tolerance(self, epsilon: float | None, found: Allocation | None) -> float:
        """In units of the global reward."""
        return tolerated(epsilon, self.share, found)

    def regret(self, report: Report) -> Regret | None:  # noqa: ARG002
        """Nothing is proved about it."""
        return None

    def claims(self, report: Report) -> tuple[str, ...]:
        """What is expected, and what that rests on."""
        said = report.estimated
        if said is None:
            return ("Nothing can be estimated from so few rounds.",)
        low, high = said.interval
        return (
            f"Estimated, not proved: the allocation is expected to gain {said.gain:.4g} in global "
            f"reward over {said.baseline} (posterior deviation {said.deviation:.3g}; 90 %: "
            f"{low:.4g} to {high:.4g}).",
            f"Further rounds are expected to bring at most {said.worth_of_rounds:.3g}."
            if said.worth_of_rounds is not None
            else "",
            _small_kinds_text(report, said.small_kinds),
            _unmeasured_text(report, said.unmeasured),
            "Confirm it by measuring it against what you have today.",
        )

    def is_correct(self, setting: Setting, state: LearnerState, truth: Truth) -> bool:  # noqa: ARG002
        """Nothing is claimed that could be wrong."""
        return True


@dataclass(frozen=True)
class Decided:
    """What "auto" pooling looks for: a certificate if edges are alike, else an estimate."""

    alike: Target = field(default_factory=BestAllocation)
    unequal: Target = field(default_factory=BestEstimate)
    name: str = "auto"

    def _of(self, state: LearnerState) -> Target:
        return self.alike if state.pooling == "shared" else self.unequal

    def check(self, problem: Problem, plan: Plan, rule: StoppingRule) -> None:
        """As both ask for; and phases, the first of which decides."""
        self.alike.check(problem, plan, rule)
        self.unequal.check(problem, plan, rule)
        if plan.phasing.is_endless:
            raise InvalidArgument(
                "pooling='auto' is decided when the first phase ends, and this strategy has one "
                "phase only; use strategy='adaptive', or say pooling='partial' or 'shared'"
            )

    def is_due(self, setting: Setting, rounds: Indices) -> Mask:  # noqa: ARG002
        """When phases end."""
        return np.zeros(len(rounds), np.bool_)

    def look(
        self, setting: Setting, state: LearnerState, rounds: Indices, cumulative: ByRound
    ) -> Finding:
        """As what was decided; nothing is settled before that."""
        found = self._of(state).look(setting, state, rounds, cumulative)
        if state.pooling is not None:
            return found
        said = found.verdict
        return replace(
            found, verdict=replace(said, settled=False, progress=min(said.progress, NEARLY))
        )

    def estimate(self, setting: Setting, state: LearnerState) -> LocalEstimate | None:
        """As what was decided."""
        chosen = self._of(state)
        return chosen.estimate(setting, state) if may_estimate(chosen) else None

    def forecast(self, setting: Setting, state: LearnerState) -> Forecast | None:
        """As what was decided."""
        return self._of(state).forecast(setting, state)

    def tolerance(self, epsilon: float | None, found: Allocation | None) -> float:
        """In units of the global reward."""
        return self.alike.tolerance(epsilon, found)

    def regret(self, report: Report) -> Regret | None:
        """As what was decided."""
        return None if report.estimated is not None else self.alike.regret(report)

    def claims(self, report: Report) -> tuple[str, ...]:
        """What was decided, and what follows."""
        if report.verdict.round == 0 and report.estimated is not None:
            undecided = (
                "Whether edges of a kind are alike is decided when the first phase ends; until "
                "then they count as unequal."
            )
            return undecided, *self.unequal.claims(report)
        chosen = self.alike if report.estimated is None else self.unequal
        said = "alike: one matrix per kind" if report.estimated is None else "unequal"
        return f"By the first phase, edges of a kind are {said}.", *chosen.claims(report)

    def is_correct(self, setting: Setting, state: LearnerState, truth: Truth) -> bool:
        """As what was decided."""
        return self._of(state).is_correct(setting, state, truth)


def local_estimate(setting: Setting, state: LearnerState) -> LocalEstimate | None:
    """The local model fitted to all rounds, and its best joint arm of the trust region, if any."""
    if state.by_edge is None:
        return None
    allowed = trusted_by(setting.plan, setting.problem, state)
    return estimate_locally(local_network(setting.problem), state.by_edge, allowed=allowed)


def _small_kinds_text(report: Report, kinds: tuple[int, ...]) -> str:
    """That some kinds cannot teach how unequal their edges are."""
    if not kinds:
        return ""
    labels = report.problem.graph.kind_labels
    named = ", ".join(str(kind if labels is None else labels[kind]) for kind in kinds)
    return (
        f"Fewer than three measured edges of kind {named}: how unequal they are is learnt with the "
        "other kinds."
    )


def _unmeasured_text(report: Report, channels: int) -> str:
    """That some numbers were never measured, and what stands in for them."""
    if not channels:
        return ""
    both = report.problem.measured == "arc" and not report.problem.graph.directed
    what = "edge" if both else report.problem.measured
    were = "was" if channels == 1 else "were"
    return f"{counted(channels, what)} {were} never measured: kinds stand in for what is missing."


def _enough(found: LocalEstimate) -> int:
    """Rounds before which the spread of edges is too uncertain to say that all is known."""
    return _ROUNDS_PER_PARAMETER * int(found.network.measurement.features.shape[2])


def _leading_pairs(found: LocalEstimate) -> tuple[tuple[int, int], ...]:
    """The best pair of arms of every class of edges, by what its kind and covariates say."""
    measurement = found.network.measurement
    problem, pairs = measurement.problem, []
    _, members = np.unique(problem.classes.graph.kind_of_edge, return_index=True)
    for number, edge in enumerate(members):
        covariates = problem.graph.covariates
        known = np.append(1.0, () if covariates is None else covariates[edge])
        means = known @ found.fit.means(int(problem.graph.kind_of_edge[edge]))
        table = measurement.features @ means
        if not problem.graph.directed:
            table = table + table.T
        table = np.where(problem.showable[number], table, -np.inf)
        k, l = np.unravel_index(int(table.argmax()), table.shape)
        pairs.append((int(k), int(l)))
    return tuple(pairs)
