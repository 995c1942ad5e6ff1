"""What stays fixed from the first round to the last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.core.plan import Plan
from edgewise.core.problem import Problem
from edgewise.core.stopping import StoppingRule, stopping_rule
from edgewise.core.strategy import Strategy, sampling_strategy
from edgewise.errors import InvalidArgument


@dataclass(frozen=True, eq=False)
class Setting:
    """The problem, the plan and the confidence asked for: fixed before the first round."""

    problem: Problem
    plan: Plan
    rule: StoppingRule
    delta: float
    epsilon: float
    strategy: Strategy

    @classmethod
    def of(
        cls,
        problem: Problem,
        *,
        delta: float,
        epsilon: float,
        strategy: str | Strategy,
        stopping: str | StoppingRule | None,
    ) -> Setting:
        """Check the options and make the plan."""
        check_confidence(delta, epsilon)
        chosen = sampling_strategy(strategy)
        plan = chosen(problem)
        rule = stopping_rule(plan.stopping if stopping is None else stopping)
        if rule.needs_phases and not plan.has_phases:
            raise InvalidArgument(
                f"rule {rule.name!r} looks when a phase ends, and strategy {chosen.name!r} has no "
                "phases; use stopping='mixture', or strategy='adaptive'"
            )
        if plan.has_phases and not rule.allows_phases:
            raise InvalidArgument(
                f"strategy {chosen.name!r} lets rewards decide what is deployed next, and rule "
                f"{rule.name!r} is proved only when they do not; use stopping='anytime', or "
                "strategy='g-optimal'"
            )
        if plan.ridge > 0 and not rule.allows_ridge:
            raise InvalidArgument(
                f"strategy {chosen.name!r} starts from A_0 = I, which biases the estimate, and "
                f"rule {rule.name!r} is proved for the unbiased one; use stopping='paper', or "
                "strategy='g-optimal'"
            )
        return cls(problem, plan, rule, float(delta), float(epsilon), chosen)


def check_confidence(delta: float, epsilon: float) -> None:
    """Raise unless delta is a probability and epsilon a tolerance."""
    if not _is_number(delta) or not 0.0 < delta < 1.0:
        raise InvalidArgument(
            f"delta is {delta!r}; it is the probability of a wrong answer and must lie strictly "
            "between 0 and 1, e.g. 0.05"
        )
    if not _is_number(epsilon) or not (np.isfinite(epsilon) and epsilon >= 0.0):
        raise InvalidArgument(
            f"epsilon is {epsilon!r}; it is a tolerance in units of one reward and must be finite "
            "and at least 0"
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
