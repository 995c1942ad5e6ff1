from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.unit.core.local.dense import (
    World,
    arcs,
    condition,
    covariate_matrix,
    criterion,
    draw_world,
    mixed_channels,
    rows,
    some_components,
)

from edgewise.base.arrays import Array
from edgewise.core.local.channels import Channels
from edgewise.core.local.derivatives import look
from edgewise.core.local.normal_equations import NormalEquations, Phase, normal_equations
from edgewise.core.local.passes import Components
from edgewise.core.local.prior import with_prior
from edgewise.core.local.reml import Fit, fit
from edgewise.core.local.scoring import Free, em_step
from edgewise.errors import InvalidArgument

LEVELS = ["none", "channel", "round", "both"]


def at(equations: NormalEquations, components: Components) -> float:
    layout = equations.channels.layout(equations.n_nuisances)
    return look(equations, layout, components, curvature=False).criterion


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("n_covariates", [1, 2])
def test_one_look_is_gaussian_conditioning(levels: str, n_covariates: int) -> None:
    channels = mixed_channels(n_covariates=n_covariates)
    world = draw_world(channels, 6, missing=0.1, rng=np.random.default_rng(0))
    equations, data = world.equations(levels), rows(world, levels)
    layout = channels.layout(equations.n_nuisances)
    some, other = some_components(channels, 1), some_components(channels, 2)
    mean, _ = condition(data, channels, some)
    assert_allclose(look(equations, layout, some).theta, mean, atol=1e-8)
    # levels of rounds enter the criterion through a constant: only differences agree
    change = criterion(data, channels, other) - criterion(data, channels, some)
    assert at(equations, other) - at(equations, some) == pytest.approx(change, abs=1e-8)


@pytest.mark.parametrize("levels", ["channel", "both"])
def test_slopes_are_those_of_the_criterion(levels: str) -> None:
    channels = mixed_channels(n_covariates=2)
    world = draw_world(channels, 6, rng=np.random.default_rng(1))
    equations, some = world.equations(levels), some_components(channels)
    now = look(equations, channels.layout(equations.n_nuisances), some)
    h = 1e-6

    def slope(change: Components) -> float:
        return (at(equations, change) - at(equations, some)) / h

    assert slope(replace(some, variance=some.variance + h)) == pytest.approx(
        now.variance_slope, rel=1e-3
    )
    for k, i in [(0, 0), (1, 1), (2, 1)]:
        spreads = some.spreads.copy()
        spreads[k, i] += h
        assert slope(replace(some, spreads=spreads)) == pytest.approx(
            now.spread_slopes[k, i], rel=1e-3, abs=1e-5
        )
    for k, p in enumerate(channels.dimensions):
        X = np.zeros_like(some.roots)
        X[k, :p, :p] = np.random.default_rng(k).standard_normal((p, p))
        expected = 2 * (now.omega_slopes[k] @ some.roots[k] * X[k]).sum()
        moved = replace(some, roots=some.roots + h * X)
        assert slope(moved) == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_em_written_with_slopes_is_em() -> None:
    """Omega <- mean of E[delta delta'], sigma^2 <- E|residual|^2 / N, written out in full."""
    channels = mixed_channels()
    world = draw_world(channels, 6, rng=np.random.default_rng(2))
    equations, some = world.equations(), some_components(channels)
    data, F = rows(world, "channel"), covariate_matrix(channels)
    now = look(equations, channels.layout(0), some)
    D = np.zeros((channels.n_parameters,) * 2)
    for e, k in enumerate(channels.kinds):
        own = slice(channels.block_starts[e], channels.block_starts[e + 1])
        D[own, own] = some.omega(int(k), int(channels.dimensions[k]))
    spread = np.diag(1.0 / some.precisions(channels, 0))
    Z, y = data.free.T @ data.Z, data.free.T @ data.y
    V = Z @ (D + F @ spread @ F.T) @ Z.T + some.variance * np.eye(len(y))
    delta = D @ Z.T @ np.linalg.solve(V, y)
    second = D - D @ Z.T @ np.linalg.solve(V, Z @ D) + np.outer(delta, delta)
    theta, covariance = condition(data, channels, some)
    counts = np.bincount(channels.kinds)
    free = Free(
        channels.dimensions,
        counts.astype(float),
        np.zeros(len(counts)),
        counts > 0,
        np.isfinite(some.spreads),
        True,
    )
    new = em_step(now, free, len(y), channels.dimensions)
    for k, p in enumerate(channels.dimensions):
        starts = channels.block_starts[:-1][channels.kinds == k]
        mean = np.mean([second[s : s + p, s : s + p] for s in starts], axis=0)
        assert_allclose(new.omega(k, int(p)), mean, atol=1e-8)
    noise = (((y - Z @ theta) ** 2).sum() + np.trace(Z @ covariance @ Z.T)) / len(y)
    assert new.variance == pytest.approx(noise)


def em(equations: NormalEquations, start: Fit, passes: int) -> list[float]:
    """Plain EM from where a fit began, with the prior as further edges."""
    channels, components, free = equations.channels, start.components, start.free
    trace, n = [], float(equations.freedoms.sum())
    for _ in range(passes):
        now = with_prior(look(equations, channels.layout(0), components), free)
        trace.append(now.criterion)
        components = em_step(now, free, n, channels.dimensions)
    return trace


@pytest.mark.parametrize("deviation", [0.0, 0.02, 0.5])
def test_scoring_ends_where_em_crawls_to(deviation: float) -> None:
    world = draw_world(arcs(60, 3, 2), 6, deviation=deviation, rng=np.random.default_rng(3))
    equations = world.equations()
    fitted = fit(equations, tolerance=1e-6)
    slow = em(equations, fit(equations, max_passes=1), 400)
    assert (np.diff(slow) <= 1e-9).all()
    assert slow[0] == pytest.approx(fitted.trace[0])
    assert fitted.converged
    assert fitted.passes <= 40  # to a thousandth of what is usual
    assert slow[-1] - 0.5 < fitted.trace[-1] < slow[-1] + 1e-5


@settings(max_examples=25)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.01, 0.1, 1.0]),
    st.sampled_from([3, 5, 12]),
    st.sampled_from(["none", "channel", "both"]),
)
def test_the_likelihood_never_falls(seed: int, deviation: float, T: int, levels: str) -> None:
    rng = np.random.default_rng(seed)
    world = draw_world(mixed_channels(8, 2, seed), T, deviation=deviation, missing=0.1, rng=rng)
    fitted = fit(world.equations(levels))
    assert (np.diff(fitted.trace) <= 0).all()
    assert np.isfinite(fitted.theta).all()
    assert fitted.sigma > 0


@pytest.mark.parametrize("deviation", [0.0, 0.03, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("n_rounds", [4, 10, 40])
def test_thirty_passes_suffice(deviation: float, n_rounds: int) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        fitted = fit(draw_world(arcs(100, 4), n_rounds, deviation=deviation, rng=rng).equations())
        assert fitted.converged
        assert fitted.passes <= 30


def test_omega_and_noise_are_recovered() -> None:
    """Three rounds per edge: with N = rewards instead of rewards minus levels, sigma is .65."""
    rng = np.random.default_rng(4)
    channels = arcs(4000, 2)
    omega = np.array([[0.5, 0.3], [0.3, 0.4]])
    theta = rng.multivariate_normal([1.0, -1.0], omega, 4000)
    z = rng.standard_normal((3, 4000, 2))
    r = (z * theta).sum(axis=2) + 0.8 * rng.standard_normal((3, 4000))
    r += 10 * rng.standard_normal(4000)
    equations = normal_equations(Phase.empty(channels).add(z.reshape(3, -1), r))
    fitted = fit(equations)
    assert fitted.sigma == pytest.approx(0.8, rel=0.03)
    assert_allclose(fitted.omega(0), omega, atol=0.05)
    assert_allclose(fitted.means(0), [[1.0, -1.0]], atol=0.05)
    forgets = fit(replace(equations, freedoms=np.full(4000, 3.0)))
    assert forgets.sigma < 0.72


def test_the_same_as_mixedlm() -> None:
    """Classical REML: flat means, one random vector per group, levels as fixed effects."""
    from statsmodels.regression import mixed_linear_model as mixedlm

    world = draw_world(arcs(30, 2), 8, deviation=0.6, rng=np.random.default_rng(5))
    fitted = fit(world.equations(), flat=True, prior=0.0, tolerance=1e-9)
    z = world.features.reshape(-1, 2)
    group = np.tile(np.arange(30), 8)
    levels = (group[:, None] == np.arange(30)).astype(float)
    exog = np.hstack([z, levels])
    model = mixedlm.MixedLM(world.rewards.ravel(), exog, groups=group, exog_re=z)
    theirs = model.fit(reml=True)
    assert theirs.converged
    assert_allclose(fitted.sigma**2, theirs.scale, rtol=1e-4)
    assert_allclose(fitted.omega(0), np.asarray(theirs.cov_re), rtol=1e-3, atol=1e-4)
    assert_allclose(fitted.means(0)[0], np.asarray(theirs.fe_params)[:2], rtol=1e-4)
    effects = np.array([np.asarray(theirs.random_effects[g]) for g in range(30)])
    assert_allclose(fitted.theta.reshape(30, 2) - fitted.means(0), effects, atol=1e-3)


def test_shared_is_least_squares_with_one_matrix() -> None:
    world = draw_world(arcs(20, 3, 2), 5, rng=np.random.default_rng(6))
    data = rows(world, "channel")
    X, y = data.free.T @ data.Z @ covariate_matrix(world.channels), data.free.T @ data.y
    b, squares, rank, _ = np.linalg.lstsq(X, y, rcond=None)
    fitted = fit(world.equations(), "shared", flat=True)
    assert_allclose(fitted.final.fixed, b, atol=1e-9)
    assert_allclose(fitted.theta, covariate_matrix(world.channels) @ b, atol=1e-9)
    assert fitted.sigma**2 == pytest.approx(squares[0] / (len(y) - rank), rel=1e-3)


def test_none_is_least_squares_edge_by_edge() -> None:
    world = draw_world(arcs(20, 3, 2), 9, rng=np.random.default_rng(7))
    data = rows(world, "channel")
    Z, y = data.free.T @ data.Z, data.free.T @ data.y
    theta, squares, rank, _ = np.linalg.lstsq(Z, y, rcond=None)
    fitted = fit(world.equations(), "none", tolerance=1e-8)
    assert_allclose(fitted.theta, theta, atol=1e-4)
    assert fitted.sigma**2 == pytest.approx(squares[0] / (len(y) - rank), rel=1e-3)


def test_none_takes_from_the_kind_what_its_rounds_do_not_show() -> None:
    world = draw_world(arcs(20, 3), 9, deviation=0.1, rng=np.random.default_rng(8))
    rewards = world.rewards.copy()
    rewards[:, 7] = np.nan
    fitted = fit(replace(world, rewards=rewards).equations(), "none")
    assert_allclose(fitted.theta.reshape(20, 3)[7], fitted.means(0)[0], atol=1e-6)


def test_fewer_rounds_than_parameters_are_no_obstacle() -> None:
    world = draw_world(arcs(200, 6), 3, deviation=0.5, rng=np.random.default_rng(9))
    shared = fit(world.equations(), "shared")
    partial = fit(world.equations())
    error = [((f.theta - world.theta) ** 2).mean() for f in (shared, partial)]
    assert error[1] < 0.9 * error[0]


def test_partial_lies_between_shared_and_none() -> None:
    world = draw_world(arcs(200, 3), 10, deviation=0.3, noise=1.0, rng=np.random.default_rng(10))
    fits = {mode: fit(world.equations(), mode) for mode in ("shared", "partial", "none")}
    error = {mode: ((f.theta - world.theta) ** 2).mean() for mode, f in fits.items()}
    assert error["partial"] < min(error["shared"], error["none"])


@pytest.mark.parametrize(
    ("kinds", "merged", "held"),
    [
        ([0] * 5 + [1] * 2, [(1, 0)], []),  # joins the largest
        ([0] * 5 + [1] * 2 + [2] * 2, [(2, 1)], []),  # small ones join each other
        ([0] * 2, [], [0]),  # nobody to join
        ([0] * 5 + [1] * 5, [], []),
    ],
)
def test_small_kinds_learn_with_others(
    kinds: list[int], merged: list[tuple[int, int]], held: list[int]
) -> None:
    channels = Channels.of_arcs(kinds, np.full(max(kinds) + 1, 2))
    world = draw_world(channels, 6, rng=np.random.default_rng(11))
    fitted = fit(world.equations())
    assert list(fitted.deviations.merged) == merged
    assert list(fitted.deviations.held) == held
    for small, teacher in merged:
        assert_allclose(fitted.omega(small), fitted.omega(teacher))
    for kind in held:
        assert not fitted.omega(kind).any()


def test_blocks_never_measured_do_not_count_as_teachers() -> None:
    world = draw_world(arcs(8, 2, 2), 6, rng=np.random.default_rng(12))
    rewards = world.rewards.copy()
    rewards[:, [1, 3]] = np.nan  # two of the four blocks of kind 1
    assert fit(replace(world, rewards=rewards).equations()).deviations.merged == ((1, 0),)


def test_stated_noise_is_kept_and_ratios_are_used() -> None:
    rng = np.random.default_rng(13)
    channels = arcs(300, 2)
    deviations = np.where(np.arange(300) < 150, 0.2, 2.0)
    theta = 1 + 0.5 * rng.standard_normal((300, 2))
    z = rng.standard_normal((8, 300, 2))
    r = (z * theta).sum(axis=2) + deviations * rng.standard_normal((8, 300))
    phase = Phase.empty(channels).add(z.reshape(8, -1), r)
    stated = normal_equations(phase, noise=deviations)
    assert fit(stated, noise=1.0).sigma == 1.0
    assert fit(stated).sigma == pytest.approx(1.0, rel=0.06)
    blind = fit(normal_equations(phase))
    error = [((f.theta - theta.ravel()) ** 2).mean() for f in (fit(stated), blind)]
    assert error[0] < 0.8 * error[1]


def test_a_warm_start_saves_passes_and_ends_in_the_same_place() -> None:
    world = draw_world(arcs(200, 3), 30, rng=np.random.default_rng(14))
    phase = Phase.empty(world.channels).add(world.features[:20], world.rewards[:20])
    before = fit(normal_equations(phase))
    equations = world.equations()
    cold = fit(equations, tolerance=1e-8)
    warm = fit(equations, start=before.components, tolerance=1e-8)
    assert warm.passes < cold.passes
    assert_allclose(warm.theta, cold.theta, atol=1e-3)


def test_a_warm_start_at_zero_is_left_again() -> None:
    world = draw_world(arcs(100, 2), 20, deviation=0.5, rng=np.random.default_rng(15))
    cold = fit(world.equations(), tolerance=1e-8)
    nothing = replace(cold.components, roots=np.zeros_like(cold.components.roots))
    warm = fit(world.equations(), start=nothing, tolerance=1e-8)
    assert warm.trace[-1] == pytest.approx(cold.trace[-1], abs=1e-3)


def test_nothing_to_learn_from_is_said() -> None:
    world = draw_world(arcs(5, 2), 1, rng=np.random.default_rng(16))
    with pytest.raises(InvalidArgument, match="add rounds"):
        fit(world.equations())
    with pytest.raises(InvalidArgument, match="above 0"):
        fit(world.equations(), noise=-1.0)
    assert np.isfinite(fit(world.equations(), noise=1.0).theta).all()


# -- invariances ---------------------------------------------------------------------------------


def world_of(seed: int) -> World:
    return draw_world(arcs(30, 3, 2), 6, rng=np.random.default_rng(seed))


def tight(world: World, *, flat: bool = False) -> Fit:
    """Flat: classical REML, without priors of means and of deviations."""
    prior = 0.0 if flat else 1.0
    return fit(world.equations(), flat=flat, prior=prior, tolerance=1e-9, max_passes=200)


@settings(max_examples=12)
@given(st.integers(0, 1000), st.floats(0.01, 100.0))
def test_the_unit_of_rewards_does_not_matter(seed: int, unit: float) -> None:
    world = world_of(seed)
    one, other = tight(world), tight(replace(world, rewards=unit * world.rewards))
    assert_allclose(other.theta, unit * one.theta, atol=2e-3 * unit)
    assert other.sigma == pytest.approx(unit * one.sigma, rel=1e-3)


@settings(max_examples=12)
@given(st.integers(0, 1000))
def test_the_order_of_edges_does_not_matter(seed: int) -> None:
    world, order = world_of(seed), np.random.default_rng(seed).permutation(30)
    z = world.features.reshape(-1, 30, 3)[:, order].reshape(-1, 90)
    channels = Channels.of_arcs(world.channels.kinds[order], [3, 3])
    permuted = replace(
        world, channels=channels, features=np.ascontiguousarray(z), rewards=world.rewards[:, order]
    )
    expected = tight(world).theta.reshape(30, 3)[order].ravel()
    assert_allclose(tight(permuted).theta, expected, atol=2e-3)


@settings(max_examples=12)
@given(st.integers(0, 1000))
def test_the_basis_of_features_does_not_matter(seed: int) -> None:
    """With flat means: theta'z is the same whatever basis z is written in."""
    world = world_of(seed)
    basis: Array = np.eye(3) + 0.3 * np.random.default_rng(seed).standard_normal((3, 3))
    z = (world.features.reshape(-1, 3) @ basis).reshape(len(world.features), -1)
    turned = tight(replace(world, features=z), flat=True).theta.reshape(30, 3) @ basis.T
    assert_allclose(turned, tight(world, flat=True).theta.reshape(30, 3), atol=5e-3)
