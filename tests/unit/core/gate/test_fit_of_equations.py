"""Lack of fit where statistics are normal equations, and what is said where it cannot be tested."""

from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.stats import f as fisher

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.core.evidence.equations import Equations
from edgewise.core.gate.lack_of_fit import lack_of_fit
from edgewise.core.model.cells import Cells
from edgewise.core.strategies.thompson import Thompson

ARMS = np.array([[1.0, -1.0], [1.0, 0.0], [1.0, 1.0]])
LINKS = [(i, (i + 1) % 8) for i in range(8)]
EVENLY = Thompson(first=1000)
CELLS = Cells.of(ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2)))
OPTIONS: list[dict[str, Any]] = [{"noise": [0.3, 0.5] * 4}, {"noise": 0.3, "pooling": "none"}]


def told(bend: float, n_rounds: int = 30, **options: Any) -> ew.Report:
    """Rounds of a bilinear world with ``bend`` added where both ends have the middle arm."""
    graph = ew.Graph.from_edges(LINKS, directed=True)
    problem = ew.Problem(graph, ARMS, **options)
    learner = ew.Learner(problem, strategy=EVENLY, rng=0)
    rng, noise = np.random.default_rng(1), np.broadcast_to(np.array(options["noise"]), 8)
    for _ in range(n_rounds):
        ticket = learner.ask()
        k, l = ticket.arms[graph.edges].T
        means = 0.3 * (k - 1) * (l - 1) + 0.2 * (k - 1) + bend * ((k == 1) & (l == 1))
        learner.tell(ticket, means + noise * rng.standard_normal(8))
    return learner.report()


@pytest.mark.parametrize("options", OPTIONS)
def test_unequal_noise_and_matrices_per_edge_have_a_test_of_cells(
    options: dict[str, Any],
) -> None:
    fine, wrong = told(0.0, 60, **options), told(1.5, 60, **options)
    assert fine.lack_of_fit is not None
    assert wrong.lack_of_fit is not None
    assert fine.lack_of_fit.p_value > 1e-3
    assert wrong.lack_of_fit.p_value < 1e-6
    assert "the bilinear model does not hold" in str(wrong)


def test_it_is_the_f_test_of_nested_least_squares() -> None:
    options = OPTIONS[0]
    graph = ew.Graph.from_edges(LINKS, directed=True)
    problem = ew.Problem(graph, ARMS, **options)
    learner = ew.Learner(problem, strategy=EVENLY, rng=3)
    rng, noise, Z, D, y = np.random.default_rng(4), np.array(options["noise"]), [], [], []
    for _ in range(20):
        ticket = learner.ask()
        rewards = rng.standard_normal(8)
        k, l = ticket.arms[graph.edges].T
        Z.append(np.einsum("ei,ej->eij", ARMS[k], ARMS[l]).reshape(8, 4) / noise[:, None])
        D.append(np.eye(9)[3 * k + l] / noise[:, None])
        y.append(rewards / noise)
        learner.tell(ticket, rewards)
    left = []
    for rows in (np.vstack(Z), np.vstack(D)):
        fitted = rows @ np.linalg.lstsq(rows, np.concatenate(y), rcond=None)[0]
        left.append((((np.concatenate(y) - fitted) ** 2).sum(), np.linalg.matrix_rank(rows)))
    more, rest = left[1][1] - left[0][1], 160 - left[1][1]
    expected = (left[0][0] - left[1][0]) / more / (left[1][0] / rest)
    found = learner.report().lack_of_fit
    assert found is not None
    assert found.degrees_of_freedom == (more, rest)
    assert found.statistic == pytest.approx(expected, rel=1e-8)
    assert found.p_value == pytest.approx(fisher.sf(expected, more, rest), rel=1e-6)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"measured": "node"}, "sum over several edges"), ({"levels": True}, "unknown levels")],
)
def test_where_no_cell_is_seen_by_itself_the_report_says_so(
    options: dict[str, Any], said: str
) -> None:
    report = told(0.0, 12, noise=0.3, **options)
    assert report.lack_of_fit is None
    assert said in str(report)


NODES: list[dict[str, Any]] = [{"measured": "node"}, {"levels": True}]


def adaptively(options: dict[str, Any]) -> ew.Learner:
    """Forty adaptive rounds of a bilinear world, measured at nodes or with unknown levels."""
    graph = ew.Graph.from_edges(LINKS, directed=True)
    problem = ew.Problem(graph, ARMS, noise=0.3, **options)
    learner = ew.Learner(problem, rng=0, trust_model=True, delta=1e-100)
    rng, levels = np.random.default_rng(0), np.arange(8.0)
    for _ in range(40):
        ticket = learner.ask()
        k, l = ticket.arms[graph.edges].T
        means = 0.3 * (k - 1) * (l - 1) + 0.2 * (k - 1)
        if problem.measured == "node":
            means = np.bincount(graph.edges[:, 1], means, 8)
        else:
            means = means + levels
        learner.tell(ticket, means + 0.3 * rng.standard_normal(8))
    return learner


@pytest.mark.parametrize("options", NODES)
def test_where_no_cell_is_seen_by_itself_phases_are_compared(options: dict[str, Any]) -> None:
    found = adaptively(options).report().lack_of_fit
    assert found is not None
    assert found.compares == "phases"
    assert found.p_value > 1e-3


def equations(rows: list[Array], numbers: list[Array]) -> tuple[Equations, Equations]:
    """Phases (J, ...), and all of them together."""
    phases = Equations(
        np.array([Z.T @ Z for Z in rows]),
        np.array([Z.T @ y for Z, y in zip(rows, numbers, strict=True)]),
        np.array([y @ y for y in numbers]),
        np.array([float(len(y)) for y in numbers]),
        np.zeros((len(rows), 1, 1)),
    )
    return phases, phases[:-1].followed_by_all(phases[-1])


@pytest.mark.parametrize(("bend", "speaks"), [(0.0, False), (1.0, True)])
def test_a_missing_square_asks_for_other_parameters_elsewhere(bend: float, speaks: bool) -> None:
    """One phase shows -1 and 0, the next 0 and 1: each alone suits a line."""
    rng = np.random.default_rng(5)
    shown = [rng.choice(pair, 30) for pair in ([-1.0, 0.0], [0.0, 1.0])]
    rows = [np.column_stack([np.ones(30), x]) for x in shown]
    numbers = [0.5 * x + bend * x**2 + 0.3 * rng.standard_normal(30) for x in shown]
    phases, everything = equations(rows, numbers)
    found = lack_of_fit(CELLS, everything, np.zeros((1, 2)), None, phases)
    assert found is not None
    assert (found.p_value < 1e-6) is speaks
    assert speaks or found.p_value > 1e-3


def test_phases_are_compared_by_nested_least_squares() -> None:
    """One regression on dummies: parameters of all phases, and of each."""
    rng = np.random.default_rng(2)
    rows = [rng.standard_normal((n, 3)) for n in (7, 9, 12)]
    numbers = [rng.standard_normal(len(Z)) for Z in rows]
    phases, everything = equations(rows, numbers)
    found = lack_of_fit(CELLS, everything, np.zeros((1, 3)), None, phases)
    y = np.concatenate(numbers)
    left = [
        float(((y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]) ** 2).sum())
        for Z in (np.vstack(rows), block_diag(*rows))
    ]
    expected = (left[0] - left[1]) / 6 / (left[1] / 19)
    assert found is not None
    assert found.degrees_of_freedom == (6, 19)
    assert found.statistic == pytest.approx(expected, rel=1e-9)
    assert found.p_value == pytest.approx(fisher.sf(expected, 6, 19), rel=1e-9)
    assert lack_of_fit(CELLS, everything, np.zeros((1, 3))) is None


def test_auto_gives_its_estimate_before_it_has_decided() -> None:
    graph = ew.Graph.circle(n_nodes=8)
    learner = ew.Learner(ew.Problem(graph, ARMS, noise=0.3, pooling="auto"), rng=0)
    rng = np.random.default_rng(0)
    for _ in range(5):
        ticket = learner.ask()
        learner.tell(ticket, rng.standard_normal(16))
    report = learner.report()
    assert report.estimated is not None
    assert "decided when the first phase ends" in report.guarantee
    assert "not every direction" not in report.guarantee
