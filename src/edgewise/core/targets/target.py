"""What a target is, and what a look at the data finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeGuard

from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Indices, Mask
from edgewise.core.aim import Aim
from edgewise.core.evidence.measuring import ByRound
from edgewise.core.local.estimate import LocalEstimate
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Answer, Regret
from edgewise.core.state import LearnerState
from edgewise.core.stopping import StoppingRule, Verdict
from edgewise.core.strategies import Plan
from edgewise.core.targets.forecast import Forecast
from edgewise.core.targets.truth import Truth

if TYPE_CHECKING:
    from edgewise.core.report import Report
    from edgewise.core.setting import Setting


@dataclass(frozen=True, eq=False)
class Finding:
    """The outcome of looking after several successive rounds."""

    position: int
    """Which of the rounds it is about: the first at which the target is reached, else the last."""
    verdict: Verdict
    open: Callable[[], Aim | None]
    """The contrasts that are still open then, asked for when a phase ends; None if not everything
    can be estimated yet, or nothing is open."""
    answer: Answer | None = None
    """The joint arm that is recommended, if the target is about one."""
    refuted: Mask | None = None
    """(q, P) the cells refuted for good, now or before; None if the rule knows no such thing."""


def nothing_open() -> None:
    """What is open when all is settled, or nothing can be estimated."""
    return


class Target(Protocol):
    """What is to be found with confidence 1 - delta."""

    @property
    def name(self) -> str:
        """What users call it."""

    def check(self, problem: Problem, plan: Plan, rule: StoppingRule) -> None:
        """Raise InvalidArgument unless the rule can certify this target for the plan's rounds."""

    def is_due(self, setting: Setting, rounds: Indices) -> Mask:
        """(R,) after which rounds to look, besides ends of phases."""

    def look(
        self, setting: Setting, state: LearnerState, rounds: Indices, cumulative: ByRound
    ) -> Finding:
        """Judge the present phase's statistics (R, q, P) after the given rounds (R,)."""

    def forecast(self, setting: Setting, state: LearnerState) -> Forecast | None:
        """Rounds still needed, if information keeps growing; None if there is nothing to tell."""

    def tolerance(self, epsilon: float | None, found: Allocation | None) -> float:
        """The tolerance in force: what ``epsilon`` (None: not given) means for this target.

        ``found`` is the allocation found for the estimate, None while there is none.
        """

    def regret(self, report: Report) -> Regret | None:
        """What the certificate itself says about the regret of a report's allocation, if more
        than its confidence widths do.
        """

    def claims(self, report: Report) -> tuple[str, ...]:
        """What is proved about a report's answer, in sentences."""

    def is_correct(self, setting: Setting, state: LearnerState, truth: Truth) -> bool:
        """Whether a final state's answer is as good as it claims.

        ``truth`` are the true mean rewards, known to simulations only.
        """


class EstimatingTarget(Target, Protocol):
    """A target whose answer may rest on the local model."""

    def estimate(self, setting: Setting, state: LearnerState) -> LocalEstimate | None:
        """What the local model estimates; None where the answer does not rest on it."""


def may_estimate(target: Target) -> TypeGuard[EstimatingTarget]:
    """Whether the answer may rest on the local model."""
    return callable(getattr(target, "estimate", None))
