"""What stays fixed from the first round to the last."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.checks import number, probability
from edgewise.core.evidence.measuring import ByPhase, ByRound
from edgewise.core.evidence.noise import noise_bounds
from edgewise.core.gate.options import Gate
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState
from edgewise.core.stopping import StoppingRule, counts_looks, stopping_rule
from edgewise.core.strategies import Plan, Strategy, sampling_strategy
from edgewise.core.targets import Forecast, Target, target_for
from edgewise.errors import InvalidArgument

_NOISE_SHARE = 0.1
"""Part of delta that is spent on the noise when it is estimated: bounds on sigma are cheap."""


@dataclass(frozen=True, eq=False)
class Setting:
    """The problem, the plan and the confidence asked for: fixed before the first round."""

    problem: Problem
    plan: Plan
    rule: StoppingRule
    delta: float
    epsilon: float | None
    strategy: Strategy
    target: Target
    gate: Gate | None = None
    """What must stay silent for a certificate to count; None to trust the model."""
    robust: bool = False
    """Whether rewards that are out of the question do not count."""
    ties: bool = True
    """Whether to look for ties: see :mod:`edgewise.core.tie`."""

    @classmethod
    def of(
        cls,
        problem: Problem,
        *,
        delta: float,
        epsilon: float | None,
        strategy: str | Strategy,
        stopping: str | StoppingRule | None,
        target: str | Target | None = None,
        gate: Gate | None = None,
        trust_model: bool = False,
        robust: bool = False,
    ) -> Setting:
        """Check the options and make the plan."""
        check_confidence(delta, epsilon)
        chosen = sampling_strategy(strategy)
        plan = chosen(problem)
        rule = stopping_rule(plan.stopping if stopping is None else stopping)
        _check_rule(rule, plan, chosen.name)
        tolerance = None if epsilon is None else float(epsilon)
        goal = target_for(target, problem, plan, rule)
        watching = _checked_gate(gate, trust_model)
        _check_robust(problem, robust)
        return cls(problem, plan, rule, float(delta), tolerance, chosen, goal, watching, robust)

    @property
    def noise_delta(self) -> float:
        """Part of delta spent on a bound on the noise."""
        return _NOISE_SHARE * self.delta if self.problem.noise == "estimate" else 0.0

    @property
    def contrast_delta(self) -> float:
        """Part of delta spent on comparing arms."""
        return self.delta - self.noise_delta

    def at_look(self, state: LearnerState, rounds: int) -> Setting:
        """The setting with the confidence of a look at this round: extra looks have a price."""
        if state.extra_looks == 0 or not counts_looks(self.rule):
            return self
        price = self.rule.surcharge(rounds, state.extra_looks)
        return replace(self, delta=self.delta * math.exp(-price))

    def forecast(self, state: LearnerState) -> Forecast | None:
        """Rounds still needed; None when there is nothing to project: no round yet, or reached."""
        if state.rounds == 0 or state.verdict.stop or state.verdict.contradicted:
            return None
        return self.target.forecast(self, state)

    def noise_after(self, closed: ByPhase, present: ByRound) -> Array:
        """(R,) sigma, or bounds on it from the phases before and the present one (R, q, P)."""
        if self.problem.noise == "estimate":
            return noise_bounds(closed, present, self.noise_delta)
        return np.full(len(present), self.problem.stated_noise)


def _check_rule(rule: StoppingRule, plan: Plan, strategy: str) -> None:
    """Raise unless the rule is proved for what the plan does."""
    if rule.needs_phases and plan.phasing.is_endless:
        raise InvalidArgument(
            f"rule {rule.name!r} looks when a phase ends, and strategy {strategy!r} has no "
            "phases; use stopping='mixture', or strategy='adaptive'"
        )
    if not plan.phasing.is_endless and not rule.allows_phases:
        raise InvalidArgument(
            f"strategy {strategy!r} lets rewards decide what is deployed next, and rule "
            f"{rule.name!r} is proved only when they do not; use stopping='anytime', or "
            "strategy='g-optimal'"
        )
    if plan.ridge > 0 and not rule.allows_ridge:
        raise InvalidArgument(
            f"strategy {strategy!r} starts from A_0 = I, which biases the estimate, and "
            f"rule {rule.name!r} is proved for the unbiased one; use stopping='paper', or "
            "strategy='g-optimal'"
        )


def _checked_gate(gate: Gate | None, trust_model: bool) -> Gate | None:
    """The gate, by default the usual one; None if the model is trusted."""
    if gate is not None and not isinstance(gate, Gate):
        raise InvalidArgument(
            f"gate is {gate!r}; pass an edgewise.Gate, or trust_model=True for none",
            argument="gate",
        )
    if trust_model and gate is not None:
        raise InvalidArgument(
            "gate= and trust_model=True contradict each other; pass one of them", argument="gate"
        )
    return None if trust_model else gate or Gate()


def _check_robust(problem: Problem, robust: bool) -> None:
    """Raise unless it can be told which rewards are out of the question."""
    if robust and problem.noise == "estimate":
        raise InvalidArgument(
            "robust=True needs to know how large the noise is, and it is to be estimated; state "
            "it, or an upper bound on it",
            argument="robust",
        )


def check_confidence(delta: float, epsilon: float | None) -> None:
    """Raise unless delta is a probability and epsilon a tolerance."""
    probability("delta", delta, "the probability of a wrong answer")
    if epsilon is not None:
        number("epsilon", epsilon, least=0.0, unit="a tolerance in units of one reward")
