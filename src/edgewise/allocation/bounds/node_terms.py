"""The part of the reward that nodes earn by their own arms."""

from __future__ import annotations

from edgewise.allocation.bounds.rounding import careful_sum
from edgewise.allocation.instance.edge_sums import node_extremes
from edgewise.allocation.instance.objective import Objective


def most_of_nodes(objective: Objective) -> tuple[float, float]:
    r""":math:`\sum_i \max_k u_i[k]` over allowed arms, and a bound on its rounding error."""
    if objective.unary is None:
        return 0.0, 0.0
    _, most = node_extremes(objective.unary, objective.candidates)
    return careful_sum(most)
