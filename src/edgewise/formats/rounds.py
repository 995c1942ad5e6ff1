"""Several rounds from a file: what was deployed, and what was measured."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from edgewise.base.arrays import Indices
from edgewise.base.border import border
from edgewise.errors import InvalidFile
from edgewise.formats.candidates import joint_arm_of
from edgewise.formats.files import FilePath, read_by_extension
from edgewise.formats.measurements import by_round, rewards_of
from edgewise.formats.table import read_csv

if TYPE_CHECKING:
    from edgewise.core.model.problem import Problem


class DeployedRounds(NamedTuple):
    """Rounds that were deployed outside of a study, in the order of their files."""

    arms: list[Indices]
    """(n,) each"""
    rewards: list[Mapping[Hashable, float]]


def read_deployed(
    configurations: FilePath, measurements: FilePath, problem: Problem
) -> DeployedRounds:
    """Rounds from two files that name the same ones, or none where there is one."""
    arms = read_configurations(configurations, problem)
    rewards = read_round_rewards(measurements, problem)
    if list(arms) != list(rewards):
        odd = sorted(set(arms) ^ set(rewards))
        raise InvalidFile(
            f"{configurations} and {measurements} do not name the same rounds"
            + (f" ({', '.join(odd[:3])} stands in one of them)" if odd else " in the same order")
            + "; nothing was recorded: give every round both"
        )
    return DeployedRounds(list(arms.values()), list(rewards.values()))


@border(error=InvalidFile)
def read_configurations(path: FilePath, problem: Problem) -> dict[str, Indices]:
    """(n,) the joint arm of every round, from a ``.csv`` with the columns round, node and arm.

    Without the column round there is one, called "1".
    """
    nodes = problem.graph.labels
    arms = range(problem.n_arms) if problem.arm_labels is None else problem.arm_labels
    table = read_by_extension(path, {".csv": read_csv}, "configurations")
    return {key: joint_arm_of(part, nodes, arms) for key, part in by_round(table).items()}


@border(error=InvalidFile)
def read_round_rewards(path: FilePath, problem: Problem) -> dict[str, Mapping[Hashable, float]]:
    """What was measured in every round, from a ``.csv`` as for one round with the column round."""
    table = read_by_extension(path, {".csv": read_csv}, "measurements")
    return {key: rewards_of(part, problem).rewards for key, part in by_round(table).items()}
