"""Looking after every pair: the error of trials is bounded, that of a fixed-sample test is not.

More noises, drift and all looks up to 200 pairs are counted in ``make stat``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from edgewise.base.arrays import Array
from edgewise.trial import pairs_needed, t_quantile

TRIALS, PAIRS, LEVEL = 4000, 80, 0.05
FALSE_ALARM = 1e-6


def t_statistics(effect: float, seed: int) -> Array:
    """(TRIALS, PAIRS - 1) after two pairs and more."""
    values = effect + np.random.default_rng(seed).standard_normal((TRIALS, PAIRS))
    n = np.arange(1, PAIRS + 1)
    mean = values.cumsum(axis=1) / n
    squares = (values**2).cumsum(axis=1) - n * mean**2
    found: Array = (mean[:, 1:] / np.sqrt(squares[:, 1:] / (n[1:] - 1) / n[1:])).astype(float)
    return found


def wrong(thresholds: Array) -> int:
    """Trials of equal configurations that are ever called better."""
    return int((t_statistics(0.0, 0) >= thresholds).any(axis=1).sum())


def test_wrong_endings_are_as_rare_as_promised() -> None:
    running = np.array([t_quantile(n, LEVEL) for n in range(2, PAIRS + 1)])
    assert binom.sf(wrong(running) - 1, TRIALS, LEVEL) > FALSE_ALARM


def test_peeking_with_a_fixed_sample_test_is_caught() -> None:
    fixed = student.ppf(1 - LEVEL, np.arange(1, PAIRS))
    assert binom.sf(wrong(fixed) - 1, TRIALS, LEVEL) < FALSE_ALARM


@pytest.mark.parametrize("effect", [0.7, 1.0, 2.0])
def test_a_plan_is_near_the_mean_number_of_pairs(effect: float) -> None:
    running = np.array([t_quantile(n, 0.04) for n in range(2, PAIRS + 1)])
    decided = t_statistics(effect, 1) >= running
    pairs = np.where(decided.any(axis=1), decided.argmax(axis=1) + 2, PAIRS)
    plan = pairs_needed(effect, 1.0, level=0.04)
    assert plan.expected == pytest.approx(pairs.mean(), rel=0.2, abs=1)
    assert plan.likely is not None
    assert np.mean(pairs <= plan.likely) == pytest.approx(0.8, abs=0.12)
