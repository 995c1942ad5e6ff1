"""Evidence from signs: exact over all flips, monotone, robust."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import median_abs_deviation

from edgewise.trial import sign_evidence, sign_interval
from edgewise.trial.signs import log_sign_evidence, past_deviations

numbers = st.lists(st.floats(-20, 20).map(lambda x: round(x, 3)), min_size=1, max_size=14)


@pytest.mark.parametrize("sizes", [[1.0], [1.0, 1.0, 1.0], [0.3, 5.0, 1.0, 2.0, 0.01, 100.0, 1.0]])
@pytest.mark.parametrize("centre", [0.0, -7.5])
def test_the_mean_over_all_signs_is_one(sizes: list[float], centre: float) -> None:
    flips = product((-1.0, 1.0), repeat=len(sizes))
    found = [sign_evidence(centre + np.array(sizes) * signs, null=centre) for signs in flips]
    assert np.mean(found) == pytest.approx(1.0, rel=1e-9)


@given(numbers, st.floats(-20, 20), st.floats(0, 10))
def test_evidence_falls_with_the_centre(d: list[float], null: float, more: float) -> None:
    assert sign_evidence(d, null=null + more) <= sign_evidence(d, null=null) * (1 + 1e-9)


def test_the_path_is_the_evidence_after_every_pair() -> None:
    d = np.random.default_rng(0).standard_normal((3, 9)) + 0.5
    path = log_sign_evidence(d, past_deviations(d), 0.1)
    slow = [[sign_evidence(row[:k], null=0.1) for k in range(1, 10)] for row in d.tolist()]
    assert np.allclose(path, np.log(slow), rtol=1e-9)


def test_past_deviations_are_robust_and_those_of_scipy() -> None:
    d = np.random.default_rng(1).standard_normal(7) + 1e6
    slow = [0.0, 0.0, *(median_abs_deviation(d[:k], scale="normal") for k in range(2, 7))]
    assert np.allclose(past_deviations(d), slow, rtol=1e-4)


def test_the_interval_holds_what_is_not_refuted() -> None:
    d = np.random.default_rng(2).standard_normal(30) + 4.0
    low, high = sign_interval(d, delta=0.1, lower_share=0.8)
    assert low < d.mean() < high
    assert sign_evidence(d, null=low - 1e-6) > 1 / 0.08 > sign_evidence(d, null=low + 1e-6)
    assert sign_evidence(-d, null=-high - 1e-6) > 1 / 0.02 > sign_evidence(-d, null=-high + 1e-6)


def test_too_few_pairs_refute_nothing() -> None:
    assert sign_interval([]) == sign_interval([1.0, 1.1, 0.9]) == (-np.inf, np.inf)


def test_one_wild_value_does_not_make_the_interval_wild() -> None:
    d = np.random.default_rng(3).standard_normal(40) + 2.0
    d[30] = 1e6
    low, high = sign_interval(d)
    assert 0 < low < 2 < high < 5
