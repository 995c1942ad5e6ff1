"""Simulated annealing with any number of arms: every visited node draws its arm afresh."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.improve.random_words import following, gumbel_table, seed_of
from edgewise.allocation.instance.links import Links, write_field
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled

CACHED_FIELDS = 1 << 21
"""Up to 16 MB of fields are kept; beyond, memory is slower than computing them again."""


class Gibbs:
    r"""The state of a chain of sweeps; a visited node draws arm k with odds :math:`e^{H_i[k]/T}`.

    On problems of moderate size the fields H (n, K) are kept: a visit costs O(K), a change
    O(K deg). On huge ones they are computed at each visit from the arms of the neighbours, which
    then fit the cache where the fields would not.
    """

    def __init__(self, objective: Objective, arms: Indices, rng: np.random.Generator) -> None:
        self._objective = objective
        self._noise = gumbel_table(rng)
        self._state = seed_of(rng)
        self._cached = objective.graph.n_nodes * objective.n_arms <= CACHED_FIELDS
        self.place(arms)

    def place(self, arms: Indices) -> None:
        """Put every node on the given arm."""
        objective = self._objective
        tiny = not self._cached and objective.n_arms <= 256
        self._arms: Indices = arms.astype(np.uint8) if tiny else arms.astype(np.int32)
        if self._cached:
            self._fields = _all_fields(
                objective.links,
                objective.rows,
                objective.node_rewards,
                *objective.grouped_candidates,
                self._arms,
            )

    def sweep(self, temperatures: Array) -> None:
        """One pass over all nodes at each temperature."""
        links, rows = self._objective.links, self._objective.rows
        arms, noise, state = self._arms, self._noise, self._state
        if self._cached:
            state = _sweep_cached(links, rows, self._fields, arms, noise, temperatures, state)
        else:
            masks, groups = self._objective.grouped_candidates
            unary = self._objective.node_rewards
            state = _sweep_lazily(
                links, rows, unary, masks, groups, arms, noise, temperatures, state
            )
        self._state = np.uint64(state)  # numba hands a plain int back

    @property
    def arms(self) -> Indices:
        """(n,) where the nodes are now."""
        return self._arms.astype(np.int64)


@compiled
def _all_fields(
    links: Links, rows: Array, unary: Array, masks: Mask, groups: Indices, arms: Indices
) -> Array:
    fields = np.empty((len(arms), rows.shape[-1]))
    for i in range(len(arms)):
        write_field(links, rows, unary, arms, i, fields[i])
        for k in range(rows.shape[-1]):
            if not masks[groups[i], k]:  # minus infinity stays so whatever is added
                fields[i, k] = -np.inf
    return fields


@compiled
def draw_arm(field: Array, temperature: float, noise: Array, place: int) -> int:
    """The arm with the largest ``field + T G``, see :func:`gumbel_table`."""
    best, top = 0, -np.inf
    last = len(noise) - 1
    for k in range(len(field)):
        worth = field[k] + temperature * noise[(place + k) & last]
        if worth > top:
            best, top = k, worth
    return best


@compiled
def _sweep_cached(
    links: Links,
    rows: Array,
    fields: Array,
    arms: Indices,
    noise: Array,
    temperatures: Array,
    state: np.uint64,
) -> np.uint64:
    n_arms = rows.shape[-1]
    for t in range(len(temperatures)):
        for i in range(len(arms)):
            state = following(state)
            old = arms[i]
            new = draw_arm(fields[i], temperatures[t], noise, int(state >> np.uint64(49)))
            if new == old:
                continue
            arms[i] = new
            for p in range(links.starts[i], links.starts[i + 1]):
                j = links.neighbours[p]
                slot = links.twins[links.slots[p]] if len(links.slots) else 0
                w = links.weights[p] if len(links.weights) else 1.0
                for k in range(n_arms):
                    fields[j, k] += w * (rows[slot, new, k] - rows[slot, old, k])
    return state


@compiled
def _sweep_lazily(
    links: Links,
    rows: Array,
    unary: Array,
    masks: Mask,
    groups: Indices,
    arms: Indices,
    noise: Array,
    temperatures: Array,
    state: np.uint64,
) -> np.uint64:
    field = np.empty(rows.shape[-1])
    masked = not masks.all()
    for t in range(len(temperatures)):
        for i in range(len(arms)):
            state = following(state)
            write_field(links, rows, unary, arms, i, field)
            if masked:
                for k in range(len(field)):
                    if not masks[groups[i], k]:
                        field[k] = -np.inf
            arms[i] = draw_arm(field, temperatures[t], noise, int(state >> np.uint64(49)))
    return state
