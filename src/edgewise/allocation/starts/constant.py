"""One arm for everybody."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.edge_sums import sum_by_kind
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.per_graph import per_graph
from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Array
from edgewise.network.graph import Graph


def constant(objective: Objective) -> Allocation:
    r"""The best common arm, or for each node the best one it may take.

    Arms are ranked by what they are worth when played everywhere,

    .. math:: \sum_q m_q W_q[k, k] + \sum_i u_i[k], \quad
              m_q = \sum_{\text{arcs of kind } q} w_{ij},

    and every node takes the first in this order among its candidates. Optimal when
    :math:`\max W` is on the diagonal, one kind and weights >= 0; so whenever M is positive
    semi-definite.
    """
    pairs, own = mean_field(objective)
    worth = np.diagonal(pairs) + own
    order = np.argsort(-worth, kind="stable")
    masks, groups = objective.grouped_candidates
    choice = order[masks[:, order].argmax(axis=1)]
    return objective.certify(choice[groups], method="constant")


def mean_field(objective: Objective) -> tuple[Array, Array]:
    r"""(K, K) and (K,): F as a function of how often arms are played, whoever plays them.

    .. math:: \sum_q m_q W_q \quad\text{and}\quad \sum_i u_i
    """
    strength = _arcs_per_kind(objective.graph)
    own = np.zeros(objective.n_arms) if objective.unary is None else objective.unary.sum(axis=0)
    return np.tensordot(strength, objective.tables, 1), own


@per_graph
def _arcs_per_kind(graph: Graph) -> Array:
    """(q,) m_q: weight of the arcs of each kind."""
    return graph.n_directions * sum_by_kind(graph, graph.weights)
