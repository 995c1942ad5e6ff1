"""Contrasts of all cells at once, against the contrasts one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from edgewise.base.arrays import Array
from edgewise.core.evidence.duels import fight, meet, twins

Phases = list[tuple[Array, Array]]


def instance(seed: int) -> tuple[Array, Phases]:
    """Seven cells in four dimensions, the last the twin of the first; phases of ranks 2, 4, 3."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((7, 4))
    features[6] = features[0]
    phases = []
    for shown in ([0, 1], [0, 1, 2, 3, 4, 5], [2, 3, 4]):
        counts = np.zeros(7)
        counts[shown] = rng.integers(1, 9, len(shown))
        sums = counts * rng.standard_normal(7)
        phases.append(((features.T * counts) @ features, sums @ features))
    return features, phases


@pytest.mark.parametrize("seed", range(5))
def test_all_contrasts_at_once_are_the_contrasts_one_by_one(seed: int) -> None:
    features, phases = instance(seed)
    claimants, cells = np.array([0, 2, 5]), np.array([1, 2, 3, 6])
    duels = fight(features, claimants, cells, phases)
    for i, one in enumerate(claimants):
        for j, other in enumerate(cells):
            contrast = (features[one] - features[other])[None]
            if not contrast.any():
                assert duels.information[i, j] == duels.score[i, j] == duels.unit[i, j] == 0.0
                continue
            met = meet(contrast, phases)
            assert_allclose(duels.score[i, j], met.score[0], rtol=1e-9)
            assert_allclose(duels.information[i, j], met.information[0], rtol=1e-9)
            units = [meet(contrast, [phase]).information[0] for phase in phases]
            assert_allclose(duels.unit[i, j], next(unit for unit in units if unit > 0), rtol=1e-9)
            assert met.unit[0] == next(unit for unit in units if unit > 0)


def test_estimates_and_the_other_way_round() -> None:
    features, phases = instance(2)
    contrasts = features[[0, 2]] - features[[1, 3]]
    ahead, behind = meet(contrasts, phases), meet(-contrasts, phases)
    assert_allclose(ahead.reversed.score, behind.score)
    assert_allclose(ahead.estimates, ahead.score / ahead.information)
    assert not meet(contrasts[1:], phases[:1]).estimates.any()


def test_a_phase_that_does_not_determine_a_contrast_says_nothing_about_it() -> None:
    features, phases = instance(0)
    duels = fight(features, np.array([0, 2]), np.array([1, 5]), phases[:1])
    assert duels.information[0, 0] > 0
    assert (duels.information.ravel()[1:] == 0).all()
    assert not fight(features, np.array([0]), np.array([1]), []).unit.any()


def test_stretches_of_phases_add_up() -> None:
    features, phases = instance(1)
    everyone = np.arange(7)
    whole = fight(features, everyone, everyone, phases)
    parts = fight(features, everyone, everyone, phases[:1]).followed_by(
        fight(features, everyone, everyone, phases[1:])
    )
    assert_allclose(parts.score, whole.score, atol=1e-12)
    assert_allclose(parts.information, whole.information, rtol=1e-12)
    assert np.array_equal(parts.unit, whole.unit)


def test_twins_are_cells_of_the_same_features() -> None:
    features, _ = instance(0)
    same = twins(features, np.arange(7), np.arange(7))
    expected = np.eye(7, dtype=bool)
    expected[0, 6] = expected[6, 0] = True
    assert np.array_equal(same, expected)
