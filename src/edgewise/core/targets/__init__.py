"""Targets: what is to be found. Proofs are in docs/stopping.md."""

from __future__ import annotations

from edgewise.base.choice import pick
from edgewise.core.model.problem import Problem
from edgewise.core.stopping import StoppingRule
from edgewise.core.strategies import Plan
from edgewise.core.targets.allocation import BestAllocation as BestAllocation
from edgewise.core.targets.allocation import bounds_regret
from edgewise.core.targets.estimate import BestEstimate as BestEstimate
from edgewise.core.targets.estimate import Decided as Decided
from edgewise.core.targets.forecast import Forecast as Forecast
from edgewise.core.targets.pair import BestPair as BestPair
from edgewise.core.targets.target import Finding as Finding
from edgewise.core.targets.target import Target as Target
from edgewise.errors import InvalidArgument

_BUILT_IN: tuple[Target, ...] = (BestPair(), BestAllocation(), BestEstimate(), Decided())

TARGETS = {target.name: target for target in _BUILT_IN}
"""Every target by its public name."""


def target_for(
    choice: str | Target | None, problem: Problem, plan: Plan, rule: StoppingRule
) -> Target:
    """The target asked for, checked; else a pair where a pair tells all that matters."""
    if choice is None and problem.pooling in ("partial", "auto"):
        choice = "estimate" if problem.pooling == "partial" else "auto"
    if choice is None:
        choice = "pair"
        if bounds_regret(plan, rule) and not problem.has_paper_setting:
            choice = "allocation"
    target = choice
    if isinstance(target, str) or not hasattr(target, "look") or isinstance(target, type):
        target = pick("target", target, TARGETS, own="a target of your own", argument="target")
    if problem.pooling in ("partial", "auto") and target.name in ("pair", "allocation"):
        raise InvalidArgument(
            f"target {target.name!r} certifies one matrix per kind, which pooling="
            f"{problem.pooling!r} does not assume; leave the target out, or pass "
            "Problem(..., pooling='shared' or 'none')"
        )
    target.check(problem, plan, rule)
    return target
