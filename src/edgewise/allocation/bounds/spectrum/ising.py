"""Two arms: every objective is a quadratic form in signs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.bounds.rounding import PAIRWISE, careful_sum, gamma
from edgewise.allocation.bounds.spectrum.couplings import Couplings
from edgewise.allocation.instance.edge_sums import absolute_weight
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array, Indices


class Ising(NamedTuple):
    r"""The objective as :math:`c + \tfrac12 s^\top C s` over signs s, arm 0 being +1."""

    couplings: Couplings
    """C, without empty rows; one row may stand for all nodes whose arm is given."""
    constant: float
    error: float
    """Rounding errors of the constant and of all entries together, at most."""


def as_ising(objective: Objective) -> Ising:
    r"""Two arms, any kinds, directions, weights, node terms and candidates.

    With :math:`s = \pm 1` a table G of an edge (i, j) reads

    .. math:: G[s_i, s_j] = c + h_i s_i + h_j s_j + J s_i s_j, \quad
              J = \tfrac14 (G_{00} - G_{01} - G_{10} + G_{11}),

    and so on. Linear terms become couplings to one more sign :math:`s_0`, which may be taken as
    +1: flipping all signs changes nothing. A node with a single candidate *is* :math:`\pm s_0`.
    """
    graph = objective.graph
    node, sign = _roles(objective)
    constants, terms = _terms(objective)
    rows, columns, values = [], [], []
    for ends, others, term in terms:
        if term.any():
            rows.append(node[ends])
            columns.append(np.zeros(len(ends), np.int64) if others is None else node[others])
            values.append(term * sign[ends] * (1.0 if others is None else sign[others]))
    first, second, signed = (np.concatenate([[], *x]) for x in (rows, columns, values))
    apart = (first != second) & (signed != 0.0)
    constant, lost = careful_sum(np.concatenate([constants, signed[first == second]]))
    matrix, most = _assemble(first[apart].astype(int), second[apart].astype(int), signed[apart])
    size = 8.0 * absolute_weight(graph) * float(np.abs(objective.tables).max())
    if objective.unary is not None:
        size += float(np.abs(objective.unary).sum())
    return Ising(matrix, constant, lost + gamma(most + PAIRWISE) * 4.0 * size)


_Term = tuple[Indices, Indices | None, Array]


def _terms(objective: Objective) -> tuple[Array, list[_Term]]:
    """All constants, and all terms as (nodes, other nodes or None: the added sign, factors)."""
    graph = objective.graph
    patterns = np.array(
        [[[1, 1], [1, 1]], [[1, -1], [-1, 1]], [[1, 1], [-1, -1]], [[1, -1], [1, -1]]]
    )
    by_kind = np.einsum("tkl,qkl->tq", patterns / 4.0, objective.pair_tables)
    constant, J, h_first, h_second = (
        part[graph.kind_of_edge] * graph.weight_of_edge for part in by_kind
    )
    first, second = graph.edges[:, 0], graph.edges[:, 1]
    terms: list[_Term] = [(first, second, J), (first, None, h_first), (second, None, h_second)]
    if objective.unary is None:
        return constant, terms
    own = objective.unary
    terms.append((np.arange(graph.n_nodes), None, (own[:, 0] - own[:, 1]) / 2.0))
    return np.concatenate([constant, own.mean(axis=1)]), terms


def _roles(objective: Objective) -> tuple[Indices, Array]:
    """(n,) which sign a node is (0: the added one), and (n,) with which sign in front."""
    n = objective.graph.n_nodes
    if objective.candidates is None:
        return np.arange(1, n + 1), np.ones(n)
    given = objective.candidates.sum(axis=1) == 1
    only_second = given & objective.candidates[:, 1]
    return np.where(given, 0, np.cumsum(~given)), np.where(only_second, -1.0, 1.0)


def _assemble(rows: Indices, columns: Indices, values: Array) -> tuple[Couplings, int]:
    """Both triangles by rows, equal positions added up, rows without entries left out."""
    from scipy.sparse import coo_array

    names, flat = np.unique(np.concatenate([rows, columns]), return_inverse=True)
    half = len(rows)
    both = np.concatenate([flat[half:], flat[:half]])
    table = coo_array((np.concatenate([values, values]), (flat, both)), shape=(len(names),) * 2)
    most = int(np.bincount(flat, minlength=1).max()) if half else 0
    matrix = table.tocsr()
    return Couplings(matrix.indptr, matrix.indices, matrix.data), most
