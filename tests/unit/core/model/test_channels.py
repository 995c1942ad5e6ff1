"""What is measured as linear functions of the parameters, against sums written out by hand."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.instances import FOUR_ARMS, TAIL, TAIL_KINDS, TAIL_WEIGHTS

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.model.cells import Cells
from edgewise.core.model.channels import Measurement
from edgewise.core.targets.truth import Truth
from edgewise.simulation.environment import measured_means

LENGTHS = [0.3, -1.0, 2.0, 0.5, 1.5, 0.1]
NODE_KINDS = [0, 1, 1, 0, 2]

CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "kinds": {"kinds": TAIL_KINDS},
    "weights": {"weights": TAIL_WEIGHTS},
    "kinds and weights": {"kinds": TAIL_KINDS, "weights": TAIL_WEIGHTS},
    "covariates": {"kinds": TAIL_KINDS, "covariates": {"length": LENGTHS}},
    "alone": {"kinds": TAIL_KINDS, "pooling": "none"},
}
MEASURED: dict[str, dict[str, Any]] = {
    "arc": {"measured": "arc"},
    "link": {"measured": "link"},
    "node": {"measured": "node"},
    "node kinds": {"measured": "node", "node_kinds": NODE_KINDS},
    "node, nothing own": {"measured": "node", "own_term": False},
    "node mean": {"measured": "node", "average": True},
    "total": {"measured": "total"},
}


class World:
    """A problem, matrices drawn at random, and the parameters they stand for."""

    def __init__(self, options: dict[str, Any], directed: bool, node_term: bool) -> None:
        directed = directed or "average" in options  # else directions would count differently
        parts = {
            name: options[name] for name in ("kinds", "weights", "covariates") if name in options
        }
        rest = {name: value for name, value in options.items() if name not in parts}
        graph = ew.Graph.from_edges(TAIL, directed=directed, **parts)
        self.problem = problem = ew.Problem(
            graph, FOUR_ARMS, node_term=node_term, levels=True, **rest
        )
        rng = np.random.default_rng(5)
        G = problem.classes.n_groups
        self.M, self.beta = rng.standard_normal((G, 2, 2)), rng.standard_normal((G, 2))
        self.own = rng.standard_normal((int(problem.kind_of_node.max()) + 1, 2))

    @property
    def loadings(self) -> Array:
        """(E, G) by hand."""
        graph, n_edges = self.problem.graph, len(TAIL)
        if self.problem.pooling == "none":
            return np.eye(n_edges)
        kinds = np.zeros(n_edges, int) if graph.kinds is None else graph.kinds
        hot = np.eye(graph.n_kinds)[kinds]
        return hot if graph.covariates is None else np.hstack([hot, np.array(LENGTHS)[:, None]])

    def arc_means(self, arms: Indices) -> dict[tuple[int, int], float]:
        X, graph, means = self.problem.arms, self.problem.graph, {}
        for e, (i, j) in enumerate(TAIL):
            M = np.einsum("g,gij->ij", self.loadings[e], self.M)
            beta = self.loadings[e] @ self.beta if self.problem.node_term else np.zeros(2)
            w = 1.0 if graph.weights is None else graph.weights[e]
            for a, b in [(i, j)] if graph.directed else [(i, j), (j, i)]:
                means[a, b] = float(w * (X[arms[a]] @ M @ X[arms[b]] + X[arms[a]] @ beta))
        return means

    def measured(self, arms: Indices) -> list[float]:
        """Numbers by the definitions; arcs of an undirected edge by their mean."""
        problem, means = self.problem, self.arc_means(arms)
        if problem.measured == "total":
            return [math.fsum(means.values())]
        if problem.measured == "node":
            numbers = []
            for node in range(problem.graph.n_nodes):
                coming = [value for (_, j), value in means.items() if j == node]
                total = math.fsum(coming)
                if problem.average and coming:
                    total /= len(coming)
                if problem.own_term:
                    own = self.own[problem.kind_of_node[node]]
                    total += float(problem.arms[arms[node]] @ own)
                numbers.append(total)
            return numbers
        if problem.graph.directed:
            return [means[i, j] for i, j in TAIL]
        both = [means[i, j] + means[j, i] for i, j in TAIL]
        return both if problem.measured == "link" else [0.5 * one for one in both]

    def theta(self) -> Array:
        """Parameters: vec or svec of every M in the coordinates of whitened arms, beta, own."""
        problem = self.problem
        transform = problem.whitening.transform
        back = np.linalg.inv(transform)  # arms @ transform = coordinates
        assert_allclose(problem.arms @ transform, problem.whitening.coordinates, atol=1e-12)
        ordered = problem.graph.directed or problem.measured == "node"
        parts = []
        for M, beta in zip(self.M, self.beta, strict=True):
            inner = back @ M @ back.T
            if ordered:
                parts.append(inner.ravel())
            else:
                S, root = 0.5 * (inner + inner.T), math.sqrt(2.0)
                rows, columns = np.triu_indices(2)
                parts.append(np.where(rows == columns, 1.0, root) * S[rows, columns])
            if problem.node_term:
                # both ends of an undirected edge: the mean of x_k'b and x_l'b
                parts.append(back @ beta * (1.0 if ordered else math.sqrt(0.5)))
        if problem.own_term:
            parts.extend(back @ own for own in self.own)
        return np.concatenate(parts)


def possible(measured: str, directed: bool) -> bool:
    return not (measured == "link" and directed)


@pytest.mark.parametrize("node_term", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("measured", MEASURED)
@pytest.mark.parametrize("case", CASES)
def test_rows_times_parameters_are_the_sums_written_out(
    case: str, measured: str, directed: bool, node_term: bool
) -> None:
    if not possible(measured, directed):
        return
    world = World(CASES[case] | MEASURED[measured], directed, node_term)
    measurement, cells = Measurement.of(world.problem), Cells.of(world.problem)
    theta, rng = world.theta(), np.random.default_rng(1)
    assert cells.n_parameters == len(theta)
    for _ in range(4):
        arms = rng.integers(0, 4, world.problem.graph.n_nodes)
        assert_allclose(measurement.shared_rows(arms) @ theta, world.measured(arms), atol=1e-10)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("measured", MEASURED)
@pytest.mark.parametrize("case", CASES)
def test_the_environment_measures_the_same(case: str, measured: str, directed: bool) -> None:
    if not possible(measured, directed):
        return
    world = World(CASES[case] | MEASURED[measured], directed, node_term=True)
    problem = world.problem
    own = world.own if problem.own_term else None
    truth = Truth.of(problem, world.M, world.beta, own)
    rng = np.random.default_rng(2)
    for _ in range(3):
        arms = rng.integers(0, 4, problem.graph.n_nodes)
        found = measured_means(problem, truth, arms)
        assert found.shape == (problem.n_rewards,)
        if measured == "arc":
            means = world.arc_means(arms)
            expected = [means[i, j] for i, j in problem.graph.arcs.tolist()]
        else:
            expected = world.measured(arms)
        assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("node_term", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("measured", MEASURED)
@pytest.mark.parametrize("case", CASES)
def test_cells_of_a_joint_problem_earn_what_an_arc_earns(
    case: str, measured: str, directed: bool, node_term: bool
) -> None:
    """Tables by class are x_k'Mx_l + x_k'b, the two directions averaged if undirected; own terms
    beside them."""
    if not possible(measured, directed) or (measured == "node mean" and not directed):
        return
    world = World(CASES[case] | MEASURED[measured], directed, node_term)
    problem, X = world.problem, world.problem.arms
    cells, theta = Cells.of(problem), world.theta()
    n_classes = len(problem.classes.loadings)
    assert cells.joint
    tables = cells.tables(np.broadcast_to(theta, (n_classes, len(theta))))
    for edge, kind in enumerate(problem.classes.graph.kind_of_edge):
        M = np.einsum("g,gij->ij", world.loadings[edge], world.M)
        table = X @ M @ X.T
        if node_term:
            table = table + (X @ (world.loadings[edge] @ world.beta))[:, None]
        expected = table if directed else 0.5 * (table + table.T)
        assert_allclose(tables[kind], expected, atol=1e-10)
    if problem.own_term:
        assert cells.own is not None
        assert_allclose(cells.own @ theta, world.own @ X.T, atol=1e-10)
    else:
        assert cells.own is None


@pytest.mark.parametrize("measured", ["arc", "node"])
@pytest.mark.parametrize("directed", [False, True])
def test_parameters_come_back_as_matrices(measured: str, directed: bool) -> None:
    world = World(CASES["kinds"] | MEASURED[measured], directed, node_term=True)
    cells, theta = Cells.of(world.problem), world.theta()
    whole = np.broadcast_to(theta, (2, len(theta)))
    ordered = directed or measured == "node"
    expected = world.M if ordered else 0.5 * (world.M + world.M.transpose(0, 2, 1))
    assert_allclose(cells.matrices(whole), expected, atol=1e-10)
    found = cells.node_terms(whole)
    assert found is not None
    assert_allclose(found, world.beta, atol=1e-10)


def test_one_direction_alone_is_missing() -> None:
    """It has another level, other noise, and an antisymmetric part."""
    graph = ew.Graph.from_edges(TAIL)
    measurement = Measurement.of(ew.Problem(graph, FOUR_ARMS, levels=True))
    rewards = np.arange(12.0)
    rewards[[2, 7, 10, 11]] = np.nan
    expected = [0.5, np.nan, 4.5, np.nan, 8.5, np.nan]
    assert_array_equal(measurement.numbers(rewards), expected)
    directed = ew.Graph.from_edges(TAIL, directed=True)
    alone = Measurement.of(ew.Problem(directed, FOUR_ARMS, levels=True))
    assert_array_equal(alone.numbers(rewards[:6]), rewards[:6])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"noise": 0.3}, [math.sqrt(0.5)] * 6),
        ({"noise": 0.3, "measured": "link"}, [1.0] * 6),
        ({"noise": 0.3, "measured": "node"}, [1.0] * 5),
        ({"noise": [2.0, 4.0]}, np.array([2.0, 4.0, 2.0, 4.0, 2.0, 4.0]) * math.sqrt(0.5)),
        ({"noise": [2.0, 4.0], "measured": "link"}, [2.0, 4.0, 2.0, 4.0, 2.0, 4.0]),
        ({"noise": [1.0, 2.0, 3.0, 4.0, 5.0], "measured": "node"}, [1.0, 2.0, 3.0, 4.0, 5.0]),
        # the mean of two rewards with deviations 3 and 4 has 5/2
        ({"noise": [3.0, 4.0] * 6}, [2.5] * 6),
    ],
)
def test_noise_of_channels(options: dict[str, Any], expected: Any) -> None:
    graph = ew.Graph.from_edges(TAIL, kinds=TAIL_KINDS)
    measurement = Measurement.of(ew.Problem(graph, FOUR_ARMS, levels=True, **options))
    assert_allclose(measurement.noise, expected)


def test_names_of_channels() -> None:
    graph = ew.Graph.from_edges([("a", "b"), ("b", "c")])
    names = {
        measured: Measurement.of(ew.Problem(graph, FOUR_ARMS, measured=measured, levels=True)).names
        for measured in ("arc", "link", "node", "total")
    }
    assert names["arc"] == names["link"] == (("a", "b"), ("b", "c"))
    assert names["node"] == ("a", "b", "c")
    assert names["total"] == ("total",)
