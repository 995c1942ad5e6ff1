"""One positive semidefinite K x K matrix against the spectrum of the graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.bounds.bound import Bound
from edgewise.allocation.bounds.node_terms import most_of_nodes
from edgewise.allocation.bounds.rounding import PAIRWISE, gamma
from edgewise.allocation.bounds.spectrum.couplings import Couplings
from edgewise.allocation.bounds.spectrum.cut_dual import dominate
from edgewise.allocation.bounds.spectrum.table_shift import best_shift
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.per_graph import per_graph
from edgewise.base.arrays import Array
from edgewise.base.randomness import generator
from edgewise.network.graph import Graph

_SECONDS = 5.0
"""Work spent on a graph, once."""


class Spectrum(NamedTuple):
    r"""What the bound needs to know of a graph: z with :math:`A + \mathrm{Diag}(z) \succeq 0`.

    With weighted degrees d, :math:`z_i = \zeta d_i + r_i`.
    """

    arcs: float
    """m: sum of the weights of all arcs."""
    level: float
    r""":math:`\zeta = \sum z / m`."""
    above: float
    """Sum of the positive r."""
    below: float
    """Minus the sum of the negative r."""
    n_roundings: int
    """Roundings in a row behind any of these numbers, at most."""
    failure_probability: float


def spectral_bound(objective: Objective) -> Bound | None:
    r"""A bound from the least eigenvalue of the graph, its diagonal chosen as in the Max-Cut SDP.

    If :math:`A + \mathrm{Diag}(z) \succeq 0` and :math:`Q \succeq 0` (K x K) with diagonal q, then
    :math:`\sum_{ij} A_{ij} Q[a_i, a_j] + \sum_i z_i q[a_i] \ge 0` for every allocation. Adding it
    to F and taking every arc at its best,

    .. math:: F_{\max} \le m \max_{kl} \bigl(W + Q + \tfrac{\zeta}{2} (q_k + q_l)\bigr)
              + r_+ \max_k q_k - r_- \min_k q_k + \sum_i \max_k u_i[k] .

    z depends on the graph only and is computed once; Q is chosen for the table by a quasi-Newton
    method and enters as :math:`B B^\top`, so that it is positive semidefinite whatever B. One
    kind, undirected, weights >= 0; None elsewhere.
    """
    if not objective.graph.is_uniform:
        return None
    graph = spectrum_of(objective.graph)
    if graph is None:
        return None
    table = objective.tables[0]
    spread = (graph.above + graph.below) / (2.0 * graph.arcs)
    B = best_shift(table, graph.level, spread)
    value, size = _value(table, B, graph)
    nodes, error = most_of_nodes(objective)
    total = value + nodes + error
    margin = gamma(4 * len(table) + graph.n_roundings) * (size + abs(nodes))
    return Bound.probable(total + margin, "spectral", graph.failure_probability)


def _value(table: Array, B: Array, graph: Spectrum) -> tuple[float, float]:
    """The bound without node terms, and the size of what was added up."""
    Q = B @ B.T
    q = np.diagonal(Q)
    most = float((table + Q + 0.5 * graph.level * (q[:, None] + q)).max())
    value = graph.arcs * most + graph.above * float(q.max()) - graph.below * float(q.min())
    largest = float(np.abs(table).max() + (1.0 + abs(graph.level)) * q.max())
    return value, graph.arcs * largest + (graph.above + graph.below) * float(q.max())


@per_graph
def spectrum_of(graph: Graph) -> Spectrum | None:
    """The spectrum of a graph with weights >= 0, proved; None when no proof was found.

    A fixed seed makes it a function of the graph alone. On large graphs its proof is random:
    the failure probability then is that of the seed.
    """
    rows = graph.adjacency
    listed = graph.degrees > 0
    starts = np.concatenate([[0], np.cumsum(graph.degrees[listed])])
    position = np.cumsum(listed) - 1
    adjacency = Couplings(starts, position[rows.neighbours], -graph.weight_of_edge[rows.edge_ids])
    found = dominate(adjacency, seconds=_SECONDS, rng=generator(0))
    if found is None:
        return None
    degrees = adjacency.row_sums
    arcs, total = float(degrees.sum()), float(found.diagonal.sum())
    level = total / arcs
    rest = found.diagonal - level * degrees
    roundings = PAIRWISE + adjacency.most_in_row
    lost = gamma(roundings) * float((found.diagonal + level * degrees).sum())
    above = float(rest[rest > 0].sum()) + 2.0 * lost
    below = max(0.0, -float(rest[rest < 0].sum()) - 2.0 * lost)
    return Spectrum(arcs, level, above, below, roundings, found.failure_probability)
