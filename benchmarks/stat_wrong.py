"""Mistakes that make answers wrong: how many of the wrong answers does the gate withhold?

``python benchmarks/stat_wrong.py [RUNS [FIRST]]`` (default 30 runs a row, seeds from 100 on): a
circle of 6 nodes whose pairs pay almost alike (the matrix of ``stat_gate.py`` times 0.15, noise
0.3), epsilon 0.1 and delta 0.2, so that a wrong world makes answers that lose more than epsilon.
"Wrong" are answers that the rule would have given within 150 rounds; all but those withheld would
have been certified.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np

import edgewise as ew
import stat_gate
from edgewise.base.arrays import Array
from edgewise.errors import SuspiciousReward
from stat_gate import SIGMA, Change, Changed, bilinear

SHRUNK, EPSILON, DELTA, ROUNDS = 0.15, 0.1, 0.2, 150


def offset(size: float) -> Change:
    """So many deviations of the noise on every third round."""
    return lambda t, x, y, r, own: r + size * SIGMA * (t % 3 == 0)  # noqa: ARG005


def level(size: float) -> Change:
    """Levels of links with such a deviation."""

    def change(t: int, x: Array, y: Array, r: Array, own: np.random.Generator) -> Array:  # noqa: ARG001
        return np.asarray(r + size * SIGMA * np.repeat(own.standard_normal(len(r) // 2), 2))

    return change


def edges(t: int, x: Array, y: Array, r: Array, own: np.random.Generator) -> Array:  # noqa: ARG001
    """A matrix per link, deviating by 0.3 of the entries' size."""
    each = 0.3 * SHRUNK * own.standard_normal((len(r) // 2, 2, 2))
    return np.asarray(r + bilinear(x, y, np.repeat(each, 2, axis=0)))


FAULTS: dict[str, Change] = {
    "an offset of one deviation every third round": offset(1.0),
    "an offset of three deviations every third round": offset(3.0),
    "a level per link of half a deviation": level(0.5),
    "a level per link of three deviations": level(3.0),
    "noise doubled": stat_gate._doubled,
}
CHANGES = {**FAULTS, "a matrix per link, deviating by 0.3": edges}


def use_a_hard_network() -> None:
    """Put it in the place of the network of ``stat_gate``."""
    stat_gate.GRAPH = ew.Graph.circle(n_nodes=6)
    stat_gate.PROBLEM = ew.Problem(stat_gate.GRAPH, stat_gate.ARMS, noise=SIGMA)
    stat_gate.ENDS = stat_gate.GRAPH.arcs.T
    stat_gate.MATRIX = SHRUNK * stat_gate.MATRIX
    stat_gate.FAULTS = tuple(FAULTS.values())  # type: ignore[assignment]


def row(name: str, seeds: range) -> str:
    """Answers, and of the wrong ones those withheld; rounds of wrong answers that passed."""
    world, answers, withheld, wrong, caught = Changed(CHANGES[name]), 0, 0, 0, 0
    passed: list[int] = []
    for seed in seeds:
        learner = stat_gate.run(
            world, seed, ROUNDS, target="allocation", epsilon=EPSILON, delta=DELTA
        )
        if not learner.verdict.stop:
            continue
        report, spoke = learner.report(), bool(learner.contradictions)
        assert report.allocation is not None
        best, mine = world.best_and(seed, learner.rounds, report.allocation.arms)
        is_wrong = best - mine > EPSILON
        answers, withheld = answers + 1, withheld + spoke
        wrong, caught = wrong + is_wrong, caught + (spoke and is_wrong)
        if is_wrong and not spoke:
            passed.append(learner.rounds)
    after = ", ".join(map(str, sorted(passed)))
    return f"| {name} | {answers} of {len(seeds)} | {withheld} | {caught} of {wrong} | {after} |"


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore", SuspiciousReward)
    runs, first = (*map(int, sys.argv[1:]), *(30, 100)[len(sys.argv) - 1 :])
    use_a_hard_network()
    print(
        "| what the model does not know | answers | withheld | wrong ones withheld | rounds of "
        "wrong answers that passed |\n|---|---|---|---|---|"
    )
    for name in CHANGES:
        print(row(name, range(first, first + runs)), flush=True)


if __name__ == "__main__":
    main()
