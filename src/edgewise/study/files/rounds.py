"""Rounds that users hand over: joint arms and what was measured, one round or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.core.model.configuration import checked_configuration
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument
from edgewise.study.files.measurements import Measurements, read_measurements

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
        checked_configuration(problem, f"joint arm of round {number}", one)
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


def _measured(problem: Problem, told: Measurements) -> Array:
    which, values = read_measurements(problem, told)
    rewards = np.full(problem.n_rewards, np.nan)
    rewards[which] = values
    return frozen(rewards, float)
