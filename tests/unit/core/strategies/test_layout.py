"""The greedy layout of one joint arm, against the definitions."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.aim import Aim
from edgewise.core.evidence.statistics import count_joint_arm
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.strategies.layout import (
    _add_observation,
    _contrast_slopes,
    _determinant_slopes,
    _look_ahead,
    breadth_first,
    lay_out,
)
from edgewise.network.graph import Graph


def definite(rng: np.random.Generator, p: int) -> Array:
    root = rng.normal(size=(2 * p, p))
    return root.T @ root / p


def inverse_of(gram: Array) -> Array:
    inverse: Array = np.linalg.inv(gram).astype(float)
    return inverse


# -- slopes ----------------------------------------------------------------------------------


def soft_minimum(grams: Array, contrasts: Array, kinds: Indices, needs: Array, power: float) -> Any:
    """-sum_y u_y^(1 - power)/(power - 1) with u = h/n: its slopes are u^-power du."""
    u = [
        1.0 / (y @ np.linalg.solve(grams[kind], y)) / need
        for y, kind, need in zip(contrasts, kinds, needs, strict=True)
    ]
    if power == 1:
        return np.log(u).sum()
    return -(np.array(u) ** (1.0 - power)).sum() / (power - 1.0)


@pytest.mark.parametrize("power", [1.0, 2.0, 4.0])
@pytest.mark.parametrize("seed", range(3))
def test_contrast_slopes_are_derivatives_of_the_soft_minimum(power: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    q, P, p, T = 2, 6, 3, 5
    features = rng.normal(size=(q, P, p))
    grams = np.array([definite(rng, p) for _ in range(q)])
    contrasts, kinds = rng.normal(size=(T, p)), rng.integers(q, size=T)
    needs = rng.uniform(0.2, 1.0, T)
    inverse = np.linalg.inv(grams)
    # contrasts that are far better off are left out: make them all alike, within a factor of 5
    needs /= np.einsum("ti,tij,tj->t", contrasts, inverse[kinds], contrasts)
    found = _contrast_slopes(features, inverse, contrasts, kinds, needs, power)
    information = [
        1.0 / (y @ inverse[k] @ y) / n for y, k, n in zip(contrasts, kinds, needs, strict=True)
    ]
    scale = min(information) ** power  # slopes are relative to the worst-served contrast
    step = 1e-5
    for kind in range(q):
        for c in range(P):
            sides = []
            for sign in (1, -1):
                moved = grams.copy()
                moved[kind] += sign * step * np.outer(features[kind, c], features[kind, c])
                sides.append(soft_minimum(moved, contrasts, kinds, needs, power))
            slope = scale * (sides[0] - sides[1]) / (2 * step)
            assert_allclose(found[kind, c], slope, rtol=1e-5, atol=1e-7)


def test_only_the_toughest_contrasts_steer() -> None:
    """Of two contrasts the one with far more information than it needs has no say."""
    features = np.eye(2)[None]
    inverse = np.diag([1.0, 1e-9])[None]
    contrasts, kinds = np.eye(2), np.zeros(2, np.int64)
    slopes = _contrast_slopes(features, inverse, contrasts, kinds, np.ones(2), 4.0)
    assert slopes[0, 0] > 0
    assert slopes[0, 1] == 0


def test_determinant_slopes_are_what_an_observation_adds() -> None:
    rng = np.random.default_rng(3)
    features = rng.normal(size=(2, 7, 4))
    grams = np.array([definite(rng, 4) for _ in range(2)])
    found = _determinant_slopes(features, np.linalg.inv(grams), 0.0, np.zeros((2, 7)))
    for kind in range(2):
        before = np.linalg.slogdet(grams[kind])[1]
        for c, phi in enumerate(features[kind]):
            after = np.linalg.slogdet(grams[kind] + np.outer(phi, phi))[1]
            assert_allclose(found[kind, c], after - before, rtol=1e-10)


@pytest.mark.parametrize("doubt", [0.1, 3.0])
def test_what_is_doubted_counts_like_a_parameter_of_the_cell_alone(doubt: float) -> None:
    """Where features say nothing: log det of the precision of independent cell effects."""
    seen = np.array([[0.0, 1.0, 6.0]])
    found = _determinant_slopes(np.zeros((1, 3, 2)), np.eye(2)[None], doubt, seen)
    assert_allclose(found, np.log(1 / doubt + seen + 1) - np.log(1 / doubt + seen), rtol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 8), st.floats(1e-3, 1e3))
def test_adding_an_observation_updates_the_inverse(seed: int, p: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    gram, feature = definite(rng, p) + 0.1 * np.eye(p), rng.normal(size=p)
    inverse = inverse_of(gram)
    _add_observation(inverse, feature, weight)
    expected = np.linalg.inv(gram + weight * np.outer(feature, feature))
    assert_allclose(inverse, expected, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("side", [0, 1])
def test_looking_ahead_counts_only_what_the_neighbour_may_have(side: int) -> None:
    slopes = np.array([[1.0, 2.0, 9.0], [4.0, 3.0, 8.0], [5.0, 7.0, 6.0]])
    mask, outlook = np.array([True, True, False]), np.empty(3)
    _look_ahead(slopes, side, mask, outlook)
    assert outlook.tolist() == ([2.0, 4.0, 7.0] if side == 0 else [4.0, 3.0, 9.0])


# -- the order -------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.booleans())
def test_every_node_but_the_first_of_its_component_has_an_earlier_neighbour(
    seed: int, directed: bool
) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    every = [(i, j) for i in range(n) for j in range(n) if (i != j if directed else i < j)]
    size = int(rng.integers(1, min(len(every), 2 * n) + 1))
    pairs = [every[e] for e in rng.permutation(len(every))[:size]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nodes without an edge are welcome here
        graph = Graph.from_edges(pairs, n_nodes=n, directed=directed)
    order = breadth_first(graph).tolist()
    assert sorted(order) == list(range(n))
    neighbours: dict[int, set[int]] = {i: set() for i in range(n)}
    for i, j in pairs:
        neighbours[i].add(j)
        neighbours[j].add(i)
    label = {i: i for i in range(n)}  # components, by repeated merging
    for _ in range(n):
        for i, j in pairs:
            label[i] = label[j] = min(label[i], label[j])
    place = {node: position for position, node in enumerate(order)}
    for component in set(label.values()):
        members = [i for i in order if label[i] == component]
        first = members[0]
        assert graph.degrees[first] == max(graph.degrees[i] for i in members)
        for i in members[1:]:
            assert any(place[j] < place[i] for j in neighbours[i])


def test_the_centre_of_a_star_comes_first() -> None:
    graph = Graph.from_edges([(3, 0), (3, 1), (3, 2), (3, 4)])
    assert breadth_first(graph)[0] == 3


# -- the layout ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Anywhere(Aim):
    """Contrasts that are no differences of cells, lest ties decide."""

    exact: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def contrasts(self, cells: Cells) -> Array:  # noqa: ARG002
        return self.exact


@dataclass(frozen=True)
class Case:
    """Everything lay_out is given."""

    problem: Problem
    cells: Cells
    gram: Array
    contrasts: Array
    kinds: Indices
    needs: Array
    power: float
    doubt: float = 0.0

    def arms(self, inverse: Array | None = None) -> Indices:
        return lay_out(
            self.problem,
            self.cells,
            breadth_first(self.problem.graph),
            inverse_of(self.gram) if inverse is None else inverse,
            Anywhere(self.kinds, self.kinds, self.kinds, self.needs, exact=self.contrasts),
            power=self.power,
            doubt=self.doubt,
            seen=np.zeros(self.cells.features.shape[:2]),
        )


FORMS: list[dict[str, Any]] = [
    {},
    {"directed": True},
    {"kinds": True},
    {"weights": True},
    {"masks": True},
    {"directed": True, "kinds": True, "weights": True, "masks": True},
    {"kinds": True, "weights": True, "node_term": True},
    {"directed": True, "kinds": True, "weights": True, "doubt": 0.7},
]


def random_case(
    seed: int,
    *,
    aimed: bool,
    directed: bool = False,
    kinds: bool = False,
    weights: bool = False,
    masks: bool = False,
    node_term: bool = False,
    doubt: float = 0.0,
    n: int = 7,
) -> Case:
    rng = np.random.default_rng(seed)
    path = [(i, i + 1) for i in range(n - 1)]
    every = [(i, j) for i in range(n) for j in range(i + 2, n)]
    pairs = path + [every[e] for e in rng.permutation(len(every))[: n // 2]]
    pairs = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
    graph = Graph.from_edges(
        pairs,
        n_nodes=n,
        directed=directed,
        kinds=np.arange(len(pairs)) % 2 if kinds else None,
        weights=rng.choice([-2.0, 0.5, 1.0, 3.0], len(pairs)) if weights else None,
    )
    mask: Mask | None = None
    if masks:
        mask = rng.random((n, 4)) < 0.6
        mask[np.arange(n), rng.integers(4, size=n)] = True
    problem = Problem(graph, rng.normal(size=(4, 2)), candidates=mask, node_term=node_term)
    cells = Cells.of(problem)
    q, P, p = cells.features.shape
    gram = np.array([definite(rng, p) for _ in range(q)])
    size = 4 if aimed else 0
    of_kind = np.arange(size) % q
    first, second = rng.integers(P, size=size), rng.integers(P, size=size)
    second = np.where(first == second, (second + 1) % P, second)
    contrasts = cells.features[of_kind, first] - cells.features[of_kind, second]
    contrasts += 0.1 * rng.normal(size=contrasts.shape)
    needs = rng.uniform(0.5, 1.0, size)
    needs /= np.einsum("ti,tij,tj->t", contrasts, np.linalg.inv(gram)[of_kind], contrasts)
    return Case(problem, cells, gram, contrasts, of_kind, needs, 4.0, doubt)


def naive_slope(
    case: Case, gram: Array, seen: dict[tuple[int, int], float]
) -> Callable[[int, int, int], float]:
    """The slope of a cell (kind, k, l), from the formulas in the docstring of lay_out."""
    inverse = np.linalg.inv(gram)

    def feature(kind: int, k: int, l: int) -> Array:
        for c, (a, b) in enumerate(case.cells.pairs.tolist()):
            if (a, b) == (k, l) or (not case.problem.graph.directed and (b, a) == (k, l)):
                found: Array = case.cells.features[kind, c]
                return found
        raise AssertionError

    h = [1 / (y @ inverse[k] @ y) for y, k in zip(case.contrasts, case.kinds, strict=True)]
    worst = max((n / each for n, each in zip(case.needs, h, strict=True)), default=0.0)

    def slope(kind: int, k: int, l: int) -> float:
        phi = feature(kind, k, l)
        if not len(h):
            at = kind, int(case.cells.pair_index[k, l])
            beyond = case.doubt / (1 + case.doubt * seen.get(at, 0.0))
            return float(np.log1p(phi @ inverse[kind] @ phi + beyond))
        total = 0.0
        for y, its, n, each in zip(case.contrasts, case.kinds, case.needs, h, strict=True):
            if its == kind:
                share = (n / each / worst) ** case.power
                total += (share > 1e-6) * share / n * (phi @ inverse[kind] @ y * each) ** 2
        return float(total)

    return slope


def naive_layout(case: Case) -> tuple[list[int], float, Array]:
    """One node after the other with slopes computed anew; also how close the closest call was."""
    graph, gram = case.problem.graph, case.gram.copy()
    n_arms = case.problem.n_arms
    allowed = case.problem.candidates
    arms: dict[int, int] = {}
    seen: dict[tuple[int, int], float] = {}
    margin = np.inf

    def may(i: int) -> list[int]:
        return [k for k in range(n_arms) if allowed is None or allowed[i, k]]

    for i in breadth_first(graph).tolist():
        slope = naive_slope(case, gram, seen)
        mine = [(e, a, b) for e, (a, b) in enumerate(graph.edges.tolist()) if i in (a, b)]
        scores = {}
        for k in may(i):
            score = 0.0
            for e, a, b in mine:
                kind = 0 if graph.kinds is None else int(graph.kinds[e])
                w = 1.0 if graph.weights is None else float(graph.weights[e])
                other = b if a == i else a
                choices = [arms[other]] if other in arms else may(other)
                best = max(slope(kind, *((k, l) if a == i else (l, k))) for l in choices)
                score += w**2 * best
            scores[k] = score
        ranked = sorted(scores.values(), reverse=True)
        if len(ranked) > 1:  # where no contrast has a say all scores are zero, and it is a tie
            margin = min(margin, (ranked[0] - ranked[1]) / (ranked[0] or 1.0))
        arms[i] = max(scores, key=lambda k: scores[k])
        for e, a, b in mine:
            if a in arms and b in arms:
                kind = 0 if graph.kinds is None else int(graph.kinds[e])
                w = 1.0 if graph.weights is None else float(graph.weights[e])
                pair = case.cells.pair_index[arms[a], arms[b]]
                phi = case.cells.features[kind, pair]
                copies = (1 if graph.directed else 2) * w**2
                gram[kind] += copies * np.outer(phi, phi)
                seen[kind, int(pair)] = seen.get((kind, int(pair)), 0.0) + copies
    return [arms[i] for i in range(graph.n_nodes)], float(margin), gram


@pytest.mark.parametrize("aimed", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_layout_is_the_naive_greedy(form: dict[str, Any], aimed: bool) -> None:
    clear = 0
    for seed in range(12):
        case = random_case(seed, aimed=aimed, **form)
        expected, margin, _ = naive_layout(case)
        if margin > 1e-7:  # else rounding may decide
            clear += 1
            assert case.arms().tolist() == expected
    assert clear >= 8


@pytest.mark.parametrize("aimed", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_masks_hold_and_the_inverse_follows_the_edges(form: dict[str, Any], aimed: bool) -> None:
    for seed in range(5):
        case = random_case(seed, aimed=aimed, n=40, **form)
        inverse = inverse_of(case.gram)
        arms = case.arms(inverse)
        allowed = case.problem.candidates
        if allowed is not None:
            assert allowed[np.arange(40), arms].all()
        _, information = count_joint_arm(case.problem.graph, case.cells, arms)
        grown = case.gram + np.einsum(
            "qc,qci,qcj->qij", information, case.cells.features, case.cells.features
        )
        assert_allclose(inverse, np.linalg.inv(grown), rtol=1e-8, atol=1e-10)
        assert np.array_equal(case.arms(), arms)  # nothing is drawn


@pytest.mark.parametrize("form", FORMS)
def test_layout_beats_random_joint_arms(form: dict[str, Any]) -> None:
    """Greedy is no optimum, but far from chance: better than 45 of 50 draws."""
    for aimed in (False, True):
        wins = 0
        for seed in range(6):
            case = random_case(seed, aimed=aimed, n=30, **form)
            rng = np.random.default_rng(seed)
            masks, groups = case.problem.candidate_sets
            draws = [
                np.array([rng.choice(np.flatnonzero(masks[g])) for g in groups], np.int32)
                for _ in range(50)
            ]
            values = [worth(case, arms) for arms in [case.arms(), *draws]]
            wins += bool(values[0] > np.quantile(values[1:], 0.9))
        assert wins >= 5, (aimed, wins)


def worth(case: Case, arms: Indices) -> float:
    """Log det A, or the soft minimum, after the round."""
    _, information = count_joint_arm(case.problem.graph, case.cells, arms)
    grams = case.gram + np.einsum(
        "qc,qci,qcj->qij", information, case.cells.features, case.cells.features
    )
    if not len(case.contrasts):
        return float(np.linalg.slogdet(grams)[1].sum())
    return float(soft_minimum(grams, case.contrasts, case.kinds, case.needs, case.power))


def test_refreshes_are_rationed_on_large_graphs() -> None:
    """10^4 edges: the gains are computed every 39 edges, and the round still shows a mixture."""
    rng = np.random.default_rng(1)
    problem = Problem(Graph.circle(n_nodes=10_000), rng.normal(size=(5, 3)))
    cells = Cells.of(problem)
    p = cells.features.shape[2]
    none = np.zeros(0, np.int64)
    case = Case(problem, cells, np.eye(p)[None], np.zeros((0, p)), none, np.zeros(0), 4.0)
    small = Problem(Graph.circle(n_nodes=200), problem.arms)
    few = Case(small, cells, np.eye(p)[None] / 50, np.zeros((0, p)), none, np.zeros(0), 4.0)
    assert_allclose(worth(case, case.arms()), worth(few, few.arms()) + p * np.log(50), atol=0.05)
