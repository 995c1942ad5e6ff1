"""Margins of many contrasts: the formula of docs/stopping.md, and that the truth stays within."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.stats import binom, norm

from edgewise.base.arrays import Array
from edgewise.core.evidence.duels import Duels
from edgewise.core.stopping import Anytime
from edgewise.core.stopping.bets import Stakes

RULE = Anytime()
DELTA = 0.1
FALSE_ALARM = 1e-6


def capital(truth: float, duels: Duels, c: int, first: float, noise: float) -> float:
    """What a unit staked on contrast c being below ``truth`` has become, letter by letter."""
    if duels.unit[c] == 0.0:
        return 1.0
    score = (duels.information[c] * truth - duels.score[c]) / noise
    stakes, total = Stakes(first), 0.0
    for scale, share in zip(stakes.scales, stakes.shares, strict=True):
        r = scale * duels.unit[c]
        z = score / math.sqrt(duels.information[c] + r)
        size = math.sqrt(r / (duels.information[c] + r))
        total += share * 2 * size * math.exp(z * z / 2) * norm.cdf(z)
    return total if score > 0 else 0.0


def stretches(seed: int, n_contrasts: int = 5) -> tuple[Duels, Duels]:
    rng = np.random.default_rng(seed)

    def stretch() -> Duels:
        information = rng.uniform(1.0, 9.0, n_contrasts)
        return Duels(3.0 * rng.normal(size=n_contrasts), information, 0.3 * information)

    return stretch(), stretch()


@pytest.mark.parametrize("noise", [0.1, 1.0, 7.0])
def test_a_margin_ends_where_somebody_would_have_won(noise: float) -> None:
    learning, since = stretches(3)
    weights = np.array([0.5, 0.2, 0.1, 0.05, 1e-9])
    options: dict[str, Any] = {"even": 0.05, "noise": noise, "nats": -math.log(DELTA)}
    above = RULE.margins(learning, since, weights=weights, **options)
    whole = learning.followed_by(since)
    for c in range(5):

        def won(truth: float, c: int = c) -> float:
            by_weight = 0.5 * weights[c] * capital(truth, since, c, 0.5, noise)
            alike = 0.5 * 0.05 * capital(truth, whole, c, 1 / 12, noise)
            return float(by_weight + alike - 1.0 / DELTA)

        if won(whole.estimates[c]) >= 0.0:  # the later phases alone say it is smaller
            assert above[c] == 0.0
            continue
        high = whole.estimates[c] + 1.5 * above[c]
        edge = brentq(won, whole.estimates[c], high, xtol=1e-12)
        assert_allclose(whole.estimates[c] + above[c], edge, rtol=1e-8)
        assert won(whole.estimates[c] + above[c]) >= -1e-9  # rounded to the safe side


def test_more_weight_and_less_confidence_make_smaller_margins() -> None:
    learning, since = stretches(4)
    weights = np.full(5, 0.1)
    options: dict[str, Any] = {"even": 0.01, "noise": 1.0}
    usual = RULE.margins(learning, since, weights=weights, nats=3.0, **options)
    assert (RULE.margins(learning, since, weights=2.0 * weights, nats=3.0, **options) < usual).all()
    assert (RULE.margins(learning, since, weights=weights, nats=5.0, **options) > usual).all()


def test_what_no_phase_determines_has_no_margin() -> None:
    learning, since = stretches(5)
    nothing = Duels(*np.zeros((3, 5)))
    options: dict[str, Any] = {"weights": np.full(5, 0.1), "even": 0.1, "nats": 3.0}
    assert np.isinf(RULE.margins(nothing, nothing, noise=1.0, **options)).all()
    assert np.isinf(RULE.margins(learning, since, noise=np.inf, **options)).all()
    assert np.isfinite(RULE.margins(learning, nothing, noise=1.0, **options)).all()
    assert np.isfinite(RULE.margins(nothing, since, noise=1.0, **options)).all()


# -- weights that are learnt -----------------------------------------------------------------


def failures(*, bets_twice: bool, delta: float = 0.2) -> tuple[int, int]:
    """Runs in which some contrast, truly 0, is ever beyond its margin, and all runs.

    The weights are the worst there are: all on the contrast that chance has made smallest in the
    first phase. Betting twice counts that phase as evidence for its own weights.
    """
    n_phases, runs, n_contrasts = shape = (3, 150, 150)
    score = np.random.default_rng(16).standard_normal(shape)
    weights = np.where(score[0] == score[0].min(axis=1, keepdims=True), 1.0, 0.0)
    failed = np.zeros(runs, bool)
    for end in range(1, n_phases + 1):
        learning, since = over(score[:1]), over(score[1:end])
        if bets_twice:
            learning, since = over(score[:0]), over(score[:end])
        above = RULE.margins(
            learning,
            since,
            weights=weights.ravel(),
            even=1 / n_contrasts,
            noise=1.0,
            nats=-math.log(delta),
        )
        below_zero = learning.followed_by(since).estimates + above < 0.0
        failed |= below_zero.reshape(runs, n_contrasts).any(axis=1)
    return int(failed.sum()), runs


def over(score: Array) -> Duels:
    """Phases (J, ...) of information 1 each."""
    phases, *shape = score.shape
    size = math.prod(shape)
    unit = np.full(size, float(phases > 0))
    return Duels(score.sum(axis=0).ravel(), phases * np.ones(size), unit)


def test_weights_may_be_any_function_of_what_is_not_bet_on_again() -> None:
    """False alarm 1e-6."""
    failed, runs = failures(bets_twice=False)
    assert binom.sf(failed - 1, runs, 0.2) > FALSE_ALARM


def test_betting_on_the_first_phase_twice_is_caught() -> None:
    failed, runs = failures(bets_twice=True)
    assert binom.sf(failed - 1, runs, 0.2) < FALSE_ALARM
