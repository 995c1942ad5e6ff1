"""Climbing one step at a time: by what is measured near a node, or by what a simulator knows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.randomness import Rng, generator
from edgewise.integrations.running import System, Trail, checked_marks


def hill_climbing(
    system: System, *, marks: Sequence[int], rng: Rng = None, near: Mask | None = None
) -> Trail:
    """Nodes that are far from each other take a step, and keep it if the numbers around rose.

    Around a node are its own number and those of the nodes ``near`` it (n, n), by default its
    neighbours; numbers must be those of nodes. A step is judged against the round before, so
    what is around a node belongs to it alone for a round. The answer is what is kept.
    """
    random, rounds = generator(rng), checked_marks(marks)
    around = (_neighbours(system) if near is None else near) | np.eye(len(system.today), dtype=bool)
    masks, groups = system.problem.candidate_sets
    allowed = masks[groups]
    kept, worths, answers = system.today.copy(), [], []
    before: Array | None = None
    for number in range(1, int(rounds[-1]) + 1):
        trying = kept if before is None else _stepped(kept, allowed, around, random)
        numbers, means = system.measured(trying[None], random)
        sums = around @ np.nan_to_num(numbers[0])
        if before is not None:
            kept = np.where((trying != kept) & (sums > before), trying, kept)
        before = sums
        worths.append(float(system.worths(means.sum(axis=1))[0]))
        if number in rounds:
            answers.append(kept)
    return Trail("hill climbing", np.array(worths), rounds, np.array(answers))


def coordinate_ascent(system: System, start: Indices | None = None) -> Indices:
    """(n,) the best arm of one node after the other, as the simulator knows them, until none helps.

    What can be had by someone who knows the system: a bound in spirit, no optimum.
    """
    masks, groups = system.problem.candidate_sets
    best = (system.today if start is None else start).copy()
    value, improved = float(system.means(best[None]).sum()), True
    while improved:
        improved = False
        for node, group in enumerate(groups):
            choices = np.flatnonzero(masks[group])
            tries = np.repeat(best[None], len(choices), axis=0)
            tries[:, node] = choices
            totals = system.means(tries).sum(axis=1)
            if totals.max() > value + 1e-12:
                best, value, improved = tries[int(totals.argmax())], float(totals.max()), True
    return best


def _neighbours(system: System) -> Mask:
    """(n, n) whom a node has an arc to."""
    near = np.zeros((len(system.today),) * 2, dtype=bool)
    near[tuple(system.problem.graph.arcs.T)] = True
    return near


def _stepped(kept: Indices, allowed: Mask, around: Mask, rng: np.random.Generator) -> Indices:
    """(n,) with a step up or down for nodes in random order, none near another that moves."""
    arms, taken = kept.copy(), np.zeros(len(kept), dtype=bool)
    for node in rng.permutation(len(kept)):
        if (around[node] & taken).any():
            continue
        to = kept[node] + (1 if rng.random() < 0.5 else -1)
        if 0 <= to < allowed.shape[1] and allowed[node, to]:
            arms[node] = to
            taken |= around[node]
    return arms
