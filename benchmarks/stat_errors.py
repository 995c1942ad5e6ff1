"""Wrong certificates at near ties, for every strategy: ``make stat``.

``python benchmarks/stat_errors.py [RUNS] [PART]`` (default 500 per row, or twice that; all rows, or
those with PART in their name) prints a markdown table and ends
with code 1 if a method that is proved errs more often than delta, by an exact binomial test with a
false-alarm rate of 1e-6 per row, or if a broken one is not caught by the same test.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import binom, norm

import edgewise as ew
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.evidence.duels import Duels
from edgewise.core.evidence.evidence import Evidence
from edgewise.core.evidence.measuring import ByPhase
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells
from edgewise.core.stopping import Anytime
from edgewise.core.stopping.anytime import Contest
from edgewise.simulation import replicate

DELTA = 0.05
FALSE_ALARM = 1e-6
NOISE = 1.0

CIRCLE = ew.Graph.circle(n_nodes=10)
STAR = ew.Graph.star(n_nodes=8)
THREE = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.3]])
APART = np.array([[1.0, 0.0], [0.0, 1.0], [0.2, -0.6]])
ONE_RIVAL_MATRIX = [[0.5, 0.499], [0.0, 0.0]]
ARROWS = ew.Graph.from_edges([(2 * i, 2 * i + 1) for i in range(10)], directed=True)
HEADS = np.array([[True, False], [True, True]] * 10)
TWO_WAYS = ew.Graph.from_edges(
    [(i, (i + step) % 10) for step in (1, 2) for i in range(10)], directed=True
)
TRIANGLES = ew.Graph.from_edges(
    [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)], directed=True, kinds=[0, 0, 0, 1, 1, 1]
)

PAIRS: dict[str, tuple[ew.Problem, Any]] = {
    "equal arms": (ew.Problem(CIRCLE, np.eye(2)), np.diag([0.5, 0.499])),
    "three arms on a star": (ew.Problem(STAR, THREE), np.diag([1.0, 0.999])),
}
ONE_RIVAL: dict[str, tuple[ew.Problem, Any]] = {
    "one rival": (ew.Problem(ARROWS, np.eye(2), candidates=HEADS), ONE_RIVAL_MATRIX)
}
ALLOCATIONS: dict[str, tuple[ew.Problem, Any]] = {
    "two kinds, directed": (
        ew.Problem(TRIANGLES, np.eye(2)),
        [[[0.0, 0.1], [0.09, 0.0]], [[0.1, 0.0], [0.0, 0.09]]],
    ),
    "odd circle": (ew.Problem(ew.Graph.circle(n_nodes=7), THREE), [[0.0, 0.2], [0.2, 0.1]]),
}


def uniform(rng: np.random.Generator, size: int) -> Array:
    """Uniform noise of deviation 1, which is sub-Gaussian with sigma = 1."""
    return rng.uniform(-(3.0**0.5), 3.0**0.5, size)


LAWS: dict[str, Any] = {"Gaussian": "gaussian", "Rademacher": "rademacher", "uniform": uniform}
LEVEL = 10.0
"""Deviation of unknown levels, in units of the noise."""


def with_levels(levels: str) -> dict[str, tuple[ew.Problem, Any]]:
    """Near ties per arc, link and node; ``levels`` is what the problem says about them."""
    said: Any = levels
    nodes: dict[str, Any] = {"measured": "node", "own_term": False, "levels": said}
    tie = [[0.0, 0.4], [0.399, 0.0]]
    return {
        "arcs": (ew.Problem(ARROWS, np.eye(2), candidates=HEADS, levels=said), ONE_RIVAL_MATRIX),
        "links": (
            ew.Problem(CIRCLE, np.eye(2), measured="link", levels=said),
            np.diag([0.5, 0.499]),
        ),
        "nodes": (ew.Problem(TWO_WAYS, np.eye(2), **nodes), tie),
        "nodes with own term": (
            ew.Problem(TWO_WAYS, APART, **{**nodes, "own_term": True}),
            tie,
        ),
    }


def allocations_with_levels(levels: str) -> dict[str, tuple[ew.Problem, Any]]:
    """Joint arms with next to nothing between them, measured per arc and per node."""
    matrix = ALLOCATIONS["two kinds, directed"][1]
    said: Any = levels
    nodes: dict[str, Any] = {"measured": "node", "own_term": False, "levels": said}
    return {
        "two kinds, arcs": (ew.Problem(TRIANGLES, np.eye(2), levels=said), matrix),
        "two kinds, nodes": (ew.Problem(TRIANGLES, np.eye(2), **nodes), matrix),
    }


@dataclass(frozen=True)
class Broken:
    """A fixed-sample test at every look: no union over rivals, no price for looking."""

    name: str = "broken"
    assumes: str = "nothing that holds"
    allows_ridge: bool = True
    allows_phases: bool = True
    needs_phases: bool = False

    def is_due(self, rounds: Indices) -> Mask:
        """After every round."""
        return np.ones(len(rounds), np.bool_)

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Array:
        """Gap over the width of one test at one time."""
        ratio: Array = (evidence.gaps + epsilon) / evidence.deviations
        return ratio / float(norm.isf(delta))


@dataclass(frozen=True)
class BetsTwice(Anytime):
    """Weights are learnt from the first phase, and the first phase is bet on with them."""

    name: str = "bets twice"

    def contest(
        self, cells: Cells, kind: int, phases: ByPhase, *, left: Indices, noise: Array
    ) -> Contest:
        """What is bet on with weights includes what they were learnt from."""
        honest = super().contest(cells, kind, phases, left=left, noise=noise)
        return replace(honest, since=honest.all)


@dataclass(frozen=True)
class TooNarrow(Anytime):
    """Confidence widths of a tenth of what they should be."""

    name: str = "too narrow"

    def margins(self, learning: Duels, since: Duels, **options: Any) -> Array:
        """A tenth."""
        return 0.1 * super().margins(learning, since, **options)


@dataclass(frozen=True)
class Row:
    """One method, and whether it is proved."""

    name: str
    instances: dict[str, tuple[ew.Problem, Any]]
    options: dict[str, Any]
    valid: bool = True
    estimate: bool = False
    """Whether the learner is not told the noise."""
    often: int = 1
    """How many times the usual runs."""


METHODS: tuple[tuple[str, str | Broken], ...] = (
    ("adaptive", "anytime"),
    ("adaptive", "mixture"),
    ("contrast", "anytime"),
    ("g-optimal", "mixture"),
    ("g-optimal", "union"),
)


def rows() -> Iterator[Row]:
    """Everything that is proved, then what is broken on purpose."""
    short, long = {"max_rounds": 40}, {"max_rounds": 200}
    for strategy, rule in METHODS:
        pair = {"strategy": strategy, "stopping": rule, "target": "pair"}
        yield Row(f"{strategy}, {rule}", PAIRS | ONE_RIVAL, pair | short)
    yield Row("paper, paper", PAIRS, {"strategy": "paper", **short})
    for strategy, rule in METHODS[:1] + METHODS[3:4]:
        pair = {"strategy": strategy, "stopping": rule, "target": "pair"}
        yield Row(f"{strategy}, {rule}, noise estimated", ONE_RIVAL, pair | short, estimate=True)
        goal = {"strategy": strategy, "stopping": rule, "target": "allocation", "epsilon": 3.0}
        yield Row(f"{strategy}, {rule}, allocation", ALLOCATIONS, goal | long)
    yield from rows_with_levels()
    yield from rows_of_anytime()
    for strategy in ("adaptive", "contrast", "g-optimal", "paper"):
        options = {"strategy": strategy, "stopping": Broken(), "target": "pair", **long}
        instances = {"equal arms": PAIRS["equal arms"]} if strategy == "paper" else ONE_RIVAL
        yield Row(f"{strategy}, broken rule", instances, options, valid=False)
    narrow = {"strategy": "adaptive", "stopping": TooNarrow(), "target": "allocation"}
    yield Row("adaptive, widths cut", ALLOCATIONS, {**narrow, "epsilon": 0.3, **short}, valid=False)


def rows_of_anytime() -> Iterator[Row]:
    """Twice the usual runs: two confidences and three laws of noise."""
    pair = {"strategy": "adaptive", "target": "pair", "max_rounds": 40}
    for delta in (0.2, 0.05):
        for title, law in LAWS.items():
            yield Row(
                f"adaptive, anytime, delta = {delta}, {title} noise",
                PAIRS | ONE_RIVAL,
                {**pair, "delta": delta, "law": law},
                often=2,
            )


def rows_with_levels() -> Iterator[Row]:
    """Levels ten times the noise: projected out, then forgotten."""
    world, short = {"levels": LEVEL}, {"max_rounds": 20}
    for strategy, rule in METHODS[:1] + METHODS[2:4]:
        pair = {"strategy": strategy, "stopping": rule, "target": "pair", **world}
        for law in ("gaussian", "rademacher"):
            name = f"{strategy}, {rule}, levels, {law} noise"
            yield Row(name, with_levels("channel"), {**pair, "law": law, **short})
    for strategy, rule in METHODS[:1] + METHODS[3:4]:
        both = {"strategy": strategy, "stopping": rule, "target": "pair", **world}
        weather = {"round_levels": LEVEL, "max_rounds": 20}
        instances = {"arcs": with_levels("both")["arcs"]}
        yield Row(f"{strategy}, {rule}, levels of channels and rounds", instances, both | weather)
        goal = {"strategy": strategy, "stopping": rule, "target": "allocation", "epsilon": 3.0}
        instances = allocations_with_levels("channel")
        yield Row(
            f"{strategy}, {rule}, allocation, levels",
            instances,
            {**goal, **world, "max_rounds": 600},
        )
        pair = {"strategy": strategy, "stopping": rule, "target": "pair", **world, **short}
        forgotten = with_levels("none")
        del forgotten["nodes with own term"]  # certifies too rarely in so few rounds
        yield Row(f"{strategy}, {rule}, levels forgotten", forgotten, pair, valid=False)


def games(runs: int) -> Iterator[tuple[str, int, float, bool]]:
    """Runs in which the best of 55 pairs alike is refuted; delta; and whether that is proved.

    The best is known well, the others hardly: the first phase always has a lucky one. Sharp weights
    that follow it, bet on the same phase, refute the best.
    """
    sharp: dict[str, Any] = {"sharpness": 6.0, "early": 0.01, "even": 0.01}
    for delta in (0.2, 0.05):
        yield "anytime, as it is", _refutations(Anytime(), runs, delta), delta, True
        yield "anytime, sharp weights", _refutations(Anytime(**sharp), runs, delta), delta, True
        yield "betting twice", _refutations(BetsTwice(**sharp), runs, delta), delta, False


def _refutations(rule: Anytime, runs: int, delta: float, n_phases: int = 8) -> int:
    """How often the capital against the first pair reaches 1/delta at the end of some phase."""
    cells = Cells.of(ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(10)))
    counts = np.full((n_phases, 1, len(cells.pairs)), 4.0)
    counts[:, 0, 0] = 1e4
    rng, best = np.random.default_rng(21), np.zeros(1, np.int64)

    def is_refuted(phases: CellStatistics) -> bool:
        contest = rule.contest(cells, 0, phases, left=best, noise=np.ones(len(phases)))
        return bool(rule.against(contest)[0] >= -math.log(delta))

    refuted = 0
    for _ in range(runs):
        rewards = np.sqrt(counts) * rng.standard_normal(counts.shape)
        told = CellStatistics(counts.astype(np.int64), counts, rewards, counts)
        refuted += any(is_refuted(told[:end]) for end in range(1, n_phases + 1))
    return refuted


def tail(errors: int, runs: int, delta: float) -> float:
    """How likely so many errors are if each run errs with probability delta."""
    return float(binom.sf(errors - 1, runs, delta))


def main() -> None:
    """Print the table; fail if a row is not what it should be."""
    usual = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    print("| method | instance | runs | certified | wrong | p of delta | as it should |")
    print("|---|---|---|---|---|---|---|")
    failed, start = [], time.perf_counter()
    for row in rows():
        if only not in row.name:
            continue
        for name, (problem, matrix) in row.instances.items():
            shown = problem
            if row.estimate:
                shown = ew.Problem(
                    problem.graph, problem.arms, candidates=problem.candidates, noise="estimate"
                )
            options = {"delta": DELTA, **row.options}
            repetitions = row.often * usual
            runs = replicate(shown, matrix, repetitions=repetitions, noise=NOISE, rng=21, **options)
            p = tail(runs.errors, repetitions, options["delta"])
            fine = (p >= FALSE_ALARM) == row.valid
            failed += [] if fine else [f"{row.name} on {name}"]
            print(
                f"| {row.name} | {name} | {repetitions} | {int(runs.certified.sum())} | "
                f"{runs.errors} | {p:.2g} | {'yes' if fine else 'NO'} |",
                flush=True,
            )
    for title, errors, delta, valid in games(2 * usual) if only in "refuted" else ():
        p = tail(errors, 2 * usual, delta)
        fine = (p >= FALSE_ALARM) == valid
        failed += [] if fine else [f"{title}, delta = {delta}"]
        said = f"| best pair refuted: {title}, delta = {delta} | 55 pairs alike | {2 * usual} |"
        print(f"{said} | {errors} | {p:.2g} | {'yes' if fine else 'NO'} |", flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s", file=sys.stderr)
    if failed:
        sys.exit(f"not as it should be: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
