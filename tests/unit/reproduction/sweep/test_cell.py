import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import edgewise as ew
from edgewise.core.strategies import STRATEGIES
from edgewise.errors import InvalidArgument
from edgewise.network.families import graph_of
from edgewise.reproduction.sweep.cell import (
    Cell,
    SweepPoint,
    code_version,
    generator_from,
    point_key,
    split,
)
from edgewise.reproduction.sweep.points import (
    LossPoint,
    RoundsPoint,
    VariancePoint,
    deviations_along,
    methods,
)
from edgewise.reproduction.sweep.random_points import (
    RandomDesignPoint,
    RandomPoint,
    random_instances,
)
from edgewise.theory import lower_bound, rho_independent, variance

ROUNDS = RoundsPoint(1.5, "star", 30, 2, "mixture", 0.05)
POINTS: tuple[SweepPoint, ...] = (
    ROUNDS,
    VariancePoint("circle", (6, 12), 2, 8, 20),
    LossPoint(1.5, "circle", 12, 2, 0.05, 40),
    RandomDesignPoint(4, 2, 8, 24, 0.05),
    RandomPoint(4, 2, 8, 24, "mixture", 0.05, 1),
)


@pytest.mark.parametrize("point", POINTS, ids=lambda point: type(point).__name__)
def test_repetitions_do_not_depend_on_how_they_are_grouped(point: SweepPoint) -> None:
    whole = Cell(point, 0, 5, seed=3).run()
    parts = [row for cell in split(point, 5, seed=3, chunk=2) for row in cell.run()]
    assert parts == whole
    assert {row["repetition"] for row in whole} == set(range(5))


@pytest.mark.parametrize("point", POINTS, ids=lambda point: type(point).__name__)
def test_another_seed_gives_other_results(point: SweepPoint) -> None:
    assert Cell(point, 0, 6, seed=3).run() != Cell(point, 0, 6, seed=4).run()


def test_more_repetitions_only_add_cells() -> None:
    few = [cell.key for cell in split(ROUNDS, 20, seed=0)]
    many = [cell.key for cell in split(ROUNDS, 40, seed=0)]
    assert many[:2] == few


def test_keys_tell_points_apart_and_survive_processes() -> None:
    points: list[SweepPoint] = [*POINTS, replace(ROUNDS, n_edges=42), replace(ROUNDS, delta=0.1)]
    assert len({point_key(point) for point in points}) == len(points)
    code = (
        "from edgewise.reproduction.sweep.points import RoundsPoint\n"
        "from edgewise.reproduction.sweep.cell import Cell, code_version\n"
        "print(Cell(RoundsPoint(1.5, 'star', 30, 2, 'mixture', 0.05), 0, 5, 3).key)\n"
        "print(code_version())"
    )
    command = [sys.executable, "-c", code]
    seen = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    assert seen.splitlines() == [Cell(ROUNDS, 0, 5, 3).key, code_version()]


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="seed is -1"):
        generator_from(-1, "x")


def test_every_strategy_that_certifies_is_a_method() -> None:
    earn = {"optimistic", "thompson"}
    assert {strategy for strategy, _ in methods().values()} == set(STRATEGIES) - earn
    assert earn < set(STRATEGIES)


@pytest.mark.parametrize("method", methods())
def test_every_method_runs(method: str) -> None:
    (row,) = RoundsPoint(1.5, "circle", 30, 2, method, 0.05).run(0, 0, 1)
    assert row["certified"] is True
    assert row["correct"] is True


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no graph family"):
        graph_of("torus", 12)


def test_monte_carlo_follows_the_definition_of_the_round() -> None:
    """The fast sums against A_1 formed edge by edge, with the same joint arms."""
    rng = np.random.default_rng(1)
    arms, law, graph = rng.normal(size=(5, 2)), np.full(5, 0.2), ew.Graph.star(n_nodes=4)
    u = rng.normal(size=4)
    sizes = deviations_along(u, graph, arms, law, 3, np.random.default_rng(7))
    joint = np.random.default_rng(7).choice(5, size=(3, 4), p=law)
    S = (arms.T * law) @ arms
    for size, chosen in zip(sizes, arms[joint], strict=True):
        z = np.array([np.kron(chosen[i], chosen[j]) for i, j in graph.arcs])
        deviation = z.T @ z - graph.n_arcs * np.kron(S, S)
        assert_allclose(size, np.sum((deviation @ u) ** 2))


def test_monte_carlo_mean_is_the_exact_variance() -> None:
    rng = np.random.default_rng(2)
    arms, law, graph = rng.normal(size=(6, 2)), np.full(6, 1 / 6), ew.Graph.circle(n_nodes=5)
    matrix = variance(graph, arms, law).matrix
    u = np.linalg.eigh(matrix)[1][:, -1]
    sizes = deviations_along(u, graph, arms, law, 20_000, rng)
    error = sizes.std(ddof=1) / np.sqrt(len(sizes))
    assert abs(sizes.mean() - u @ matrix @ u) < 4.9 * error  # false alarm 1e-6


def test_the_loss_is_never_negative_and_vanishes() -> None:
    """No design does better than the optimum; more rounds come closer to it."""
    short, long = (
        np.array([row["loss"] for row in LossPoint(1.5, "matching", 12, 2, 0.05, t).run(0, 0, 4)])
        for t in (20, 2_000)
    )
    assert (short >= -1e-9).all()
    assert long.max() < short.min()
    assert long.max() < 0.1


# -- random instances ----------------------------------------------------------------------------


def test_random_instances_are_the_same_whatever_the_method() -> None:
    size = (8, 3, 26, 130)
    first, again = (random_instances(5, size, 0.05, 2, 2) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.arms, other.arms)
        assert np.array_equal(one.matrix, other.matrix)
        assert np.array_equal(one.graph.edges, other.graph.edges)
    assert np.array_equal(random_instances(5, size, 0.05, 0, 4)[3].arms, first[1].arms)
    assert not np.array_equal(random_instances(6, size, 0.05, 2, 1)[0].arms, first[0].arms)


def test_random_instances_are_as_described() -> None:
    for arms, matrix, graph in random_instances(0, (8, 3, 26, 130), 0.05, 0, 3):
        assert_allclose(np.linalg.norm(arms, axis=1), 1.0)
        assert (graph.n_nodes, graph.n_arcs, len(graph.isolated)) == (26, 130, 0)
        printed = lower_bound(graph, arms, matrix, nats="printed").rounds
        assert printed == pytest.approx(3.0, rel=1e-4)
        assert lower_bound(graph, arms, matrix).rounds > printed


def test_designs_of_random_instances_are_ordered() -> None:
    """No law is better than the best law, and no law is better than the best design."""
    rows = RandomDesignPoint(8, 3, 26, 130, 0.05).run(0, 0, 3)
    instances = random_instances(0, (8, 3, 26, 130), 0.05, 0, 3)
    for row, (arms, matrix, graph) in zip(rows, instances, strict=True):
        assert 1.0 <= float(row["independent"]) <= float(row["g_optimal"])
        best = lower_bound(graph, arms, matrix).rho
        assert float(row["independent"]) * best == pytest.approx(
            rho_independent(arms, matrix).value
        )
