"""What a stopping rule must keep to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.evidence import Evidence
from edgewise.core.learner import Learner
from edgewise.core.stopping import StoppingRule, knows_widths
from edgewise.simulation.replicate import replicate
from edgewise.testing.cases import INSTANCES, NEAR_TIE, Case, OnCases, too_many

_ROUNDS = np.array([1, 2, 7, 30, 120])
_DELTA = 0.05


class RuleContract(OnCases):
    """Subclass it as ``class TestMine(RuleContract)`` and return yours from ``rule``."""

    cases: ClassVar[Mapping[str, Case]] = {"undirected": INSTANCES["undirected"]}
    """Where a run with the rule is reported."""
    strategy: ClassVar[Any] = None
    """What the rule is used with; by default ``"adaptive"`` if it allows phases."""
    runs: ClassVar[int] = 60
    """How many runs errors are counted in."""
    rounds: ClassVar[int] = 40
    """How long each of them is."""

    def rule(self) -> StoppingRule:
        """Override: the rule."""
        raise NotImplementedError("return the stopping rule to be tested")

    def _strength(self, evidence: Evidence, *, delta: float = 0.05, epsilon: float = 0.0) -> Array:
        return self.rule()(evidence, delta=delta, epsilon=epsilon)

    def _strategy(self) -> Any:
        if self.strategy is not None:
            return self.strategy
        return "adaptive" if self.rule().allows_phases else "g-optimal"

    # -- what it says of itself --------------------------------------------------------------

    def test_it_says_what_it_is(self) -> None:
        """A name, what it assumes (a clause, without a full stop), and what it allows."""
        rule = self.rule()
        assert rule.name
        assert rule.assumes
        assert not rule.assumes.endswith(".")
        flags = (rule.allows_ridge, rule.allows_phases, rule.needs_phases)
        assert all(isinstance(flag, bool) for flag in flags)
        assert rule.allows_phases or not rule.needs_phases

    def test_when_to_look_depends_on_the_round_alone(self) -> None:
        """(R,) truth values, whichever rounds are asked about together."""
        rule, rounds = self.rule(), np.arange(1, 200)
        due = rule.is_due(rounds)
        assert due.shape == rounds.shape
        assert due.dtype == np.bool_
        for some in (rounds[:1], rounds[50:60], rounds[-1:]):
            assert np.array_equal(rule.is_due(some), due[some - 1])
        assert due.any() or rule.needs_phases

    # -- what it makes of evidence -----------------------------------------------------------

    def test_every_rival_gets_a_number(self) -> None:
        """(R, q, P), never NaN."""
        evidence = _evidence()
        strength = self._strength(evidence)
        assert strength.shape == evidence.gaps.shape
        assert not np.isnan(strength).any()

    def test_what_is_no_rival_is_refuted_and_what_is_unseen_is_not(self) -> None:
        """A gap of infinity is no rival; one of minus infinity has not been observed."""
        evidence = _evidence()
        strength = self._strength(evidence)
        assert (strength[evidence.gaps == np.inf] >= 1.0).all()
        assert (strength[evidence.gaps == -np.inf] < 1.0).all()

    def test_nothing_is_refuted_while_the_noise_is_unknown(self) -> None:
        """Its bound is infinity until something was observed twice."""
        evidence = replace(_evidence(), noise=np.full(len(_ROUNDS), np.inf))
        strength = self._strength(evidence)
        assert not np.isnan(strength).any()
        assert (strength[np.isfinite(evidence.gaps)] < 1.0).all()

    def test_rivals_are_judged_one_by_one(self) -> None:
        """Other rivals may change or be left out: simulations skip rounds by that."""
        evidence, other = _evidence(), _evidence(seed=1)
        kind, pair = 1, 3
        gaps, variances = other.gaps.copy(), other.variances.copy()
        gaps[:, kind, pair] = evidence.gaps[:, kind, pair]
        variances[:, kind, pair] = evidence.variances[:, kind, pair]
        expected = self._strength(evidence)[:, kind, pair]
        changed = self._strength(replace(evidence, gaps=gaps, variances=variances))
        assert np.array_equal(changed[:, kind, pair], expected)
        one = slice(kind, kind + 1), slice(pair, pair + 1)
        alone = replace(
            evidence,
            theta=np.full((len(_ROUNDS), 1, 1), np.nan),
            leaders=np.zeros((len(_ROUNDS), 1), np.int64),
            gaps=evidence.gaps[:, *one],
            variances=evidence.variances[:, *one],
        )
        assert np.allclose(self._strength(alone)[:, 0, 0], expected, rtol=1e-9)

    def test_rounds_are_judged_one_by_one(self) -> None:
        """The same strength whether a round is judged alone or with others."""
        evidence = _evidence()
        expected = self._strength(evidence)
        for position in range(len(_ROUNDS)):
            here = slice(position, position + 1)
            alone = replace(
                evidence,
                rounds=evidence.rounds[here],
                theta=evidence.theta[here],
                leaders=evidence.leaders[here],
                gaps=evidence.gaps[here],
                variances=evidence.variances[here],
                noise=evidence.noise[here],
            )
            assert np.allclose(self._strength(alone)[0], expected[position], rtol=1e-9)

    def test_a_larger_gap_is_stronger(self) -> None:
        """And so is a larger tolerance."""
        evidence = _evidence()
        before = self._strength(evidence)
        assert (self._strength(replace(evidence, gaps=evidence.gaps + 0.5)) >= before).all()
        assert (self._strength(evidence, epsilon=0.5) >= before).all()

    def test_a_large_gap_is_refuted_in_the_end(self) -> None:
        """Otherwise the rule never stops."""
        evidence = _evidence()
        assert (self._strength(replace(evidence, gaps=np.abs(evidence.gaps) + 1e6)) >= 1.0).all()

    def test_more_confidence_asks_for_more(self) -> None:
        """What is refuted at a small delta is refuted at every larger one."""
        evidence = _evidence()
        for gap in (0.0, 0.5, 1.0, 2.0, 4.0, 8.0):
            wider = replace(evidence, gaps=evidence.gaps + gap)
            strict = self._strength(wider, delta=1e-6) >= 1.0
            middle = self._strength(wider, delta=1e-3) >= 1.0
            loose = self._strength(wider, delta=0.3) >= 1.0
            assert (middle | ~strict).all()
            assert (loose | ~middle).all()

    # -- confidence widths, if it has them ---------------------------------------------------

    def test_widths_grow_with_variance_and_confidence(self) -> None:
        """(T,), positive and finite. A rule without widths cannot certify an allocation."""
        rule = self.rule()
        if not knows_widths(rule):
            return
        variances = np.geomspace(1e-6, 1e2, 30)
        low = rule.contrast_width(variances, rounds=50, log_odds=math.log(20.0))
        high = rule.contrast_width(variances, rounds=50, log_odds=math.log(2000.0))
        assert low.shape == variances.shape
        assert np.isfinite(low).all()
        assert (low > 0.0).all()
        assert (np.diff(low) > 0.0).all()
        assert (high > low).all()

    def test_widths_hold_at_all_looks_at_once(self) -> None:
        """Counted in random walks; false alarm 1e-6."""
        rule = self.rule()
        if not knows_widths(rule):
            return
        numbers: Indices = np.arange(1, 201)
        looks = np.ones(len(numbers), np.bool_) if rule.needs_phases else rule.is_due(numbers)
        noise = np.random.default_rng(11).standard_normal((400, len(numbers)))
        below = -np.cumsum(noise, axis=1) / numbers
        widths = np.array(
            [
                float(
                    rule.contrast_width(np.array([1.0 / n]), rounds=n, log_odds=-math.log(_DELTA))[
                        0
                    ]
                )
                for n in numbers.tolist()
            ]
        )
        failed = int((below[:, looks] > widths[looks]).any(axis=1).sum())
        assert not too_many(failed, len(noise), _DELTA)

    # -- in a run ----------------------------------------------------------------------------

    def test_wrong_certificates_stay_within_delta(self) -> None:
        """Counted at a near tie, where every certificate is a coin toss; false alarm 1e-6."""
        runs = replicate(
            NEAR_TIE.problem,
            NEAR_TIE.matrix,
            repetitions=self.runs,
            max_rounds=self.rounds,
            strategy=self._strategy(),
            stopping=self.rule(),
            target="pair",
            delta=_DELTA,
            rng=20,
        )
        assert not too_many(runs.errors, self.runs, _DELTA)

    def test_a_run_can_be_reported(self, case: Case) -> None:
        """While it goes on and when it is over, with what the rule assumes."""
        learner = Learner(
            case.problem, strategy=self._strategy(), stopping=self.rule(), target="pair", rng=1
        )
        measured = case.environment(3)
        while not learner.verdict.stop and learner.rounds < self.rounds:
            learner.tell(learner.ask(), measured(learner.ask().arms))
            if learner.rounds == 10:
                assert learner.report().stopping in str(learner.report())
        assert learner.report().stopping == self.rule().name
        assert self.rule().assumes in str(learner.report())


def _evidence(seed: int = 0) -> Evidence:
    """Five rounds, two kinds, six pairs: a leader, an unseen pair and rivals of all sorts."""
    rng = np.random.default_rng(seed)
    shape = (len(_ROUNDS), 2, 6)
    gaps = rng.exponential(1.0, shape) - 0.1
    gaps[:, :, 0] = np.inf
    gaps[0, 1, 1] = -np.inf
    return Evidence(
        rounds=_ROUNDS,
        theta=np.zeros((*shape[:2], 3)),
        leaders=np.zeros(shape[:2], np.int64),
        gaps=gaps,
        variances=rng.exponential(1.0, shape) / _ROUNDS[:, None, None],
        n_rivals=10,
        n_arcs=12,
        n_arms=3,
        noise=np.full(len(_ROUNDS), 0.7),
    )
