"""The rewards of a round, checked before anything is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled
from edgewise.base.wording import harmless, shown
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidRewards

LARGEST_REWARD = 1e100
"""Rewards beyond this cannot be squared and summed safely; they are measurement faults."""


_ONE_PER = {
    "arc": "arc is needed, {shape}, in the order of graph.arcs",
    "link": "undirected edge is needed, {shape}, in the order of graph.edges",
    "node": "node is needed, {shape}, in the order of graph.labels",
    "total": "round is needed, {shape}",
}


def checked_rewards(rewards: ArrayLike, problem: Problem) -> Array:
    """(m,) the rewards of a round as numbers, NaN where missing, or InvalidRewards.

    One per arc, link, node or round, as the problem says what is measured.
    """
    n_rewards = problem.n_rewards
    if problem.measured == "total" and np.ndim(rewards) == 0:
        rewards = np.reshape(np.asarray(rewards), 1)
    if isinstance(rewards, np.ma.MaskedArray):  # masked is missing, whatever lies underneath
        rewards = np.ma.filled(rewards.astype(float), np.nan)
    try:
        _refuse_lookalikes(rewards)
        values = np.asarray(rewards, dtype=None if np.iscomplexobj(rewards) else float)
        values = values.astype(float, casting="same_kind", copy=False)
    except InvalidRewards:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidRewards(
            f"rewards are not numbers ({error}); give {n_rewards} numbers, NaN where missing; "
            "nothing was recorded"
        ) from error
    if values.shape != (n_rewards,):
        one = _ONE_PER[problem.measured].format(shape=f"({n_rewards},)")
        raise InvalidRewards(
            f"rewards have shape {values.shape}; one per {one}, NaN where missing; nothing was "
            "recorded"
        )
    return np.ascontiguousarray(values)


def _refuse_lookalikes(rewards: Any) -> None:
    """Raise if something that numpy would turn into a number is none: text, truth values, bytes."""
    if isinstance(rewards, np.ndarray) and rewards.dtype.kind in "fiuc":
        return
    cells = np.asarray(rewards, dtype=object).ravel().tolist() if np.ndim(rewards) else [rewards]
    wrong = [one for one in cells if isinstance(one, str | bytes | bool | np.bool_)]
    if wrong:
        raise InvalidRewards(
            f"a reward is {shown(wrong[0])}, a {type(wrong[0]).__name__}; rewards are numbers, NaN "
            "where missing; nothing was recorded"
        )


def refuse_absurd(problem: Problem, rewards: Array) -> None:
    """Raise InvalidRewards if a reward (m,) is infinite or absurdly large, or no probability."""
    if problem.is_bernoulli:
        _refuse_improbable(problem, rewards)
    bad = _first_absurd(rewards)
    if bad >= 0:
        raise InvalidRewards(
            f"reward of {place_text(problem, bad)} is {rewards[bad]}; rewards must be finite and "
            f"at most {LARGEST_REWARD:g} in size, or NaN if missing; nothing was recorded"
        )


def _refuse_improbable(problem: Problem, rewards: Array) -> None:
    outside = np.flatnonzero((rewards < 0.0) | (rewards > 1.0))
    if len(outside):
        bad = int(outside[0])
        raise InvalidRewards(
            f"reward of {place_text(problem, bad)} is {rewards[bad]}; with noise='bernoulli' "
            "rewards are between 0 and 1, or NaN if missing; nothing was recorded"
        )


def place_text(problem: Problem, position: int) -> str:
    """Where a reward was measured, in the user's labels."""
    graph = problem.graph
    if problem.measured == "total":
        return "the round"
    if problem.measured == "node":
        return f"node {harmless(graph.labels[position])}"
    ends = graph.arcs if problem.measured == "arc" else graph.edges
    i, j = ends[position].tolist()
    arrow = "->" if problem.measured == "arc" else "-"
    ends_text = harmless(f"{graph.labels[i]} {arrow} {graph.labels[j]}")
    return f"{problem.measured} {position} ({ends_text})"


@compiled
def _first_absurd(rewards: Array) -> int:
    for position in range(len(rewards)):
        if abs(rewards[position]) > LARGEST_REWARD:
            return position
    return -1
