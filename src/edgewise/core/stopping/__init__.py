"""Stopping rules: when the evidence suffices. Proofs are in docs/stopping.md."""

from __future__ import annotations

from edgewise.base.choice import pick
from edgewise.core.stopping.anytime import Anytime as Anytime
from edgewise.core.stopping.mixture import Mixture as Mixture
from edgewise.core.stopping.paper import PaperRule as PaperRule
from edgewise.core.stopping.rivalwise import Rivalwise as Rivalwise
from edgewise.core.stopping.rule import ConfidenceRule as ConfidenceRule
from edgewise.core.stopping.rule import CountingRule as CountingRule
from edgewise.core.stopping.rule import StoppingRule as StoppingRule
from edgewise.core.stopping.rule import WeighingRule as WeighingRule
from edgewise.core.stopping.rule import counts_looks as counts_looks
from edgewise.core.stopping.rule import knows_widths as knows_widths
from edgewise.core.stopping.rule import weighs as weighs
from edgewise.core.stopping.union import Union as Union
from edgewise.core.stopping.verdict import Verdict as Verdict
from edgewise.core.stopping.verdict import judge as judge

_BUILT_IN: tuple[StoppingRule, ...] = (
    Anytime(),
    Rivalwise(),
    Mixture(),
    Union(),
    PaperRule(),
)

RULES = {rule.name: rule for rule in _BUILT_IN}


def stopping_rule(choice: str | StoppingRule) -> StoppingRule:
    """The rule of that name, or the rule itself."""
    if callable(choice) and hasattr(choice, "is_due"):
        return choice
    return pick("stopping rule", choice, RULES, own="a rule of your own", argument="stopping")
