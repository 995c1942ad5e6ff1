"""The network as a figure: every node while they can be told apart, else groups of neighbours."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.model.problem import Problem

_NODES = 1500
"""So many nodes are drawn one by one."""
_GRID = 36
"""Groups are the cells of a grid of so many columns and rows."""
_EDGES = 4000
"""So many lines are drawn, the heaviest first."""
_NAMED = 60
"""So many nodes have room for their names."""


def network_figure(problem: Problem, arms: Indices, positions: Array) -> dict[str, Any]:
    """Traces of edges and nodes, coloured by arm."""
    names = [str(label) for label in problem.arm_labels or range(problem.n_arms)]
    width, height = np.ptp(positions, axis=0)
    if height > width:  # screens are wider than high
        positions = positions[:, ::-1]
    if problem.graph.n_nodes <= _NODES:
        return _each(problem, arms, positions, names)
    return _grouped(problem, arms, positions, names)


def _each(problem: Problem, arms: Indices, positions: Array, names: list[str]) -> dict[str, Any]:
    labels = [str(label) for label in problem.graph.labels]
    size = float(np.clip(260 / np.sqrt(len(labels)), 5, 26))
    traces = [_edges(positions, problem.graph.edges)]
    for arm in np.unique(arms).tolist():
        at = np.flatnonzero(arms == arm)
        texts = [escape(labels[node]) for node in at.tolist()]
        trace = _nodes(positions[at], arm, f"{names[arm]} ({len(at)})", size)
        trace["mode"] = "markers+text" if len(labels) <= _NAMED else "markers"
        trace |= {"text": texts, "textposition": "bottom center"}
        trace["hovertemplate"] = f"%{{text}}: {escape(names[arm])}<extra></extra>"
        traces.append(trace)
    return {"traces": traces, "bare": True}


def _grouped(problem: Problem, arms: Indices, positions: Array, names: list[str]) -> dict[str, Any]:
    """A mark per cell of a grid: its most frequent arm, its share, its size by its nodes."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    scaled = (positions - low) / np.where(high > low, high - low, 1.0)
    cell = np.minimum((scaled * _GRID).astype(np.int64), _GRID - 1) @ np.array([_GRID, 1])
    cells, group = np.unique(cell, return_inverse=True)
    counts = np.zeros((len(cells), len(names)), np.int64)
    np.add.at(counts, (group, arms), 1)
    total = counts.sum(axis=1)
    centres = np.column_stack([np.bincount(group, positions[:, axis]) / total for axis in (0, 1)])
    leading = counts.argmax(axis=1)
    traces = [_edges(centres, _heaviest(group[problem.graph.edges], len(cells)))]
    for arm in np.unique(leading).tolist():
        at = np.flatnonzero(leading == arm)
        sizes = np.clip(3 + 2 * np.sqrt(total[at]), 4, 22).round(1).tolist()
        trace = _nodes(centres[at], arm, f"mostly {names[arm]}", sizes)
        trace["text"] = [_said(counts[one], names) for one in at.tolist()]
        trace["hovertemplate"] = "%{text}<extra></extra>"
        traces.append(trace)
    note = (
        f"{len(arms)} nodes, drawn as {len(cells)} groups of neighbours; the file has every node."
    )
    return {"traces": traces, "bare": True, "note": note}


def _heaviest(ends: Indices, n: int) -> Indices:
    """The pairs of groups that most edges join."""
    ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    keys, times = np.unique(ends[:, 0] * n + ends[:, 1], return_counts=True)
    keys = keys[np.argsort(-times, kind="stable")[:_EDGES]]
    return np.column_stack(np.divmod(keys, n))


def _said(counts: Indices, names: list[str]) -> str:
    order = np.argsort(-counts, kind="stable")
    parts = [f"{escape(names[arm])} {counts[arm]}" for arm in order.tolist()[:4] if counts[arm]]
    return f"{int(counts.sum())} nodes: {', '.join(parts)}"


def _edges(positions: Array, edges: Indices) -> dict[str, Any]:
    ends = positions[edges[:_EDGES]]
    gaps = np.full((len(ends), 1), np.nan)
    x, y = (np.hstack([ends[:, :, axis], gaps]).round(4).ravel() for axis in (0, 1))
    return {
        "type": "scatter", "mode": "lines", "x": _listed(x), "y": _listed(y), "hoverinfo": "skip",
        "showlegend": False, "colour": "edge", "line": {"width": 1 if len(ends) < 800 else 0.5},
    }  # fmt: skip


def _nodes(at: Array, arm: int, name: str, size: Any) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "x": at[:, 0].round(4).tolist(),
        "y": at[:, 1].round(4).tolist(), "name": escape(name), "colour": arm, "symbol": arm,
        "marker": {"size": size},
    }  # fmt: skip


def _listed(values: Array) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]
