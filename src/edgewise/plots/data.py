"""Plot data of one problem or one run: design, estimate, allocation, rounds."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, as_floats, frozen
from edgewise.base.border import border
from edgewise.core.design.g_optimal import Design
from edgewise.core.model.problem import Problem
from edgewise.core.report import Report
from edgewise.errors import InvalidArgument
from edgewise.network.graph import Graph
from edgewise.plots.layout import node_positions


@dataclass(frozen=True, eq=False)
class DesignData:
    """How often each arm is played."""

    arms: tuple[str, ...]
    weights: Array
    gap: float
    """Relative distance to the optimum, proved."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights, float))


@dataclass(frozen=True, eq=False)
class HeatMapData:
    """A matrix with named rows and columns, and the entries to mark."""

    values: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    title: str
    marked: tuple[tuple[int, int], ...] = ()
    """(row, column) of entries to frame, such as the best pair of arms."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values, float))


@dataclass(frozen=True, eq=False)
class GraphData:
    """A graph whose nodes carry an arm."""

    positions: Array
    """(n, 2)"""
    edges: Indices
    """(E, 2)"""
    directed: bool
    arms: Indices
    """(n,) arm of every node."""
    arm_names: tuple[str, ...]
    """(K,)"""
    node_names: tuple[str, ...]
    title: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", frozen(self.positions, float))
        object.__setattr__(self, "edges", frozen(self.edges, np.int64))
        object.__setattr__(self, "arms", frozen(self.arms, np.int64))


@dataclass(frozen=True, eq=False)
class HistogramData:
    """How many runs needed how many rounds."""

    edges: Array
    """(B + 1,) bounds of the bins."""
    counts: Indices
    """(B,)"""
    mean: float
    median: float
    n_uncertified: int
    """Runs cut off by the round limit: they would have needed more."""
    lower_bound: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", frozen(self.edges, float))
        object.__setattr__(self, "counts", frozen(self.counts, np.int64))


@border
def design_data(design: Design, arm_labels: Sequence[Hashable] | None = None) -> DesignData:
    """The weights of a design, by arm."""
    return DesignData(_names(arm_labels, len(design.weights)), design.weights, design.gap)


@border
def estimate_data(
    report: Report, *, of: Literal["rewards", "matrix"] = "rewards", kind: int = 0
) -> HeatMapData:
    """The estimate of a report as a heat map.

    ``of="rewards"``: reward of an edge by the arms at its two ends, the best pair marked.
    ``of="matrix"``: the entries of S (of M when edges are directed).
    """
    if not 0 <= kind < len(report.matrices):
        raise InvalidArgument(
            f"kind is {kind}; this problem has {len(report.matrices)} edge kind(s), numbered from 0"
        )
    if of == "matrix":
        axes = tuple(str(i + 1) for i in range(report.problem.dimension))
        symbol = "M" if report.problem.graph.directed else "S = (M + M')/2"
        return HeatMapData(report.matrices[kind], axes, axes, f"estimate of {symbol}")
    names = _names(report.problem.arm_labels, report.problem.n_arms)
    marked: tuple[tuple[int, int], ...] = ()
    if report.best_pairs:
        k, l = report.best_pairs[kind]
        both = ((k, l),) if report.problem.graph.directed or k == l else ((k, l), (l, k))
        marked = both
    return HeatMapData(report.tables[kind], names, names, "estimated reward of an edge", marked)


@border
def graph_data(
    graph: Graph,
    arms: ArrayLike,
    *,
    arm_labels: Sequence[Hashable] | None = None,
    positions: ArrayLike | None = None,
    title: str = "",
) -> GraphData:
    """A graph and the arm (n,) of every node; see :func:`~edgewise.plots.node_positions`."""
    joint = np.asarray(arms)
    if joint.shape != (graph.n_nodes,) or not np.issubdtype(joint.dtype, np.integer):
        raise InvalidArgument(
            f"arms have shape {joint.shape} and type {joint.dtype}; every node carries one arm: "
            f"pass {graph.n_nodes} arm indices"
        )
    n_arms = int(joint.max()) + 1 if arm_labels is None else len(arm_labels)
    if joint.min() < 0 or joint.max() >= n_arms:
        raise InvalidArgument(
            f"a node carries arm {int(joint.max())} and {n_arms} arm(s) have labels; "
            "pass one label per arm"
        )
    return GraphData(
        node_positions(graph, positions),
        graph.edges,
        graph.directed,
        joint,
        _names(arm_labels, n_arms),
        tuple(str(label) for label in graph.labels),
        title,
    )


@border
def allocation_data(report: Report, *, positions: ArrayLike | None = None) -> GraphData:
    """The recommended allocation of a report on its graph."""
    if report.allocation is None:
        raise InvalidArgument(
            f"after {report.rounds} round(s) nothing is estimable, so there is no allocation to "
            "draw; tell more rounds first"
        )
    problem: Problem = report.problem
    return graph_data(
        problem.graph,
        report.allocation.arms,
        arm_labels=problem.arm_labels or range(problem.n_arms),
        positions=positions,
        title=f"recommended allocation, estimated reward {report.allocation.value:.4g}",
    )


@border
def histogram_data(
    rounds: ArrayLike,
    *,
    certified: ArrayLike | None = None,
    lower_bound: float | None = None,
    n_bins: int | None = None,
) -> HistogramData:
    """Distribution of the rounds of repeated runs; bins are whole rounds wide."""
    values = as_floats("rounds", rounds, InvalidArgument, "pass the rounds of runs")
    if values.ndim != 1 or len(values) == 0:
        raise InvalidArgument(
            f"rounds have shape {values.shape}; a histogram needs at least one run: pass the "
            "rounds of simulation.replicate"
        )
    span = float(values.max() - values.min()) + 1.0
    wanted = n_bins or min(40, max(1, round(2 * len(values) ** (1 / 3))))
    width = max(1.0, np.ceil(span / wanted))
    first = values.min() - 0.5
    edges = first + width * np.arange(int(np.ceil(span / width)) + 1)
    counts, _ = np.histogram(values, edges)
    cut = 0 if certified is None else int((~np.asarray(certified, dtype=bool)).sum())
    return HistogramData(
        edges, counts, float(values.mean()), float(np.median(values)), cut, lower_bound
    )


def _names(labels: Sequence[Hashable] | None, n: int) -> tuple[str, ...]:
    names = tuple(str(label) for label in (range(n) if labels is None else labels))
    if len(names) != n:
        raise InvalidArgument(f"{len(names)} label(s) for {n} arm(s); pass one label per arm")
    return names
