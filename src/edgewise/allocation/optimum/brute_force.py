"""Every joint arm, one after the other: the truth for small graphs."""

from __future__ import annotations

import math

import numpy as np

from edgewise.allocation.instance.links import Links
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.errors import InvalidArgument

MAX_JOINT_ARMS = 10**7


def brute_force(objective: Objective) -> Allocation:
    """The best of all joint arms the candidates allow, at most ``MAX_JOINT_ARMS``.

    Both bounds are the exact extremes: ``upper_bound`` is the value, ``lower_bound`` the least
    that any allocation is worth. Joint arms equal up to rounding count as ties.
    """
    options, n_options = _options(objective)
    _require_few(n_options)
    arms, worst = _enumerate(
        objective.links, objective.rows, objective.node_rewards, options, n_options
    )
    return objective.optimum(arms, method="brute-force", lower=float(worst))


def _options(objective: Objective) -> tuple[Indices, Indices]:
    """(n, K) allowed arms of every node first in their row, and (n,) how many they are."""
    masks, groups = objective.grouped_candidates
    allowed_first = np.argsort(~masks, axis=1, kind="stable")
    return allowed_first[groups], masks.sum(axis=1)[groups]


def _require_few(n_options: Indices) -> None:
    digits = float(np.log10(n_options).sum())
    exact = digits < 15
    count = math.prod(n_options.tolist()) if exact else 0
    if exact and count <= MAX_JOINT_ARMS:
        return
    number = f"{count:,}" if exact else f"about 10^{digits:.0f}"
    raise InvalidArgument(
        f"there are {number} joint arms; brute force takes at most {MAX_JOINT_ARMS:,}: "
        'use method="auto" or "local-search"'
    )


@compiled
def _reward_with_earlier(
    links: Links, responses: Array, unary: Array, arms: Indices, i: int
) -> float:
    """Reward of node ``i`` itself and of its edges to nodes before it."""
    total = unary[i, arms[i]] if len(unary) else 0.0
    for p in range(links.starts[i], links.starts[i + 1]):
        j = links.neighbours[p]
        if j < i:
            w = links.weights[p] if len(links.weights) else 1.0
            slot = links.slots[p] if len(links.slots) else 0
            total += w * responses[slot, arms[j], arms[i]]
    return total


@compiled
def _enumerate(
    links: Links, responses: Array, unary: Array, options: Indices, n_options: Indices
) -> tuple[Indices, float]:
    """Count up with the last node fastest; partial sums, so no rounding error accumulates."""
    n = len(n_options)
    digits = np.zeros(n, np.int64)
    arms = options[:, 0].copy()
    best_arms = arms.copy()
    partial = np.zeros(n + 1)
    best, worst = -np.inf, np.inf
    changed = 0
    while changed >= 0:
        for i in range(changed, n):
            partial[i + 1] = partial[i] + _reward_with_earlier(links, responses, unary, arms, i)
        worst = min(worst, partial[n])
        if partial[n] > best:
            best = partial[n]
            best_arms[:] = arms
        changed = n - 1
        while changed >= 0 and digits[changed] + 1 == n_options[changed]:
            digits[changed] = 0
            arms[changed] = options[changed, 0]
            changed -= 1
        if changed >= 0:
            digits[changed] += 1
            arms[changed] = options[changed, digits[changed]]
    return best_arms, worst
