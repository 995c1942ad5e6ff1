from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.unit.core.local.dense import draw_world, mixed_channels, rows

from edgewise.core.local.channels import Channels
from edgewise.core.local.normal_equations import NormalEquations, Phase, normal_equations
from edgewise.errors import InvalidArgument

LEVELS = ["none", "channel", "round", "both"]


def dense_gram(equations: NormalEquations) -> np.ndarray:
    """(P, P) Z'Z with levels of rounds taken out as well."""
    channels = equations.channels
    S = np.zeros((channels.n_parameters,) * 2)
    for c in range(channels.n_channels):
        own = slice(channels.starts[c], channels.starts[c + 1])
        S[own, own] = equations.matrix(c)
    return S - equations.cross @ equations.cross.T


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("noisy", [False, True])
def test_levels_are_projected_out(levels: str, noisy: bool) -> None:
    channels = mixed_channels()
    world = draw_world(channels, 7, missing=0.2, rng=np.random.default_rng(2))
    noise = np.linspace(0.5, 2.0, channels.n_channels) if noisy else None
    equations = normal_equations(world.phase(levels), levels, noise=noise)
    data = rows(world, levels, noise)
    Z, y = data.free.T @ data.Z, data.free.T @ data.y
    x = equations.nuisance_moment
    assert_allclose(dense_gram(equations), Z.T @ Z, atol=1e-9)
    assert_allclose(equations.moment - equations.cross @ x, Z.T @ y, atol=1e-9)
    assert equations.squares.sum() - x @ x == pytest.approx(y @ y)
    assert equations.freedoms.sum() - equations.n_nuisances == data.free.shape[1]


def test_rounds_add_one_by_one_as_all_at_once() -> None:
    world = draw_world(mixed_channels(), 6, missing=0.3, rng=np.random.default_rng(3))
    phase = Phase.empty(world.channels)
    for z, r in zip(world.features, world.rewards, strict=True):
        phase = phase.add(z, r)
    whole = world.phase()
    for name in ("counts", "feature_means", "reward_means", "gram", "moment", "squares"):
        assert_allclose(getattr(phase, name), getattr(whole, name), atol=1e-12)


@pytest.mark.parametrize("levels", LEVELS)
def test_phases_pool_by_adding_what_was_centred_inside_each(levels: str) -> None:
    world = draw_world(mixed_channels(), 8, rng=np.random.default_rng(4))
    empty = Phase.empty(world.channels, keep_rounds=True)
    first = empty.add(world.features[:3], world.rewards[:3])
    second = empty.add(world.features[3:], world.rewards[3:])
    pooled = normal_equations([first, second], levels)
    each = dense_gram(normal_equations(first, levels)) + dense_gram(
        normal_equations(second, levels)
    )
    assert_allclose(dense_gram(pooled), each, atol=1e-9)
    lost = 2 * world.channels.n_channels if levels in ("channel", "both") else 0
    assert pooled.freedoms.sum() == world.rewards.size - lost


def test_large_levels_cost_no_digits() -> None:
    world = draw_world(mixed_channels(), 9, rng=np.random.default_rng(5))
    lifted = Phase.empty(world.channels).add(world.features, world.rewards + 1e8)
    # sums of squares of 1e8 would leave errors of order 10
    assert_allclose(lifted.squares, world.phase().squares, rtol=1e-6)
    assert_allclose(lifted.moment, world.phase().moment, atol=1e-5)


def test_one_round_says_nothing_about_contrasts() -> None:
    world = draw_world(mixed_channels(), 1, rng=np.random.default_rng(6))
    assert not world.equations().gram.any()
    assert world.equations().freedoms.sum() == 0


def test_adding_rounds_leaves_the_phase_as_it_was() -> None:
    world = draw_world(mixed_channels(), 4, rng=np.random.default_rng(7))
    phase = world.phase()
    before = phase.gram.copy()
    phase.add(world.features, world.rewards)
    assert (phase.gram == before).all()


@pytest.mark.parametrize(
    ("features", "rewards", "words"),
    [
        (np.zeros((2, 3)), np.zeros((2, 2)), r"need \(R, 4\) and \(R, 2\)"),
        (np.zeros((1, 4)), np.zeros((2, 2)), r"need \(R, 4\)"),
        (np.full((1, 4), np.nan), np.zeros((1, 2)), "must be finite"),
        (np.zeros((1, 4)), np.full((1, 2), np.inf), "finite or NaN"),
    ],
)
def test_bad_rounds_are_refused(features: np.ndarray, rewards: np.ndarray, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        Phase.empty(Channels.of_arcs([0, 0], [2])).add(features, rewards)


def test_bad_settings_are_refused() -> None:
    channels = Channels.of_arcs([0, 0], [2])
    phase = Phase.empty(channels).add(np.zeros((1, 4)), np.zeros((1, 2)))
    with pytest.raises(InvalidArgument, match="did you mean 'channel'"):
        normal_equations(phase, "chanel")
    with pytest.raises(InvalidArgument, match="keep_rounds"):
        normal_equations(phase, "round")
    with pytest.raises(InvalidArgument, match="above 0"):
        normal_equations(phase, noise=[0.0, 1.0])
    with pytest.raises(InvalidArgument, match="at least one"):
        normal_equations([])


@pytest.mark.parametrize(
    ("kinds", "blocks", "covariates", "words"),
    [
        ([0, 0], [0, 1], None, "end at the number of blocks"),
        ([0, 0], [0, 2, 1, 2], None, "must not decrease"),
        ([0, 1], [0, 2], None, "give one for each kind"),
        ([0, 0], [0, 2], [[1.0]], "one row of finite numbers per block"),
        ([0, 0], [0, 2], [[1.0], [np.nan]], "not finite"),
    ],
)
def test_bad_channels_are_refused(
    kinds: list[int], blocks: list[int], covariates: list[list[float]] | None, words: str
) -> None:
    f = None if covariates is None else np.array(covariates)
    with pytest.raises(InvalidArgument, match=words):
        Channels(np.array(kinds), np.array([2]), np.array(blocks), f)
