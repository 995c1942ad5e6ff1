"""Every test must pass on true claims, and fail on false ones: both are tried."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest, ttest_1samp

from edgewise.base.arrays import Array
from edgewise.reproduction import inference
from edgewise.reproduction.inference import LEVEL


def runs(mean: float, seed: int, n: int = 100) -> Array:
    return mean * np.random.default_rng(seed).gamma(25.0, 1 / 25.0, n)


def test_equal_means_agree_and_different_ones_do_not() -> None:
    same = inference.agreement("a/b", [(runs(10, 1), runs(10, 2))], margin=0.1)
    assert same.passed
    assert same.p_against > LEVEL
    assert same.low < 1 < same.high
    other = inference.agreement("a/b", [(runs(13, 1), runs(10, 2))], margin=0.1)
    assert not other.passed
    assert other.p_against < LEVEL


def test_few_runs_leave_agreement_undecided() -> None:
    few = inference.agreement("a/b", [(runs(10, 1, 4), runs(10, 2, 4))], margin=0.1)
    assert not few.passed
    assert few.p_against > LEVEL


@pytest.mark.parametrize("ratio", [1.1, 1 / 1.1])
def test_agreement_at_the_margin_is_claimed_no_more_often_than_the_level(ratio: float) -> None:
    """The worst false claim: the ratio is exactly at the margin."""
    trials = 2_000
    claimed = sum(
        inference.agreement("", [(runs(ratio, i), runs(1.0, i + trials))], margin=0.1).passed
        for i in range(trials)
    )
    assert binomtest(claimed, trials, LEVEL, alternative="greater").pvalue > 1e-6


def test_no_difference_is_claimed_no_more_often_than_the_level() -> None:
    trials = 2_000
    claimed = sum(
        inference.larger("", [(runs(1.0, i), runs(1.0, i + trials))]).passed for i in range(trials)
    )
    assert binomtest(claimed, trials, LEVEL, alternative="greater").pvalue > 1e-6


def test_a_slower_graph_is_found_and_a_faster_one_contradicts() -> None:
    assert inference.larger("a/b", [(runs(12, 1), runs(10, 2))]).passed
    reverse = inference.larger("a/b", [(runs(10, 1), runs(12, 2))])
    assert not reverse.passed
    assert reverse.p_against < LEVEL


def test_pooling_averages_log_ratios_and_narrows_the_interval() -> None:
    pairs = [(runs(10 * i, i), runs(10, 50 + i)) for i in (1, 2, 4)]
    value, error, freedom = inference.log_ratio(pairs)
    single = [inference.log_ratio([pair]) for pair in pairs]
    assert_allclose(value, np.mean([each[0] for each in single]))
    assert_allclose(error, np.sqrt(sum(each[1] ** 2 for each in single)) / 3)
    assert freedom > max(each[2] for each in single)


def test_constant_samples_have_no_uncertainty() -> None:
    ones = np.ones(5)
    assert inference.agreement("", [(ones, ones)], margin=0.1).passed
    assert not inference.agreement("", [(2 * ones, ones)], margin=0.1).passed
    assert inference.agreement("", [(2 * ones, ones)], margin=0.1).p_against < LEVEL
    assert inference.larger("", [(2 * ones, ones)]).passed
    assert not inference.larger("", [(ones, ones)]).passed
    assert inference.within("", ones, 1.0, margin=0.1).passed
    assert inference.within("", ones, 2.0, margin=0.1).p_against < LEVEL


def test_equivalence_with_a_number() -> None:
    slopes = np.random.default_rng(0).normal(1.98, 0.02, 50)
    assert inference.within("star", slopes, 2.0, margin=0.05).passed
    wrong = inference.within("star", slopes, 1.5, margin=0.05)
    assert not wrong.passed
    assert wrong.p_against < LEVEL


def test_one_sided_tests_are_students() -> None:
    sample = np.random.default_rng(0).normal(0.2, 1.0, 40)
    above, below = inference.at_least("", sample, 0.0), inference.at_most("", sample, 0.0)
    assert_allclose(above.p_value, ttest_1samp(sample, 0.0, alternative="greater").pvalue)
    assert_allclose(below.p_value, ttest_1samp(sample, 0.0, alternative="less").pvalue)
    assert inference.at_most("", sample, -5.0).p_against < LEVEL
    assert inference.at_least("", sample, 5.0).p_against < LEVEL


@pytest.mark.parametrize(("events", "trials"), [(0, 60), (3, 100), (9, 100), (20, 100), (5, 5)])
def test_rates_are_tested_exactly(events: int, trials: int) -> None:
    row = inference.rate_at_most("", events, trials, 0.05)
    interval = binomtest(events, trials).proportion_ci(1 - 2 * LEVEL, method="exact")
    assert_allclose([row.low, row.high], [interval.low, interval.high], atol=1e-12)
    expected = binomtest(events, trials, 0.05, alternative="less").pvalue
    assert_allclose(row.p_value, expected, atol=1e-12)
    against = binomtest(events, trials, 0.05, alternative="greater").pvalue
    assert_allclose(row.p_against, against, atol=1e-12)
    assert row.passed == (row.high <= 0.05)


def test_exponents_are_least_squares_slopes() -> None:
    rng = np.random.default_rng(1)
    x = np.array([6.0, 30.0, 72.0, 156.0])
    y = np.exp(rng.normal(size=(3, 4)))
    expected = [np.polyfit(np.log(x), np.log(row), 1)[0] for row in y]
    assert_allclose(inference.exponents(x, y), expected)


def test_geometric_means_are_tested_on_logarithms() -> None:
    sample = np.exp(np.random.default_rng(5).normal(0.3, 0.4, 60))
    above = inference.geometrically_above("", sample, 1.05)
    assert_allclose(
        above.p_value, ttest_1samp(np.log(sample), np.log(1.05), alternative="greater")[1]
    )
    assert_allclose(above.estimate, np.exp(np.log(sample).mean()))
    assert above.low < above.estimate < above.high
    assert above.passed
    beyond = inference.geometrically_above("", sample, 2.0)
    assert not beyond.passed
    assert beyond.p_against < LEVEL
