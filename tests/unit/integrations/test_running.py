"""Methods on a system that is known: they find its best joint arm, and are graded by it."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.unit.integrations.systems import Row

from edgewise.errors import InvalidArgument
from edgewise.integrations.confirming import advice, confirm
from edgewise.integrations.gains import explain, gains_data, graded, outcome_of
from edgewise.integrations.rivals import RIVALS, cma_es
from edgewise.integrations.running import Trail, explore, gain_of
from edgewise.strategies import Thompson

STRATEGY = Thompson(scale=2.0, first=8, phase=6, even=0.0)


def test_edgewise_finds_the_best_joint_arm_and_is_sure_of_its_gain() -> None:
    system = Row()
    run = explore(system, STRATEGY, marks=[3, 40], rng=0)
    assert_array_equal(run.trail.recommended[-1], system.best)
    today, best = system.means(np.stack([system.today, system.best])).sum(axis=1)
    outcome = outcome_of(system, run, optimiser=("the optimum", best / today - 1.0))
    assert outcome.share == pytest.approx(1.0)
    low, high = outcome.interval
    assert low < outcome.expected < high
    assert abs(outcome.expected - outcome.edgewise.gain) < 0.02
    assert outcome.today == pytest.approx(today)
    name, worth, gain, share = outcome.rows("today")[0]
    assert (name, gain, share) == ("today", 0.0, 0.0)
    assert worth == pytest.approx(today)
    assert "estimated, not proved" in explain(outcome, "the row", "today")


def test_the_same_seed_gives_the_same_trail_and_watchers_see_every_round() -> None:
    seen: list[float] = []
    one = explore(Row(), STRATEGY, marks=[12], rng=3)
    other = explore(Row(), STRATEGY, marks=[12], rng=3, watch=lambda _, total: seen.append(total))
    assert_array_equal(one.trail.worths, other.trail.worths)
    assert_array_equal(one.trail.recommended, other.trail.recommended)
    assert len(seen) == 12


@pytest.mark.parametrize("name", list(RIVALS))
def test_rivals_find_it_too_where_noise_is_small(name: str) -> None:
    system = Row(n=4, noise=0.01)
    trail = RIVALS[name](system, marks=[10, 300], rng=0)
    assert trail.worths.shape == (300,)
    assert_array_equal(trail.recommended[-1], system.best)


def test_rivals_keep_to_the_candidates() -> None:
    system = Row(open_below=False)
    allowed = system.problem.candidates
    assert allowed is not None
    for rival in RIVALS.values():
        for arms in rival(system, marks=[5, 20], rng=1).recommended:
            assert allowed[np.arange(system.n), arms].all()


def test_evolution_answers_at_marks_inside_a_generation() -> None:
    trail = cma_es(Row(), marks=[1, 2, 3, 30], rng=0)
    assert trail.marks.tolist() == [1, 2, 3, 30]
    assert len(trail.recommended) == 4


def test_courses_are_gains_over_today() -> None:
    system = Row()
    trail = Trail("best at once", np.array([30.0]), np.array([1]), system.best[None])
    today, best = system.means(np.stack([system.today, system.best])).sum(axis=1)
    (course,) = graded(system, [trail])
    assert course.gain == pytest.approx(best / today - 1.0)
    assert_allclose(course.exploring, 30.0 / today)
    data = gains_data([course], ("optimum", 0.5))
    assert_allclose(data.curves[0].mean, [0.0, 100 * course.gain])
    assert_allclose(data.references[0].mean, 50.0)


@pytest.mark.parametrize("marks", [[], [0, 5]])
def test_marks_are_rounds(marks: list[int]) -> None:
    with pytest.raises(InvalidArgument, match="give rounds from 1 on"):
        explore(Row(), STRATEGY, marks=marks)


def test_one_round_with_levels_shows_nothing() -> None:
    with pytest.raises(InvalidArgument, match="try more"):
        explore(Row(), STRATEGY, marks=[1])


def test_a_trial_confirms_what_helps_and_keeps_today_otherwise() -> None:
    system = Row()
    gained = partial(gain_of, system)
    better = confirm(system, system.best, rng=0)
    assert better.ending.name == "BETTER"
    assert "confirmed" in advice(better, 0.1, gained)
    same = confirm(system, system.today, rng=0)
    assert advice(same, 0.0, gained).endswith("keep today's setting.")
    harmful = np.where(system.best == 4, 0, np.where(system.best == 0, 4, system.best))
    worse = confirm(system, harmful, rng=0)
    assert "contradicted, keep today's setting" in advice(worse, 0.1, gained)
    noisy = confirm(Row(noise=50.0), system.best, pairs=3, rng=0)
    assert "not decided, keep today's setting" in advice(noisy, 0.1, gained)
