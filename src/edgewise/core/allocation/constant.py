"""One arm for everybody."""

from __future__ import annotations

import numpy as np

from edgewise.core.allocation.objective import Objective
from edgewise.core.allocation.result import Allocation


def constant(objective: Objective) -> Allocation:
    r"""The best common arm, or for each node the best one it may take.

    Arms are ranked by what they are worth when played everywhere,

    .. math:: \sum_q m_q W_q[k, k], \quad m_q = \sum_{\text{arcs of kind } q} w_{ij},

    and every node takes the first in this order among its candidates. Optimal when
    :math:`\max W` is on the diagonal, one kind and weights >= 0; so whenever M is positive
    semi-definite.
    """
    graph = objective.graph
    kinds = np.zeros(len(graph.edges), np.int64) if graph.kinds is None else graph.kinds
    strength = np.bincount(kinds, graph.weights, graph.n_kinds)  # proportional to m_q
    worth = strength @ np.diagonal(objective.tables, axis1=1, axis2=2)
    order = np.argsort(-worth, kind="stable")
    masks, groups = objective.grouped_candidates
    choice = order[masks[:, order].argmax(axis=1)]
    return objective.certify(choice[groups], method="constant")
