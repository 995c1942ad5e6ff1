"""Rounds that users hand over: joint arms and what was measured, one round or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.base.choice import instead
from edgewise.base.wording import shown
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument
from edgewise.study.files.measurements import Measurements, read_measurements
from edgewise.trial.setup import checked_arms

Configurations: TypeAlias = ArrayLike | Mapping[Any, Any] | Sequence[Mapping[Any, Any]]
"""One joint arm, (n,) in numbers or ``{node: arm}`` by label, or one arm for all nodes; several as
(R, n) or a list."""


class GivenRounds(NamedTuple):
    """Rounds as they were deployed and measured."""

    arms: list[Indices]
    """(n,) each"""
    rewards: list[Array]
    """(m,) each, NaN where nothing was measured."""


def read_rounds(
    problem: Problem, arms: Configurations, rewards: Measurements | Sequence[Measurements]
) -> GivenRounds:
    """The rounds, checked; one joint arm with the rewards of several rounds was deployed in all."""
    chosen, told = _rows("arms", arms), _rows("rewards", rewards)
    configurations = [arms] if chosen is None else chosen
    measured = [rewards] if told is None else told
    if chosen is None:
        configurations = configurations * len(measured)
    if len(configurations) != len(measured) or not measured:
        raise InvalidArgument(
            f"there are {len(configurations)} joint arms and rewards of {len(measured)} rounds; "
            "give every round both; nothing was recorded",
            argument="rewards",
        )
    joint = (
        checked_arms(problem, f"joint arm of round {number}", by_number(problem, one))
        for number, one in enumerate(configurations, start=1)
    )
    return GivenRounds(
        [frozen(one, np.int32) for one in joint], [_measured(problem, one) for one in measured]
    )


def _rows(name: str, given: Any) -> list[Any] | None:
    """One entry per round; None if it is about a single one."""
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        return None
    if isinstance(given, list | tuple) and any(
        isinstance(one, Mapping) or hasattr(one, "columns") for one in given
    ):
        return list(given)
    try:
        return list(np.asarray(given)) if np.ndim(given) == 2 else None
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            f"{name} are no table of numbers, with a row per round ({error}); nothing was recorded",
            argument=name,
        ) from error


def by_number(problem: Problem, arms: Any) -> Any:
    """A joint arm whose nodes and arms are named, as numbers (n,); any other as it is."""
    if not isinstance(arms, Mapping):
        return arms
    labels = problem.graph.labels
    for node in arms:
        if node not in labels:
            raise InvalidArgument(
                f"no node is called {node!r}; {instead(str(node), _texts(labels))}", argument="arms"
            )
    lacking = [node for node in labels if node not in arms]
    if lacking:
        raise InvalidArgument(
            f"node {lacking[0]!r} has no arm; give every node one", argument="arms"
        )
    return np.array([_arm(problem, arms[node]) for node in labels])


def _arm(problem: Problem, name: Any) -> int:
    names = list(range(problem.n_arms)) if problem.arm_labels is None else list(problem.arm_labels)
    if name not in names:
        raise InvalidArgument(
            f"no arm is called {shown(name)}; {instead(str(name), _texts(names))}", argument="arms"
        )
    return names.index(name)


def _texts(names: Sequence[Any]) -> list[str]:
    return [str(name) for name in names]


def _measured(problem: Problem, told: Measurements) -> Array:
    which, values = read_measurements(problem, told)
    rewards = np.full(problem.n_rewards, np.nan)
    rewards[which] = values
    return frozen(rewards, float)
