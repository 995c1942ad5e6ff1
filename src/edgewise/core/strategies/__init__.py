"""Strategies: how the joint arms of the coming rounds are chosen."""

from __future__ import annotations

from edgewise.base.choice import pick
from edgewise.core.strategies.adaptive import Adaptive as Adaptive
from edgewise.core.strategies.contrast import Contrast as Contrast
from edgewise.core.strategies.independent import GOptimal as GOptimal
from edgewise.core.strategies.independent import Paper as Paper
from edgewise.core.strategies.limits.limited import Limited as Limited
from edgewise.core.strategies.limits.safe import Safe as Safe
from edgewise.core.strategies.optimistic import Optimistic as Optimistic
from edgewise.core.strategies.phases import Phasing as Phasing
from edgewise.core.strategies.plan import Plan as Plan
from edgewise.core.strategies.strategy import Strategy as Strategy
from edgewise.core.strategies.thompson import Thompson as Thompson

BUILT_IN: dict[str, type[Strategy]] = {
    kind.name: kind
    for kind in (Adaptive, Contrast, GOptimal, Limited, Optimistic, Paper, Safe, Thompson)
}
"""What files may name and databases may hold; their settings are their fields."""

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for strategy in (Adaptive(), Contrast(), GOptimal(), Optimistic(), Paper(), Thompson())
}
"""Every strategy that needs no settings of the user's, by its public name."""


def sampling_strategy(choice: str | Strategy) -> Strategy:
    """The strategy of that name, or the strategy itself."""
    if callable(choice) and hasattr(choice, "name"):
        return choice
    own = "a strategy such as Limited(...), Safe(...) or of your own"
    return pick("strategy", choice, STRATEGIES, own=own, argument="strategy")
