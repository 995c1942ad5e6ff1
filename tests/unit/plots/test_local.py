from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise import plots
from edgewise.base.arrays import Array
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.local.reml import fit
from edgewise.errors import InvalidArgument
from edgewise.plots.local import local_fit

ARMS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
MEAN = np.array([[0.2, 0.9], [0.8, 0.1]])
NAMES = [f"t{i}" for i in range(10)]
RING = [(NAMES[i], NAMES[(i + 1) % 10]) for i in range(10)]


def told(
    rounds: int = 12, *, spread: float = 0.5, missing: int = 0, **options: object
) -> ew.Learner:
    """A ring whose links differ; the first channel loses its first ``missing`` rewards."""
    graph = ew.Graph.from_edges(RING, kinds=options.pop("kinds", None))  # type: ignore[arg-type]
    options = {"measured": "link", "pooling": "partial", "noise": 0.3, **options}
    problem = ew.Problem(graph, ARMS, **options)  # type: ignore[arg-type]
    measurement, rng = local_network(problem).measurement, np.random.default_rng(0)
    matrices = MEAN + spread * rng.standard_normal((10, 2, 2))
    learner = ew.Learner(problem, rng=1, strategy=ew.strategies.GOptimal(even=1.0), delta=1e-30)
    for number in range(rounds):
        ticket = learner.ask()
        x, y = ARMS[ticket.arms[measurement.first]], ARMS[ticket.arms[measurement.second]]
        terms = measurement.scale * np.einsum("ti,tij,tj->t", x, matrices[measurement.edge], y)
        rewards = 0.3 * rng.standard_normal(measurement.n_channels)
        np.add.at(rewards, measurement.channel, terms)
        rewards[0] = np.nan if number < missing else rewards[0]
        learner.tell(ticket, rewards)
    return learner


@pytest.fixture(scope="module")
def learner() -> ew.Learner:
    return told()


def test_shrinkage_compares_the_fits_edge_by_edge(learner: ew.Learner) -> None:
    data = plots.shrinkage_data(learner, pair=(2, 1), against=(0, 0))
    found, network = local_fit(learner), local_network(learner.problem)
    alone = fit(found.fit.equations, "none", noise=0.3)
    for values, theta in ((data.own, alone.theta), (data.shrunk, found.theta)):
        tables = dict(zip(data.edges, values, strict=True))
        for (first, second), table in zip(RING, network.edge_tables(theta), strict=True):
            effect = table[2, 1] - table[0, 0]
            assert tables[f"{first} - {second}"] == pytest.approx(effect, abs=1e-9)
    assert (np.diff(data.own) >= 0).all()
    assert data.effect == "(2, 1) over (0, 0)"
    assert not data.own.flags.writeable


def test_by_default_the_best_pair_of_the_kind_stands_against_its_worst(learner: ew.Learner) -> None:
    data = plots.shrinkage_data(learner)
    assert len(set(data.centre.round(9))) == 1
    others = [
        plots.shrinkage_data(learner, pair=(k, l), against=(m, n)).centre[0]
        for k in range(3) for l in range(3) for m in range(3) for n in range(3)
    ]  # fmt: skip
    assert data.centre[0] == pytest.approx(max(others))


def test_equal_edges_shrink_more_than_unequal_ones(learner: ew.Learner) -> None:
    unequal, equal = plots.shrinkage_data(learner), plots.shrinkage_data(told(spread=0.0))
    assert 0.4 < unequal.slope <= 1.0
    assert equal.slope < 0.4
    assert np.abs(equal.shrunk - equal.centre).max() < np.abs(equal.own - equal.centre).max()


def test_shrinkage_shows_one_kind_and_names_arms() -> None:
    one = told(kinds=[0, 1] * 5, arm_labels=["low", "mid", "high"])
    data = plots.shrinkage_data(one, pair=(2, 2), against=(0, 1), kind=1)
    assert sorted(data.edges) == sorted(f"{a} - {b}" for a, b in RING[1::2])
    assert data.effect == "(high, high) over (low, mid)"
    with pytest.raises(InvalidArgument, match="2 edge kind"):
        plots.shrinkage_data(one, kind=2)
    with pytest.raises(InvalidArgument, match="no pair of arms"):
        plots.shrinkage_data(one, pair=(0, 3))


def test_only_pairs_that_can_be_shown_are_compared() -> None:
    allowed = np.ones((10, 3), dtype=bool)
    allowed[:, 2] = False
    data = plots.shrinkage_data(told(candidates=allowed))
    assert "2" not in data.effect


def residuals_written_out(learner: ew.Learner, theta: Array) -> Array:
    """(R, C) measured minus fitted, for a problem that keeps its rounds."""
    features, rewards = plots.local.seen_by_edge(learner).rounds  # type: ignore[misc]
    starts = local_network(learner.problem).channels.starts
    fitted = [features[:, a:b] @ theta[a:b] for a, b in pairwise(starts)]
    return np.asarray(rewards - np.column_stack(fitted))


@pytest.mark.parametrize("levels", ["none", "channel"])
@pytest.mark.parametrize("measured", ["link", "node"])
def test_residuals_are_those_of_every_round(levels: str, measured: str) -> None:
    """Kept statistics, against the rounds themselves, which only levels per round keep."""
    one = told(measured=measured, levels=levels, missing=4)
    rest = residuals_written_out(
        told(measured=measured, levels="both", missing=4), local_fit(one).theta
    )
    data = plots.residual_data(one)
    names = [str(name) if measured == "node" else " - ".join(name)  # type: ignore[arg-type]
             for name in local_network(one.problem).measurement.names]  # fmt: skip
    at = [names.index(name) for name in data.channels]
    assert_allclose(data.means, np.nanmean(rest, axis=0)[at], atol=1e-9)
    assert_allclose(data.spreads, np.nanstd(rest, axis=0, ddof=1)[at], atol=1e-9)
    assert data.counts[data.channels.index(names[0])] == 8
    assert (np.diff(data.means) >= 0).all()
    assert data.has_levels == (levels == "channel")
    assert_allclose(data.noise, 0.3)


def test_levels_of_rounds_are_taken_out_of_residuals() -> None:
    one = told(levels="round")
    rest = residuals_written_out(one, local_fit(one).theta)
    rest -= rest.mean(axis=1, keepdims=True)
    assert_allclose(plots.residual_data(one).means, np.sort(rest.mean(axis=0)), atol=1e-9)


def test_channels_with_few_measurements_are_marked() -> None:
    data = plots.residual_data(told(12, missing=11))
    assert [data.channels[c] for c in np.flatnonzero(data.too_few)] == ["t0 - t1"]
    assert np.isnan(data.spreads[data.too_few]).all()
    unmeasured = plots.residual_data(told(12, missing=12))
    assert unmeasured.channels[-1] == "t0 - t1"
    assert np.isnan(unmeasured.means[-1])


def test_one_matrix_for_unequal_edges_leaves_more_than_noise() -> None:
    shared, partial = plots.residual_data(told(pooling="shared")), plots.residual_data(told())
    assert np.mean(shared.spreads) > 1.5 * 0.3 > np.mean(partial.spreads)


def test_nothing_can_be_drawn_before_rounds_or_if_nothing_was_kept() -> None:
    for figure in (plots.figure_shrinkage, plots.figure_residuals):
        with pytest.raises(InvalidArgument, match="tell more rounds"):
            figure(told(0))
    huge = ew.Problem(ew.Graph.circle(n_nodes=600), np.eye(8))
    with pytest.raises(InvalidArgument, match="pooling='partial'"):
        plots.figure_residuals(ew.Learner(huge, rng=0))


def test_rows_are_drawn_in_order_and_named(learner: ew.Learner) -> None:
    data, ax = plots.shrinkage_data(learner), plots.figure_shrinkage(learner).axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(data.edges)
    assert_allclose(np.asarray(ax.lines[0].get_xdata(), float), data.own)
    assert_allclose(np.asarray(ax.lines[1].get_xdata(), float), data.shrunk)
    rest = plots.figure_residuals(told(12, missing=11)).axes[0]
    labels = rest.get_legend_handles_labels()[1]
    assert labels == ["noise alone", "mean and deviation", "fewer than 5 measurements"]
