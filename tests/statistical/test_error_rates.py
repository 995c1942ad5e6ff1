"""Wrong certified answers stay within delta; a rule with a broken threshold is caught.

Each check has a false-alarm rate of 1e-6: it fails a valid rule only if that many errors have a
probability below 1e-6 under error rate delta.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

import edgewise as ew
from edgewise.core.arrays import Array, Indices, Mask
from edgewise.core.evidence import Evidence
from edgewise.core.stopping import StoppingRule
from edgewise.simulation import Replications, replicate

DELTA = 0.1
REPETITIONS = 200
FALSE_ALARM = 1e-6


def too_many_errors(runs: Replications, delta: float = DELTA) -> bool:
    """Exact binomial test of "the error rate is at most delta"."""
    return bool(binom.sf(runs.errors - 1, len(runs.rounds), delta) < FALSE_ALARM)


@dataclass(frozen=True)
class Broken:
    """A fixed-sample test used after every round: no union over rivals, no price for looking."""

    name: str = "broken"
    assumes: str = "nothing that holds"
    allows_ridge: bool = True

    def is_due(self, rounds: Indices) -> Mask:
        return np.ones(len(rounds), np.bool_)

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Array:
        ratio: Array = (evidence.gaps + epsilon) / evidence.deviations
        return ratio / float(norm.isf(delta))


CIRCLE = ew.Graph.circle(n_nodes=20)
THREE = np.array([[1.0, 0.0], [0.0, 1.0], [0.98, 0.05]])
DIRECTED = ew.Graph.from_edges(
    [(i, (i + step) % 20) for step in (1, 2) for i in range(20)],
    directed=True,
    kinds=[0] * 20 + [1] * 20,
)

INSTANCES: dict[str, tuple[ew.Problem, Any]] = {
    # (0, 0) against (1, 1)
    "equal arms": (ew.Problem(CIRCLE, np.eye(2)), [[0.5, 0.0], [0.0, 0.47]]),
    # nothing can be learned within the budget: every certificate is a coin toss
    "hopeless": (ew.Problem(CIRCLE, np.eye(2)), [[0.5, 0.0], [0.0, 0.499]]),
    # the best pair has two different arms, (0, 0) is close
    "different arms": (ew.Problem(CIRCLE, np.eye(2)), [[0.5, 0.7], [0.36, 0.0]]),
    "three arms": (ew.Problem(CIRCLE, THREE), [[1.0, 0.0], [0.0, 0.95]]),
    "directed kinds": (
        ew.Problem(DIRECTED, np.eye(2)),
        [[[0.0, 0.4], [0.38, 0.0]], [[0.5, 0.0], [0.0, 0.49]]],
    ),
}


def runs_of(
    instance: str, rule: str | StoppingRule, repetitions: int = REPETITIONS, **options: Any
) -> Replications:
    problem, matrix = INSTANCES[instance]
    return replicate(
        problem,
        matrix,
        repetitions=repetitions,
        stopping=rule,
        delta=DELTA,
        max_rounds=250,
        rng=20,
        **options,
    )


@pytest.mark.parametrize("rule", ["mixture", "union"])
@pytest.mark.parametrize("instance", INSTANCES)
def test_errors_stay_within_delta(instance: str, rule: str) -> None:
    assert not too_many_errors(runs_of(instance, rule))


@pytest.mark.parametrize("instance", INSTANCES)
def test_a_broken_threshold_is_caught(instance: str) -> None:
    runs = runs_of(instance, Broken())
    assert too_many_errors(runs), runs


@pytest.mark.parametrize("rule", ["mixture", "union"])
@pytest.mark.parametrize("instance", INSTANCES)
def test_the_rules_do_certify(instance: str, rule: str) -> None:
    """A rule that never stops would pass as well: with some tolerance they all stop in time."""
    runs = runs_of(instance, rule, 20, epsilon=0.3)
    assert runs.certified.mean() > 0.5, runs


@pytest.mark.parametrize("strategy", ["g-optimal", "paper"])
def test_the_papers_rule_stays_within_delta(strategy: str) -> None:
    problem = ew.Problem(CIRCLE, np.eye(2))
    options: dict[str, Any] = {"strategy": strategy, "delta": DELTA, "rng": 5, "max_rounds": 2500}
    matrix = [[0.5, 0.0], [0.0, 0.15]]
    runs = replicate(problem, matrix, repetitions=60, stopping="paper", **options)
    assert runs.certified.mean() > 0.5, runs
    assert not too_many_errors(runs)
    close = [[0.5, 0.0], [0.0, 0.45]]
    caught = replicate(problem, close, repetitions=200, stopping=Broken(), **options)
    assert too_many_errors(caught), caught


def test_epsilon_protects_from_answers_worse_than_epsilon() -> None:
    """A gap just above epsilon: stopping on the wrong pair is an error again."""
    problem = ew.Problem(CIRCLE, np.eye(2))
    matrix = [[0.5, 0.0], [0.0, 0.5 - 0.13]]
    for rule in ("mixture", "union"):
        runs = replicate(
            problem,
            matrix,
            repetitions=REPETITIONS,
            stopping=rule,
            delta=DELTA,
            epsilon=0.1,
            rng=3,
            max_rounds=250,
        )
        assert runs.certified.mean() > 0.5
        assert not too_many_errors(runs)
    loose = replicate(
        problem,
        matrix,
        repetitions=REPETITIONS,
        stopping=Broken(),
        delta=DELTA,
        epsilon=0.1,
        rng=3,
        max_rounds=250,
    )
    assert too_many_errors(loose), loose
