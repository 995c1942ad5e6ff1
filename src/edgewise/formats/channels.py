"""What the numbers measured in a round are called: by arc, link, node, or as their total."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from edgewise.core.model.problem import Problem

TOTAL = "total"
"""The name of the only number, where one is measured per round."""


def channel_names(problem: Problem, positions: Iterable[int] | None = None) -> list[Hashable]:
    """Of each measured number: ``(source, target)``, a node's label, or ``"total"``."""
    labels = problem.graph.labels
    which = range(problem.n_rewards) if positions is None else positions
    if problem.measured == "total":
        return [TOTAL for _ in which]
    if problem.measured == "node":
        return [labels[position] for position in which]
    ends = problem.graph.arcs if problem.measured == "arc" else problem.graph.edges
    pairs = ends if positions is None else ends[np.fromiter(which, np.int64)]
    return [(labels[i], labels[j]) for i, j in pairs.tolist()]


def channel_index(problem: Problem) -> dict[Hashable, int]:
    """Where each name belongs; a link may be named from either end."""
    names = channel_names(problem)
    index = {name: position for position, name in enumerate(names)}
    if problem.measured == "link":
        index |= {name[::-1]: k for k, name in enumerate(names) if isinstance(name, tuple)}
    return index


def channel_text(problem: Problem, position: int) -> str:
    """``arc u -> v``, ``link u - v``, ``node u`` or ``the total``, in the user's labels."""
    name = channel_names(problem, [position])[0]
    if problem.measured in ("arc", "link") and isinstance(name, tuple):
        return (
            f"{problem.measured} {name[0]} {'->' if problem.measured == 'arc' else '-'} {name[1]}"
        )
    return "the total" if problem.measured == "total" else f"node {name}"


def channel_columns(problem: Problem) -> tuple[str, ...]:
    """The columns that name a measured number in a table; the total needs none."""
    return {"node": ("node",), "total": ()}.get(problem.measured, ("source", "target"))
