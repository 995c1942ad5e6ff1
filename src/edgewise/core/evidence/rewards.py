"""The rewards of a round, checked before anything is made of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled
from edgewise.errors import InvalidRewards
from edgewise.network.graph import Graph

LARGEST_REWARD = 1e100
"""Rewards beyond this cannot be squared and summed safely; they are measurement faults."""


def checked_rewards(rewards: ArrayLike, n_arcs: int) -> Array:
    """(m,) the rewards of a round as numbers, NaN where missing, or InvalidRewards."""
    if isinstance(rewards, np.ma.MaskedArray):  # masked is missing, whatever lies underneath
        rewards = np.ma.filled(rewards.astype(float), np.nan)
    try:
        values = np.asarray(rewards, dtype=None if np.iscomplexobj(rewards) else float)
        values = values.astype(float, casting="same_kind", copy=False)
    except (TypeError, ValueError) as error:
        raise InvalidRewards(
            f"rewards are not numbers ({error}); give {n_arcs} numbers, NaN where missing; "
            "nothing was recorded"
        ) from error
    if values.shape != (n_arcs,):
        raise InvalidRewards(
            f"rewards have shape {values.shape}; one per arc is needed, ({n_arcs},), in the order "
            "of graph.arcs, NaN where missing; nothing was recorded"
        )
    return np.ascontiguousarray(values)


def refuse_absurd(graph: Graph, rewards: Array) -> None:
    """Raise InvalidRewards if a reward (m,) is infinite or absurdly large."""
    bad = _first_absurd(rewards)
    if bad >= 0:
        i, j = graph.arcs[bad].tolist()
        raise InvalidRewards(
            f"reward of arc {bad} ({graph.labels[i]} -> {graph.labels[j]}) is {rewards[bad]}; "
            f"rewards must be finite and at most {LARGEST_REWARD:g} in size, or NaN if missing; "
            "nothing was recorded"
        )


@compiled
def _first_absurd(rewards: Array) -> int:
    for position in range(len(rewards)):
        if abs(rewards[position]) > LARGEST_REWARD:
            return position
    return -1
