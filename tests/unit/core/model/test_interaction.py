"""Arcs that depend on the arm of their first node alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.core.evidence.coverage import sees_everything
from edgewise.core.learner import Learner
from edgewise.core.model.cells import Cells
from edgewise.core.model.channels import Measurement

ARMS = np.array([[0.0, 0.0], [0.5, 0.25], [1.0, 1.0]])
PATH = ew.Graph.from_edges([(0, 1), (1, 2), (0, 2)], directed=True, weights=[1.0, 2.0, -1.0])


def problem(graph: ew.Graph = PATH, **options: object) -> ew.Problem:
    return ew.Problem(graph, ARMS, interaction=False, noise=0.1, **options)  # type: ignore[arg-type]


def test_what_an_arc_brings_is_its_weight_times_a_function_of_the_senders_arm() -> None:
    case = problem(measured="node")
    measurement, arms = Measurement.of(case), np.array([2, 1, 0])
    senders = case.whitening.coordinates[arms[measurement.first]]
    assert_allclose(measurement.terms(arms), measurement.scale[:, None] * senders)
    assert measurement.scale.tolist() == [1.0, 2.0, -1.0]
    assert measurement.features.shape == (3, 3, 2)
    assert case.parameters_per_edge == 2


def test_undirected_arcs_add_both_senders() -> None:
    case = problem(ew.Graph.circle(n_nodes=5))
    features = Measurement.of(case).features
    x = case.whitening.coordinates
    assert_allclose(features[1, 2], (x[1] + x[2]) * np.sqrt(0.5))
    assert_allclose(features, features.transpose(1, 0, 2))


def test_it_implies_the_node_term_and_is_another_problem() -> None:
    without, with_it = problem(measured="node"), ew.Problem(PATH, ARMS, measured="node", noise=0.1)
    assert without.node_term
    assert not without.is_plain
    assert without.fingerprint != with_it.fingerprint
    assert "interaction=False" in repr(without)
    assert "node_term" not in repr(without)


def test_a_run_finds_the_senders_best_arm_and_reports_no_matrix() -> None:
    graph = ew.Graph.from_edges(
        [(i, j) for i in range(6) for j in range(6) if i != j], directed=True
    )
    case = problem(graph, levels=True)
    world = ew.BilinearEnvironment(case, np.zeros((2, 2)), beta=[1.2, -1.0], rng=1)
    report = ew.identify(case, world, rng=0, max_rounds=400)
    assert report.certified
    assert report.allocation is not None
    assert report.allocation.arms.tolist() == [1] * 6  # 0, 0.35, 0.2 per arc
    assert not report.matrices.any()
    assert report.node_terms is not None
    assert_allclose(report.node_terms[0], [1.2, -1.0], atol=0.3)


def test_arms_that_no_node_may_be_given_need_not_be_seen() -> None:
    """Else a first phase that waits for their own term would last for ever."""
    allowed = np.array([[True, True, False]] * 3)
    case = problem(measured="node", levels=True, candidates=allowed, pooling="shared")
    learner = Learner(case, strategy="thompson", rng=0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        learner.tell(learner.ask(), 0.1 * rng.standard_normal(3))
    cells, state = Cells.of(case), learner._state
    assert sees_everything(cells, state.total)
    assert len(state.closed) > 1
    assert cells.own_showable is not None
    assert cells.own_showable.tolist() == [[True, True, False]]


@pytest.mark.parametrize("strategy", ["adaptive", "g-optimal", "contrast", "thompson"])
def test_every_strategy_explores_it(strategy: str) -> None:
    case = problem(ew.Graph.circle(n_nodes=6), levels=True)
    world = ew.BilinearEnvironment(case, np.zeros((2, 2)), beta=[1.2, -1.0], rng=1)
    report = ew.identify(case, world, strategy=strategy, rng=0, max_rounds=200)
    assert report.allocation is not None
    assert report.allocation.arms.tolist() == [1] * 6
