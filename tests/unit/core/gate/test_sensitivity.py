"""What the gate says it would have missed, it misses; and what it would not, it notices."""

import math
from typing import Any

import numpy as np
import pytest
from tests.instances import THREE_ARMS

import edgewise as ew
from edgewise.core.gate.sensitivity import unnoticed
from edgewise.core.gate.watch import Told, Watch, watch_rounds

PROBLEM = ew.Problem(ew.Graph.circle(n_nodes=30), THREE_ARMS, noise=0.3)
MATRIX = [[0.3, 0.2], [0.1, 0.9]]


def watched(form: str, size: float, n: int, seed: int, problem: ew.Problem = PROBLEM) -> Watch:
    """Rounds with uniform joint arms; an effect of so many deviations of the noise."""
    rng = np.random.default_rng(seed)
    world = ew.BilinearEnvironment(problem, MATRIX, rng=rng, noise=0.3)
    levels = rng.standard_normal(problem.n_rewards)
    told = []
    for number in range(1, n + 1):
        arms = rng.integers(0, 3, problem.graph.n_nodes).astype(np.int32)
        effect: Any = number / n if form == "drift" else levels
        told.append(Told(number, 0, arms, world(arms) + 0.3 * size * effect, None))
    watch = watch_rounds(problem, ew.Gate(), told)
    assert watch is not None
    return watch


@pytest.mark.parametrize("noise", [0.3, "estimate"])
@pytest.mark.parametrize("form", ["drift", "level"])
@pytest.mark.parametrize("rounds", [5, 8, 24])
def test_effects_of_the_size_named_are_where_noticing_begins(
    form: str, rounds: int, noise: Any
) -> None:
    """Of 12 runs at most 3 with 0.6 times the size are noticed, at least 9 with 1.6 times it.

    Fixed seeds. Had the size been twice or half as large, one of the two counts would be wrong.
    """
    problem = ew.Problem(PROBLEM.graph, THREE_ARMS, noise=noise)
    size = unnoticed(problem, ew.Gate(), watched(form, 0.0, rounds, 0, problem))[form]

    def noticed(times: float) -> int:
        runs = (watched(form, times * size, rounds, seed, problem) for seed in range(1, 13))
        return sum(any(one.form == form for one in run.spoken) for run in runs)

    assert noticed(0.6) <= 3
    assert noticed(1.6) >= 9


def test_one_or_two_rounds_show_no_drift_and_more_rounds_show_less() -> None:
    sizes = [
        unnoticed(PROBLEM, ew.Gate(), watched("drift", 0.0, n, 0))["drift"] for n in (1, 2, 6, 20)
    ]
    assert sizes[:2] == [math.inf, math.inf]
    assert sizes[2] > sizes[3] > 0.0


def test_rewards_a_million_times_the_noise_hide_more() -> None:
    """Rounding has its part in the bar, and in what is said about it."""
    loud = ew.Problem(PROBLEM.graph, THREE_ARMS, noise=1e-7)
    watch = watched("level", 0.0, 8, 0)
    world, rng = ew.BilinearEnvironment(loud, MATRIX, rng=2), np.random.default_rng(2)
    told = []
    for number in range(1, 9):
        arms = rng.integers(0, 3, 30).astype(np.int32)
        told.append(Told(number, 0, arms, world(arms), None))
    quiet = watch_rounds(loud, ew.Gate(), told)
    assert quiet is not None
    hidden = unnoticed(loud, ew.Gate(), quiet)["level"]
    assert hidden > 2.0 * unnoticed(PROBLEM, ew.Gate(), watch)["level"]


def test_a_certificate_says_what_would_have_gone_unnoticed() -> None:
    world = ew.BilinearEnvironment(PROBLEM, MATRIX, rng=1)
    report = ew.identify(PROBLEM, world, rng=0)
    assert report.certified
    assert "would hardly have noticed a drift over them" in report.guarantee
    assert "levels that differ by less than about" in report.guarantee
    only = ew.identify(PROBLEM, world, gate=ew.Gate(forms=("outlier",)), rng=0)
    trusted = ew.identify(PROBLEM, world, trust_model=True, rng=0)
    assert only.unnoticed == trusted.unnoticed == ""
