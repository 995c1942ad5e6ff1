"""How much one round of independent draws varies, and how the graph enters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, frozen
from edgewise.base.border import border
from edgewise.network.arms import checked_arms
from edgewise.network.graph import Graph
from edgewise.theory.setting import node_law, require_paper_graph


@dataclass(frozen=True, eq=False)
class Variance:
    r"""The matrix variance of one round's information, split by what causes it.

    .. math:: \mathrm{Var}(A_1) = m\,V_\text{edge} + D\,V_\text{shared}
    """

    edge_term: Array
    """(d^2, d^2) per arc: the arc itself and the same edge seen from its other end."""
    shared_term: Array
    """(d^2, d^2) per ordered pair of edges that meet in exactly one node."""
    n_arcs: int
    """m, the number of observed directions."""
    degree_excess: int
    r""":math:`D = \sum_i \deg(i)^2 - m`: ordered pairs of different edges meeting in a node."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "edge_term", frozen(self.edge_term, float))
        object.__setattr__(self, "shared_term", frozen(self.shared_term, float))

    @cached_property
    def matrix(self) -> Array:
        """(d^2, d^2) the variance of the whole round."""
        total = self.n_arcs * self.edge_term + self.degree_excess * self.shared_term
        return frozen(total, float)

    @cached_property
    def norm(self) -> float:
        """v, the largest singular value of ``matrix``."""
        return float(np.linalg.norm(self.matrix, 2))


@border
def variance(graph: Graph, arms: ArrayLike, weights: ArrayLike) -> Variance:
    r"""Exact variance of one round when every node draws its arm independently.

    With :math:`z_{ij} = x_i \otimes x_j`, the row-by-row ``ravel`` of :math:`x_i x_j^\top`,

    .. math::
        A_1 = \sum_{(i,j) \in E} z_{ij} z_{ij}^\top, \qquad
        \mathrm{Var}(A_1) = \mathbb{E}\,(A_1 - \mathbb{E} A_1)^2 =
        m\,[Q \otimes Q + R - 2B] + D\,[S^2 \otimes Q + Q \otimes S^2 + T + T^\top - 4B]

    where :math:`S = \mathbb{E}\,xx^\top`, :math:`Q = \mathbb{E}\,\|x\|^2 xx^\top`,
    :math:`B = S^2 \otimes S^2`, :math:`T = \mathbb{E}\,(xx^\top S) \otimes (S xx^\top)`,
    :math:`R = \mathbb{E}\,(x^\top y)^2\,(y x^\top) \otimes (x y^\top)` for independent x and y, and
    :math:`D = \sum_i \deg(i)^2 - m`. The graph enters through m and its squared degrees only.

    Why: :math:`z_{ij} z_{ij}^\top = (x_i x_i^\top) \otimes (x_j x_j^\top)` and factors multiply
    block by block. An arc with itself gives :math:`Q \otimes Q`, with its reverse :math:`R`.
    Two edges with one common node i meet in one of four ways, each D times: i first in both
    (:math:`Q \otimes S^2`), second in both (:math:`S^2 \otimes Q`), first then second (:math:`T`),
    second then first (:math:`T^\top`). Every product of means is B.

    Parameters
    ----------
    graph
        Undirected, unweighted, one kind of edges.
    arms
        (K, d) one arm per row.
    weights
        (K,) law of a node's arm.

    Examples
    --------
    Two nodes, two arms on a line: the round's information is :math:`2 x^2 y^2`.

    >>> edge = Graph.matching(n_nodes=2)
    >>> variance(edge, [[0.0], [1.0]], [0.5, 0.5]).matrix.item()
    0.75
    """
    return _variance(graph, arms, weights, complete=True)


@border
def paper_decomposition(graph: Graph, arms: ArrayLike, weights: ArrayLike) -> Variance:
    r"""What Section 5 of the paper adds up to: too small, kept as a control for the tests.

    .. math:: m\,[Q \otimes Q + R - 2B] + D\,[Q \otimes S^2 + T^\top - 2B]

    The printed sum pairs an arc (i, j) with the arcs (i, k), k different from j, and with the
    arcs (j, k), k = i included. The arcs (k, j) and (k, i) meet it too and are left out: two of
    the four bracketed terms of :func:`variance` are missing. The result is not symmetric, so not
    a variance, unless the arms are in special position. It is right for a matching (``D = 0``),
    and the orders in m that Table 1 derives from it stand; its constants do not.
    """
    return _variance(graph, arms, weights, complete=False)


@border
def degree_excess(graph: Graph) -> int:
    r""":math:`D = \sum_i \deg(i)^2 - m`, how many ordered pairs of edges meet in a node.

    >>> degree_excess(Graph.circle(n_edges=156)), degree_excess(Graph.matching(n_edges=156))
    (156, 0)
    """
    degrees = graph.degrees.astype(np.int64)
    return int(degrees @ degrees) - graph.n_arcs


def _variance(graph: Graph, arms: ArrayLike, weights: ArrayLike, *, complete: bool) -> Variance:
    require_paper_graph(graph)
    table = checked_arms(arms)
    law = node_law(weights, len(table))
    edge_term, shared_term = _brackets(table, law, complete)
    return Variance(edge_term, shared_term, graph.n_arcs, degree_excess(graph))


def _brackets(X: Array, law: Array, complete: bool) -> tuple[Array, Array]:
    S = (X.T * law) @ X
    Q = (X.T * (law * (X**2).sum(axis=1))) @ X
    S2 = S @ S
    B = np.kron(S2, S2)
    edge_term = np.kron(Q, Q) + _reversal(X, law) - 2.0 * B
    T_transposed = _chain(X, law, S).T
    shared_term = np.kron(Q, S2) + T_transposed - 2.0 * B
    if complete:
        shared_term = shared_term + np.kron(S2, Q) + T_transposed.T - 2.0 * B
    return edge_term, shared_term


def _reversal(X: Array, law: Array) -> Array:
    """R = sum_kl w_k w_l (x_k'x_l)^2 (x_l x_k') (x) (x_k x_l'): an arc times its reverse."""
    d = X.shape[1]
    squares = (X[:, :, None] * X[:, None, :]).reshape(len(X), d * d)
    coupling = np.outer(law, law) * (X @ X.T) ** 2
    # Entry (ab, ce) is sum of w x_l[a] x_k[c] x_k[b] x_l[e]: l carries a and e, k carries b and c.
    table = (squares.T @ coupling @ squares).reshape(d, d, d, d)
    return table.transpose(0, 2, 3, 1).reshape(d * d, d * d)


def _chain(X: Array, law: Array, S: Array) -> Array:
    """T = sum_k w_k (x_k x_k' S) (x) (S x_k x_k'): the node is first in one arc, second in one."""
    d = X.shape[1]
    left = (X[:, :, None] * (X @ S)[:, None, :]).reshape(len(X), d * d)
    right = ((X @ S)[:, :, None] * X[:, None, :]).reshape(len(X), d * d)
    table = ((left.T * law) @ right).reshape(d, d, d, d)
    return table.transpose(0, 2, 1, 3).reshape(d * d, d * d)
