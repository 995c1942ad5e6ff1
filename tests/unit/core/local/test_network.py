"""Features, totals and tables of the local model, against sums written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.base.arrays import Array, Indices
from edgewise.core.local.estimate import objective_of
from edgewise.core.local.network import LocalNetwork
from edgewise.core.model.channels import Measurement

PAIRS = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4)]
WEIGHTS = [1.0, -2.0, 0.5, 3.0, 1.0, 0.7]
ARMS = np.array([[1.0, 0.1], [0.2, 1.0], [0.6, -0.7], [-0.5, 0.4]])

CASES: dict[str, tuple[bool, dict[str, Any]]] = {
    "arc": (False, {"measured": "arc"}),
    "arc, directed": (True, {"measured": "arc"}),
    "link": (False, {"measured": "link"}),
    "node": (False, {"measured": "node", "own_term": False}),
    "node, directed": (True, {"measured": "node", "own_term": False}),
    "node, own term": (False, {"measured": "node"}),
    "node, own term by kind": (True, {"measured": "node", "node_kinds": [0, 1, 0, 2, 1]}),
    "node, average": (True, {"measured": "node", "average": True}),
    "total": (False, {"measured": "total"}),
    "total, directed": (True, {"measured": "total"}),
}


class World:
    """A matrix per arc where directions can be told apart, else a symmetric one per edge."""

    def __init__(self, case: str, seed: int = 0) -> None:
        directed, options = CASES[case]
        graph = ew.Graph.from_edges(PAIRS, directed=directed, weights=WEIGHTS, kinds=[0, 1] * 3)
        self.problem = ew.Problem(graph, ARMS, pooling="partial", **options)
        self.network = LocalNetwork.of(Measurement.of(self.problem))
        rng = np.random.default_rng(seed)
        self.ordered = directed or options["measured"] == "node"
        self.matrices = {(i, j): rng.standard_normal((2, 2)) for i, j in graph.arcs.tolist()}
        if not self.ordered:
            for i, j in PAIRS:
                both = self.matrices[i, j] + self.matrices[i, j].T
                self.matrices[i, j] = self.matrices[j, i] = both
        self.own = rng.standard_normal((5, 2)) * bool(self.problem.own_term)
        self.joint_arms = rng.integers(4, size=(8, 5))

    def arc(self, i: int, j: int, k: int, l: int) -> float:
        return float(ARMS[k] @ self.matrices[i, j] @ ARMS[l])

    def weight(self, i: int, j: int) -> float:
        return WEIGHTS[PAIRS.index((i, j) if (i, j) in PAIRS else (j, i))]

    def rewards(self, arms: Indices) -> dict[tuple[int, int], float]:
        arcs = self.problem.graph.arcs.tolist()
        return {(i, j): self.weight(i, j) * self.arc(i, j, arms[i], arms[j]) for i, j in arcs}

    def own_rewards(self, arms: Indices) -> Array:
        return np.array([self.own[i] @ ARMS[arms[i]] for i in range(5)])

    def measured(self, arms: Indices) -> Array:
        """(C,) without noise."""
        rewards, graph = self.rewards(arms), self.problem.graph
        if self.problem.measured == "total":
            return np.array([sum(rewards.values())])
        if self.problem.measured == "node":
            found = self.own_rewards(arms)
            for node in range(5):
                incoming = [value for (_, j), value in rewards.items() if j == node]
                share = len(incoming) if self.problem.average else 1
                found[node] += sum(incoming) / share if incoming else 0.0
            return found
        each = [
            rewards[i, j] if graph.directed else rewards[i, j] + rewards[j, i] for i, j in PAIRS
        ]
        mean = self.problem.measured == "arc" and not graph.directed
        return np.array(each) * (0.5 if mean else 1.0)

    @property
    def theta(self) -> Array:
        """(P,) the parameters that give these matrices, by least squares over all pairs."""
        measurement, network = self.network.measurement, self.network
        features = measurement.features.reshape(16, -1)
        theta = np.full(network.channels.n_parameters, np.nan)
        ends = zip(measurement.first.tolist(), measurement.second.tolist(), strict=True)
        for start, end in zip(network.term_starts, ends, strict=True):
            table = (ARMS @ self.matrices[end] @ ARMS.T).ravel()
            theta[start : start + features.shape[1]] = np.linalg.lstsq(features, table, rcond=None)[
                0
            ]
        coordinates = self.problem.whitening.coordinates
        for start, own in zip(network.own_starts, self.own, strict=False):
            theta[start : start + 2] = np.linalg.lstsq(coordinates, ARMS @ own, rcond=None)[0]
        assert np.isfinite(theta).all()  # every parameter has its place
        return theta


@pytest.fixture(params=CASES, scope="module")
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


def test_features_give_what_is_measured(world: World) -> None:
    starts, theta = world.network.channels.starts, world.theta
    for arms in world.joint_arms:
        terms = world.network.features(arms) * theta
        each = [terms[starts[c] : starts[c + 1]].sum() for c in range(len(starts) - 1)]
        assert_allclose(each, world.measured(arms), atol=1e-9)


def test_the_total_is_the_sum_over_arcs_and_own_terms(world: World) -> None:
    theta = world.theta
    objective = objective_of(world.network, theta)
    for arms in world.joint_arms:
        total = sum(world.rewards(arms).values()) + world.own_rewards(arms).sum()
        if world.problem.average:  # what is measured, summed
            total = world.measured(arms).sum()
        assert world.network.total(arms) @ theta == pytest.approx(total, abs=1e-9)
        assert objective.value(arms) == pytest.approx(total, abs=1e-9)


def test_tables_of_edges_hold_both_directions_per_unit_of_weight(world: World) -> None:
    tables = world.network.edge_tables(world.theta)
    assert tables.shape == (6, 4, 4)
    for (i, j), table in zip(PAIRS, tables, strict=True):
        for k in range(4):
            for l in range(4):
                back = 0.0 if world.problem.graph.directed else world.arc(j, i, l, k)
                assert table[k, l] == pytest.approx(world.arc(i, j, k, l) + back, abs=1e-9)


def test_tables_of_own_terms(world: World) -> None:
    tables = world.network.own_tables(world.theta)
    if not world.problem.own_term:
        assert tables is None
        return
    assert tables is not None
    assert_allclose(tables, world.own @ ARMS.T, atol=1e-9)


def test_kinds_of_blocks_are_those_of_edges_then_of_nodes() -> None:
    channels = World("node, own term by kind").network.channels
    graph_kinds, node_kinds = [0, 1] * 3, [0, 1, 0, 2, 1]
    for node in range(5):
        of_channel = channels.kinds[channels.blocks[node] : channels.blocks[node + 1]].tolist()
        incoming = [graph_kinds[e] for e, (_, j) in enumerate(PAIRS) if j == node]
        assert of_channel == [*incoming, 2 + node_kinds[node]]
    assert channels.dimensions.tolist() == [4, 4, 2, 2, 2]


@pytest.mark.parametrize("measured", ["arc", "link", "node", "total"])
def test_covariates_are_those_of_the_edge_and_none_of_own_terms(measured: str) -> None:
    covariates = np.random.default_rng(0).standard_normal((6, 2))
    graph = ew.Graph.from_edges(PAIRS, covariates=covariates)
    problem = ew.Problem(graph, ARMS, pooling="partial", measured=measured)  # type: ignore[arg-type]
    network = LocalNetwork.of(Measurement.of(problem))
    channels = network.channels
    block_of = {int(start): block for block, start in enumerate(channels.block_starts[:-1])}
    for edge, start in zip(network.measurement.edge, network.term_starts.tolist(), strict=True):
        assert channels.numbers[block_of[start]].tolist() == [1.0, *covariates[edge]]
    for start in network.own_starts.tolist():
        assert channels.numbers[block_of[start]].tolist() == [1.0, 0.0, 0.0]


def test_without_covariates_there_is_a_constant_only() -> None:
    assert (World("node, own term").network.channels.numbers == 1.0).all()
