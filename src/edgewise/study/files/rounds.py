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
    """The rounds, checked; rewards are those of one round, or a sequence of them."""
    several = _are_several(arms)
    chosen: Any = arms if several else [arms]
    told: Any = rewards if several else [rewards]
    if not hasattr(told, "__len__") or len(told) != len(chosen) or not len(chosen):
        count = len(told) if hasattr(told, "__len__") else 1
        raise InvalidArgument(
            f"there are {len(chosen)} joint arms and rewards of {count} rounds; give every round "
            "both; nothing was recorded",
            argument="rewards",
        )
    joint = [
        checked_arms(problem, f"round {t}", by_number(problem, one)) for t, one in _each(chosen)
    ]
    return GivenRounds(
        [frozen(one, np.int32) for one in joint], [_measured(problem, one) for one in told]
    )


def _each(several: Any) -> enumerate[Any]:
    return enumerate(several, start=1)


def _are_several(arms: Any) -> bool:
    if isinstance(arms, Mapping):
        return False
    if isinstance(arms, list | tuple) and arms and isinstance(arms[0], Mapping):
        return True
    return np.ndim(arms) == 2


def by_number(problem: Problem, arms: Any) -> Any:
    """A joint arm whose nodes and arms are named, as numbers (n,); any other as it is."""
    if not isinstance(arms, Mapping):
        return arms
    labels = problem.graph.labels
    for node in arms:
        if node not in labels:
            raise InvalidArgument(
                f"no node is called {node!r}; {instead(str(node), _texts(labels))}"
            )
    lacking = [node for node in labels if node not in arms]
    if lacking:
        raise InvalidArgument(f"node {lacking[0]!r} has no arm; give every node one")
    return np.array([_arm(problem, arms[node]) for node in labels])


def _arm(problem: Problem, name: Any) -> int:
    names = list(range(problem.n_arms)) if problem.arm_labels is None else list(problem.arm_labels)
    if name not in names:
        raise InvalidArgument(
            f"no arm is called {shown(name)}; {instead(str(name), _texts(names))}"
        )
    return names.index(name)


def _texts(names: Sequence[Any]) -> list[str]:
    return [str(name) for name in names]


def _measured(problem: Problem, told: Measurements) -> Array:
    which, values = read_measurements(problem, told)
    rewards = np.full(problem.n_rewards, np.nan)
    rewards[which] = values
    return frozen(rewards, float)
