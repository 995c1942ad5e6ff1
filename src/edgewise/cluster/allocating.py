"""Which arm for whom, on a partitioned graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.bounds.rounding import gamma
from edgewise.allocation.instance.result import Allocation, meets
from edgewise.allocation.instance.tables import checked_tables, tables_of
from edgewise.allocation.starts.mean_field import law_for
from edgewise.base.arrays import Array, Indices
from edgewise.base.border import border
from edgewise.base.checks import one_of, whole
from edgewise.base.randomness import Rng, draw_seed
from edgewise.cluster.bounding import bound_all
from edgewise.cluster.engine import Engine, working_on
from edgewise.cluster.graph import PartitionedGraph
from edgewise.cluster.starting import best_two_arms, greedy, greedy_cut
from edgewise.cluster.sweeps import Step, propose, settle, worth
from edgewise.errors import InvalidArgument
from edgewise.network.arms import checked_arms

METHODS = ("auto", "bipartite", "two-arm", "greedy", "best-response", "anneal")
"""What :func:`allocate` knows."""
_PARTS = 4
"""Steps of a sweep: a quarter of the nodes moves at a time, so few neighbours move together."""
_ENOUGH = 1e-4
"""A sweep that moves a smaller part of the nodes is the last."""
_WARM = 0.7
"""Part of the sweeps in which annealing draws arms; in the others nodes take the best."""
_HOT, _COLD = 1.0, 0.05
"""Temperatures of annealing, in units of how much a node's reward varies by its neighbours."""


@border
def allocate(
    graph: Any,
    arms: ArrayLike,
    matrix: ArrayLike,
    *,
    beta: ArrayLike | None = None,
    method: str = "auto",
    sweeps: int = 10,
    bound: str | None = "fast",
    start: ArrayLike | None = None,
    rng: Rng = 0,
    dask: Any = None,
    progress: Callable[[str, float], None] | None = None,
) -> Allocation:
    """A good arm for every node of a partitioned graph, and what nobody can exceed.

    Parameters
    ----------
    graph
        A :class:`PartitionedGraph`.
    arms, matrix, beta
        As in :func:`edgewise.allocate`.
    method
        ``"bipartite"`` (Algorithm 1), ``"two-arm"``, ``"greedy"``: one pass. ``"best-response"``:
        sweeps from ``start``, or from the best of those and a common arm; they never lower the
        global reward. ``"anneal"``: in most of the sweeps nodes draw arms by what they bring, the
        better the later, then best response; never below the start. ``"auto"``: best response.
    sweeps
        How often every node looks, at most.
    bound
        ``"fast"``: odd cycles packed inside partitions; ``"edge-by-edge"``: from the summary, in no
        time; None: the same.
    start
        (n,) a joint arm to start from.
    rng
        Seed: the result is the same for any number of workers.
    dask
        The address of a scheduler, ``"local"``, a client; None to work in this process.
    progress
        Called with what was done and the global reward so far.
    """
    _check_graph(graph)
    tables = tables_of(checked_arms(arms), matrix, beta, n_kinds=graph.n_kinds)
    return allocate_table(
        graph,
        tables,
        method=method,
        sweeps=sweeps,
        bound=bound,
        start=start,
        rng=rng,
        dask=dask,
        progress=progress,
    )


@border
def allocate_table(
    graph: Any,
    tables: ArrayLike,
    *,
    method: str = "auto",
    sweeps: int = 10,
    bound: str | None = "fast",
    start: ArrayLike | None = None,
    rng: Rng = 0,
    dask: Any = None,
    progress: Callable[[str, float], None] | None = None,
) -> Allocation:
    """The same from the rewards of an arc by the arms at its ends, (K, K) or (q, K, K)."""
    _check_graph(graph)
    one_of("method", method, METHODS)
    if bound is not None:
        one_of("bound", bound, ("fast", "edge-by-edge"))
    whole("sweeps", sweeps, least=1, most=10**6)
    checked = checked_tables(tables, graph.n_kinds)
    first = None if start is None else _checked_start(start, graph.n_nodes, checked.shape[-1])
    with working_on(dask) as engine:
        work = Work(engine, graph, checked, draw_seed(rng), progress)
        found, value, by = work.run(method, sweeps, first)
        return work.certified(found, value, by, cycles=bound == "fast")


class Work:
    """One allocation under way: where it is done, and of what."""

    def __init__(
        self,
        engine: Engine,
        graph: PartitionedGraph,
        tables: Array,
        seed: int,
        progress: Callable[[str, float], None] | None = None,
    ) -> None:
        self.engine, self.graph, self.seed = engine, graph, seed
        if tables.shape[-1] > 255:
            raise InvalidArgument(
                f"there are {tables.shape[-1]} arms; on partitions an arm is a byte: at most 255"
            )
        if not graph.directed:
            tables = 0.5 * tables + 0.5 * tables.transpose(0, 2, 1)
        self.tables = tables
        self.rows = _rows(graph, tables)
        self._progress = progress

    def run(self, method: str, sweeps: int, start: Indices | None) -> tuple[Indices, float, str]:
        """The joint arm, its value, and what found it."""
        if method in ("bipartite", "two-arm", "greedy"):
            arms = {"bipartite": self.bipartite, "two-arm": self.two_arm, "greedy": self.greedy}[
                method
            ]()
            return arms, self.value(arms), method
        arms, value = self.best_start() if start is None else (start, self.value(start))
        if method != "anneal":
            return *self.improve(arms, value, sweeps), "best-response"
        warm = math.ceil(_WARM * sweeps)
        found, reached = self.improve(*self.anneal(arms, value, warm), max(1, sweeps - warm))
        return (found, reached, "anneal") if reached >= value else (arms, value, "start")

    def bipartite(self) -> Indices:
        """(n,) Algorithm 1."""
        graph = self.graph
        if graph.directed or graph.n_kinds > 1:
            raise InvalidArgument(
                "Algorithm 1 is defined for undirected edges of one kind; use method='auto' or "
                "'best-response'"
            )
        k, l = np.unravel_index(int(self.tables[0].argmax()), self.tables[0].shape)
        return np.where(greedy_cut(self.engine, graph), np.uint8(l), np.uint8(k))

    def two_arm(self) -> Indices:
        """(n,) the best two arms for Algorithm 1's cut."""
        cut = greedy_cut(self.engine, self.graph)
        return best_two_arms(self.engine, self.graph, self.tables, cut)

    def greedy(self) -> Indices:
        """(n,) one pass by expected rewards."""
        return greedy(self.engine, self.graph, self.rows, self.seed)

    def _told(self, what: str, value: float) -> None:
        if self._progress is not None:
            self._progress(what, value)

    def common(self) -> tuple[int, float]:
        """The best arm for everybody, and what it is worth: known from the summary."""
        strength = self.graph.n_directions * np.array(self.graph.summary.weights)
        worths = strength @ np.diagonal(self.tables, axis1=1, axis2=2)
        return int(worths.argmax()), float(worths.max())

    def best_start(self) -> tuple[Indices, float]:
        """The best of a common arm, two arms and the greedy pass."""
        arm, value = self.common()
        best: Indices = np.full(self.graph.n_nodes, arm, np.uint8)
        self._told("common arm", value)
        for name, start in (("two-arm", self.two_arm), ("greedy", self.greedy)):
            arms = start()
            reached = self.value(arms)
            self._told(name, reached)
            if reached > value:
                best, value = arms, reached
        return best, value

    def value(self, arms: Indices) -> float:
        """F(a)."""
        rows, now = self.engine.share(self.rows), self.engine.broadcast(arms)
        tasks = [self.engine.submit(worth, one, rows, now) for one in self.graph.ranges]
        return math.fsum(self.engine.result(task) for task in tasks)

    def improve(self, arms: Indices, value: float, sweeps: int) -> tuple[Indices, float]:
        """Best response until hardly a node moves, or for so many sweeps."""
        for sweep in range(sweeps):
            moves = 0
            for part in range(_PARTS):
                step = Step(self.seed, 1 + _PARTS * sweep + part, _PARTS, part)
                arms, gain, moved = self._step(arms, step)
                value, moves = value + gain, moves + moved
            self._told(f"sweep {sweep + 1}", value)
            if moves <= _ENOUGH * self.graph.n_nodes:
                break
        return arms, self.value(arms)

    def anneal(self, arms: Indices, value: float, sweeps: int) -> tuple[Indices, float]:
        """Arms drawn by what they bring, more and more for the best: what is left at the end."""
        degree = self.graph.n_arcs / self.graph.n_nodes
        unit = float(self.rows[:, :-1].std()) * math.sqrt(degree)
        for sweep, share in enumerate(np.geomspace(_HOT, _COLD, sweeps)):
            for part in range(_PARTS):
                number = 2**31 + _PARTS * sweep + part  # draws of their own
                step = Step(self.seed, number, _PARTS, part, unit * float(share))
                arms, gain, _ = self._step(arms, step)
                value += gain
            self._told(f"annealing {sweep + 1}", value)
        return arms, value

    def _step(self, arms: Indices, step: Step) -> tuple[Indices, float, int]:
        """One step: the joint arm after it, what it gained, and how many moved or wanted to."""
        engine, ranges = self.engine, self.graph.ranges
        rows, now = engine.share(self.rows), engine.broadcast(arms)
        tasks = [engine.submit(propose, one, rows, now, step) for one in ranges]
        moved = [engine.result(task) for task in tasks]
        moves = sum(one.moves for one in moved)
        if not moves:
            return arms, 0.0, 0
        wanted = np.concatenate([one.arms for one in moved])
        then = engine.broadcast(wanted)
        tasks = [engine.submit(settle, one, rows, now, then, step) for one in ranges]
        settled = [engine.result(task) for task in tasks]
        together = math.fsum([*(one.gain for one in moved), *(one.conflict for one in settled)])
        apart = math.fsum(one.gain for one in settled)
        if together >= apart or step.temperature > 0.0:
            return wanted, together, moves
        return np.concatenate([one.kept for one in settled]), apart, moves

    def certified(self, arms: Indices, value: float, method: str, *, cycles: bool) -> Allocation:
        """With what no allocation can exceed."""
        if cycles or self.graph.has_negative_weights:
            lower, bound = bound_all(self.engine, self.graph, self.tables, cycles=cycles)
            upper, name = bound.value, bound.name
        else:
            lower, upper = self._extremes()
            name = "edge-by-edge"
        proved = meets(value, upper)
        return Allocation(
            arms, value, max(upper, value), min(lower, value), method, proved, bound=name
        )

    def _extremes(self) -> tuple[float, float]:
        """Every edge at its worst and at its best, from the summary; weights are at least 0."""
        strength = self.graph.n_directions * np.array(self.graph.summary.weights)
        size = float(strength @ np.abs(self.tables).max(axis=(1, 2)))
        # weights were summed one by one in a partition
        slack = gamma(max(self.graph.summary.sizes) + len(self.graph.summary.sizes)) * size
        slack = slack if self.graph.summary.has_weights else gamma(4) * size
        least = float(strength @ self.tables.min(axis=(1, 2)))
        return least - slack, float(strength @ self.tables.max(axis=(1, 2))) + slack


def _rows(graph: PartitionedGraph, tables: Array) -> Array:
    """(slots, K + 1, K) what an edge brings by one's own arm, given the other's.

    The last row is for a neighbour that has not chosen: the mean over a good law.
    """
    strength = graph.n_directions * np.array(graph.summary.weights)
    mean = np.tensordot(strength, tables, 1)
    law = law_for(0.5 * (mean + mean.T))
    sides = [graph.n_directions * tables]
    if graph.directed:  # as the first node of the edge, and as the second
        sides = [tables.transpose(0, 2, 1), tables]
    rows = np.concatenate(sides)
    undecided = np.einsum("l,slk->sk", law, rows)
    return np.ascontiguousarray(np.concatenate([rows, undecided[:, None]], axis=1))


def _check_graph(graph: Any) -> None:
    if not isinstance(graph, PartitionedGraph):
        raise InvalidArgument(
            f"graph is a {type(graph).__name__}; it must be a PartitionedGraph: graphs in memory "
            "are for edgewise.allocate",
            argument="graph",
        )


def _checked_start(start: ArrayLike, n_nodes: int, n_arms: int) -> Indices:
    from edgewise.allocation.instance.objective import checked_joint_arm

    return checked_joint_arm(start, n_nodes, n_arms).astype(np.uint8)
