"""No allocation exceeds an upper bound: brute force on thousands of small instances of every kind.

The same check must catch bounds broken on purpose; otherwise it proves nothing.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from tests.instances import random_pairs

from edgewise.allocation.bounds.best import all_bounds, best_upper_bound, quick_bounds
from edgewise.allocation.bounds.bound import Bound
from edgewise.allocation.bounds.cycles.cycles import Packing, edge_weights, repaired
from edgewise.allocation.bounds.cycles.greedy_cycles import greedy_packing
from edgewise.allocation.bounds.cycles.odd_cycles import packing_bound
from edgewise.allocation.bounds.cycles.packing import odd_walks
from edgewise.allocation.bounds.cycles.split_bound import split_bound
from edgewise.allocation.bounds.spectrum.ising import as_ising
from edgewise.allocation.bounds.spectrum.mixing import dual_guess
from edgewise.allocation.bounds.spectrum.semidefinite import semidefinite_bound
from edgewise.allocation.bounds.spectrum.spectral import spectral_bound
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.optimum.brute_force import brute_force
from edgewise.base.arrays import Array, Mask
from edgewise.network.graph import Graph

DENSITIES = (0.2, 0.5, 1.0)
"""From sparse to complete."""

Case = tuple[Objective, float]


def random_tables(rng: np.random.Generator, n_kinds: int, n_arms: int) -> Array:
    """Ties, very different sizes, and rewards that punish equal arms, so that cycles matter."""
    match rng.integers(4):
        case 0:
            return rng.integers(-2, 3, (n_kinds, n_arms, n_arms)).astype(float)
        case 1:
            return rng.standard_normal((n_kinds, n_arms, n_arms)) * 10.0 ** rng.integers(-6, 7)
        case _:
            return rng.random((n_kinds, n_arms, n_arms)) - 2.0 * np.eye(n_arms)


def random_mask(rng: np.random.Generator, n: int, n_arms: int) -> Mask:
    mask = rng.random((n, n_arms)) < 0.7
    mask[np.arange(n), rng.integers(0, n_arms, n)] = True
    return mask


def homogeneous(rng: np.random.Generator, n_arms: int | None = None) -> Objective:
    """One kind, both directions, weights >= 0; some with masks and node terms."""
    n, K = int(rng.integers(3, 8)), n_arms or int(rng.integers(2, 5))
    pairs = random_pairs(rng, n, directed=False, densities=DENSITIES)
    weights = rng.exponential(size=len(pairs)) if rng.random() < 0.4 else None
    mask = random_mask(rng, n, K) if rng.random() < 0.15 else None
    unary = rng.standard_normal((n, K)) if rng.random() < 0.15 else None
    return Objective.of(Graph(n, pairs, weights=weights), random_tables(rng, 1, K), mask, unary)


def general(rng: np.random.Generator, n_arms: int | None = None) -> Objective:
    """Kinds, directions, weights of any sign, masks, node terms, in all combinations."""
    n, K = int(rng.integers(3, 8)), n_arms or int(rng.integers(2, 5))
    directed = bool(rng.random() < 0.5)
    pairs = random_pairs(rng, n, directed=directed, densities=DENSITIES)
    kinds = rng.permutation(np.arange(len(pairs)) % 2) if rng.random() < 0.5 else None
    weights = rng.standard_normal(len(pairs)) if rng.random() < 0.5 else None
    graph = Graph(n, pairs, directed, kinds, weights)
    mask = random_mask(rng, n, K) if rng.random() < 0.5 else None
    unary = rng.standard_normal((n, K)) if rng.random() < 0.5 else None
    return Objective.of(graph, random_tables(rng, graph.n_kinds, K), mask, unary)


def cases(
    make: Callable[[np.random.Generator, int | None], Objective],
    count: int,
    seed: int,
    n_arms: int | None = None,
) -> Iterator[Case]:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        objective = make(rng, n_arms)
        yield objective, brute_force(objective).value


def is_valid(bound: Bound, optimum: float) -> bool:
    """The one check: strict, for the margins of a bound must cover the last bits as well."""
    return bound.value >= optimum


@pytest.mark.parametrize("make", [homogeneous, general])
def test_quick_bounds_hold(make: Callable[..., Objective]) -> None:
    for objective, optimum in cases(make, 1500, seed=1):
        for bound in quick_bounds(objective):
            assert is_valid(bound, optimum), bound


def random_packing(rng: np.random.Generator, objective: Objective) -> Packing:
    cycles = greedy_packing(objective.graph).cycles
    wanted = rng.exponential(size=len(cycles.lengths)) * rng.choice([0.3, 1.0, 10.0])
    return Packing(cycles, wanted)


def test_any_repaired_packing_gives_a_bound() -> None:
    rng = np.random.default_rng(0)
    for objective, optimum in cases(homogeneous, 1500, seed=2):
        wanted = random_packing(rng, objective)
        packing = repaired(*wanted, edge_weights(objective.graph))
        assert is_valid(packing_bound(objective, packing), optimum)


def test_an_overfull_packing_is_caught() -> None:
    def overfull(objective: Objective) -> Bound:
        cycles, amounts = greedy_packing(objective.graph)
        return packing_bound(objective, Packing(cycles, 1.5 * amounts))

    broken = [is_valid(overfull(o), v) for o, v in cases(homogeneous, 300, seed=3)]
    assert broken.count(False) > 20


@pytest.mark.parametrize("make", [homogeneous, general])
def test_semidefinite_bound_holds(make: Callable[..., Objective]) -> None:
    rng = np.random.default_rng(0)
    for objective, optimum in cases(make, 500, seed=4, n_arms=2):
        bound = semidefinite_bound(objective, seconds=1e-4, rng=rng)
        assert bound is not None
        assert is_valid(bound, optimum), bound


def test_a_dual_that_is_not_repaired_is_caught() -> None:
    rng = np.random.default_rng(0)

    def unrepaired(objective: Objective) -> Bound:
        ising = as_ising(objective)
        if ising.couplings.size == 0:
            return Bound(np.inf, "nothing to repair")
        y = dual_guess(ising.couplings, rank=3, sweeps=2, rng=rng)
        return Bound(ising.constant + 0.5 * float(y.sum()) + ising.error, "unrepaired")

    broken = [is_valid(unrepaired(o), v) for o, v in cases(general, 300, seed=5, n_arms=2)]
    assert broken.count(False) > 20


def test_spectral_bound_holds() -> None:
    for objective, optimum in cases(homogeneous, 250, seed=6):
        bound = spectral_bound(objective)
        assert bound is not None
        assert is_valid(bound, optimum), bound


@pytest.mark.parametrize("make", [homogeneous, general])
def test_split_tables_give_a_bound(make: Callable[..., Objective]) -> None:
    for objective, optimum in cases(make, 100, seed=7):
        packing = odd_walks(objective.graph).packing
        bound = split_bound(objective, packing, seconds=0.01)
        assert bound is not None
        assert is_valid(bound, optimum), bound


@pytest.mark.parametrize("make", [homogeneous, general])
def test_all_bounds_hold_together(make: Callable[..., Objective]) -> None:
    for objective, optimum in cases(make, 40, seed=8):
        found = list(all_bounds(objective, seconds=0.02))
        assert all(is_valid(bound, optimum) for bound in found)
        best = best_upper_bound(objective, effort="tight", time_limit=0.05)
        assert optimum <= best.value <= best_upper_bound(objective).value
