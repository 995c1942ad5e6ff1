"""CRRM with tilted antennas, against formulas written down independently; booking; the task."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from edgewise.base.arrays import Array
from edgewise.errors import InvalidArgument
from edgewise.integrations.cells import (
    Coverage,
    Drop,
    RadioEnvironment,
    RadioNetwork,
    TiltTask,
    booked,
    simulator,
)

SMALL = RadioNetwork.random(3, n_sites=3, n_hot_spots=2)


def received_power(network: RadioNetwork, users: Array, tilts: Array) -> Array:
    """(U, C) decibel watts: 3GPP urban macro without line of sight (TR 38.901, table 7.4.1-1)."""
    power = np.empty((len(users), network.n_cells))
    for u, (x, y, z) in enumerate(users):
        for c, (east, north, up) in enumerate(network.places):
            flat = np.hypot(x - east, y - north)
            steep = np.hypot(flat, up - z)
            breakpoint_ = 4 * (up - 1.0) * (z - 1.0) * 3.5e9 / 3.0e8
            sight = 28.0 + 22 * np.log10(steep) + 20 * np.log10(3.5)
            if flat > breakpoint_:
                sight = 28.0 + 40 * np.log10(steep) + 20 * np.log10(3.5)
                sight -= 9 * np.log10(breakpoint_**2 + (up - z) ** 2)
            blocked = 13.54 + 39.08 * np.log10(steep) + 20 * np.log10(3.5) - 0.6 * (z - 1.5)
            azimuth = np.rad2deg(np.arctan2(x - east, y - north))  # clockwise from north
            aside = (azimuth - network.azimuths[c] + 180.0) % 360.0 - 180.0
            below = np.rad2deg(np.arcsin((up - z) / steep))
            lost = min(12 * (aside / 65.0) ** 2, 30.0)
            lost = min(lost + min(12 * ((below - tilts[c]) / 10.0) ** 2, 20.0), 30.0)
            power[u, c] = 10 * np.log10(40.0) + 15.0 - lost - max(sight, blocked)
    return power


def test_receptions_are_those_of_independent_formulas() -> None:
    rng = np.random.default_rng(0)
    users, tilts = SMALL.users(60, 1), rng.uniform(0.0, 15.0, SMALL.n_cells)
    found = Drop(SMALL, users).received(tilts)
    power = 10 ** (received_power(SMALL, users, tilts) / 10.0)
    order = np.argsort(-power, axis=1)
    assert_array_equal(found.cell, order[:, 0])
    assert_array_equal(found.second, order[:, 1])
    best, noise = power.max(axis=1), 2.0e-20 * 20e6
    expected = 10 * np.log10(best / (power.sum(axis=1) - best + noise))
    assert_allclose(found.sinr, expected, atol=1e-9)
    # users of a cell share its band: what they get times their number is what one alone would get
    alone = [Drop(SMALL, users[u : u + 1]).received(tilts).rate[0] for u in range(10)]
    crowd = np.bincount(found.cell)[found.cell]
    assert_allclose((found.rate * crowd)[:10], alone)
    assert (np.diff((found.rate * crowd)[np.argsort(found.sinr)]) >= -1e-9).all()


def test_a_drop_remembers_nothing_of_earlier_tilts() -> None:
    drop, flat, steep = Drop(SMALL, SMALL.users(200, 2)), np.zeros(9), np.full(9, 12.0)
    first = drop.received(flat)
    assert not np.array_equal(first.rate, drop.received(steep).rate)
    assert_array_equal(drop.received(flat).rate, first.rate)
    assert_array_equal(Drop(SMALL, drop.users).received(steep).rate, drop.received(steep).rate)


def test_tilts_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="one per cell"):
        Drop(SMALL, SMALL.users(5, 0)).received([1.0, 2.0])


def test_another_crrm_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        @staticmethod
        def get_version() -> str:
            return "9.9"

    monkeypatch.setattr(simulator, "required", lambda *_: Other)
    with pytest.raises(InvalidArgument, match=r"CRRM is version 9\.9.*CRRM==2\.0\.2"):
        Drop(SMALL, SMALL.users(5, 0))


def test_reports_are_means_times_shares_and_missing_without_users() -> None:
    numbers = booked(
        np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 2, -1]), np.array([0.5, 0.2, 0.3])
    )
    assert_allclose(numbers, [1.0, np.nan, 1.5])


def test_coverage_counts_users_by_place() -> None:
    reception = Drop(SMALL, SMALL.users(500, 0)).received(np.full(9, 8.0))
    coverage = Coverage.of(reception)
    assert coverage.shares.sum() == pytest.approx(1.0)
    assert_allclose(coverage.relations.sum(axis=0), coverage.shares)
    pair = (reception.cell == 0) & (reception.second == reception.second[0])
    assert coverage.relations[reception.second[0], 0] == pytest.approx(pair.mean())
    assert_allclose(coverage.overlap.sum(axis=0), 1.0)
    here = reception.power[reception.cell == 2]
    disturbing = np.delete(here, 2, axis=1)
    mean = (disturbing / disturbing.sum(axis=1, keepdims=True)).mean(axis=0)
    assert_allclose(np.delete(coverage.overlap[:, 2], 2), mean)


@pytest.fixture(scope="module")
def system() -> RadioEnvironment:
    return RadioEnvironment.of(SMALL, n_users=400, truth_users=1000)


def test_numbers_add_up_to_the_growth_of_the_geometric_mean(system: RadioEnvironment) -> None:
    arms = system.today.copy()
    arms[:4] += [1, -1, 0, 1]
    before, after = (system.quality(each).rate for each in (system.today, arms))
    totals = system.means(np.stack([system.today, arms])).sum(axis=1)
    assert_allclose(totals, [0.0, np.log(after / before)], atol=1e-12)
    assert_allclose(system.worths(totals), [before, after])


def test_rounds_scatter_around_the_truth(system: RadioEnvironment) -> None:
    """40 rounds: their mean is within five deviations of the truth's, channel by channel.

    The truth's own 1000 users scatter too, hence 0.01; without noise rounds would not differ.
    """
    arms = system.today.copy()
    arms[2] -= 1
    rng = np.random.default_rng(0)
    numbers, means = system.measured(np.repeat(arms[None], 40, axis=0), rng)
    spread = np.nanstd(numbers, axis=0)
    assert (spread > 1e-4).all()
    assert (np.abs(np.nanmean(numbers, axis=0) - means[0]) < 5 * spread / np.sqrt(40) + 0.01).all()


def test_the_same_generator_gives_the_same_round(system: RadioEnvironment) -> None:
    one, other = (system.measured(system.today[None], np.random.default_rng(4))[0] for _ in "ab")
    assert_array_equal(one, other)


def test_a_cell_without_users_is_missing_in_that_round() -> None:
    few = RadioEnvironment.of(SMALL, n_users=3, truth_users=1000)
    numbers, _ = few.measured(few.today[None], np.random.default_rng(0))
    assert np.isnan(numbers[0]).sum() >= 6
    assert not np.isnan(few.means(few.today[None])).any()


def test_the_task_has_an_arc_from_whom_is_heard_by_weight(
    system: RadioEnvironment,
) -> None:
    task = system.task
    problem, graph, overlap = task.problem, task.problem.graph, task.coverage.overlap
    assert (problem.measured, problem.levels, problem.pooling) == ("node", "channel", "partial")
    assert not problem.interaction
    first, second = graph.edges.T
    assert len(graph.edges) == (overlap > 0.002).sum()
    loud = overlap[first, second]
    expected = np.sqrt(task.coverage.shares[second] * loud)
    assert_allclose(graph.weight_of_edge / graph.weight_of_edge[0], expected / expected[0])
    assert problem.baseline is not None
    assert_array_equal(problem.baseline, task.today)
    assert task.tilts(task.today).tolist() == [task.tilts(task.today)[0]] * 9
    assert (task.near <= (overlap > 0.002)).all()


def test_relations_are_measured_one_by_one() -> None:
    system = RadioEnvironment.of(SMALL, channels="relation", n_users=400, truth_users=1000)
    numbers, means = system.measured(system.today[None], np.random.default_rng(0))
    assert numbers.shape == means.shape == (1, len(system.problem.graph.edges))
    assert system.problem.measured == "arc"


@pytest.mark.parametrize(
    ("tilts", "today", "message"),
    [
        ([4.0, 2.0, 6.0], 4.0, "ascending"),
        ([2.0, 4.0], 3.0, "today's"),
        ([2.0, 4.0, 6.0], [4.0] * 8 + [5.0], "today's tilts include 5"),
    ],
)
def test_tilts_out_of_order_and_unknown_ones_are_refused(
    tilts: list[float], today: float, message: str
) -> None:
    coverage = Coverage.of(Drop(SMALL, SMALL.users(200, 0)).received(np.full(9, 8.0)))
    with pytest.raises(InvalidArgument, match=message):
        TiltTask.of(SMALL, coverage, today=today, tilts=tilts)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"error": -1.0}, "error is"), ({"n_users": 0}, "n_users"), ({"truth_users": 10}, "ten per")],
)
def test_impossible_environments_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        RadioEnvironment.of(SMALL, **options)  # type: ignore[arg-type]
