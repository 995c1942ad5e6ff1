"""Do limits leave anything to deploy? Asked once, before the first round."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgewise.base.arrays import Indices
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.strategies.limits.reach import near
from edgewise.errors import InvalidArgument


def require_joint_arms(problem: Problem, *, steps: int | None, within: int | None) -> None:
    """Raise, with the smallest limit that would do, where no joint arm leads on."""
    if problem.baseline is None:
        raise InvalidArgument(
            "limits start from what is deployed now, and the problem does not say what that is; "
            "pass Problem(..., baseline=...), or write baseline = ... in the file of a study, or "
            "--baseline: the arm of every node today",
            argument="baseline",
        )
    if steps is not None:
        _require_ways(problem, steps)
    if within is not None:
        _require_directions(problem, problem.baseline, within)


def _require_ways(problem: Problem, steps: int) -> None:
    """Every candidate of a node can be reached from every other."""
    masks, groups = problem.candidate_sets
    widest = [int(np.diff(np.flatnonzero(mask)).max(initial=1)) for mask in masks]
    needed = max(widest)
    if needed > steps:
        group = widest.index(needed)
        node = problem.graph.labels[int(np.flatnonzero(groups == group)[0])]
        arms = np.flatnonzero(masks[group])
        gap = int(np.diff(arms).argmax())
        raise InvalidArgument(
            f"steps is {steps}, and the candidates of node {node!r} have none between arm "
            f"{arms[gap]} and arm {arms[gap + 1]}, which are {needed} steps apart: no joint arm "
            f"leads from one to the other; allow at least steps={needed}, or the arms between them",
            argument="steps",
        )


def _require_directions(problem: Problem, baseline: Indices, within: int) -> None:
    """What is in the first trust region shows everything that the problem's candidates do."""
    enough = within
    while region(problem, baseline, enough) is None:
        enough += 1
    if enough > within:
        raise InvalidArgument(
            f"within is {within}, and so few arms around the baseline cannot show how all others "
            "act: no joint arm in the trust region leads on; allow at least "
            f"within={enough}, or give the arms fewer features",
            argument="within",
        )


def region(problem: Problem, centre: Indices, within: int) -> Problem | None:
    """The problem with the arms near ``centre`` (n,) only; None if they show less than all do."""
    masks, groups = problem.candidate_sets
    few = near(masks[groups], centre, within)
    smaller = replace(problem, candidates=few, baseline=None)
    return smaller if _directions(smaller) == _directions(problem) else None


def _directions(problem: Problem) -> list[int]:
    """Of every kind, how many directions its edges can show."""
    found: list[int] = Cells.by_kind(problem).dimensions.tolist()
    return found
