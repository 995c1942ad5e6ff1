"""The allocation problem that an estimate poses."""

from __future__ import annotations

import numpy as np

from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem


def estimated_objective(problem: Problem, cells: Cells, theta: Array) -> Objective:
    """Tables per class of edges, and what each node earns by its own arm, from theta (q, p)."""
    own = own_terms(problem, cells, theta)
    return Objective.of(problem.classes.graph, cells.tables(theta), problem.candidates, own)


def own_terms(problem: Problem, cells: Cells, theta: Array) -> Array | None:
    """(n, K) estimated own term of every arm at every node; None if there is none."""
    if cells.own is None:
        return None
    by_kind: Array = np.einsum("skp,p->sk", cells.own, theta[0])
    return by_kind[problem.kind_of_node]
