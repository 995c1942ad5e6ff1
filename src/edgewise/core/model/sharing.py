"""Which edges have the same matrix, and how it follows from the parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, frozen
from edgewise.network.graph import Graph


@dataclass(frozen=True, eq=False)
class Classes:
    r"""Edges with the same matrix.

    .. math:: M_u = \sum_g L_{ug} M_g

    Kinds are the one-hot case: a matrix each. A covariate adds its number times a matrix of its
    own. Without pooling every edge is a class.
    """

    graph: Graph
    """The graph whose kinds are the classes; for a plain problem the user's own."""
    loadings: Array
    """(u, G) L."""

    @classmethod
    def of(cls, graph: Graph, *, alone: bool, average: bool = False) -> Classes:
        """From kinds and covariates; ``alone``: every edge by itself.

        ``average``: nodes show means, so the global reward, the sum of what is measured, counts an
        arc by one over the number of arcs that end where it does.
        """
        if average:
            incoming = np.bincount(graph.edges[:, 1], minlength=graph.n_nodes)
            graph = graph.with_weights(graph.weight_of_edge / incoming[graph.edges[:, 1]])
        if alone:
            n_edges = len(graph.edges)
            return cls(graph.with_kinds(np.arange(n_edges)), frozen(np.eye(n_edges), float))
        if graph.covariates is None:
            return cls(graph, frozen(np.eye(graph.n_kinds), float))
        kinds = (graph.kind_of_edge[:, None] == np.arange(graph.n_kinds)).astype(float)
        table = np.hstack([kinds, graph.covariates])
        loadings, classes = np.unique(table, axis=0, return_inverse=True)
        return cls(graph.with_kinds(classes.ravel()), frozen(loadings, float))

    @property
    def n_groups(self) -> int:
        """G: matrices that are estimated."""
        return int(self.loadings.shape[1])
