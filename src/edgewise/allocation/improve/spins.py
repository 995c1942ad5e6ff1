"""Simulated annealing with two arms: one number per node says what changing its arm gains."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.improve.random_words import LOG_UNIFORM, following, seed_of
from edgewise.allocation.instance.links import Links, write_field
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled


class Spins:
    r"""The state of a chain of sweeps over the nodes of a two-armed problem.

    With :math:`\sigma_i = 1 - 2 a_i` the gain :math:`g_i` of changing the arm of node i alone is
    kept for every node; a change negates it and moves the gains of the neighbours by
    :math:`\sigma_i \sigma_j w_{ij} c`, :math:`c = W[0,0] - W[0,1] - W[1,0] + W[1,1]`
    for each arc. A visit costs O(1), a change O(deg).
    """

    def __init__(self, objective: Objective, arms: Indices, rng: np.random.Generator) -> None:
        self._objective = objective
        self._couplings = _couplings(objective.links, objective.rows)
        self._state = seed_of(rng)
        self.place(arms)

    def place(self, arms: Indices) -> None:
        """Put every node on the given arm; what it may not take is repaired."""
        objective = self._objective
        masks, groups = objective.grouped_candidates
        joint = np.where(masks[groups, arms], arms, 1 - arms)
        self._signs = 1.0 - 2.0 * joint
        self._gains = _gains(
            objective.links, objective.rows, objective.node_rewards, masks, groups, joint
        )

    def sweep(self, temperatures: Array) -> None:
        """One pass over all nodes at each temperature (Metropolis)."""
        links = self._objective.links
        state = _sweep(links, self._couplings, self._signs, self._gains, temperatures, self._state)
        self._state = np.uint64(state)  # numba hands a plain int back

    @property
    def arms(self) -> Indices:
        """(n,) where the nodes are now."""
        return (self._signs < 0.0).astype(np.int64)


def _couplings(links: Links, rows: Array) -> Array:
    """(2E,) w c of every link; a single number when all are the same."""
    by_slot = rows[:, 0, 0] - rows[:, 0, 1] - rows[:, 1, 0] + rows[:, 1, 1]
    each: Array = by_slot[links.slots] if len(links.slots) else by_slot
    return each * links.weights if len(links.weights) else each


@compiled
def _gains(
    links: Links, rows: Array, unary: Array, masks: Mask, groups: Indices, arms: Indices
) -> Array:
    gains = np.empty(len(arms))
    field = np.empty(2)
    for i in range(len(arms)):
        write_field(links, rows, unary, arms, i, field)
        other = 1 - arms[i]
        # minus infinity stays so whatever is added: the node never moves
        gains[i] = field[other] - field[arms[i]] if masks[groups[i], other] else -np.inf
    return gains


@compiled
def _sweep(
    links: Links,
    couplings: Array,
    signs: Array,
    gains: Array,
    temperatures: Array,
    state: np.uint64,
) -> np.uint64:
    single = len(couplings) == 1
    for t in range(len(temperatures)):
        for i in range(len(gains)):
            state = following(state)
            threshold = temperatures[t] * LOG_UNIFORM[state >> np.uint64(52)]
            if not gains[i] > threshold:
                continue
            sign = signs[i]
            signs[i] = -sign
            gains[i] = -gains[i]
            for p in range(links.starts[i], links.starts[i + 1]):
                j = links.neighbours[p]
                gains[j] += sign * signs[j] * couplings[0 if single else p]
    return state
