"""The smoothed bound of a split and its gradient, for a first-order method."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.bounds.cycles.step_tables import Split, Whole, remainders
from edgewise.base.arrays import Array, Mask
from edgewise.base.compiled import compiled

_TINY = 1e-300


@compiled
def smooth_bound(whole: Whole, split: Split, heat: float, gradient: Split) -> float:
    r"""Every maximum of the bound replaced by :math:`T \log \sum \exp(\cdot / T)`, T = ``heat``.

    The gradient with respect to a part is the difference of two laws: how often its holder
    shows a pair of arms, and how often the edge does. It is written into ``gradient``.
    """
    rest, held = remainders(whole, split)
    n_arms = held.shape[1]
    value = 0.0
    for i in range(len(held)):
        value += _soften(held[i], heat)
    for e in range(len(rest)):
        value += _soften(rest[e].reshape(n_arms * n_arms), heat)
        for k in range(n_arms):
            first, second = held[whole.edges[e, 0], k], held[whole.edges[e, 1], k]
            for l in range(n_arms):
                first -= rest[e, k, l]
                second -= rest[e, l, k]
            gradient.ends[e, 0, k], gradient.ends[e, 1, k] = first, second
    starts = whole.cycles.starts
    for c in range(len(starts) - 1):
        value += _walk_law(whole, split.steps, starts[c], starts[c + 1], heat, gradient.steps)
    _subtract_edges(whole, rest, gradient.steps)
    return value


@compiled
def _subtract_edges(whole: Whole, rest: Array, laws: Array) -> None:
    for step in range(len(laws)):
        e = whole.cycles.edges[step]
        forwards = whole.edges[e, 0] == whole.cycles.nodes[step]
        for k in range(laws.shape[1]):
            for l in range(laws.shape[1]):
                laws[step, k, l] -= rest[e, k, l] if forwards else rest[e, l, k]


@compiled
def _soften(values: Array, heat: float) -> float:
    """Turn values into probabilities in place; return the smooth maximum."""
    top = -np.inf
    for k in range(len(values)):
        top = max(top, values[k])
    total = 0.0
    for k in range(len(values)):
        values[k] = np.exp((values[k] - top) / heat)
        total += values[k]
    for k in range(len(values)):
        values[k] /= total
    return float(top + heat * np.log(total))


@compiled
def _walk_law(whole: Whole, steps: Array, first: int, end: int, heat: float, law: Array) -> float:
    """Write the law of every step of a closed walk into ``law``; return the smooth maximum."""
    length, n_arms = end - first, steps.shape[1]
    before = np.zeros((length + 1, n_arms, n_arms))
    after, around, product = np.zeros((3, n_arms, n_arms))
    value = 0.0
    for k in range(n_arms):
        before[0, k, k] = after[k, k] = 1.0
    for t in range(length):
        allowed = whole.allowed[whole.cycles.nodes[first + t]]
        value += _weights(steps[first + t], allowed, heat, law[first + t])
        _multiply(before[t], law[first + t], before[t + 1])
        value += heat * np.log(_normalise(before[t + 1]))
    total = _TINY
    for k in range(n_arms):
        total += before[length, k, k]
    for t in range(length - 1, -1, -1):
        _multiply(after, before[t], around)
        _multiply(law[first + t], after, product)
        _weigh(law[first + t], around)
        _normalise(product)
        after, product = product, after
    return float(value + heat * np.log(total))


@compiled
def _weights(table: Array, allowed: Mask, heat: float, weights: Array) -> float:
    """Write ``exp((table - top) / heat)`` on the rows allowed; return the top."""
    top = -np.inf
    for k in range(len(table)):
        for l in range(len(table)):
            top = max(top, table[k, l])
    for k in range(len(table)):
        for l in range(len(table)):
            weights[k, l] = np.exp((table[k, l] - top) / heat) if allowed[k] else 0.0
    return top


@compiled
def _normalise(matrix: Array) -> float:
    """Divide by the largest entry, so that products do not underflow; return it."""
    top = _TINY
    for k in range(len(matrix)):
        for l in range(len(matrix)):
            top = max(top, matrix[k, l])
    for k in range(len(matrix)):
        for l in range(len(matrix)):
            matrix[k, l] /= top
    return top


@compiled
def _weigh(law: Array, around: Array) -> None:
    """Entries times the way back from their end to their start, as probabilities."""
    total = _TINY
    for k in range(len(law)):
        for l in range(len(law)):
            law[k, l] *= around[l, k]
            total += law[k, l]
    for k in range(len(law)):
        for l in range(len(law)):
            law[k, l] /= total


@compiled
def _multiply(first: Array, second: Array, product: Array) -> None:
    """Product of small matrices; the loop order lets the compiler use vector instructions."""
    for k in range(len(first)):
        for l in range(len(first)):
            product[k, l] = 0.0
        for middle in range(len(first)):
            factor = first[k, middle]
            for l in range(len(first)):
                product[k, l] += factor * second[middle, l]
