"""One allocation on partitions under way: starts, sweeps, annealing, bounds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from edgewise.allocation.bounds.rounding import gamma
from edgewise.allocation.improve.random_words import gumbel_table
from edgewise.allocation.improve.schedule import heat, variances
from edgewise.allocation.improve.soft import first_laws, likeliest, temperatures
from edgewise.allocation.instance.result import Allocation, meets
from edgewise.allocation.starts.mean_field import law_for
from edgewise.base.arrays import Array, Indices
from edgewise.cluster.allocation.bounding import bound_all
from edgewise.cluster.allocation.starting import best_two_arms, greedy, greedy_cut
from edgewise.cluster.allocation.sweeps import Step, propose, relax, settle, stir, worth
from edgewise.cluster.engine import Engine, Handle
from edgewise.cluster.partitions.graph import PartitionedGraph
from edgewise.cluster.partitions.ranges import NodeRange
from edgewise.errors import InvalidArgument

_PARTS = 8
"""Steps of a sweep: an eighth of the nodes moves at a time, so few neighbours move together."""
_SOFT_PARTS = 16
"""Steps of a soft sweep: over-relaxation needs neighbours that are up to date."""
_ENOUGH = 1e-4
"""A sweep that moves a smaller part of the nodes is the last."""
_WARM = 0.88
"""Part of the sweeps in which annealing draws arms; in the others nodes take the best."""
_HOT, _COOLING = 2.4, 6.0
"""Where annealing begins, in units of one machine's reheats, and how many times colder it ends."""
_MANY = 20
"""Sweeps that are enough for two ways to begin, each with half of them."""
_LARGEST = 1 << 30
"""Bytes of laws up to which they are sent to all workers."""


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
        simple = {"bipartite": self.bipartite, "two-arm": self.two_arm, "greedy": self.greedy}
        if method in simple:
            arms = simple[method]()
            return arms, self.value(arms), method
        if start is None:
            arms, value, name = self.best_start()
        else:
            arms, value, name = start, self.value(start), "start"
        if not self.graph.has_negative_weights and meets(value, self._extremes()[1]):
            return arms, value, name
        if method == "best-response" or (method == "auto" and start is not None):
            return *self.improve(arms, value, sweeps), "best-response"
        if method == "auto" and sweeps > 2:  # one sweep tells what the start is good for
            arms, value = self.improve(arms, value, 1)
            sweeps -= 1
        found, reached = self.annealed(arms if method == "anneal" else None, sweeps)
        if reached >= value:
            return found, reached, "anneal"
        return *self.improve(arms, value, sweeps), "best-response"

    def annealed(self, start: Indices | None, sweeps: int) -> tuple[Indices, float]:
        """Most sweeps draw arms or move laws, the last are best response; of both, the better.

        Without a start from random arms. A start in a bad phase is not left by then: what is
        random finds a better one.
        """
        if start is not None or self.graph.n_nodes * self.tables.shape[-1] > _LARGEST:
            return self._cooled(self.anneal, start, sweeps)
        if sweeps < _MANY:
            return self._cooled(self.soften, None, sweeps)
        ways = ((self.soften, sweeps // 2), (self.anneal, sweeps - sweeps // 2))
        ends = [self._cooled(way, None, some) for way, some in ways]
        return max(ends, key=lambda end: end[1])

    def _cooled(
        self, way: Callable[[Indices, int], Indices], start: Indices | None, sweeps: int
    ) -> tuple[Indices, float]:
        if start is None:
            size, rng = self.graph.n_nodes, np.random.default_rng(self.seed)
            start = rng.integers(self.tables.shape[-1], size=size, dtype=np.uint8)
        last = max(1, round((1.0 - _WARM) * sweeps))
        arms = way(start, sweeps - last)
        return self.improve(arms, self.value(arms), last)

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

    def best_start(self) -> tuple[Indices, float, str]:
        """The best of a common arm, two arms and the greedy pass."""
        (arm, value), method = self.common(), "common arm"
        best: Indices = np.full(self.graph.n_nodes, arm, np.uint8)
        self._told("common arm", value)
        for name, start in (("two-arm", self.two_arm), ("greedy", self.greedy)):
            arms = start()
            reached = self.value(arms)
            self._told(name, reached)
            if reached > value:
                best, value, method = arms, reached, name
        return best, value, method

    def value(self, arms: Indices) -> float:
        """F(a)."""
        rows, now = self.engine.share(self.rows), self.engine.broadcast(arms)
        tasks = [self.engine.submit(worth, one, rows, now) for one in self.graph.ranges]
        return math.fsum(self.engine.result(task) for task in tasks)

    def steps(self, sweep: int, parts: int = _PARTS) -> list[Step]:
        """Of a sweep; a single range has nobody to conflict with, and takes one."""
        n_parts = parts if len(self.graph.ranges) > 1 else 1
        return [Step(self.seed, parts * sweep + part, n_parts, part) for part in range(n_parts)]

    def improve(self, arms: Indices, value: float, sweeps: int) -> tuple[Indices, float]:
        """Best response until hardly a node moves, or for so many sweeps."""
        for sweep in range(sweeps):
            moves = 0
            for step in self.steps(sweep):
                arms, gain, moved = self._step(arms, step)
                value, moves = value + gain, moves + moved
            self._told(f"sweep {sweep + 1}", value)
            if moves <= _ENOUGH * self.graph.n_nodes:
                break
        return arms, self.value(arms)

    def anneal(self, arms: Indices, sweeps: int) -> Indices:
        """(n,) arms drawn by what they bring, more and more for the best."""
        hot = self.heat()
        rows = self.engine.share(self.rows)
        noise = self.engine.share(gumbel_table(np.random.default_rng(self.seed)))
        for sweep, temperature in enumerate(np.linspace(hot, hot / _COOLING, sweeps).tolist()):
            for step in self.steps(sweep):
                arms = self._stir(arms, rows, noise, step, temperature)
            if self._progress is not None:
                self._told(f"annealing {sweep + 1}", self.value(arms))
        return arms

    def soften(self, arms: Indices, sweeps: int) -> Indices:
        """(n,) the likeliest arms after sweeps in which nodes hold laws, a byte per arm."""
        rows, laws = self.engine.share(self.rows), first_laws(arms, self.tables.shape[-1])
        for sweep, heat_ in enumerate(temperatures(self.heat() / _HOT, sweeps)):
            for step in self.steps(sweep, _SOFT_PARTS):
                laws = self._relax(laws, rows, step, heat_)
            if self._progress is not None:
                self._told(f"soft sweep {sweep + 1}", self.value(likeliest(laws)))
        return likeliest(laws)

    def heat(self) -> float:
        """Where annealing begins, in units of F: most moves are accepted, whatever the start."""
        graph, K = self.graph, self.tables.shape[-1]
        law = np.full(K, 1.0 / K)
        sides = 2 if graph.directed else 1
        links = np.tile(np.array(graph.summary.squares), sides) * (2 // sides)
        square = float(links @ variances(self.rows[:, :-1], law))
        return _HOT * heat(square, graph.n_nodes, law)

    def _stir(
        self, arms: Indices, rows: Handle, noise: Handle, step: Step, temperature: float
    ) -> Indices:
        """A step of annealing. It may lower F: only where annealing ends is compared."""
        engine, ranges, now = self.engine, self.graph.ranges, self.engine.broadcast(arms)
        tasks = [engine.submit(stir, one, rows, now, noise, step, temperature) for one in ranges]
        return _replaced(arms, step, ranges, [engine.result(task) for task in tasks])

    def _relax(self, laws: Indices, rows: Handle, step: Step, temperature: float) -> Indices:
        """A step of a soft sweep."""
        engine, ranges, now = self.engine, self.graph.ranges, self.engine.broadcast(laws)
        tasks = [engine.submit(relax, one, rows, now, step, temperature) for one in ranges]
        return _replaced(laws, step, ranges, [engine.result(task) for task in tasks])

    def _step(self, arms: Indices, step: Step) -> tuple[Indices, float, int]:
        """A step of best response: the joint arm, what it gained, how many moved or wanted to."""
        engine, ranges = self.engine, self.graph.ranges
        rows, now = engine.share(self.rows), engine.broadcast(arms)
        tasks = [engine.submit(propose, one, rows, now, step) for one in ranges]
        moved = [engine.result(task) for task in tasks]
        moves = sum(one.moves for one in moved)
        if not moves:
            return arms, 0.0, 0
        wanted = _replaced(arms, step, ranges, [one.arms for one in moved])
        then = engine.broadcast(wanted)
        tasks = [engine.submit(settle, one, rows, now, then, step) for one in ranges]
        settled = [engine.result(task) for task in tasks]
        together = math.fsum([*(one.gain for one in moved), *(one.conflict for one in settled)])
        apart = math.fsum(one.gain for one in settled)
        if together >= apart:
            return wanted, together, moves
        return _replaced(arms, step, ranges, [one.kept for one in settled]), apart, moves

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


def _replaced(arms: Indices, step: Step, ranges: list[NodeRange], parts: list[Indices]) -> Indices:
    """(n,) with the nodes of a step as the ranges say."""
    found = arms.copy()
    for one, part in zip(ranges, parts, strict=True):
        found[step.nodes(one)] = part
    return found


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
