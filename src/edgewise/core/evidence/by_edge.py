"""What the edges show one by one, beside the statistics that certificates rest on.

One running phase for the whole run (:mod:`edgewise.core.local.normal_equations`): what the local
model is fitted to, and what tells whether edges differ. It takes w(w + 3) numbers per channel that
is fed by w parameters, however many rounds there are; for large graphs it is left out unless the
local model is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.local.channels import Channels
from edgewise.core.local.homogeneity import Homogeneity, homogeneity
from edgewise.core.local.network import LocalNetwork
from edgewise.core.local.normal_equations import Phase, normal_equations
from edgewise.core.local.pooling import decide
from edgewise.core.model.channels import Measurement
from edgewise.core.model.problem import Problem

_LARGEST = 1 << 20
"""Numbers that are kept without being asked for: 8 MB."""
_MOST_EDGES = 2000
"""Edges up to which it is looked at without being asked for: the test takes 0.2 s there."""
_ARRAYS = ("counts", "feature_means", "reward_means", "gram", "moment", "squares")


def sum_by_edge(problem: Problem, rounds: Iterable[tuple[Indices, Array]]) -> Phase | None:
    """Of rounds told one by one: joint arms (n,) and rewards, in order."""
    seen = nothing_by_edge(problem)
    for arms, rewards in rounds:
        seen = by_edge_after(problem, seen, arms, rewards)
    return seen


def nothing_by_edge(problem: Problem) -> Phase | None:
    """Before the first round; None where it would be large and nobody needs it."""
    if not _is_kept(problem):
        return None
    network = local_network(problem)
    return Phase.empty(network.channels, keep_rounds=problem.level_names in ("round", "both"))


def _is_kept(problem: Problem) -> bool:
    if problem.pooling in ("partial", "auto"):
        return True
    if problem.graph.n_interactions > _MOST_EDGES or not problem.graph.is_at_hand:
        return False
    width = problem.parameters_per_edge
    terms = {"arc": 1, "link": 1, "node": 4, "total": problem.graph.n_interactions}[
        problem.measured
    ]
    return problem.graph.n_interactions * terms * width**2 <= _LARGEST


def by_edge_after(
    problem: Problem, seen: Phase | None, arms: Indices, rewards: Array
) -> Phase | None:
    """With one more round: joint arm (n,) and rewards as told."""
    if seen is None:
        return None
    network = local_network(problem)
    return seen.add(network.features(arms), network.measurement.numbers(rewards))


@lru_cache(maxsize=8)
def local_network(problem: Problem) -> LocalNetwork:
    """Remembered for the problems in use, which are compared by identity."""
    return LocalNetwork.of(Measurement.of(problem))


def has_unequal_edges(problem: Problem, decided: str | None) -> bool:
    """Whether edges have parameters of their own, as said or as decided."""
    return problem.pooling == "partial" or decided == "partial"


def decide_pooling(problem: Problem, seen: Phase | None) -> str:
    """What "auto" comes to after the first phase."""
    if seen is None:
        return "shared"
    noise = local_network(problem).measurement.noise
    return str(decide(normal_equations(seen, "channel", noise=noise)).pooling)


def edges_differ(seen: Phase | None) -> Homogeneity | None:
    """The test whether one matrix per kind is enough; None if it cannot be made yet."""
    if seen is None or seen.counts.max(initial=0.0) < 2:
        return None
    return homogeneity(seen)


def to_tree(seen: Phase | None) -> dict[str, Any] | None:
    """As plain values."""
    if seen is None:
        return None
    channels = seen.channels
    return {
        **{field.name: getattr(channels, field.name).copy() for field in fields(Channels)},
        **{name: getattr(seen, name).copy() for name in _ARRAYS},
        "rounds": None if seen.rounds is None else [part.copy() for part in seen.rounds],
    }


def from_tree(tree: Mapping[str, Any] | None) -> Phase | None:
    """The inverse of :func:`to_tree`; lists instead of arrays are fine."""
    if tree is None:
        return None
    names = [field.name for field in fields(Channels)]
    channels = Channels(*(np.array(tree[name]) for name in names))
    arrays = {name: np.array(tree[name], float) for name in _ARRAYS}
    kept = tree["rounds"]
    if kept is not None:
        widths = (channels.n_parameters, channels.n_channels)
        first, second = (
            np.array(part, float).reshape(-1, width)
            for part, width in zip(kept, widths, strict=True)
        )
        kept = (first, second)
    return Phase(channels=channels, rounds=kept, **arrays)
