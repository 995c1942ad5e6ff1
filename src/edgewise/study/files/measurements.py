"""What users tell: an array in arc order, or values with the labels of the arc's two nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.rewards import checked_rewards, refuse_absurd
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidRewards
from edgewise.formats.edge_list import ENDS
from edgewise.network.graph import Graph

Measurements: TypeAlias = ArrayLike | Mapping[Any, Any] | Any
"""An array (m,) in ``graph.arcs`` order; a mapping ``{(u, v): value}``; or a data frame with the
columns source, target (or from, to; u, v) and reward. NaN or None where missing."""


def read_measurements(problem: Problem, told: Measurements) -> tuple[Indices, Array]:
    """Which arcs (k,) were named, in increasing order, and their values (k,), NaN if missing."""
    graph = problem.graph
    if hasattr(told, "columns"):
        arcs, values = _located(graph, _rows(told))
    elif hasattr(told, "items") and not isinstance(told, np.ndarray):
        arcs, values = _located(graph, told.items())
    else:
        arcs, values = np.arange(graph.n_arcs), checked_rewards(told, problem)
    everything = np.full(graph.n_arcs, np.nan)
    everything[arcs] = values
    refuse_absurd(problem, everything)
    return arcs, values


def arc_name(graph: Graph, arc: int) -> str:
    """``u -> v`` in the user's labels."""
    i, j = graph.arcs[arc].tolist()
    return f"{graph.labels[i]} -> {graph.labels[j]}"


def _rows(frame: Any) -> Iterable[tuple[Any, Any]]:
    """``((source, target), reward)`` of every row."""
    names = {str(name).casefold(): name for name in frame.columns}
    ends = next((pair for pair in ENDS if pair[0] in names and pair[1] in names), None)
    value = next((name for name in ("reward", "value") if name in names), None)
    if ends is None or value is None:
        wanted = " or ".join(f"{a} and {b}" for a, b in ENDS)
        raise InvalidRewards(
            f"the columns are {', '.join(map(str, frame.columns))}; there must be {wanted}, the "
            "two nodes of an arc, and reward (or value): rename them; nothing was recorded"
        )
    first, second, rewards = (frame[names[name]] for name in (*ends, value))
    return zip(zip(first, second, strict=True), rewards, strict=True)


def _located(graph: Graph, rows: Iterable[tuple[Any, Any]]) -> tuple[Indices, Array]:
    labels = graph.labels
    index = {(labels[i], labels[j]): arc for arc, (i, j) in enumerate(graph.arcs.tolist())}
    found: dict[int, float] = {}
    for ends, value in rows:
        arc = index.get(ends) if isinstance(ends, tuple) else None
        if arc is None:
            raise InvalidRewards(_unknown(graph, ends))
        number = _number(graph, arc, value)
        if arc in found and found[arc] != number:
            raise InvalidRewards(
                f"arc {arc_name(graph, arc)} has two values, {found[arc]} and {number}; give one; "
                "nothing was recorded"
            )
        found[arc] = number
    arcs = np.array(sorted(found), np.int64)
    return arcs, np.array([found[arc] for arc in arcs.tolist()], float)


def _number(graph: Graph, arc: int, value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except (TypeError, ValueError) as error:
        raise InvalidRewards(
            f"the value of arc {arc_name(graph, arc)} is {value!r}; it must be a number, NaN or "
            "None where missing; nothing was recorded"
        ) from error


def _unknown(graph: Graph, ends: Any) -> str:
    if not (isinstance(ends, tuple) and len(ends) == 2):
        return f"{ends!r} is not an arc; name it (from, to) by its two nodes; nothing was recorded"
    nodes = set(graph.labels)
    strangers = [node for node in ends if node not in nodes]
    if strangers:
        return f"no node is called {strangers[0]!r}; check the labels; nothing was recorded"
    return (
        f"no arc goes from {ends[0]!r} to {ends[1]!r}; measurements are told per arc of the graph "
        "(graph.arcs); nothing was recorded"
    )
