"""The optimum where arms do not interact: every node decides for itself."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation

_ROUNDING = 1e-12
"""Interaction below this, relative to the largest entry of a table, is rounding."""


def separable(objective: Objective) -> Allocation | None:
    r"""The best allocation if no table depends on the combination of arms, else None.

    If :math:`W_q[k, l] = f_q[k] + g_q[l]` for all kinds, F is a sum over nodes,

    .. math:: F(a) = \sum_i \Big( u_i[a_i] + \sum_{(i,j)} w_{ij} f_{\kappa(ij)}[a_i]
              + \sum_{(j,i)} w_{ji}\, g_{\kappa(ji)}[a_i] \Big) ,

    and each node takes its best arm. To look costs ``O(q K^2)``.
    """
    pairs, graph = objective.pair_tables, objective.graph
    first = pairs[:, :, 0]
    second = pairs[:, 0, :] - pairs[:, :1, 0]
    interaction = pairs - first[:, :, None] - second[:, None, :]
    if np.abs(interaction).max(initial=0.0) > _ROUNDING * np.abs(pairs).max(initial=0.0):
        return None
    worth = objective.node_tables.copy()
    for ends, own in zip(graph.edges.T, (first, second), strict=True):
        np.add.at(worth, ends, graph.weight_of_edge[:, None] * own[graph.kind_of_edge])
    return objective.optimum(worth.argmax(axis=1), method="separable")
