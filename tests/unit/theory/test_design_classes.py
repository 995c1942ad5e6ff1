"""What designs need when nodes are independent, and when a graph has to carry them."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.errors import InvalidArgument
from edgewise.simulation import paper_instance
from edgewise.theory import characteristic, lower_bound, rho_independent, rho_realisable
from edgewise.theory.edge_arms import Model, edge_arm_model, edge_arms
from edgewise.theory.information import (
    CellInformation,
    Information,
    LawInformation,
    MixedInformation,
)
from edgewise.theory.least_information import maximise_least
from edgewise.theory.rho import rivals_of_best, worst_ratio

HARD = {2: 115.2, 3: 116.0, 5: 118.3, 7: 121.7}
EASY = {2: 1.46, 3: 2.62, 5: 5.62, 7: 9.60}


def instance(d: int, omega: float) -> tuple[Array, Array]:
    """The paper's; at pi/2 the last arm equals e_2 and is dropped."""
    arms, matrix = paper_instance(d, omega)
    return (arms, matrix) if omega < 1 else (arms[:-1], matrix)


def random_instance(seed: int, n_arms: int = 5, d: int = 2) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    arms = rng.standard_normal((n_arms, d))
    return arms / np.linalg.norm(arms, axis=1, keepdims=True), rng.standard_normal((d, d))


def ratio_of(cells: Array, arms: Array, matrix: Array, model: Model = "symmetric") -> float:
    """What given proportions of edge-arms need, by the definition."""
    features, theta = edge_arm_model(arms, matrix, model)
    best, rivals, gaps = rivals_of_best(features, features @ theta)
    return worst_ratio(features, features[best] - features[rivals], gaps, cells)


def product(law: Array, model: Model = "symmetric") -> Array:
    index = edge_arms(len(law), model).index
    return np.asarray(np.bincount(index.ravel(), np.outer(law, law).ravel()))


# -- the functions behind the interior point ---------------------------------------------------


def models() -> dict[str, Callable[[np.random.Generator], Information]]:
    def cells(rng: np.random.Generator) -> CellInformation:
        return CellInformation(rng.normal(size=(7, 3)), rng.normal(size=(4, 3)))

    def mixed(rng: np.random.Generator) -> MixedInformation:
        return MixedInformation(cells(rng), rng.random((5, 7)))

    def law(rng: np.random.Generator) -> LawInformation:
        features, _ = edge_arm_model(rng.normal(size=(4, 2)), np.eye(2), "symmetric")
        return LawInformation(features, rng.normal(size=(5, 3)), edge_arms(4, "symmetric").index)

    def ordered_law(rng: np.random.Generator) -> LawInformation:
        features, _ = edge_arm_model(rng.normal(size=(3, 2)), np.eye(2), "ordered")
        return LawInformation(features, rng.normal(size=(5, 4)), edge_arms(3, "ordered").index)

    return {"cells": cells, "mixed": mixed, "law": law, "ordered law": ordered_law}


@pytest.mark.parametrize("name", models())
@pytest.mark.parametrize("seed", range(3))
def test_derivatives_are_right_and_degrees_are_one(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = models()[name](rng)
    u = 0.5 + rng.random(model.n_variables)
    local = model.at(u)
    q = rng.random(len(local.values))
    assert_allclose(u @ local.slopes, local.values, rtol=1e-9)  # Euler
    assert_allclose(model.at(3.0 * u).values, 3.0 * local.values, rtol=1e-9)
    step = 1e-5
    curvature = local.curvature(q)
    for c in range(len(u)):
        nudge = step * np.eye(len(u))[c]
        ahead, behind = model.at(u + nudge), model.at(u - nudge)
        assert_allclose(
            (ahead.values - behind.values) / (2 * step), local.slopes[c], rtol=1e-5, atol=1e-7
        )
        change = -((ahead.slopes - behind.slopes) @ q) / (2 * step)
        assert_allclose(curvature[c], change, rtol=1e-4, atol=1e-6)
    assert np.linalg.eigvalsh(curvature)[0] > -1e-9 * np.abs(curvature).max()


# -- independent nodes -------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "ratio"), [(2, 1.74), (3, 1.85), (5, 2.07), (7, 2.28)])
def test_independent_nodes_on_the_hard_instances(d: int, ratio: float) -> None:
    result = rho_independent(*instance(d, 0.1))
    assert result.value / HARD[d] == pytest.approx(ratio, abs=0.006)
    assert result.gap <= 1e-6
    assert result.iterations < 30


@pytest.mark.parametrize(
    ("d", "omega", "ratio"),
    [
        *((2, 0.1, 1.74), (3, 0.1, 3.89), (5, 0.1, 10.6), (7, 0.1, 20.2)),
        *((2, 1.57, 1.37), (3, 1.57, 1.72), (5, 1.57, 2.22), (7, 1.57, 2.55)),
    ],
)
def test_the_g_optimal_product_on_the_papers_instances(d: int, omega: float, ratio: float) -> None:
    """What Algorithm 2 loses, and that the best law loses no more."""
    arms, matrix = instance(d, math.pi / 2 if omega > 1 else omega)
    needed = ratio_of(product(ew.g_optimal(arms).weights), arms, matrix)
    assert needed / (EASY if omega > 1 else HARD)[d] == pytest.approx(ratio, rel=0.005)
    assert rho_independent(arms, matrix).lower <= needed * (1 + 1e-9)


@pytest.mark.parametrize("model", ["symmetric", "ordered"])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_bracket_holds_for_every_law(model: Model, seed: int) -> None:
    """The value is what the law returned needs, and random laws need no less than the bound."""
    arms, matrix = random_instance(seed)
    result = rho_independent(arms, matrix, model=model)
    if math.isinf(result.value):
        return
    assert result.gap <= 1e-6
    assert result.design.sum() == pytest.approx(1.0)
    assert_allclose(
        ratio_of(product(result.design, model), arms, matrix, model), result.value, rtol=1e-5
    )
    for law in np.random.default_rng(seed).dirichlet(np.full(5, 0.5), size=5):
        assert ratio_of(product(law, model), arms, matrix, model) >= result.lower * (1 - 1e-9)
    unrestricted = characteristic(*edge_arm_model(arms, matrix, model))
    assert result.value >= unrestricted.lower * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_general_purpose_solver_agrees(seed: int) -> None:
    arms, matrix = random_instance(seed)

    features, theta = edge_arm_model(arms, matrix, "symmetric")
    best, rivals, gaps = rivals_of_best(features, features @ theta)
    contrasts = (features[best] - features[rivals]) / gaps[:, None]

    def ratios(logits: Array) -> Array:
        law = np.exp(logits - logits.max())
        sigma = (features.T * product(law / law.sum())) @ features
        return np.asarray((contrasts.T * np.linalg.solve(sigma, contrasts.T)).sum(axis=0))

    unit = ratios(np.zeros(5)).max()
    found = minimize(
        lambda v: v[-1],
        np.append(np.zeros(5), 1.0),
        constraints={"type": "ineq", "fun": lambda v: v[-1] - ratios(v[:-1]) / unit},
        bounds=[(-12.0, 12.0)] * 5 + [(0.0, 2.0)],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    value = rho_independent(arms, matrix).value
    assert value == pytest.approx(ratios(found.x[:-1]).max(), rel=1e-3)


def test_ties_and_single_cells() -> None:
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    tied = rho_independent(np.eye(2), np.eye(2))
    assert (tied.value, tied.lower, tied.gap) == (math.inf, math.inf, 0.0)
    assert math.isinf(rho_independent(np.eye(2), swap, model="ordered").value)
    assert math.isfinite(rho_independent(np.eye(2), swap).value)
    alone = rho_independent([[2.0]], [[1.0]])
    assert (alone.value, alone.design.tolist()) == (0.0, [1.0])


# -- what a graph can carry --------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("family", ["star", "circle", "matching"])
def test_bipartite_graphs_carry_every_design(family: str, d: int) -> None:
    graph = getattr(ew.Graph, family)(n_edges=156)
    result = rho_realisable(graph, *instance(d, 0.1), tolerance=1e-3)
    assert result.value == pytest.approx(HARD[d], rel=2e-3)
    assert result.lower == pytest.approx(HARD[d], rel=2e-3)


@pytest.mark.parametrize("d", [3, 5])
def test_the_complete_graph_of_the_paper(d: int) -> None:
    """Better than the best single law and the best mixture of laws (1.72 to 1.74), proved."""
    result = rho_realisable(ew.Graph.complete(n_edges=156), *instance(d, 0.1))
    assert 1.58 < result.lower / HARD[d] <= result.value / HARD[d] < 1.63
    assert result.gap < 0.02
    easy = rho_realisable(ew.Graph.complete(n_edges=156), *instance(d, math.pi / 2))
    assert easy.value == pytest.approx(EASY[d], rel=0.01)


def every_joint_arm(graph: ew.Graph, n_arms: int, model: Model) -> Array:
    index = edge_arms(n_arms, model).index
    columns = []
    for joint in np.ndindex(*(n_arms,) * graph.n_nodes):
        ends = np.array(joint)[graph.arcs]
        shown = np.bincount(index[ends[:, 0], ends[:, 1]], minlength=index.max() + 1)
        columns.append(shown / graph.n_arcs)
    return np.unique(np.array(columns), axis=0)


GRAPHS = {
    "triangle": ew.Graph.complete(n_nodes=3),
    "five-circle": ew.Graph.circle(n_nodes=5),
    "a square and a diagonal": ew.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
}


@pytest.mark.parametrize("model", ["symmetric", "ordered"])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("seed", range(2))
def test_all_joint_arms_at_once_give_the_same_value(name: str, model: Model, seed: int) -> None:
    """Brute force: the interior point on every column there is."""
    graph, (arms, matrix) = GRAPHS[name], random_instance(seed, n_arms=3)
    columns = every_joint_arm(graph, 3, model)
    features, theta = edge_arm_model(arms, matrix, model)
    best, rivals, gaps = rivals_of_best(features, features @ theta)
    contrasts = (features[best] - features[rivals]) / gaps[:, None]
    unit = ratio_of(columns.mean(axis=0), arms, matrix, model)
    cells = CellInformation(features, contrasts / math.sqrt(unit))
    brute = maximise_least(MixedInformation(cells, columns), 1e-6, 60)
    result = rho_realisable(graph, arms, matrix, model=model, tolerance=1e-3)
    assert result.lower <= unit * brute.upper * (1 + 1e-9)
    assert result.value >= unit * brute.lower * (1 - 1e-9)
    assert result.value == pytest.approx(unit * brute.upper, rel=2e-3)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_the_mixture_is_what_it_says(seed: int) -> None:
    arms, matrix = random_instance(seed, n_arms=4)
    graph = list(GRAPHS.values())[seed % 3]
    result = rho_realisable(graph, arms, matrix)
    index = edge_arms(4, "symmetric").index
    shown = np.zeros(10)
    for joint, share in zip(result.joint_arms, result.shares, strict=True):
        for i, j in graph.arcs.tolist():
            shown[index[joint[i], joint[j]]] += share / graph.n_arcs
    assert result.shares.sum() == pytest.approx(1.0)
    assert_allclose(shown, result.design, atol=1e-12)
    assert_allclose(ratio_of(shown, arms, matrix), result.value, rtol=1e-6)
    assert result.lower <= result.value * (1 + 1e-9)
    unrestricted = characteristic(*edge_arm_model(arms, matrix, "symmetric"))
    independent = rho_independent(arms, matrix)
    assert unrestricted.lower <= result.value * (1 + 1e-9)
    assert result.lower <= independent.value * (1 + 1e-9)


def test_histograms_bound_the_complete_graph() -> None:
    """On a complete graph only how many nodes have which arm matters: all of them, K = 3."""
    arms, matrix = random_instance(4, n_arms=3)
    graph = ew.Graph.complete(n_nodes=7)
    index = edge_arms(3, "symmetric").index
    columns = []
    for joint in combinations_with_replacement(range(3), 7):
        ends = np.array(joint)[graph.arcs]
        shown = np.bincount(index[ends[:, 0], ends[:, 1]], minlength=6)
        columns.append(shown / graph.n_arcs)
    result = rho_realisable(graph, arms, matrix)
    rng = np.random.default_rng(0)
    for share in rng.dirichlet(np.full(len(columns), 0.2), size=30):
        assert ratio_of(share @ np.array(columns), arms, matrix) >= result.lower * (1 - 1e-9)


def test_lower_bounds_of_a_graph() -> None:
    arms, matrix = instance(3, 0.1)
    star, complete = (getattr(ew.Graph, name)(n_edges=156) for name in ("star", "complete"))
    anywhere = lower_bound(star, arms, matrix)
    assert anywhere.designs == "unrestricted"
    assert lower_bound(complete, arms, matrix).rounds == anywhere.rounds
    here = lower_bound(complete, arms, matrix, designs="realisable")
    assert here.designs == "realisable"
    assert here.rounds / anywhere.rounds == pytest.approx(1.61, abs=0.02)
    carried = lower_bound(star, arms, matrix, designs="realisable")
    assert carried.rounds == pytest.approx(anywhere.rounds, rel=0.01)
    tied = lower_bound(star, np.eye(2), np.eye(2), designs="realisable")
    assert math.isinf(tied.rounds)


def test_unknown_classes_and_graphs_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"class of designs.*'realisable', 'unrestricted'"):
        lower_bound(GRAPHS["triangle"], np.eye(2), np.eye(2), designs="independent")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="no model is called 'skew'"):
        rho_independent(np.eye(2), np.eye(2), model="skew")  # type: ignore[arg-type]
    directed = ew.Graph.from_edges([(0, 1)], directed=True)
    with pytest.raises(InvalidArgument, match="directed"):
        rho_realisable(directed, np.eye(2), np.eye(2))
