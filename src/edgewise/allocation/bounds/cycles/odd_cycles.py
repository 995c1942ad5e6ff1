"""Odd cycles cannot show the best pair of arms on all their edges."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.bounds.bound import Bound
from edgewise.allocation.bounds.cycles.closed_walks import deficits
from edgewise.allocation.bounds.cycles.cycles import Packing
from edgewise.allocation.bounds.cycles.greedy_cycles import greedy_packing
from edgewise.allocation.bounds.cycles.packing import LONGEST, generate, odd_walks
from edgewise.allocation.bounds.node_terms import most_of_nodes
from edgewise.allocation.bounds.rounding import UNIT, careful_sum, shrunk
from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective
from edgewise.network.graph import Graph


def odd_cycle_bound(objective: Objective) -> Bound | None:
    """:func:`packing_bound` of the graph's greedy packing, found once per graph.

    None where the argument does not apply, see ``Graph.is_uniform``, or gains nothing.
    """
    if not objective.graph.is_uniform:
        return None
    packing = greedy_packing(objective.graph)
    table = objective.tables[0]
    if len(packing.amounts) == 0 or table.max() <= table.diagonal().max():
        return None
    return packing_bound(objective, packing)


def table_packing(
    objective: Objective, *, seconds: float, deadline: Deadline | None = None
) -> Packing:
    """The packing that gives up most under this objective's table, of those looked at."""
    known = odd_walks(objective.graph)
    lengths = known.pool.lengths
    if len(lengths) == 0:
        return known.packing
    worth = deficits(objective.tables[0], max(LONGEST, int(lengths.max())))
    worth[1] = 0.0  # a graph has no loops
    found = generate(objective.graph, worth, known.pool, seconds=seconds, deadline=deadline).packing
    # the programme may fail; what it starts from is a packing as well
    return max(found, known.packing, key=lambda p: float(worth[p.cycles.lengths] @ p.amounts))


def packing_bound(objective: Objective, packing: Packing) -> Bound:
    r"""What is left of the edge-by-edge bound when packed odd cycles give up what they must.

    .. math:: F_{\max} \le 2 \Bigl(\max W \sum_e w_e - \sum_c y_c \delta_{|c|}\Bigr)
              + \sum_i \max_k u_i[k]

    for every packing y of closed odd walks, :math:`\delta_l` from :func:`deficits`. Rounded up,
    given that it *is* a packing: see :func:`repaired`.
    """
    graph, table = objective.graph, objective.tables[0]
    lengths = packing.cycles.lengths
    given_up = 0.0
    if len(lengths):
        worth = deficits(table, int(lengths.max()))
        given_up = shrunk(float(worth[lengths] @ packing.amounts), len(lengths))
    total, error = _total_weight(graph)
    top = float(table.max())
    nodes, nodes_error = most_of_nodes(objective)
    value = 2.0 * (total * top - given_up) + nodes
    size = 2.0 * (total * abs(top) + given_up) + abs(nodes)
    return Bound(value + 2.0 * error * abs(top) + nodes_error + 8.0 * UNIT * size, "odd-cycle")


def _total_weight(graph: Graph) -> tuple[float, float]:
    if graph.weights is None:
        return float(len(graph.edges)), 0.0
    return careful_sum(np.asarray(graph.weights))
