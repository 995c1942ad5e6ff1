"""From a round's joint arm and rewards to statistics: cells where they suffice, else equations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.cell_sums import Edges, sum_by_cell
from edgewise.core.evidence.equations import Equations, Gathering, MeasuredRound, Stack
from edgewise.core.evidence.rewards import LARGEST_REWARD, refuse_absurd
from edgewise.core.evidence.statistics import (
    CellStatistics,
    count_joint_arm,
    observe,
    statistics_of,
)
from edgewise.core.model.cells import Cells
from edgewise.core.model.channels import Measurement
from edgewise.core.model.problem import Problem

Statistics: TypeAlias = CellStatistics | Gathering
"""Of the present phase."""
ByPhase: TypeAlias = CellStatistics | Equations
"""Of phases, each on its own."""
ByRound: TypeAlias = CellStatistics | Stack
"""Of the present phase, after each of successive rounds."""
Total: TypeAlias = CellStatistics | Equations
"""Of all rounds together."""
Rounds: TypeAlias = CellStatistics | MeasuredRound
"""Of successive rounds, each on its own."""


def nothing_measured(problem: Problem, cells: Cells) -> tuple[Statistics, ByPhase]:
    """The present phase and the closed ones, before the first round."""
    if not cells.joint:
        nothing = CellStatistics.zero(cells)
        return nothing, nothing[None][:0]
    measurement, by_kind = _measurement(problem), _by_kind(problem)
    present = Gathering.nothing(
        problem.level_names, measurement.noise, cells.n_parameters, by_kind.showable.shape
    )
    return present, present.none_closed


def measure(problem: Problem, cells: Cells, arms: Indices, rewards: Array) -> Rounds:
    """Statistics of one round: joint arm (n,), rewards as told, NaN where missing.

    Raises InvalidRewards, touching nothing, if a reward is infinite or absurdly large.
    """
    if not cells.joint and not problem.is_bernoulli:
        return _observe_checked(problem, cells, arms, rewards)[None]
    refuse_absurd(problem, rewards)
    if not cells.joint:
        return observe(problem.graph, cells, arms, rewards)[None]
    measurement = _measurement(problem)
    _, information = count_joint_arm(problem.classes.graph, _by_kind(problem), arms)
    return MeasuredRound(measurement.shared_rows(arms), measurement.numbers(rewards), information)


def _observe_checked(
    problem: Problem, cells: Cells, arms: Indices, rewards: Array
) -> CellStatistics:
    """Summed and checked in one pass over the rewards."""
    edges = Edges.of(problem.graph)
    found = sum_by_cell(edges, cells, arms, rewards, limit=LARGEST_REWARD)
    if not found.within:
        refuse_absurd(problem, rewards)
    return statistics_of(found, cells)


def all_of(closed: ByPhase, present: Statistics | Equations) -> Total:
    """All phases together."""
    if isinstance(closed, CellStatistics):
        assert isinstance(present, CellStatistics)
        return closed.followed_by_all(present)
    assert not isinstance(present, CellStatistics)
    return closed.followed_by_all(present)


def with_present(closed: ByPhase, present: Statistics | Equations) -> ByPhase:
    """The closed phases and the present one, each on its own."""
    if isinstance(closed, CellStatistics):
        assert isinstance(present, CellStatistics)
        return closed.with_another(present)
    assert not isinstance(present, CellStatistics)
    return closed.with_another(present)


def after(statistics: Statistics, rounds: Rounds) -> ByRound:
    """The present phase after each of the rounds."""
    if isinstance(statistics, CellStatistics):
        assert isinstance(rounds, CellStatistics)
        return statistics.followed_by(rounds)
    assert isinstance(rounds, MeasuredRound)
    return statistics.followed_by(rounds)


def as_rounds(present: Statistics | Equations) -> ByRound:
    """The present phase, as if after the last of some rounds."""
    if isinstance(present, CellStatistics):
        return present[None]
    return Stack(present)


def present_from_tree(tree: Mapping[str, Any]) -> Statistics:
    """The present phase, from plain values."""
    return Gathering.from_tree(tree) if "levels" in tree else CellStatistics.from_tree(tree)


def closed_from_tree(tree: Mapping[str, Any], present: Statistics) -> ByPhase:
    """The closed phases, from plain values."""
    if isinstance(present, Gathering):
        none = present.none_closed
        found = Equations.from_tree(tree)
        return Equations(
            *(
                one.reshape(-1, *empty.shape[1:])
                for one, empty in zip(found._arrays, none._arrays, strict=True)
            )
        )
    return CellStatistics.from_tree(tree, shape=(-1, *present.information.shape))


@lru_cache(maxsize=8)
def _measurement(problem: Problem) -> Measurement:
    """Remembered for the problems in use, which are compared by identity."""
    return Measurement.of(problem)


@lru_cache(maxsize=8)
def _by_kind(problem: Problem) -> Cells:
    return Cells.by_kind(problem)
