"""The exact solver toulbar2, given our best allocation to beat."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from edgewise.allocation.instance.deadline import Deadline
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Array, Indices
from edgewise.errors import MissingExtra

_TOTAL = 2.0**50
"""Largest total cost: integers up to 2^53 survive the passage through doubles."""


class Costs(NamedTuple):
    """F as a sum of integer costs to minimise: F = constant - cost / scale, rounding apart."""

    edges: Array
    """(E, K, K) by the arms of the first and of the second node."""
    nodes: Array
    """(n, K); 0 for arms that a node may not take, which the solver never tries."""
    constant: float
    scale: float
    error: float
    """By how much rounding may change F."""

    @classmethod
    def of(cls, objective: Objective) -> Costs:
        """Every edge and node counted from its best, in units that leave the total exact."""
        rewards, own = objective.edge_tables, objective.node_tables
        tops = rewards.max(axis=(1, 2)), own.max(axis=1)
        losses = (
            tops[0][:, None, None] - rewards,
            np.where(objective.allowed, tops[1][:, None] - own, 0.0),
        )
        total = losses[0].max(axis=(1, 2)).sum() + losses[1].max(axis=1).sum()
        scale = _TOTAL / total if total > 0.0 else 1.0
        constant = float(tops[0].sum() + tops[1].sum())
        error = (len(rewards) + len(own)) / scale  # half a unit each, twice: ours and the best
        return cls(np.rint(scale * losses[0]), np.rint(scale * losses[1]), constant, scale, error)

    def of_arms(self, edges: Indices, arms: Indices) -> float:
        """Total cost of a joint arm."""
        pairs = self.edges[np.arange(len(edges)), arms[edges[:, 0]], arms[edges[:, 1]]]
        return float(pairs.sum() + self.nodes[np.arange(len(arms)), arms].sum())


def branch_and_bound(objective: Objective, best: Allocation, deadline: Deadline) -> Allocation:
    """The optimum by toulbar2 (extra ``exact``), or the best and its bound when time runs out.

    Rewards are rounded to integers 10^15 times smaller than their total; the proof holds up to
    this rounding, which the bound includes. The solver looks at its clock in whole seconds.
    """
    toulbar2 = require_toulbar2()
    costs, edges = Costs.of(objective), objective.graph.edges
    known = costs.of_arms(edges, best.arms)
    seconds = 0 if deadline.limit is None else int(deadline.remaining)
    if known == 0.0:
        return _concluded(objective, costs, best, known, known)
    if deadline.limit is not None and seconds < 1:
        return best
    network = _network(toulbar2, objective, costs, best.arms, known)
    answer = network.Solve(timeLimit=seconds)
    dual = min(float(network.GetDDualBound()), known)
    if answer is not None and answer[1] < known:
        best = objective.certify(np.array(answer[0], np.int64), method="exact")
        known = costs.of_arms(edges, best.arms)
    return _concluded(objective, costs, best, known, dual)


def require_toulbar2() -> Any:
    """The module, or what to install."""
    try:
        import pytoulbar2
    except ImportError as error:
        raise MissingExtra(
            "this graph is too wide to search its frontiers, and the exact solver toulbar2 is "
            "not installed; install it with: pip install 'edgewise[exact]', or use method=\"auto\""
        ) from error
    return pytoulbar2


def _network(toulbar2: Any, objective: Objective, costs: Costs, arms: Indices, known: float) -> Any:
    """The problem in toulbar2, which tries ``arms`` first and looks for no higher cost.

    The limit is one unit above: with nothing at all to find, the solver reports no dual cost.
    """
    network = toulbar2.CFN(known + 1.0, resolution=0, verbose=-1)
    for i, allowed in enumerate(objective.allowed):
        network.AddVariable(f"node{i}", list(range(objective.n_arms)))
        for arm in np.flatnonzero(~allowed).tolist():
            network.CFN.wcsp.remove(i, arm)
        network.CFN.wcsp.setBestValue(i, int(arms[i]))
    for (i, j), table in zip(objective.graph.edges.tolist(), costs.edges, strict=True):
        network.AddFunction([i, j], table.ravel().tolist())
    for i, row in enumerate(costs.nodes):
        if row.any():
            network.AddFunction([i], row.tolist())
    return network


def _concluded(
    objective: Objective, costs: Costs, best: Allocation, known: float, dual: float
) -> Allocation:
    """With the bound that the solver's dual cost proves, or as the optimum."""
    if dual >= known:
        return objective.optimum(best.arms, method="exact")
    upper = costs.constant - dual / costs.scale + costs.error
    upper += 4.0 * math.ulp(abs(costs.constant) + abs(upper))
    return best.with_bound(upper, "branch-and-bound")
