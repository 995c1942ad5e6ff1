import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student

import edgewise as ew
from edgewise import plots
from edgewise.errors import InvalidArgument


@pytest.fixture(scope="module")
def report() -> ew.Report:
    arms, matrix = ew.simulation.paper_instance(dimension=3, omega=0.8)
    problem = ew.Problem(ew.Graph.circle(n_edges=20), arms, arm_labels=["a", "b", "c", "d"])
    return ew.identify(problem, ew.BilinearEnvironment(problem, matrix, rng=1), rng=2)


def test_the_interval_of_a_mean_is_students() -> None:
    samples = np.array([3.0, 5.0, 4.0, 8.0])
    mean, low, high = plots.mean_interval(samples, 0.9)
    half = student.ppf(0.95, 3) * samples.std(ddof=1) / 2
    assert_allclose([mean, low, high], [5.0, 5.0 - half, 5.0 + half])
    assert plots.mean_interval([7.0]) == (7.0, 7.0, 7.0)


def test_the_interval_covers_the_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    bounds = np.array([plots.mean_interval(rng.normal(size=8), 0.8)[1:] for _ in range(4_000)])
    covered = ((bounds[:, 0] <= 0) & (bounds[:, 1] >= 0)).mean()
    assert abs(covered - 0.8) < 4.9 * np.sqrt(0.16 / 4_000)  # false alarm 1e-6


@pytest.mark.parametrize("samples", [[], [1.0, np.nan], [[1.0]]])
def test_a_mean_of_nothing_is_refused(samples: list[float]) -> None:
    with pytest.raises(InvalidArgument, match="finite"):
        plots.mean_interval(samples)


def test_a_curve_orders_its_sizes() -> None:
    curve = plots.curve_of("star", {30: [2.0, 4.0], 6: [10.0, 10.0]}, group="paper")
    assert curve.x.tolist() == [6.0, 30.0]
    assert curve.mean.tolist() == [10.0, 3.0]
    assert curve.low[0] == curve.high[0] == 10.0
    assert not curve.mean.flags.writeable


def test_a_curve_needs_matching_lengths() -> None:
    with pytest.raises(InvalidArgument, match="one length"):
        plots.Curve("x", np.zeros(2), np.zeros(3), np.zeros(3), np.zeros(3))


def test_design_data_carries_names_and_certificate(report: ew.Report) -> None:
    design = ew.g_optimal(report.problem.arms)
    data = plots.design_data(design, report.problem.arm_labels)
    assert data.arms == ("a", "b", "c", "d")
    assert_allclose(data.weights.sum(), 1.0)
    assert data.gap == design.gap
    with pytest.raises(InvalidArgument, match="one label per arm"):
        plots.design_data(design, ["a"])


def test_estimate_data_marks_the_best_pair(report: ew.Report) -> None:
    rewards = plots.estimate_data(report)
    assert rewards.rows == rewards.columns == ("a", "b", "c", "d")
    assert rewards.marked == (report.best_pair,)
    assert_allclose(rewards.values, report.tables[0])
    matrix = plots.estimate_data(report, of="matrix")
    assert_allclose(matrix.values, report.matrix)
    assert matrix.marked == ()
    with pytest.raises(InvalidArgument, match="edge kind"):
        plots.estimate_data(report, kind=3)


def test_allocation_data_keeps_the_users_names(report: ew.Report) -> None:
    data = plots.allocation_data(report)
    assert report.allocation is not None
    assert data.arms.tolist() == report.allocation.arms.tolist()
    assert data.arm_names == ("a", "b", "c", "d")
    assert data.node_names == tuple("0123456789")


def test_there_is_no_allocation_before_an_estimate(report: ew.Report) -> None:
    learner = ew.Learner(report.problem, rng=0)
    with pytest.raises(InvalidArgument, match="tell more rounds"):
        plots.allocation_data(learner.report())


@pytest.mark.parametrize("arms", [[0, 1], [0.5] * 4, [0, 0, 0, 7]])
def test_wrong_arms_are_refused(arms: list[float]) -> None:
    with pytest.raises(InvalidArgument):
        plots.graph_data(ew.Graph.circle(n_nodes=4), arms, arm_labels=["a", "b"])


def test_histogram_counts_every_run_once_in_whole_rounds() -> None:
    rng = np.random.default_rng(3)
    rounds = rng.integers(5, 90, size=200)
    data = plots.histogram_data(rounds, certified=rounds < 80, lower_bound=2.0)
    assert data.counts.sum() == 200
    widths = np.diff(data.edges)
    assert (widths == widths[0]).all()
    assert widths[0] == round(widths[0])
    assert (data.edges % 1 == 0.5).all()
    assert data.n_uncertified == (rounds >= 80).sum()
    assert data.mean == rounds.mean()
    assert data.median == np.median(rounds)


def test_a_histogram_of_equal_runs_has_one_bin() -> None:
    assert plots.histogram_data([7, 7, 7]).counts.tolist() == [3]
    with pytest.raises(InvalidArgument, match="at least one run"):
        plots.histogram_data([])
