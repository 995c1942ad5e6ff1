"""The truth that simulations know: what every edge and node really earns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.tables import tables_of
from edgewise.base.arrays import Array, as_floats, frozen
from edgewise.core.model.problem import Problem
from edgewise.core.model.sharing import Classes
from edgewise.errors import InvalidProblem
from edgewise.network.graph import Graph


@dataclass(frozen=True, eq=False)
class Truth:
    """The true mean reward of every cell, known only to simulations."""

    graph: Graph
    """The problem's, with edges of one table as a kind."""
    tables: Array
    """(q, K, K) mean reward of an arc of unit weight by the arms at its two ends."""
    own: Array | None = None
    """(n, K) what a node's own arm adds; None if there is no own term."""

    @classmethod
    def of(
        cls,
        problem: Problem,
        matrix: ArrayLike,
        beta: ArrayLike | None = None,
        own: ArrayLike | None = None,
    ) -> Truth:
        """From matrices and, where the problem has such terms, beta and own terms.

        ``matrix`` (d, d) for all edges, (G, d, d) for every kind, then every covariate, or
        (E, d, d) for every edge; ``beta`` (d,), (G, d) or (E, d); ``own`` (d,) or (s, d) for every
        kind of node, by default nothing.
        """
        _check_terms(problem, beta is not None, own is not None)
        graph = problem.graph
        classes = Classes.of(graph, alone=False)
        n_edges, given = len(graph.edges), np.shape(matrix)
        if given[:1] == (n_edges,) and len(given) == 3 and n_edges != classes.n_groups:
            return cls.of_edges(problem, matrix, beta, own)
        groups = tables_of(problem.arms, matrix, beta, n_kinds=classes.n_groups)
        if graph.covariates is not None and np.ndim(matrix) == 2:  # covariates change nothing
            groups = np.where(np.arange(len(groups))[:, None, None] < graph.n_kinds, groups, 0.0)
        plain = classes.graph is graph
        tables = groups if plain else np.tensordot(classes.loadings, groups, axes=1)
        earned = None if own is None else _own_tables(problem, own)
        return cls(classes.graph, frozen(tables, float), earned)

    @classmethod
    def of_edges(
        cls,
        problem: Problem,
        matrices: ArrayLike,
        beta: ArrayLike | None = None,
        own: ArrayLike | None = None,
    ) -> Truth:
        """From a matrix for every edge, (E, d, d), and beta (d,) or (E, d)."""
        _check_terms(problem, beta is not None, own is not None)
        graph = problem.graph.with_kinds(np.arange(len(problem.graph.edges)))
        tables = tables_of(problem.arms, matrices, beta, n_kinds=graph.n_kinds)
        return cls(graph, frozen(tables, float), None if own is None else _own_tables(problem, own))

    @property
    def edge_tables(self) -> Array:
        """(E, K, K) of every edge."""
        tables: Array = self.tables[self.graph.kind_of_edge]
        return tables

    def by_class(self, problem: Problem) -> Array:
        """(u, K, K) for the classes that the problem takes for equal: the mean of their edges."""
        classes = problem.classes.graph
        if np.array_equal(classes.kind_of_edge, self.graph.kind_of_edge):
            return self.tables
        sums = np.zeros((classes.n_kinds, *self.tables.shape[1:]))
        np.add.at(sums, classes.kind_of_edge, self.edge_tables)
        return sums / np.bincount(classes.kind_of_edge)[:, None, None]

    def has_kinds_of(self, problem: Problem) -> bool:
        """Whether edges of a kind have one table."""
        return self.graph is problem.graph

    def objective(self, problem: Problem) -> Objective:
        """What joint arms really earn."""
        graph = self.graph.with_weights(problem.classes.graph.weight_of_edge)
        return Objective.of(graph, self.tables, problem.candidates, self.own)

    def __neg__(self) -> Truth:
        """The opposite."""
        return replace(self, tables=-self.tables, own=None if self.own is None else -self.own)


def _check_terms(problem: Problem, beta: bool, own: bool) -> None:
    """A node term is named; an own term, which nodes have by default, may be nothing."""
    if beta and not problem.node_term:
        raise InvalidProblem(
            "beta is given but the problem has node_term=False; set node_term=True"
        )
    if problem.node_term and not beta:
        raise InvalidProblem("the problem has a node term; pass beta as well")
    if own and not problem.own_term:
        raise InvalidProblem(
            "own is given but the problem has own_term=False; set measured='node', own_term=True"
        )


def _own_tables(problem: Problem, own: ArrayLike) -> Array:
    """(n, K) x' beta of every arm at every node."""
    n_kinds = int(problem.kind_of_node.max()) + 1
    d = problem.dimension
    values = as_floats("own", own, InvalidProblem, f"give {d} numbers for every kind of node")
    if values.shape not in ((d,), (n_kinds, d)) or not np.isfinite(values).all():
        raise InvalidProblem(
            f"own has shape {values.shape}; it must be finite numbers of shape {(d,)} or "
            f"{(n_kinds, d)}, one row per kind of node"
        )
    each = np.broadcast_to(values, (n_kinds, d))[problem.kind_of_node]
    return frozen(each @ problem.arms.T, float)
