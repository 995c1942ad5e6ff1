"""The regret bound against brute force over joint arms and over parameters."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.allocation.allocate import allocate_table, solve
from edgewise.allocation.instance.result import Allocation
from edgewise.allocation.request import Request
from edgewise.base.arrays import Array
from edgewise.core.evidence.estimated import estimated_objective
from edgewise.core.evidence.evidence import gather
from edgewise.core.evidence.measuring import after, all_of, measure, nothing_measured, with_present
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells
from edgewise.core.targets.levels import AllAlike, n_events, shows_one_cell
from edgewise.core.targets.regret_bound import Comparison, bound_regret, compare

PAIRS = [(0, 1), (1, 2), (2, 0), (2, 3)]
KINDS: list[dict[str, Any]] = [
    {},
    {"kinds": [0, 1, 0, 1]},
    {"weights": [1.0, 2.0, 0.5, 1.0]},
    {"weights": [1.0, -2.0, 0.5, 1.0], "kinds": [0, 1, 1, 0]},
]
MASK = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]], bool)


def problem_of(
    rng: np.random.Generator, directed: bool, options: dict[str, Any], masked: bool
) -> ew.Problem:
    graph = ew.Graph.from_edges(PAIRS, directed=directed, **options)
    candidates = MASK if masked else None
    return ew.Problem(graph, rng.normal(size=(3, 2)), candidates=candidates, noise=1.0)


def one_phase(cells: Cells, rng: np.random.Generator) -> tuple[CellStatistics, Array]:
    """Noisy statistics of every cell, and the least-squares estimate (q, p)."""
    counts = rng.integers(1, 6, size=cells.showable.shape) * cells.showable
    rewards = counts * rng.normal(size=counts.shape)
    statistics = CellStatistics(counts, counts.astype(float), rewards, rewards**2)
    theta = np.zeros((len(counts), cells.features.shape[2]))
    for kind, F in enumerate(cells.features):
        A = (F.T * counts[kind]) @ F
        theta[kind] = np.linalg.pinv(A, hermitian=True) @ (rewards[kind] @ F)
    return statistics, theta


def rewards_of(problem: ew.Problem, tables: Array, arms: Any) -> float:
    """F(a) from the definition."""
    graph, total = problem.graph, 0.0
    for e, (i, j) in enumerate(graph.edges.tolist()):
        kind = 0 if graph.kinds is None else graph.kinds[e]
        weight = 1.0 if graph.weights is None else graph.weights[e]
        total += weight * tables[kind, arms[i], arms[j]]
        if not graph.directed:
            total += weight * tables[kind, arms[j], arms[i]]
    return float(total)


def joint_arms(problem: ew.Problem) -> list[tuple[int, ...]]:
    allowed = np.ones((4, 3), bool) if problem.candidates is None else problem.candidates
    return list(product(*(np.flatnonzero(row).tolist() for row in allowed)))


def case(
    seed: int, directed: bool, options: dict[str, Any], masked: bool, width: float
) -> tuple[ew.Problem, Cells, Array, Comparison, Allocation]:
    rng = np.random.default_rng(seed)
    problem = problem_of(rng, directed, options, masked)
    cells = Cells.of(problem)
    statistics, theta = one_phase(cells, rng)
    tables = cells.tables(theta)
    means = np.where(cells.showable, cells.means(theta), -np.inf)
    found = allocate_table(problem.graph, tables, symmetrise=True, candidates=problem.candidates)
    comparison = compare(
        problem,
        cells,
        statistics[None],
        means.argmax(axis=1),
        found.arms,
        AllAlike(lambda variances: width * np.sqrt(variances)),
    )
    return problem, cells, theta, comparison, found


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("masked", [False, True])
@given(seed=st.integers(0, 10**6), width=st.sampled_from([0.0, 0.1, 1.0]))
@settings(max_examples=15)
def test_no_joint_arm_gains_more_for_any_parameter_within_the_widths(
    directed: bool, options: dict[str, Any], masked: bool, seed: int, width: float
) -> None:
    problem, cells, theta, comparison, found = case(seed, directed, options, masked, width)
    regret, _ = bound_regret(problem, cells, comparison, found, effort="fast")
    rng = np.random.default_rng(seed)
    for _ in range(10):
        other = theta + rng.normal(size=theta.shape)
        if not width:
            other = theta
        # as far as the widths allow: every contrast of the comparison stays within its own
        for kind in range(len(theta)):
            rows = comparison.kinds == kind
            F, shown = cells.features[kind], comparison.shown[rows]
            shift = ((F[None] - F[shown, None]) @ (other - theta)[kind])[:, cells.showable[kind]]
            widths = comparison.above[rows][:, cells.showable[kind]]
            scale = np.max(np.abs(shift) / np.where(widths > 0, widths, np.inf), initial=0.0)
            if scale > 0:
                other[kind] = theta[kind] + (other - theta)[kind] / scale
        tables = cells.tables(other)
        ours = rewards_of(problem, tables, found.arms)
        best = max(rewards_of(problem, tables, arms) for arms in joint_arms(problem))
        assert best - ours <= regret.bound + 1e-9
    assert regret.optimisation <= regret.bound
    assert regret.estimation >= 0.0


@pytest.mark.parametrize("directed", [False, True])
@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_the_worst_case_is_the_allocation_problem_of_the_upper_bounds(
    directed: bool, seed: int
) -> None:
    """On so small a graph dynamic programming is exact, and the bound is the brute-force optimum
    of sum_e u_e, unless the second bound is smaller."""
    problem, cells, _, comparison, found = case(seed, directed, KINDS[1], False, 0.7)
    regret, worst = bound_regret(problem, cells, comparison, found, effort="fast")
    upper = comparison.gaps + comparison.above
    directions = 1.0 if directed else 2.0

    def gain(arms: tuple[int, ...]) -> float:
        edges = enumerate(problem.graph.edges.tolist())
        shown = [(comparison.edges[e], cells.pair_index[arms[i], arms[j]]) for e, (i, j) in edges]
        return directions * float(sum(upper[row, pair] for row, pair in shown))

    most = max(gain(arms) for arms in joint_arms(problem))
    assert_allclose(worst.value, most, atol=1e-9)
    assert regret.bound <= most + 1e-9
    assert gain(tuple(found.arms.tolist())) == 0.0


def test_widths_that_are_too_small_are_caught() -> None:
    """The negative control: cut the widths, and parameters within the true ones gain more."""
    broken = 0
    for seed in range(40):
        problem, cells, theta, comparison, found = case(seed, False, {}, False, 1.0)
        cheated = replace(comparison, above=0.3 * comparison.above, below=0.3 * comparison.below)
        regret, worst = bound_regret(problem, cells, cheated, found, effort="fast")
        contrast = np.zeros(theta.shape[1])
        for i, j in problem.graph.edges.tolist():
            contrast += cells.features[0, cells.pair_index[worst.arms[i], worst.arms[j]]]
            contrast -= cells.features[0, cells.pair_index[found.arms[i], found.arms[j]]]
        if np.abs(contrast).max() < 1e-9:
            continue
        F = cells.features[0]
        shift = (F[None] - F[comparison.shown, None]) @ contrast
        room = np.where(
            np.abs(shift) > 1e-12, comparison.above / np.maximum(np.abs(shift), 1e-12), np.inf
        )
        tables = cells.tables(theta + room.min() * contrast)
        ours = rewards_of(problem, tables, found.arms)
        best = max(rewards_of(problem, tables, arms) for arms in joint_arms(problem))
        broken += best - ours > regret.bound + 1e-9
    assert broken > 0


def test_without_uncertainty_only_optimisation_is_left() -> None:
    problem, cells, _, comparison, found = case(3, True, KINDS[1], False, 0.0)
    regret, _ = bound_regret(problem, cells, comparison, found, effort="fast")
    assert (regret.bound, regret.optimisation) == (0.0, 0.0)
    loose = replace(found, proved_optimal=False, upper_bound=found.value + 1.0)
    regret, _ = bound_regret(problem, cells, comparison, loose, effort="fast")
    assert regret.optimisation <= regret.bound


def test_contrasts_not_seen_leave_the_regret_open() -> None:
    rng = np.random.default_rng(0)
    problem = problem_of(rng, False, {}, False)
    cells = Cells.of(problem)
    nothing = CellStatistics.zero(cells)[None]
    found = allocate_table(problem.graph, np.eye(3))
    comparison = compare(problem, cells, nothing, np.zeros(1, int), found.arms, AllAlike(np.sqrt))
    regret, _ = bound_regret(problem, cells, comparison, found, effort="fast")
    assert regret.bound == np.inf


def test_events_that_may_fail() -> None:
    arms = np.eye(3)
    two_colours = ew.Problem(ew.Graph.circle(n_nodes=6), arms)
    odd = ew.Problem(ew.Graph.circle(n_nodes=5), arms)
    assert shows_one_cell(two_colours)
    assert not shows_one_cell(odd)
    assert n_events(two_colours, Cells.of(two_colours)) == 5  # the paper's rule: P - 1
    assert n_events(odd, Cells.of(odd)) == 6 * 5
    kinds = ew.Graph.from_edges([(0, 1), (1, 2)], kinds=[0, 1], directed=True)
    problem = ew.Problem(kinds, arms)
    assert n_events(problem, Cells.of(problem)) == 2 * 9 * 8


# -- own terms of nodes ------------------------------------------------------------------------


def own_case(
    seed: int, directed: bool, options: dict[str, Any], width: float
) -> tuple[ew.Problem, Cells, Array, Comparison, Allocation]:
    """Measured at nodes: matrices and own terms share one vector of parameters."""
    rng = np.random.default_rng(seed)
    graph = ew.Graph.from_edges(PAIRS, directed=directed, **options)
    problem = ew.Problem(
        graph,
        rng.normal(size=(3, 2)),
        candidates=MASK if seed % 2 else None,
        measured="node",
        node_kinds=np.array([0, 1, 0, 1]),
    )
    cells = Cells.of(problem)
    present, closed = nothing_measured(problem, cells)
    for _ in range(60):
        arms = rng.integers(0, 3, 4)
        told = measure(problem, cells, arms, rng.normal(size=4))
        present = after(present, told)[-1]
    phases = with_present(closed, present)
    evidence = gather(problem, cells, np.array([60]), all_of(closed, present)[None])
    theta = evidence.theta[0]
    found = solve(estimated_objective(problem, cells, theta), Request())
    comparison = compare(
        problem,
        cells,
        phases,
        evidence.leaders[0],
        found.arms,
        AllAlike(lambda variances: width * np.sqrt(variances)),
    )
    return problem, cells, theta[0], comparison, found


def node_rewards(problem: ew.Problem, cells: Cells, theta: Array, arms: Any) -> float:
    """F(a) with own terms."""
    assert cells.own is not None
    tables = cells.tables(np.broadcast_to(theta, (len(cells.features), len(theta))))
    own = sum(cells.own[problem.kind_of_node[i], arms[i]] @ theta for i in range(4))
    return rewards_of(problem, tables, arms) + float(own)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("options", KINDS)
@given(seed=st.integers(0, 10**6), width=st.sampled_from([0.0, 0.1, 1.0]))
@settings(max_examples=15)
def test_own_terms_are_part_of_what_joint_arms_gain(
    directed: bool, options: dict[str, Any], seed: int, width: float
) -> None:
    problem, cells, theta, comparison, found = own_case(seed, directed, options, width)
    assert cells.own is not None
    assert comparison.is_known
    regret, worst = bound_regret(problem, cells, comparison, found, effort="fast")
    every = joint_arms(problem)
    ours = tuple(found.arms.tolist())
    value = node_rewards(problem, cells, theta, ours)
    assert_allclose(found.value, value, atol=1e-9)
    assert value >= max(node_rewards(problem, cells, theta, arms) for arms in every) - 1e-9
    rng = np.random.default_rng(seed)
    for _ in range(10 if width else 1):
        step = rng.normal(size=theta.shape) * bool(width)
        ratios = []
        for row, kind in enumerate(comparison.kinds):
            F, allowed = cells.features[kind], cells.showable[kind]
            shift = np.abs((F - F[comparison.shown[row]]) @ step)[allowed]
            widths = comparison.above[row][allowed]
            ratios.append((shift[widths > 0] / widths[widths > 0]).max(initial=0.0))
        for kind, own in enumerate(cells.own):
            shift = np.abs((own[None] - own[:, None]) @ step)
            widths = comparison.own_above[kind]
            ratios.append((shift[widths > 0] / widths[widths > 0]).max(initial=0.0))
        other = theta + step / max(*ratios, 1e-300)
        gains = [node_rewards(problem, cells, other, arms) for arms in every]
        assert max(gains) - node_rewards(problem, cells, other, ours) <= regret.bound + 1e-8
    assert worst.value >= -1e-9


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20)
def test_the_worst_case_counts_edges_and_nodes(seed: int) -> None:
    problem, cells, _, comparison, found = own_case(seed, True, KINDS[1], 0.7)
    regret, worst = bound_regret(problem, cells, comparison, found, effort="fast")
    upper = comparison.gaps + comparison.above
    own = comparison.own_gaps + comparison.own_above

    def gain(arms: tuple[int, ...]) -> float:
        edges = enumerate(problem.graph.edges.tolist())
        total = sum(
            upper[comparison.edges[e], cells.pair_index[arms[i], arms[j]]] for e, (i, j) in edges
        )
        nodes = zip(problem.kind_of_node, found.arms, arms, strict=True)
        return float(total + sum(own[kind, a, b] for kind, a, b in nodes))

    most = max(gain(arms) for arms in joint_arms(problem))
    assert_allclose(worst.value, most, atol=1e-9)
    assert_allclose(regret.bound, most, atol=1e-6)
    assert gain(tuple(found.arms.tolist())) == 0.0


def test_own_terms_count_as_events() -> None:
    graph = ew.Graph.from_edges([(0, 1), (1, 2)], kinds=[0, 1], directed=True)
    problem = ew.Problem(graph, np.eye(3), measured="node", node_kinds=np.array([0, 1, 0]))
    assert n_events(problem, Cells.of(problem)) == 2 * 9 * 8 + 2 * 3 * 2
