import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chi2

from edgewise.base.arrays import Array, Indices
from edgewise.core.design.node_laws import NodeLaws, philox
from edgewise.core.model.problem import Problem
from edgewise.core.strategies import GOptimal
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph

FALSE_ALARM = 1e-6


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # known-answer vectors published with Random123
        (
            (0, 0, 0, 0),
            (0, 0),
            (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        ),
        (
            (0xFFFFFFFF,) * 4,
            (0xFFFFFFFF,) * 2,
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_known_answers(
    counter: tuple[int, ...], key: tuple[int, int], expected: tuple[int, ...]
) -> None:
    a, b, c, d = (np.uint64(word) for word in counter)
    both = np.uint64(key[0] | key[1] << 32)
    assert tuple(int(word) for word in philox(a, b, c, d, both)) == expected


def slow_philox(counter: list[int], key: int) -> list[int]:
    """The published recipe with Python integers."""
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            second >> 32 ^ counter[1] ^ k[0],
            second & 0xFFFFFFFF,
            first >> 32 ^ counter[3] ^ k[1],
            first & 0xFFFFFFFF,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1), st.integers(1, 40))
def test_a_draw_is_the_documented_function(seed: int, round_: int, n: int) -> None:
    """Node, round and seed alone decide, so another program can compute the same arms."""
    weights = np.array([0.25, 0.0, 0.5, 0.25])  # exact in binary: no rounding to argue about
    laws = NodeLaws.of(weights, np.zeros(n, np.int32))
    expected = []
    for node in range(n):
        words = slow_philox([node // 2, 0, round_ & 0xFFFFFFFF, round_ >> 32], seed)
        low, high = words[:2] if node % 2 == 0 else words[2:]
        quarter = (low | high << 32) // 2**62
        expected.append([0, 2, 2, 3][quarter])
    assert laws.draw(seed=seed, round=round_).tolist() == expected


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(0, 30), max_size=8))
def test_chunks_in_any_order_agree(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    set_of = rng.integers(3, size=30)
    laws = NodeLaws.of(rng.dirichlet(np.ones(5), size=3), set_of)
    whole = laws.draw(seed=seed, round=12)
    bounds = [0, *sorted(cuts), 30]
    chunks = list(itertools.pairwise(bounds))
    rng.shuffle(chunks)
    pieced = np.full(30, -1)
    for start, stop in chunks:
        pieced[start:stop] = laws.draw(seed=seed, round=12, start=start, stop=stop)
    assert np.array_equal(pieced, whole)


def test_seed_and_round_matter() -> None:
    laws = NodeLaws.of(np.full(4, 0.25), np.zeros(64, np.int32))
    first = laws.draw(seed=1, round=1)
    assert np.array_equal(first, laws.draw(seed=1, round=1))
    others = [(2, 1), (1, 2), (1 + 2**32, 1), (1, 1 + 2**32), (1 + 2**63, 1)]
    for seed, round_ in others:
        assert not np.array_equal(first, laws.draw(seed=seed, round=round_)), (seed, round_)


def test_a_draw_cannot_be_written_to() -> None:
    arms = NodeLaws.of(np.full(2, 0.5), np.zeros(4, np.int32)).draw(seed=0, round=1)
    with pytest.raises(ValueError, match="read-only"):
        arms[0] = 1


@given(st.integers(0, 2**32), st.integers(2, 8))
def test_arms_of_weight_zero_are_never_drawn(seed: int, n_arms: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n_arms), size=2) * (rng.random((2, n_arms)) < 0.5)
    weights[:, rng.integers(n_arms)] += 0.5
    weights /= weights.sum(axis=1, keepdims=True)
    set_of = rng.integers(2, size=500)
    arms = NodeLaws.of(weights, set_of).draw(seed=seed, round=1)
    assert (weights[set_of, arms] > 0).all()


@pytest.mark.parametrize("tiny", [1e-17, 1e-20, 1e-300])
def test_a_negligible_last_weight_does_not_disturb_the_others(tiny: float) -> None:
    laws = NodeLaws.of(np.array([0.5, 0.5, tiny]), np.zeros(1000, np.int32))
    assert set(laws.draw(seed=3, round=1).tolist()) == {0, 1}
    alone = NodeLaws.of(np.array([1.0, tiny]), np.zeros(1000, np.int32))
    assert not alone.draw(seed=3, round=1).any()


# -- the law ---------------------------------------------------------------------------------


def sample(laws: NodeLaws, n_rounds: int, seed: int = 20) -> Indices:
    return np.array([laws.draw(seed=seed, round=r) for r in range(1, n_rounds + 1)])


def surprise(counts: Indices, law: Array) -> float:
    """P-value of the chi-square test that counts come from the law."""
    expected = counts.sum() * law
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), len(law) - 1))


def test_arms_follow_their_law() -> None:
    law = np.array([0.05, 0.5, 0.15, 0.3])
    drawn = sample(NodeLaws.of(law, np.zeros(200, np.int32)), 500)
    counts = np.bincount(drawn.ravel(), minlength=4)
    assert surprise(counts, law) > FALSE_ALARM
    wrong = np.array([0.06, 0.49, 0.15, 0.3])  # the test can fail: one percent astray is seen
    assert surprise(counts, wrong) < FALSE_ALARM
    even = np.bincount(drawn[:, ::2].ravel(), minlength=4)
    odd = np.bincount(drawn[:, 1::2].ravel(), minlength=4)
    assert min(surprise(even, law), surprise(odd, law)) > FALSE_ALARM


def joint_surprise(first: Indices, second: Indices, law: Array) -> float:
    n_arms = len(law)
    counts = np.bincount((first * n_arms + second).ravel(), minlength=n_arms**2)
    return surprise(counts, np.outer(law, law).ravel())


def test_neighbouring_nodes_and_rounds_are_independent() -> None:
    law = np.array([0.2, 0.5, 0.3])
    drawn = sample(NodeLaws.of(law, np.zeros(200, np.int32)), 500)
    same_block = joint_surprise(drawn[:, ::2], drawn[:, 1::2], law)
    next_block = joint_surprise(drawn[:, 1:-1:2], drawn[:, 2::2], law)
    next_round = joint_surprise(drawn[:-1:2], drawn[1::2], law)
    next_seed = joint_surprise(
        drawn, sample(NodeLaws.of(law, np.zeros(200, np.int32)), 500, 21), law
    )
    assert min(same_block, next_block, next_round, next_seed) > FALSE_ALARM
    copied = drawn.copy()  # negative control: every tenth round repeats the one before
    copied[1::10] = copied[::10]
    assert joint_surprise(copied[:-1:2], copied[1::2], law) < FALSE_ALARM


def test_candidate_sets_are_respected_and_each_law_is_right() -> None:
    rng = np.random.default_rng(0)
    arms = rng.normal(size=(6, 3))
    mask = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0]] * 40, bool)
    problem = Problem(Graph.circle(n_nodes=120), arms, candidates=mask)
    plan = GOptimal()(problem)
    drawn = sample(plan.laws, 300)
    assert mask[np.arange(120), drawn].all()
    for start in range(3):
        law = plan.laws.weights[plan.laws.set_of[start]]
        counts = np.bincount(drawn[:, start::3].ravel(), minlength=6)
        used = law > 0
        assert counts[~used].sum() == 0
        if used.sum() > 1:
            assert surprise(counts[used], law[used] / law.sum()) > FALSE_ALARM


def test_a_share_of_even_draws_shows_every_candidate() -> None:
    allowed = np.ones((3, 5), bool)
    allowed[0, 3:] = False
    arms = np.vander(np.linspace(0.0, 1.0, 5), 2)
    problem = Problem(Graph.from_edges([(0, 1), (1, 2)]), arms, candidates=allowed)
    few, all_ = (GOptimal(even=even)(problem).laws.weights for even in (0.0, 0.25))
    masks, _ = problem.candidate_sets
    assert ((few > 0).sum(axis=1) == 2).all()  # the ends of the line
    assert_allclose(all_, 0.75 * few + 0.25 * masks / masks.sum(axis=1, keepdims=True))
    with pytest.raises(InvalidArgument, match="probability"):
        GOptimal(even=1.5)
