"""Every edge and node at its best: the bound that needs no argument."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.bounds.bound import Bound
from edgewise.allocation.bounds.rounding import PAIRWISE, gamma
from edgewise.allocation.instance.edge_sums import absolute_weight
from edgewise.allocation.instance.objective import Objective


def edge_by_edge_bound(objective: Objective) -> Bound:
    r"""The most that edges and nodes could show each by itself, ``objective.bounds[1]``.

    .. math:: F_{\max} \le \sum_{\text{arcs } (i,j)} \max_{kl} w_{ij} W[k, l]
              + \sum_i \max_k u_i[k]

    Its sums are pairwise or compensated, except over the weights of several kinds.
    """
    graph = objective.graph
    in_a_row = graph.weights is not None and graph.kinds is not None
    operations = (len(graph.edges) if in_a_row else PAIRWISE) + graph.n_kinds
    size = 2.0 * absolute_weight(graph) * float(np.abs(objective.tables).max())
    if objective.unary is not None:
        size += float(np.abs(objective.unary).max(axis=1).sum())
    return Bound(objective.bounds[1] + gamma(operations) * size, "edge-by-edge")
