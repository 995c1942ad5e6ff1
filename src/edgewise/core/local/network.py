"""A problem's edges as the blocks of the local model: one per arc (or link), one per node's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.core.local.channels import Channels
from edgewise.core.local.posterior import tables
from edgewise.core.model.channels import Measurement


@dataclass(frozen=True, eq=False)
class LocalNetwork:
    """Where the parameters of every term stand."""

    measurement: Measurement
    channels: Channels
    term_starts: Indices
    """(T,) first parameter of each term's edge."""
    own_starts: Indices
    """(n,) first own parameter of each node; empty if there are none."""

    @classmethod
    def of(cls, measurement: Measurement) -> LocalNetwork:
        """Blocks channel after channel: its terms, then its node's own term."""
        problem, n_channels = measurement.problem, measurement.n_channels
        graph, p0 = problem.graph, measurement.features.shape[2]
        owners = np.arange(graph.n_nodes if problem.own_term else 0)
        channel = np.concatenate([measurement.channel, owners])
        order = np.argsort(channel, kind="stable")  # own terms come after the others
        own_kinds = graph.n_kinds + problem.kind_of_node[owners]
        kinds = np.concatenate([graph.kind_of_edge[measurement.edge], own_kinds])
        n_own_kinds = len(np.unique(own_kinds))
        dimensions = np.array([p0] * graph.n_kinds + [problem.whitening.rank] * n_own_kinds)
        blocks = np.concatenate([[0], np.cumsum(np.bincount(channel, minlength=n_channels))])
        channels = Channels(kinds[order], dimensions, blocks, _covariates(measurement, order))
        starts = np.empty(len(order), np.int64)
        starts[order] = channels.block_starts[:-1]
        n_terms = len(measurement.edge)
        return cls(
            measurement,
            channels,
            frozen(starts[:n_terms], np.int64),
            frozen(starts[n_terms:], np.int64),
        )

    def features(self, arms: Indices) -> Array:
        """(P,) what multiplies every parameter under a joint arm (n,)."""
        flat = np.zeros(self.channels.n_parameters)
        terms = self.measurement.terms(arms)
        flat[self.term_starts[:, None] + np.arange(terms.shape[1])] = terms
        if len(self.own_starts):
            own = self.measurement.own_terms(arms)
            flat[self.own_starts[:, None] + np.arange(own.shape[1])] = own
        return flat

    def total(self, arms: Indices) -> Array:
        """(P,) what multiplies every parameter in the global reward of a joint arm (n,).

        Like :meth:`features`, but that averages of directions and of incoming arcs are undone: the
        global reward is the sum over arcs.
        """
        return self.in_total(self.features(arms))

    def in_total(self, features: Array) -> Array:
        """(P,) what features (P,), of a joint arm or of a mean over several, are in the total."""
        flat = features.copy()
        terms = self.term_starts[:, None] + np.arange(self.measurement.features.shape[2])
        flat[terms] *= (self._arc_weights / self.measurement.scale)[:, None]
        return flat

    def parameters(self, tables: Array, own: Array | None) -> Array:
        """(P,) the parameters behind tables by class of edges (q, K, K) and own terms (n, K)."""
        measurement, problem = self.measurement, self.measurement.problem
        p0 = measurement.features.shape[2]
        raw = measurement.features.reshape(-1, p0)
        by_class = np.linalg.lstsq(raw, tables.reshape(len(tables), -1).T, rcond=None)[0].T
        flat = np.zeros(self.channels.n_parameters)
        classes = problem.classes.graph.kind_of_edge[measurement.edge]
        flat[self.term_starts[:, None] + np.arange(p0)] = by_class[classes]
        if own is not None:
            arms = problem.whitening.coordinates
            each = np.linalg.lstsq(arms, own.T, rcond=None)[0].T
            flat[self.own_starts[:, None] + np.arange(arms.shape[1])] = each
        return flat

    @property
    def _arc_weights(self) -> Array:
        """(T,) by how much a term enters the sum over arcs."""
        graph = self.measurement.problem.classes.graph
        per_term = len(graph.edges) * graph.n_directions // len(self.measurement.edge)
        weights: Array = per_term * graph.weight_of_edge[self.measurement.edge]
        return weights

    def edge_tables(self, theta: Array) -> Array:
        """(E, K, K) what both directions of every edge bring, per unit of weight.

        By the arms of its first and its second node, from parameters (P,).
        """
        features = self.measurement.features
        parameters = theta[self.term_starts[:, None] + np.arange(features.shape[2])]
        return self.by_edge(tables(parameters, features))

    def by_edge(self, each: Array) -> Array:
        """(E, K, K) the sum of tables of terms (T, K, K), overwritten, over each edge's terms."""
        measurement, graph = self.measurement, self.measurement.problem.graph
        along = measurement.first == graph.edges[measurement.edge, 0]
        each[~along] = each[~along].transpose(0, 2, 1)
        found = np.zeros((len(graph.edges), *each.shape[1:]))
        np.add.at(found, measurement.edge, each)
        per_term = graph.n_directions * len(graph.edges) // len(measurement.edge)
        return found * per_term

    def own_tables(self, theta: Array) -> Array | None:
        """(n, K) what every node earns by its own arm; None if there are no own terms."""
        if not len(self.own_starts):
            return None
        coordinates = self.measurement.problem.whitening.coordinates
        own = theta[self.own_starts[:, None] + np.arange(coordinates.shape[1])]
        return np.asarray(own @ coordinates.T)


def _covariates(measurement: Measurement, order: Indices) -> Array | None:
    """(B, 1 + k) a constant and the edge's covariates; own terms have the constant only."""
    covariates = measurement.problem.graph.covariates
    if covariates is None:
        return None
    rows = np.zeros((len(order), 1 + covariates.shape[1]))
    rows[:, 0] = 1.0
    rows[: len(measurement.edge), 1:] = covariates[measurement.edge]
    return rows[order]
