"""Levels ten times the noise, and numbers per link and node: errors stay within delta.

Near ties, where every certificate is a coin toss, in worlds with unknown levels; and the same
worlds for a learner that forgets to centre, which must be caught. False-alarm rates are 1e-6.
"""

from typing import Any

import numpy as np
import pytest

import edgewise as ew
from edgewise.base.arrays import Array
from edgewise.core.evidence.duels import meet
from edgewise.core.evidence.measuring import after, measure, nothing_measured, with_present
from edgewise.core.model.cells import Cells
from edgewise.simulation import Replications, replicate
from edgewise.testing.cases import too_many

DELTA = 0.2
LEVEL = 10.0
"""Deviation of levels in units of the noise."""

CIRCLE = ew.Graph.circle(n_nodes=10)
ARROWS = ew.Graph.from_edges([(2 * i, 2 * i + 1) for i in range(10)], directed=True)
HEADS = np.array([[True, False], [True, True]] * 10)
TWO_WAYS = ew.Graph.from_edges(
    [(i, (i + step) % 10) for step in (1, 2) for i in range(10)], directed=True
)
THREE = np.array([[1.0, 0.0], [0.0, 1.0], [0.2, -0.6]])
"""No combination of the features is constant: own terms can be told from matrices."""


def arc(**options: Any) -> ew.Problem:
    """One rival, so that the whole delta is there to be spent."""
    return ew.Problem(ARROWS, np.eye(2), candidates=HEADS, **options)


def link(**options: Any) -> ew.Problem:
    return ew.Problem(CIRCLE, np.eye(2), measured="link", **options)


def node(**options: Any) -> ew.Problem:
    return ew.Problem(TWO_WAYS, np.eye(2), measured="node", own_term=False, **options)


def node_with_own_term(**options: Any) -> ew.Problem:
    return ew.Problem(TWO_WAYS, THREE, measured="node", **options)


ONE_RIVAL = [[0.5, 0.499], [0.0, 0.0]]
NEAR_TIES: dict[str, tuple[Any, Any]] = {
    "arc": (arc, ONE_RIVAL),
    "link": (link, np.diag([0.5, 0.499])),
    "node": (node, [[0.0, 0.4], [0.399, 0.0]]),
    "node with own term": (node_with_own_term, [[0.0, 0.4], [0.399, 0.0]]),
}
CLEAR: dict[str, tuple[Any, Any]] = {
    "arc": (arc, [[0.6, 0.0], [0.0, 0.0]]),
    "link": (link, np.diag([0.8, 0.0])),
    "node": (node, [[0.0, 0.8], [0.0, 0.0]]),
    "node with own term": (node_with_own_term, [[0.0, 1.5], [0.0, 0.0]]),
}
METHODS = [("adaptive", "anytime"), ("g-optimal", "mixture")]


def runs_of(
    instance: tuple[Any, Any], method: tuple[str, str], levels: Any, *, told: Any, **options: Any
) -> Replications:
    """Runs in a world with levels; ``told`` is what the problem says about them."""
    make, matrix = instance
    usual: dict[str, Any] = {
        "repetitions": 60,
        "max_rounds": 20,
        "target": "pair",
        "delta": DELTA,
    }
    return replicate(
        make(levels=told),
        matrix,
        levels=LEVEL if levels in ("channel", "both") else None,
        round_levels=LEVEL if levels in ("round", "both") else 0.0,
        strategy=method[0],
        stopping=method[1],
        rng=30,
        **{**usual, **options},
    )


def too_many_errors(runs: Replications, delta: float = DELTA) -> bool:
    return too_many(runs.errors, len(runs.rounds), delta)


@pytest.mark.parametrize("law", ["gaussian", "rademacher"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NEAR_TIES)
def test_levels_do_not_spoil_certificates(name: str, method: tuple[str, str], law: str) -> None:
    runs = runs_of(NEAR_TIES[name], method, "channel", told=True, law=law)
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize("levels", ["round", "both"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["arc", "node"])
def test_levels_of_rounds_do_not_either(name: str, method: tuple[str, str], levels: str) -> None:
    runs = runs_of(NEAR_TIES[name], method, levels, told=levels, repetitions=40)
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize("name", ["arc", "node"])
def test_contrast_keeps_the_error_too(name: str) -> None:
    runs = runs_of(NEAR_TIES[name], ("contrast", "anytime"), "channel", told=True)
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CLEAR)
def test_clear_gaps_are_certified_in_spite_of_levels(name: str, method: tuple[str, str]) -> None:
    runs = runs_of(CLEAR[name], method, "channel", told=True, repetitions=10, max_rounds=150)
    assert runs.certified.mean() > 0.7, runs
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["arc", "link", "node"])
def test_forgetting_to_centre_is_caught(name: str, method: tuple[str, str]) -> None:
    """The negative control: the same world, and a problem that says there are no levels."""
    runs = runs_of(NEAR_TIES[name], method, "channel", told=False, repetitions=60)
    assert too_many_errors(runs), runs


# -- the estimates themselves ------------------------------------------------------------------


def z_scores(problem: ew.Problem, law: str, n_phases: int, *, missing: float = 0.1) -> Array:
    """(phases,) a contrast's estimate minus the truth over its stated deviation."""
    cells, rng = Cells.of(problem), np.random.default_rng(32)
    M = np.array([[0.5, 0.2], [-0.1, 0.3]])
    environment = ew.BilinearEnvironment(
        problem, M, levels=LEVEL, round_levels=LEVEL, law=law, rng=rng
    )
    tables = cells.averages(environment.truth.by_class(problem))[0]
    scores = []
    for _ in range(n_phases):
        present, closed = nothing_measured(problem, cells)
        for _ in range(12):
            arms = rng.integers(0, 2, problem.graph.n_nodes)
            rewards = environment(arms)
            rewards[rng.random(len(rewards)) < missing] = np.nan
            present = after(present, measure(problem, cells, arms, rewards))[-1]
        phases = with_present(closed, present)
        first, last = rng.choice(len(tables), 2, replace=False)
        contrast = cells.features[0, first] - cells.features[0, last]
        met = meet(contrast[None], phases.normal(cells, 0))
        gap = tables[first] - tables[last]
        if met.information[0] > 0:
            deviation = problem.stated_noise / np.sqrt(met.information[0])
            scores.append((met.estimates[0] - gap) / deviation)
    assert len(scores) > 0.9 * n_phases
    return np.array(scores)


def variance_is_off(scores: Array) -> bool:
    """Whether mean square and 1 differ by 4.9 standard errors."""
    squares = scores**2
    error = max(float(squares.std()), 1.0) / np.sqrt(len(scores))
    return bool(abs(squares.mean() - 1.0) > 4.9 * error)


ESTIMATED: dict[str, dict[str, Any]] = {
    "arcs, both directions": {"graph": CIRCLE},
    "arcs": {"graph": TWO_WAYS},
    "links": {"graph": CIRCLE, "measured": "link"},
    "nodes": {"graph": TWO_WAYS, "measured": "node", "own_term": False},
    "noise by node": {
        "graph": TWO_WAYS,
        "measured": "node",
        "own_term": False,
        "noise": np.linspace(0.2, 2.0, 10),
    },
    "noise by arc": {"graph": CIRCLE, "noise": np.linspace(0.2, 2.0, 20)},
}


@pytest.mark.parametrize("law", ["gaussian", "rademacher"])
@pytest.mark.parametrize("name", ESTIMATED)
def test_estimates_are_as_far_off_as_they_say(name: str, law: str) -> None:
    problem = ew.Problem(arms=np.eye(2), levels="both", **{"noise": 0.5, **ESTIMATED[name]})
    scores = z_scores(problem, law, 300)
    assert abs(scores.mean()) < 4.9 / np.sqrt(len(scores))
    assert not variance_is_off(scores)


def test_noise_that_is_not_as_stated_is_caught() -> None:
    """The negative control of the test above: half as much again."""
    problem = ew.Problem(CIRCLE, np.eye(2), levels="both", noise=0.5)
    assert variance_is_off(1.5 * z_scores(problem, "gaussian", 300))


# -- certified allocations ---------------------------------------------------------------------

TRIANGLES = ew.Graph.from_edges(
    [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)], directed=True, kinds=[0, 0, 0, 1, 1, 1]
)
NEARLY_EQUAL = [[[0.0, 0.1], [0.09, 0.0]], [[0.1, 0.0], [0.0, 0.09]]]


def triangles(**options: Any) -> ew.Problem:
    return ew.Problem(TRIANGLES, np.eye(2), **options)


def nodes(**options: Any) -> ew.Problem:
    return ew.Problem(TRIANGLES, np.eye(2), measured="node", own_term=False, **options)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("make", [triangles, nodes])
def test_regret_bounds_hold_with_levels(make: Any, method: tuple[str, str]) -> None:
    runs = runs_of(
        (make, NEARLY_EQUAL),
        method,
        "channel",
        told=True,
        target="allocation",
        epsilon=3.0,
        repetitions=20,
        max_rounds=600,
    )
    assert runs.certified.mean() > 0.7, runs
    assert not too_many_errors(runs), runs


@pytest.mark.parametrize("make", [triangles, nodes])
def test_regret_bounds_fail_without_centring(make: Any) -> None:
    runs = runs_of(
        (make, NEARLY_EQUAL),
        METHODS[0],
        "channel",
        told=False,
        target="allocation",
        epsilon=0.3,
        delta=0.01,
        repetitions=60,
        max_rounds=120,
    )
    assert too_many_errors(runs, 0.01), runs


# -- one matrix per edge -----------------------------------------------------------------------


def test_every_edge_by_itself_keeps_the_error() -> None:
    problem = ew.Problem(ARROWS, np.eye(2), candidates=HEADS, pooling="none", levels=True)
    runs = replicate(
        problem,
        ONE_RIVAL,
        levels=LEVEL,
        target="allocation",
        epsilon=1.0,
        delta=DELTA,
        repetitions=20,
        max_rounds=40,
        rng=31,
    )
    assert not too_many_errors(runs), runs
