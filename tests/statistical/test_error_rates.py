"""Wrong certified answers stay within delta; rules and poolings that are broken are caught.

Each check has a false-alarm rate of 1e-6: it fails a valid rule only if that many errors have a
probability below 1e-6 under error rate delta. Two sorts of instances: *near ties*, where nothing
can be learned within the budget and every certificate is a coin toss, so a rule that certifies too
easily is wrong half of the time; and *moderate gaps*, where valid rules certify most runs, so that
passing is not a matter of never stopping.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

import edgewise as ew
import edgewise.core.setting as setting_module
import edgewise.core.targets.pair as pair_module
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.evidence.duels import Duels
from edgewise.core.evidence.evidence import Evidence, gather
from edgewise.core.evidence.measuring import with_present
from edgewise.core.evidence.noise import noise_bounds
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.setting import Setting
from edgewise.core.stopping import Anytime, StoppingRule
from edgewise.core.targets.truth import Truth
from edgewise.simulation import Replications, replicate
from edgewise.simulation.worlds import ByCell

DELTA = 0.2
FALSE_ALARM = 1e-6


def too_many_errors(runs: Replications, delta: float = DELTA) -> bool:
    """Exact binomial test of "the error rate is at most delta"."""
    return bool(binom.sf(runs.errors - 1, len(runs.rounds), delta) < FALSE_ALARM)


@dataclass(frozen=True)
class Broken:
    """A fixed-sample test used after every round: no union over rivals, no price for looking."""

    name: str = "broken"
    assumes: str = "nothing that holds"
    allows_ridge: bool = True
    allows_phases: bool = True
    needs_phases: bool = False

    def is_due(self, rounds: Indices) -> Mask:
        return np.ones(len(rounds), np.bool_)

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Array:
        ratio: Array = (evidence.gaps + epsilon) / evidence.deviations
        return ratio / float(norm.isf(delta))


CIRCLE = ew.Graph.circle(n_nodes=10)
STAR = ew.Graph.star(n_nodes=8)
THREE = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.3]])
DIRECTED = ew.Graph.from_edges(
    [(i, (i + step) % 10) for step in (1, 2) for i in range(10)],
    directed=True,
    kinds=[0] * 10 + [1] * 10,
)
ARROWS = ew.Graph.from_edges([(2 * i, 2 * i + 1) for i in range(10)], directed=True)
HEADS = np.array([[True, False], [True, True]] * 10)  # tails have arm 0, heads either: two cells

Instance = tuple[ew.Problem, Any]

NEAR_TIES: dict[str, Instance] = {
    # (0, 0) against (1, 1)
    "equal arms": (ew.Problem(CIRCLE, np.eye(2)), np.diag([0.5, 0.499])),
    # the union over rivals costs nothing here: the whole delta is there to be spent
    "one rival": (ew.Problem(ARROWS, np.eye(2), candidates=HEADS), [[0.5, 0.499], [0.0, 0.0]]),
    # the best pair has two different arms, (0, 0) is close
    "different arms": (ew.Problem(CIRCLE, np.eye(2)), [[0.5, 0.7], [0.302, 0.0]]),
    "three arms on a star": (ew.Problem(STAR, THREE), np.diag([1.0, 0.999])),
    "directed kinds": (
        ew.Problem(DIRECTED, np.eye(2)),
        [[[0.0, 0.4], [0.399, 0.0]], [[0.5, 0.0], [0.0, 0.499]]],
    ),
}

MODERATE_GAPS: dict[str, Instance] = {
    "equal arms": (ew.Problem(CIRCLE, np.eye(2)), np.diag([0.5, 0.2])),
    "one rival": (ew.Problem(ARROWS, np.eye(2), candidates=HEADS), [[0.5, 0.2], [0.0, 0.0]]),
    "different arms": (ew.Problem(CIRCLE, np.eye(2)), [[0.4, 0.7], [0.7, 0.0]]),
    "three arms on a star": (ew.Problem(STAR, THREE), np.diag([1.0, 0.4])),
    "directed kinds": (
        ew.Problem(DIRECTED, np.eye(2)),
        [[[0.0, 0.6], [0.1, 0.0]], [[0.6, 0.0], [0.0, 0.1]]],
    ),
}


def runs_of(
    instance: Instance,
    rule: str | StoppingRule,
    *,
    repetitions: int = 100,
    max_rounds: int = 60,
    **options: Any,
) -> Replications:
    problem, matrix = instance
    return replicate(
        problem,
        matrix,
        repetitions=repetitions,
        stopping=rule,
        max_rounds=max_rounds,
        **{"delta": DELTA, "rng": 20, "strategy": "g-optimal", "target": "pair", **options},
    )


# -- designs that do not depend on rewards ---------------------------------------------------


@pytest.mark.parametrize("rule", ["mixture", "union"])
@pytest.mark.parametrize("instance", NEAR_TIES)
def test_errors_stay_within_delta(instance: str, rule: str) -> None:
    runs = runs_of(NEAR_TIES[instance], rule)
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize("instance", NEAR_TIES)
def test_a_broken_threshold_is_caught(instance: str) -> None:
    runs = runs_of(NEAR_TIES[instance], Broken(), repetitions=200)
    assert too_many_errors(runs), runs


@pytest.mark.parametrize("rule", ["mixture", "union"])
@pytest.mark.parametrize("instance", MODERATE_GAPS)
def test_the_rules_do_certify(instance: str, rule: str) -> None:
    """A rule that never stops would pass the tests above: no tolerance, and most runs end."""
    runs = runs_of(MODERATE_GAPS[instance], rule, repetitions=50, max_rounds=300)
    assert runs.certified.mean() > 0.7, runs
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize("strategy", ["g-optimal", "paper"])
def test_the_papers_rule_stays_within_delta(strategy: str) -> None:
    problem = ew.Problem(CIRCLE, np.eye(2))
    far = (problem, np.diag([0.5, -0.2]))
    runs = runs_of(far, "paper", strategy=strategy, repetitions=30, max_rounds=2000)
    assert runs.certified.mean() > 0.5, runs
    assert not too_many_errors(runs)
    close = (problem, np.diag([0.5, 0.49]))
    caught = runs_of(close, Broken(), strategy=strategy, repetitions=200)
    assert too_many_errors(caught), caught


EPSILON = 0.1
JUST_ABOVE: Instance = (ew.Problem(CIRCLE, np.eye(2)), np.diag([0.5, 0.5 - EPSILON - 0.01]))
"""A gap just above epsilon: stopping on the wrong pair is an error again."""


@pytest.mark.parametrize("rule", ["mixture", "union"])
def test_epsilon_protects_from_answers_worse_than_epsilon(rule: str) -> None:
    runs = runs_of(JUST_ABOVE, rule, epsilon=EPSILON, max_rounds=300)
    assert runs.certified.mean() > 0.5
    assert not too_many_errors(runs)


def test_epsilon_does_not_protect_a_broken_rule() -> None:
    """Wrong answers are rarer than at a tie, so the allowed rate is lower."""
    runs = runs_of(JUST_ABOVE, Broken(), epsilon=EPSILON, delta=0.1, repetitions=200)
    assert too_many_errors(runs, 0.1), runs


# -- adaptive phases -------------------------------------------------------------------------


def adaptive(instance: Instance, rule: str | StoppingRule, **options: Any) -> Replications:
    return runs_of(instance, rule, strategy="adaptive", **{"max_rounds": 15, **options})


@pytest.mark.parametrize(
    ("instance", "rule"),
    [
        ("one rival", "anytime"),
        ("one rival", "mixture"),
        ("three arms on a star", "anytime"),
        ("directed kinds", "anytime"),
    ],
)
def test_adaptive_errors_stay_within_delta(instance: str, rule: str) -> None:
    runs = adaptive(NEAR_TIES[instance], rule, repetitions=80)
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize(
    ("instance", "rule"),
    [
        ("one rival", "anytime"),
        ("one rival", "mixture"),
        ("different arms", "anytime"),
        ("equal arms", "anytime"),
    ],
)
def test_adaptive_runs_certify(instance: str, rule: str) -> None:
    runs = adaptive(MODERATE_GAPS[instance], rule, repetitions=30, max_rounds=60)
    assert runs.certified.mean() > 0.7, runs
    assert not too_many_errors(runs), runs


def pool_plainly(
    problem: Problem, cells: Cells, number: int, phases: CellStatistics, *, noise: Array
) -> Evidence:
    """All phases as if they were one: what must not be done when designs depend on rewards."""
    everything = phases[:-1].followed_by_all(phases[-1])
    return gather(problem, cells, np.array([number]), everything[None], noise=noise)


@pytest.mark.parametrize("pooling", ["by phase", "plain"])
@pytest.mark.parametrize("instance", ["one rival", "equal arms", "three arms on a star"])
def test_a_broken_adaptive_variant_is_caught(
    instance: str, pooling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gap is compared with s z at every look, over all data pooled by plain least squares."""
    if pooling == "plain":
        monkeypatch.setattr(pair_module, "gather_phases", pool_plainly)
    runs = adaptive(NEAR_TIES[instance], Broken(), repetitions=200, max_rounds=40)
    assert too_many_errors(runs), runs


# -- decentralised phases ----------------------------------------------------------------------


@pytest.mark.parametrize("instance", ["one rival", "three arms on a star", "directed kinds"])
def test_contrast_errors_stay_within_delta(instance: str) -> None:
    options: dict[str, Any] = {"strategy": "contrast", "repetitions": 80, "max_rounds": 15}
    runs = runs_of(NEAR_TIES[instance], "anytime", **options)
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize("instance", ["one rival", "different arms", "directed kinds"])
def test_contrast_runs_certify(instance: str) -> None:
    options: dict[str, Any] = {"strategy": "contrast", "repetitions": 30, "max_rounds": 200}
    runs = runs_of(MODERATE_GAPS[instance], "anytime", **options)
    assert runs.certified.mean() > 0.7, runs
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize("instance", ["one rival", "three arms on a star"])
def test_a_broken_contrast_variant_is_caught(instance: str) -> None:
    options: dict[str, Any] = {"strategy": "contrast", "repetitions": 200, "max_rounds": 40}
    runs = runs_of(NEAR_TIES[instance], Broken(), **options)
    assert too_many_errors(runs), runs


# -- the supermartingale itself --------------------------------------------------------------


def score(cells: Cells, phases: CellStatistics, contrast: Array) -> tuple[float, float]:
    """W and I over phases (J, 1, P), in units of sigma = 1, by pseudo-inverses."""
    W, I = 0.0, 0.0
    F = cells.features[0]
    for counts, sums in zip(phases.information[:, 0], phases.rewards[:, 0], strict=True):
        A = (F.T * counts) @ F
        inverse = np.linalg.pinv(A, rcond=1e-9, hermitian=True)
        if np.allclose(A @ inverse @ contrast, contrast, atol=1e-7):
            variance = contrast @ inverse @ contrast
            W += float(contrast @ inverse @ (sums @ F) / variance)
            I += float(1.0 / variance)
    return W, I


def likelihood_ratios(*, gap: float, repetitions: int) -> Array:
    """exp(gW - g^2 I/2) of (1, 1) against (0, 0) where the run ended, for g and -g (2, runs)."""
    problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2))
    setting = Setting.of(problem, delta=DELTA, epsilon=0.0, strategy="adaptive", stopping="anytime")
    cells = setting.plan.cells
    world = ByCell.of(setting, Truth.of(problem, np.diag([0.5, 0.5 - gap]), None), 1.0)
    contrast = cells.features[0, cells.pair_index[1, 1]] - cells.features[0, cells.pair_index[0, 0]]
    ratios = []
    for generator in np.random.default_rng(3).spawn(repetitions):
        final, _ = world.run(setting, 10, generator)
        phases = final.closed
        if final.phase_rounds:
            phases = with_present(phases, final.statistics)
        assert isinstance(phases, CellStatistics)
        W, I = score(cells, phases, contrast)
        tilt = 0.15  # about one standard deviation of W
        ratios.append([np.exp(g * W - g * g * I / 2) for g in (tilt, -tilt)])
    return np.array(ratios).T


def standard_error_from_one(values: Array) -> float:
    return float((values.mean() - 1.0) / (values.std(ddof=1) / np.sqrt(len(values))))


def test_the_likelihood_ratio_of_a_contrast_has_mean_one_at_a_tie() -> None:
    """Exactly one, at an exact tie and Gaussian noise, however the phases were laid out and
    whenever the run stopped: 4.9 standard errors are a false-alarm rate of 1e-6."""
    for values in likelihood_ratios(gap=0.0, repetitions=200):
        assert abs(standard_error_from_one(values)) < 4.9
    # negative control: a contrast that is truly, or through a bias of the estimate, 0.2 above zero
    upwards, downwards = likelihood_ratios(gap=-0.2, repetitions=100)
    assert standard_error_from_one(upwards) > 4.9
    assert standard_error_from_one(downwards) < -4.9


# -- certified allocations -------------------------------------------------------------------

TRIANGLES = ew.Graph.from_edges(
    [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)], directed=True, kinds=[0, 0, 0, 1, 1, 1]
)
NEARLY_EQUAL: dict[str, Instance] = {
    # many joint arms, and nothing between them: a regret of 0 is always wrong by a little
    "directed kinds": (
        ew.Problem(TRIANGLES, np.eye(2)),
        [[[0.0, 0.1], [0.09, 0.0]], [[0.1, 0.0], [0.0, 0.09]]],
    ),
    "odd circle": (ew.Problem(ew.Graph.circle(n_nodes=7), THREE), [[0.0, 0.2], [0.2, 0.1]]),
}


@dataclass(frozen=True)
class TooNarrow(Anytime):
    """Confidence widths of a tenth of what they should be."""

    name: str = "too narrow"

    def margins(self, learning: Duels, since: Duels, **options: Any) -> Array:
        return 0.1 * super().margins(learning, since, **options)


def allocations(instance: str, rule: StoppingRule, **options: Any) -> Replications:
    return adaptive(
        NEARLY_EQUAL[instance], rule, target="allocation", **{"epsilon": 0.3, **options}
    )


@pytest.mark.parametrize("instance", NEARLY_EQUAL)
def test_regret_bounds_fail_with_probability_at_most_delta(instance: str) -> None:
    runs = allocations(instance, Anytime(), repetitions=40, epsilon=3.0, max_rounds=400)
    assert runs.certified.mean() > 0.7, runs
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize("instance", NEARLY_EQUAL)
def test_widths_that_are_too_small_are_caught(instance: str) -> None:
    runs = allocations(instance, TooNarrow(), repetitions=100, max_rounds=40)
    assert too_many_errors(runs), runs


def test_unknown_noise_keeps_the_error_within_delta() -> None:
    problem, matrix = NEAR_TIES["one rival"]
    unknown = ew.Problem(problem.graph, problem.arms, candidates=HEADS, noise="estimate")
    for strategy, rule in (("g-optimal", "mixture"), ("adaptive", "anytime")):
        runs = runs_of((unknown, matrix), rule, strategy=strategy, noise=1.0, max_rounds=25)
        assert not too_many_errors(runs), runs


def test_a_noise_bound_that_is_too_small_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, matrix = NEAR_TIES["one rival"]
    unknown = ew.Problem(problem.graph, problem.arms, candidates=HEADS, noise="estimate")
    monkeypatch.setattr(setting_module, "noise_bounds", lambda *given: 0.2 * noise_bounds(*given))
    runs = runs_of((unknown, matrix), "mixture", noise=1.0, max_rounds=40)
    assert too_many_errors(runs), runs
