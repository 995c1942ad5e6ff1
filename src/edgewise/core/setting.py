"""The two values the engine works on: what stays fixed, and what rounds change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from edgewise.core.problem import Problem
from edgewise.core.statistics import CellStatistics
from edgewise.core.stopping import StoppingRule, Verdict, stopping_rule
from edgewise.core.strategy import Plan, Strategy, sampling_strategy
from edgewise.errors import InvalidArgument


@dataclass(frozen=True, eq=False)
class Setting:
    """The problem, the plan and the confidence asked for: fixed before the first round."""

    problem: Problem
    plan: Plan
    rule: StoppingRule
    delta: float
    epsilon: float
    strategy: str

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
        if plan.ridge > 0 and not rule.allows_ridge:
            raise InvalidArgument(
                f"strategy {chosen.name!r} starts from A_0 = I, which biases the estimate, and "
                f"rule {rule.name!r} is proved for the unbiased one; use stopping='paper', or "
                "strategy='g-optimal'"
            )
        return cls(problem, plan, rule, float(delta), float(epsilon), chosen.name)


@dataclass(frozen=True, eq=False)
class LearnerState:
    """What the rounds have taught so far."""

    seed: int
    rounds: int
    statistics: CellStatistics
    verdict: Verdict
    best_round: int
    """The fully observed round with the largest total reward; 0 if none yet."""
    best_total: float

    @classmethod
    def start(cls, setting: Setting, seed: int) -> LearnerState:
        """Before the first round."""
        nothing = CellStatistics.zero(setting.plan.cells)
        return cls(seed, 0, nothing, Verdict.none_yet(), 0, -np.inf)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "seed": self.seed,
            "rounds": self.rounds,
            "observations": self.statistics.observations.copy(),
            "information": self.statistics.information.copy(),
            "rewards": self.statistics.rewards.copy(),
            "squares": self.statistics.squares.copy(),
            "verdict": asdict(self.verdict),
            "best_round": self.best_round,
            "best_total": self.best_total,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LearnerState:
        """The inverse of :meth:`to_dict`; lists instead of arrays and tuples are fine."""
        statistics = CellStatistics(
            np.array(values["observations"], np.int64),
            np.array(values["information"], float),
            np.array(values["rewards"], float),
            np.array(values["squares"], float),
        )
        verdict = dict(values["verdict"])
        verdict["pairs"] = tuple((int(k), int(l)) for k, l in verdict["pairs"])
        verdict["rival"] = None if verdict["rival"] is None else tuple(verdict["rival"])
        return cls(
            int(values["seed"]),
            int(values["rounds"]),
            statistics,
            Verdict(**verdict),
            int(values["best_round"]),
            float(values["best_total"]),
        )


def check_confidence(delta: float, epsilon: float) -> None:
    """Raise unless delta is a probability and epsilon a tolerance."""
    if not 0.0 < delta < 1.0:
        raise InvalidArgument(
            f"delta is {delta}; it is the probability of a wrong answer and must lie strictly "
            "between 0 and 1, e.g. 0.05"
        )
    if not (np.isfinite(epsilon) and epsilon >= 0.0):
        raise InvalidArgument(
            f"epsilon is {epsilon}; it is a tolerance in units of one reward and must be finite "
            "and at least 0"
        )
