import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import logsumexp
from scipy.stats import norm

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.evidence import Evidence
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.stopping import RULES, Anytime, Mixture, PaperRule, StoppingRule, Union, judge
from edgewise.core.stopping.mixture import log_mixture
from edgewise.network.graph import Graph

M_EDGES, K, SIGMA = 20, 3, 0.8
CELLS = Cells.of(
    Problem(Graph.circle(n_edges=M_EDGES), np.random.default_rng(0).normal(size=(K, 2)))
)
P = len(CELLS.pairs)


def make_evidence(gaps: Array, deviations: Array, rounds: Indices, leaders: Any = None) -> Evidence:
    n = len(rounds)
    return Evidence(
        rounds=rounds,
        theta=np.zeros((n, 1, 3)),
        leaders=np.zeros((n, 1), int) if leaders is None else np.asarray(leaders),
        gaps=gaps,
        variances=(deviations / SIGMA) ** 2,
        n_rivals=P - 1,
        n_arcs=M_EDGES,
        n_arms=K,
        noise=np.full(n, SIGMA),
    )


def random_evidence(seed: int, n: int = 4) -> Evidence:
    rng = np.random.default_rng(seed)
    gaps = rng.exponential(size=(n, 1, P)) * 10.0 ** rng.uniform(-2, 1)
    gaps[:, :, 0] = np.inf
    deviations = rng.uniform(0.01, 2.0, size=(n, 1, P))
    rounds = np.sort(rng.choice(np.arange(1, 300), n, replace=False))
    return make_evidence(gaps, deviations, rounds)


def grid_of(growth: float, last: int) -> list[int]:
    """The looks, by the definition."""
    points, value = [], 1.0
    while math.ceil(value) <= last:
        points.append(math.ceil(value))
        value = growth ** len(points)
    return sorted(set(points))


def refuted(rule: str, gap: float, s: float, t: int, delta: float, epsilon: float) -> bool:
    """METHOD 5.1-5.4, letter by letter, for one rival."""
    if rule == "paper":
        width = (s / SIGMA) * math.sqrt(
            8 * SIGMA**2 * math.log(6 * M_EDGES**2 * t**2 * K**4 / (delta * math.pi**2))
        )
        return width <= gap + epsilon
    if rule == "union":
        c = sum(point <= t for point in grid_of(1.1, t))
        return gap + epsilon >= s * math.sqrt(2 * math.log((P - 1) / (delta / (c * (c + 1)))))
    information = 1 / s**2
    W = information * (gap + epsilon)
    E = 0.0
    for j in range(-4, 5):
        r = 10.0**j / SIGMA**2
        z = W / math.sqrt(information + r)
        weight = 2 * math.sqrt(r / (information + r)) / 9
        E += weight * math.exp(min(z * z / 2, 700)) * norm.cdf(z)
    return (P - 1) / delta <= E


@pytest.mark.parametrize("name", ["paper", "union", "mixture", "anytime"])
@given(st.integers(0, 10**6), st.floats(1e-6, 0.9), st.sampled_from([0.0, 0.05, 1.0]))
def test_rules_are_their_formulas(name: str, seed: int, delta: float, epsilon: float) -> None:
    evidence = random_evidence(seed)
    strength = RULES[name](evidence, delta=delta, epsilon=epsilon)
    for r, t in enumerate(evidence.rounds.tolist()):
        assert strength[r, 0, 0] == np.inf
        for c in range(1, P):
            if abs(strength[r, 0, c] - 1) < 1e-9:
                continue  # on the boundary rounding may decide
            gap, s = float(evidence.gaps[r, 0, c]), float(evidence.deviations[r, 0, c])
            expected = refuted(name, gap, s, t, delta, epsilon)
            assert (strength[r, 0, c] >= 1) == expected, (gap, s, t)


@pytest.mark.parametrize("name", ["paper", "union", "mixture", "anytime"])
def test_the_boundary_is_sharp(name: str) -> None:
    """Bisect the gap at which the formula and the rule change their mind: the same gap."""
    for s, t in ((0.3, 1), (0.05, 17), (0.02, 400)):
        low, high = 0.0, 100.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (low, middle) if refuted(name, middle, s, t, 0.05, 0.0) else (middle, high)
        gaps = np.full((1, 1, P), high)
        evidence = make_evidence(gaps, np.full((1, 1, P), s), np.array([t]))
        strength = RULES[name](evidence, delta=0.05, epsilon=0.0)
        assert_allclose(strength, 1.0, rtol=1e-9)


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_epsilon_is_added_to_the_gap(rule: StoppingRule) -> None:
    evidence = random_evidence(1)
    shifted = make_evidence(evidence.gaps + 0.25, evidence.deviations, evidence.rounds)
    assert_allclose(
        rule(evidence, delta=0.1, epsilon=0.25), rule(shifted, delta=0.1, epsilon=0.0), rtol=1e-12
    )


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@given(st.integers(0, 10**6), st.floats(1e-6, 0.5))
def test_strength_grows_with_gap_precision_and_delta(
    rule: StoppingRule, seed: int, delta: float
) -> None:
    evidence = random_evidence(seed)
    base = rule(evidence, delta=delta, epsilon=0.0)
    rivals = np.isfinite(evidence.gaps)

    def strength(gap: float = 1.0, deviation: float = 1.0, confidence: float = 1.0) -> Array:
        other = make_evidence(evidence.gaps * gap, evidence.deviations * deviation, evidence.rounds)
        return rule(other, delta=delta * confidence, epsilon=0.0)[rivals]

    assert (strength(gap=1.1) >= base[rivals]).all()
    loud = base[rivals] > 0
    assert (strength(deviation=0.9)[loud] >= base[rivals][loud]).all()
    assert (strength(confidence=1.5)[loud] > base[rivals][loud]).all()


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_rounds_not_estimable_never_stop(rule: StoppingRule) -> None:
    gaps = np.full((2, 1, P), -np.inf)
    gaps[1] = 1e3
    evidence = make_evidence(gaps, np.ones((2, 1, P)), np.array([1, 2]), [[-1], [0]])
    position, verdict = judge(evidence, CELLS, rule(evidence, delta=0.05, epsilon=0.0))
    assert (position, verdict.stop, verdict.round) == (1, True, 2)
    first = make_evidence(gaps[:1], np.ones((1, 1, P)), np.array([1]), [[-1]])
    position, verdict = judge(first, CELLS, rule(first, delta=0.05, epsilon=0.0))
    assert (verdict.stop, verdict.pairs, verdict.rival, verdict.progress) == (False, (), None, 0.0)


# -- the mixture -----------------------------------------------------------------------------


@given(st.floats(-8.0, 12.0), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_log_mixture_integrates_the_half_normal(z: float, information: float, r: float) -> None:
    """E = integral over drifts g > 0 of the half-normal density times exp(gW - g^2 I/2)."""
    W = z * math.sqrt(information + r)
    peak = max(W / (information + r), 0.0)
    spread = 1 / math.sqrt(information + r)
    log_scale = peak * W - peak**2 * (information + r) / 2

    def integrand(g: float) -> float:
        return math.exp(g * W - g * g * (information + r) / 2 - log_scale)

    edges = [max(0.0, peak + i * spread) for i in range(-12, 14, 2)]
    total = sum(quad(integrand, a, b)[0] for a, b in pairwise(edges) if b > a)
    expected = math.log(2 * math.sqrt(r / (2 * math.pi)) * total) + log_scale
    found = log_mixture(np.array([W]), np.array([information]), np.array([r]))[0]
    assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


def test_log_mixture_averages_the_scales_evenly() -> None:
    scales = np.array([0.01, 1.0, 100.0])
    W, information = np.array([3.0, -2.0]), np.array([2.0, 5.0])
    single = np.exp([log_mixture(W, information, scales[j : j + 1]) for j in range(3)])
    assert_allclose(np.exp(log_mixture(W, information, scales)), single.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("z", [-29.999, -30.0, -30.001, -1e3, -1e8])
def test_log_mixture_in_the_far_tail(z: float) -> None:
    found = log_mixture(np.array([z * math.sqrt(2.0)]), np.array([1.0]), np.array([1.0]))[0]
    expected = 0.5 * math.log(0.5) + math.log(2) + 0.5 * z * z + norm.logcdf(z)
    if z < -1e3:  # z^2/2 + log Phi cancels; use the Mills ratio's first term
        expected = 0.5 * math.log(0.5) + math.log(2 / (-z * math.sqrt(2 * math.pi)))
    assert_allclose(found, expected, atol=1e-5)  # 3/z^4 is dropped


def test_log_mixture_does_not_overflow() -> None:
    found = log_mixture(np.array([1e6]), np.array([1.0]), np.array([1.0]))
    assert_allclose(found, 0.25e12, rtol=1e-9)


def test_mixture_precisions_are_in_units_of_the_noise() -> None:
    """Rewards in millivolts or volts: the same strengths."""
    evidence = random_evidence(2)
    base = Mixture()(evidence, delta=0.05, epsilon=0.0)
    scaled = Evidence(
        rounds=evidence.rounds,
        theta=evidence.theta,
        leaders=evidence.leaders,
        gaps=1e3 * evidence.gaps,
        variances=evidence.variances,
        n_rivals=evidence.n_rivals,
        n_arcs=M_EDGES,
        n_arms=K,
        noise=1e3 * evidence.noise,
    )
    assert_allclose(Mixture()(scaled, delta=0.05, epsilon=0.0), base, rtol=1e-10)


# -- anytime ---------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.0, 0.3]))
def test_anytime_is_the_product_of_the_phases_likelihood_ratios(
    seed: int, n_phases: int, epsilon: float
) -> None:
    """E = average over r of the integral of prod_j exp(g D_j/s_j^2 - g^2/(2 s_j^2)) dH_r(g)."""
    rng = np.random.default_rng(seed)
    s = rng.uniform(0.1, 3.0, n_phases)
    D = rng.normal(0.3, 1.0) + s * rng.normal(size=n_phases)
    scales = 10.0 ** np.arange(-4, 5) / SIGMA**2

    def log_e(r: float) -> float:
        def log_ratio(g: float) -> float:
            phases = sum(g * (D[j] + epsilon) / s[j] ** 2 - 0.5 * (g / s[j]) ** 2 for j in range(n))
            return float(phases + norm.logpdf(g, scale=r**-0.5) + math.log(2.0))

        n = n_phases
        width = (r + (s**-2.0).sum()) ** -0.5
        peak = max(0.0, float(((D + epsilon) / s**2).sum()) * width**2)
        top = log_ratio(peak)
        edges = [max(0.0, peak + step * width) for step in range(-12, 14, 2)]
        pieces = pairwise(edges)
        area = sum(quad(lambda g: math.exp(log_ratio(g) - top), a, b)[0] for a, b in pieces)
        return top + math.log(area)

    expected = float(logsumexp([log_e(r) for r in scales])) - math.log(len(scales))
    information = (s**-2.0).sum()
    gap = (D / s**2).sum() / information
    gaps = np.full((1, 1, P), gap)
    evidence = make_evidence(gaps, np.full((1, 1, P), information**-0.5), np.array([7]))
    strength = Anytime()(evidence, delta=0.1, epsilon=epsilon)
    assert_allclose(strength * math.log((P - 1) / 0.1), expected, rtol=1e-6, atol=1e-6)


def test_anytime_waits_for_contrasts_no_phase_has_seen() -> None:
    gaps = np.full((1, 1, P), 1e3)
    gaps[0, 0, 0], gaps[0, 0, 3] = np.inf, -np.inf
    evidence = make_evidence(gaps, np.ones((1, 1, P)), np.array([9]))
    strength = Anytime()(evidence, delta=0.1, epsilon=0.5)
    _, verdict = judge(evidence, CELLS, strength)
    assert not verdict.stop
    assert strength[0, 0, 3] == -np.inf
    assert (np.delete(strength[0, 0], 3) > 1).all()


def test_what_rules_say_about_phases() -> None:
    """Union and paper widths hold for designs fixed in advance; anytime looks at phase ends."""
    assert [name for name, rule in RULES.items() if rule.allows_phases] == [
        "anytime",
        "rivalwise",
        "mixture",
    ]
    assert [name for name, rule in RULES.items() if rule.needs_phases] == [
        "anytime",
        "rivalwise",
    ]
    assert not Anytime().is_due(np.arange(1, 100)).any()
    assert "sub-Gaussian" in Anytime().assumes
    assert "earlier phases' rewards only" in Anytime().assumes


# -- the grid --------------------------------------------------------------------------------


@pytest.mark.parametrize("growth", [1.1, 1.5, 2.0])
def test_union_looks_on_a_geometric_grid(growth: float) -> None:
    rounds = np.arange(1, 2001)
    due = rounds[Union(growth=growth).is_due(rounds)]
    assert due.tolist() == grid_of(growth, 2000)


@given(st.integers(1, 5000), st.integers(1, 400))
def test_union_grid_does_not_depend_on_the_block(first: int, size: int) -> None:
    rule = Union()
    everything = np.arange(1, 6000)
    whole = rule.is_due(everything)
    block = np.arange(first, first + size)
    assert np.array_equal(rule.is_due(block), whole[first - 1 : first - 1 + size])


def test_union_spends_at_most_delta() -> None:
    """Level at look c, read off the rule itself, summed over the looks of 10^6 rounds."""
    grid = np.array(grid_of(1.1, 10**6))
    gaps = np.ones((len(grid), 1, P))
    strength = Union()(make_evidence(gaps, gaps, grid), delta=0.05, epsilon=0.0)[:, 0, 0]
    level = (P - 1) * np.exp(-0.5 / strength)  # z^2 / (2 log((P-1)/level)) = strength, z = 1
    assert 0.04 < level.sum() <= 0.05


@pytest.mark.parametrize("rule", [Mixture(), PaperRule()])
def test_other_rules_look_after_every_round(rule: StoppingRule) -> None:
    assert rule.is_due(np.arange(1, 50)).all()


# -- judge -----------------------------------------------------------------------------------


def scripted_verdict(rows: list[list[float]], leaders: Any = None) -> tuple[int, Any]:
    strength = np.full((len(rows), 1, P), np.inf)
    for r, row in enumerate(rows):
        strength[r, 0, : len(row)] = row
    rounds = np.arange(10, 10 + len(rows))
    evidence = make_evidence(np.ones_like(strength), np.ones_like(strength), rounds, leaders)
    return judge(evidence, CELLS, strength)


def test_judge_takes_the_first_round_at_which_all_rivals_fall() -> None:
    rows = [[np.inf, 2.0, 0.9], [np.inf, 1.5, 1.0], [np.inf, 0.1, 0.1], [np.inf, 9.0, 9.0]]
    position, verdict = scripted_verdict(rows, [[0], [0], [2], [2]])
    assert position == 1
    assert verdict.stop
    assert verdict.round == 11
    assert verdict.pairs == (tuple(CELLS.pairs[0].tolist()),)
    assert verdict.rival == (0, *CELLS.pairs[2].tolist())
    assert verdict.progress == 1.0


def test_judge_otherwise_describes_the_last_round() -> None:
    rows = [[np.inf, 0.9, 0.95], [np.inf, 0.5, 0.6]]
    position, verdict = scripted_verdict(rows, [[0], [1]])
    assert (position, verdict.stop, verdict.round) == (1, False, 11)
    assert verdict.pairs == (tuple(CELLS.pairs[1].tolist()),)
    assert verdict.rival == (0, *CELLS.pairs[1].tolist())
    assert verdict.progress == 0.5


def test_negative_strength_is_no_progress() -> None:
    _, verdict = scripted_verdict([[np.inf, -3.0]])
    assert verdict.progress == 0.0


def test_without_rivals_there_is_nothing_to_wait_for() -> None:
    _, verdict = scripted_verdict([[np.inf]])
    assert verdict.stop
    assert verdict.rival is None
