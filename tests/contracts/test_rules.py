"""Every stopping rule keeps the contract, and rules that do not are found out."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass

import numpy as np
import pytest

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.stopping import RULES
from edgewise.stopping import (
    Anytime,
    Evidence,
    Mixture,
    PaperRule,
    Rivalwise,
    StoppingRule,
    Union,
)
from edgewise.testing.cases import INSTANCES
from edgewise.testing.rule import RuleContract


class TestAnytime(RuleContract):
    def rule(self) -> StoppingRule:
        return Anytime()


class TestRivalwise(RuleContract):
    def rule(self) -> StoppingRule:
        return Rivalwise()


class TestMixture(RuleContract):
    def rule(self) -> StoppingRule:
        return Mixture()


class TestMixtureWithoutPhases(RuleContract):
    strategy = "g-optimal"

    def rule(self) -> StoppingRule:
        return Mixture()


class TestUnion(RuleContract):
    def rule(self) -> StoppingRule:
        return Union()


class TestPaperRule(RuleContract):
    def rule(self) -> StoppingRule:
        return PaperRule()


class TestPaperRuleAsPrinted(RuleContract):
    strategy = "paper"

    def rule(self) -> StoppingRule:
        return PaperRule()


def test_every_rule_has_a_suite() -> None:
    suites = RuleContract.__subclasses__()
    tested = {suite().rule().name for suite in suites if suite.__module__ == __name__}
    assert set(RULES) <= tested


# -- negative controls -----------------------------------------------------------------------


@dataclass(frozen=True)
class Broken:
    """A one-sided test of every rival, with a fault."""

    fault: str
    name: str = "broken"
    assumes: str = "nothing that holds"
    allows_ridge: bool = False
    allows_phases: bool = False
    needs_phases: bool = False

    def is_due(self, rounds: Indices) -> Mask:
        if self.fault == "counts its looks":
            first: Mask = np.arange(len(rounds)) == 0
            return first
        return np.ones(len(rounds), np.bool_)

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Array:
        if self.fault == "careless":  # neither rivals nor looks cost anything
            return evidence.standardised(epsilon)
        if self.fault == "relative":
            finite = np.where(np.isfinite(evidence.gaps), evidence.gaps, 0.0)
            share: Array = evidence.gaps / (1.0 + finite.max())
            return share
        if self.fault == "looks back":
            running: Array = np.maximum.accumulate(evidence.standardised(epsilon), axis=0)
            return running
        strength: Array = evidence.standardised(epsilon) / (10.0 * math.sqrt(-math.log(delta)))
        if self.fault == "not a number":
            return strength - strength
        if self.fault == "upside down":
            return -strength
        if self.fault == "contrary":
            return strength * math.log(delta) ** 2
        if self.fault == "never":
            return np.minimum(strength, 0.5)
        if self.fault == "one number":
            weakest: Array = strength.min(axis=2)
            return weakest
        if self.fault == "trusting":
            return np.where(np.isinf(evidence.deviations), 2.0, strength)
        return strength

    def contrast_width(self, variances: Array, *, rounds: int, log_odds: float) -> Array:  # noqa: ARG002
        if self.fault == "careless":
            return np.sqrt(variances * log_odds)
        return np.sqrt(variances) * (1.0 if self.fault == "any odds" else log_odds * 10.0)


@pytest.mark.parametrize(
    ("fault", "test"),
    [
        ("counts its looks", "test_when_to_look_depends_on_the_round_alone"),
        ("one number", "test_every_rival_gets_a_number"),
        ("upside down", "test_what_is_no_rival_is_refuted_and_what_is_unseen_is_not"),
        ("trusting", "test_nothing_is_refuted_while_the_noise_is_unknown"),
        ("relative", "test_rivals_are_judged_one_by_one"),
        ("looks back", "test_rounds_are_judged_one_by_one"),
        ("upside down", "test_a_larger_gap_is_stronger"),
        ("never", "test_a_large_gap_is_refuted_in_the_end"),
        ("contrary", "test_more_confidence_asks_for_more"),
        ("any odds", "test_widths_grow_with_variance_and_confidence"),
        ("careless", "test_widths_hold_at_all_looks_at_once"),
        ("careless", "test_wrong_certificates_stay_within_delta"),
    ],
)
def test_broken_rules_are_found_out(fault: str, test: str) -> None:
    class Suite(RuleContract):
        def rule(self) -> StoppingRule:
            return Broken(fault)

    with pytest.raises(AssertionError):
        getattr(Suite(), test)()


def test_a_clumsy_rule_that_breaks_nothing_passes() -> None:
    class Suite(RuleContract):
        def rule(self) -> StoppingRule:
            return Broken("none")

    suite = Suite()
    for name, test in inspect.getmembers(suite, inspect.ismethod):
        if name.startswith("test_") and name != "test_a_run_can_be_reported":
            test()
    suite.test_a_run_can_be_reported(INSTANCES["undirected"])


def test_a_suite_without_a_rule_says_so() -> None:
    with pytest.raises(NotImplementedError, match="return the stopping rule"):
        RuleContract().test_it_says_what_it_is()
