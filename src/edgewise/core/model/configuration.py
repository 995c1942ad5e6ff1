"""A joint arm that users hand over, checked against the problem."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from edgewise.allocation.instance.objective import checked_joint_arm
from edgewise.base.arrays import Indices
from edgewise.base.choice import instead
from edgewise.base.wording import shown
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument


def checked_configuration(problem: Problem, name: str, arms: Any) -> Indices:
    """(n,) a joint arm that the problem allows; ``{node: arm}`` is by label, one number is that arm
    everywhere. ``name`` is what messages call it.
    """
    given = by_number(problem, arms)
    if np.ndim(given) == 0:
        given = np.full(problem.graph.n_nodes, given)
    try:
        joint = checked_joint_arm(given, problem.graph.n_nodes, problem.n_arms)
    except InvalidArgument as error:
        raise InvalidArgument(f"the {name}: {error}", argument=name) from error
    masks, groups = problem.candidate_sets
    forbidden = np.flatnonzero(~masks[groups, joint])
    if len(forbidden):
        node = int(forbidden[0])
        raise InvalidArgument(
            f"the {name} gives node {problem.graph.labels[node]!r} the arm {int(joint[node])}, "
            "which is not among its candidates; choose one that is",
            argument=name,
        )
    return joint


def by_number(problem: Problem, arms: Any) -> Any:
    """A joint arm whose nodes and arms are named, as numbers (n,); any other as it is."""
    if not isinstance(arms, Mapping):
        return arms
    labels = problem.graph.labels
    for node in arms:
        node_number(problem, node)
    lacking = [node for node in labels if node not in arms]
    if lacking:
        raise InvalidArgument(
            f"node {lacking[0]!r} has no arm; give every node one", argument="arms"
        )
    return np.array([_arm(problem, arms[node]) for node in labels])


def node_number(problem: Problem, node: Hashable) -> int:
    """Which node has that label."""
    labels = problem.graph.labels
    if node not in labels:
        raise InvalidArgument(
            f"no node is called {node!r}; {instead(str(node), _texts(labels))}", argument="arms"
        )
    return labels.index(node)


def _arm(problem: Problem, name: Any) -> int:
    names = list(range(problem.n_arms)) if problem.arm_labels is None else list(problem.arm_labels)
    if name not in names:
        raise InvalidArgument(
            f"no arm is called {shown(name)}; {instead(str(name), _texts(names))}", argument="arms"
        )
    return names.index(name)


def _texts(names: Sequence[Any]) -> list[str]:
    return [str(name) for name in names]
