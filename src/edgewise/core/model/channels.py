r"""What is measured every round: channels, and how the parameters feed them.

A channel c is one number that is measured every round,

.. math:: r_c = a_c + \sum_{e \in c} s_e\, \phi(a_i, a_j)^\top \theta_e
          + x_{a_c}^\top\beta_c + \text{noise} ,

with the arcs (or links) e that end in it, their weights s and, at a node, its own term. All of it
is linear in the parameters.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.core.model.cells import raw_features
from edgewise.core.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Measurement:
    """Which arcs feed which channel, with what weight."""

    problem: Problem
    n_channels: int
    channel: Indices
    """(T,) the channel that each term feeds, ascending."""
    edge: Indices
    """(T,) the edge of each term."""
    first: Indices
    """(T,) the node whose arm is the first of its pair."""
    second: Indices
    """(T,)"""
    scale: Array
    """(T,) known factor of the term."""
    features: Array
    """(K, K, p0) what multiplies an edge's parameters, by the arms of the pair."""
    averages_directions: bool = False
    """Whether the two rewards of an undirected edge make one channel: their mean."""

    @classmethod
    def of(cls, problem: Problem) -> Measurement:
        """The terms of every channel."""
        graph = problem.graph
        weights = graph.weight_of_edge
        edge = np.arange(len(graph.edges))
        first, second = graph.edges.T
        scale, channel, n_channels = weights, edge, len(edge)
        if problem.measured == "link":  # both directions together
            scale = 2.0 * weights
        elif problem.measured == "total":
            scale, channel, n_channels = graph.n_directions * weights, np.zeros_like(edge), 1
        elif problem.measured == "node":
            n_channels = graph.n_nodes
            first, second = graph.arcs.T
            edge, channel = np.repeat(edge, graph.n_directions), second
            scale = np.repeat(weights, graph.n_directions)
            if problem.average:
                scale = scale / np.bincount(second, minlength=n_channels)[second]
        order = np.argsort(channel, kind="stable")
        return cls(
            problem,
            n_channels,
            frozen(channel[order], np.int64),
            frozen(edge[order], np.int64),
            frozen(first[order], np.int64),
            frozen(second[order], np.int64),
            frozen(scale[order], float),
            frozen(raw_features(problem), float),
            problem.measured == "arc" and not graph.directed,
        )

    @classmethod
    def one_by_one(cls, problem: Problem) -> Measurement:
        """The terms of every number that is measured: both directions of an edge on their own."""
        if problem.measured != "arc" or problem.graph.directed:
            return cls.of(problem)
        graph = problem.graph
        first, second = graph.arcs.T
        edge = np.repeat(np.arange(len(graph.edges)), 2)
        return cls(
            problem,
            graph.n_arcs,
            frozen(np.arange(graph.n_arcs), np.int64),
            frozen(edge, np.int64),
            frozen(first, np.int64),
            frozen(second, np.int64),
            frozen(graph.weight_of_edge[edge], float),
            frozen(raw_features(problem, directions=True), float),
        )

    @cached_property
    def noise(self) -> Array:
        """(C,) noise of each channel relative to the problem's ``stated_noise``."""
        problem, noise = self.problem, self.problem.noise
        each = np.ones(self.n_channels)
        if isinstance(noise, tuple):
            values = np.array(noise)
            if len(values) != problem.n_rewards:  # one per kind
                values = values[problem.graph.kind_of_edge]
                values = np.repeat(values, self.n_channels // len(values))
            elif self.averages_directions:  # of two arcs: the mean has the mean variance
                values = np.sqrt(0.5 * (values[0::2] ** 2 + values[1::2] ** 2))
            each = values
        return each * np.sqrt(0.5) if self.averages_directions else each

    @cached_property
    def names(self) -> tuple[Hashable, ...]:
        """(C,) what a channel is called: an arc or link by its two nodes, or a node."""
        graph = self.problem.graph
        labels = graph.labels
        if self.problem.measured == "node":
            return tuple(labels)
        if self.problem.measured == "total":
            return ("total",)
        return tuple((labels[i], labels[j]) for i, j in graph.edges.tolist())

    def numbers(self, rewards: Array) -> Array:
        """(C,) the measured numbers from rewards as told; NaN where missing.

        Of an undirected edge one direction alone does not count: its mean depends on the
        antisymmetric part of M, its level is not that of the mean, and its noise is larger.
        """
        if not self.averages_directions:
            return rewards
        return 0.5 * (rewards[0::2] + rewards[1::2])

    def terms(self, arms: Indices) -> Array:
        """(T, p0) what multiplies the parameters of each term's edge under a joint arm (n,)."""
        found: Array = self.features[arms[self.first], arms[self.second]] * self.scale[:, None]
        return found

    def own_terms(self, arms: Indices) -> Array:
        """(n, r) what multiplies the own parameters of each node."""
        coordinates: Array = self.problem.whitening.coordinates[arms]
        return coordinates

    def shared_rows(self, arms: Indices) -> Array:
        """(C, p) what multiplies the parameters that all edges of a class share, own terms last."""
        classes = self.problem.classes
        p0, n_groups = self.features.shape[2], classes.n_groups
        own = self.own_terms(arms) if self.problem.own_term else np.zeros((0, 0))
        n_own = own.shape[1] * (int(self.problem.kind_of_node.max()) + 1 if len(own) else 0)
        rows = np.zeros((self.n_channels, n_groups * p0 + n_own))
        table = rows[:, : n_groups * p0].reshape(self.n_channels, n_groups, p0)
        loadings = classes.loadings[classes.graph.kind_of_edge[self.edge]]
        term, group = np.nonzero(loadings)
        parts = loadings[term, group][:, None] * self.terms(arms)[term]
        np.add.at(table, (self.channel[term], group), parts)
        if len(own):
            first = n_groups * p0 + self.problem.kind_of_node * own.shape[1]
            columns = first[:, None] + np.arange(own.shape[1])
            np.put_along_axis(rows, columns, own, axis=1)
        return rows
