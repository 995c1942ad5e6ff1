"""The part of the reward that nodes earn by their own arms."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.bounds.rounding import careful_sum
from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array


def allowed_unary(objective: Objective) -> Array | None:
    """(n, K) node rewards, minus infinity where an arm is not allowed; None when there are none."""
    unary = objective.unary
    if unary is None:
        return None
    if objective.candidates is None:
        return unary
    return np.where(objective.candidates, unary, -np.inf)


def most_of_nodes(objective: Objective) -> tuple[float, float]:
    r""":math:`\sum_i \max_k u_i[k]` over allowed arms, and a bound on its rounding error."""
    unary = allowed_unary(objective)
    return (0.0, 0.0) if unary is None else careful_sum(unary.max(axis=1))
