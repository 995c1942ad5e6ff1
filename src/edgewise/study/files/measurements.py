"""What users tell: an array in order, or values by name: of two nodes, of a node, or none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices
from edgewise.base.wording import shown
from edgewise.core.evidence.rewards import checked_rewards, refuse_absurd
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidRewards
from edgewise.formats.channels import TOTAL, channel_index, channel_text
from edgewise.formats.edge_list import ENDS
from edgewise.formats.table import number

Measurements: TypeAlias = ArrayLike | Mapping[Any, Any] | Any
"""Of arcs, an array (m,) in ``graph.arcs`` order; a mapping ``{(u, v): value}``; or a data frame
with the columns source, target (or from, to; u, v) and reward. Of links, the same in
``graph.edges`` order (E,), the two nodes in either order. Of nodes, (n,), ``{node: value}``, or the
columns node and reward. Of the total, a number or ``{"total": value}``. NaN or None where missing.
"""


def read_measurements(problem: Problem, told: Measurements) -> tuple[Indices, Array]:
    """Which numbers (k,) were named, in increasing order, and their values (k,), NaN if missing."""
    if hasattr(told, "columns"):
        which, values = _located(problem, _rows(problem, told))
    elif hasattr(told, "items") and not isinstance(told, np.ndarray):
        which, values = _located(problem, told.items())
    else:
        which, values = np.arange(problem.n_rewards), checked_rewards(told, problem)
    everything = np.full(problem.n_rewards, np.nan)
    everything[which] = values
    refuse_absurd(problem, everything)
    return which, values


def _rows(problem: Problem, frame: Any) -> Iterable[tuple[Any, Any]]:
    """``(name, reward)`` of every row."""
    columns = {str(name).casefold(): name for name in frame.columns}
    value = next((columns[name] for name in ("reward", "value") if name in columns), None)
    ends = next((pair for pair in _naming(problem) if set(pair) <= set(columns)), None)
    if ends is None or value is None:
        raise InvalidRewards(
            f"the columns are {', '.join(map(str, frame.columns))}; there must be "
            f"{_wanted(problem)}reward (or value): rename them; nothing was recorded"
        )
    rewards = frame[value]
    if not ends:
        return ((TOTAL, reward) for reward in rewards)
    if len(ends) == 1:
        return zip(frame[columns[ends[0]]], rewards, strict=True)
    first, second = (frame[columns[name]] for name in ends)
    return zip(zip(first, second, strict=True), rewards, strict=True)


def _naming(problem: Problem) -> tuple[tuple[str, ...], ...]:
    """The columns that may say what was measured."""
    if problem.measured == "total":
        return ((),)
    return (("node",),) if problem.measured == "node" else ENDS


def _wanted(problem: Problem) -> str:
    if problem.measured == "total":
        return ""
    if problem.measured == "node":
        return "node, as this study measures one number per node, and "
    pairs = " or ".join(f"{a} and {b}" for a, b in ENDS)
    return f"{pairs}, the two nodes of {'an arc' if problem.measured == 'arc' else 'a link'}, and "


def _located(problem: Problem, rows: Iterable[tuple[Any, Any]]) -> tuple[Indices, Array]:
    index = channel_index(problem)
    found: dict[int, float] = {}
    for name, value in rows:
        position = _position(index, name)
        if position is None:
            raise InvalidRewards(f"{_unknown(problem, name)}; nothing was recorded")
        reward = _number(problem, position, value)
        if position in found and found[position] != reward:
            raise InvalidRewards(
                f"{channel_text(problem, position)} has two values, {found[position]} and "
                f"{reward}; give one; nothing was recorded"
            )
        found[position] = reward
    which = np.array(sorted(found), np.int64)
    return which, np.array([found[position] for position in which.tolist()], float)


def _position(index: Mapping[Any, int], name: Any) -> int | None:
    try:
        return index.get(name)
    except TypeError:  # a list, say: nothing is called that
        return None


def _number(problem: Problem, position: int, value: Any) -> float:
    found = np.nan if value is None else number(value)
    if found is None or isinstance(value, str):
        raise InvalidRewards(
            f"the value of {channel_text(problem, position)} is {shown(value)}; it must be a "
            "number, NaN or None where missing; nothing was recorded"
        )
    return found


def _unknown(problem: Problem, name: Any) -> str:
    """Why nothing is measured under a name, and what to write."""
    nodes = set(problem.graph.labels)
    if problem.measured == "total":
        return f"{name!r} is not the total; one number is measured per round: tell it alone"
    if problem.measured == "node":
        if isinstance(name, tuple) and len(name) == 2 and set(name) <= nodes:
            return f"{name!r} names two nodes; one number is measured per node: name that node"
        return f"no node is called {name!r}; check the labels"
    of_arc = problem.measured == "arc"
    if not (isinstance(name, tuple) and len(name) == 2):
        remedy = "an arc; name it (from, to) by its two nodes"
        return f"{name!r} is not {remedy if of_arc else 'a link; name it by its two nodes'}"
    strangers = [node for node in name if node not in nodes]
    if strangers:
        return f"no node is called {strangers[0]!r}; check the labels"
    if of_arc:
        return (
            f"no arc goes from {name[0]!r} to {name[1]!r}; measurements are told per arc of the "
            "graph (graph.arcs)"
        )
    return f"no link joins {name[0]!r} and {name[1]!r}; measurements are told per edge of the graph"
