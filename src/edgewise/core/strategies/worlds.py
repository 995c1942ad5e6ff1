"""What the phases that are over leave possible, and what they recommend.

Inside a phase joint arms may depend on these: they do not know the phase's own rewards.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgewise.allocation.allocate import solve
from edgewise.allocation.instance.objective import Objective
from edgewise.allocation.request import Request
from edgewise.base.arrays import Indices, Mask, frozen
from edgewise.core.evidence.coverage import sees_everything
from edgewise.core.evidence.drawing import draw_local_world, draw_world
from edgewise.core.evidence.measuring import ByPhase, all_of
from edgewise.core.local.normal_equations import Phase
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.core.state import LearnerState


def possible_world(
    problem: Problem, cells: Cells, state: LearnerState, *, rng: np.random.Generator, scale: float
) -> Objective | None:
    """A draw from the posterior, its deviations times ``scale``; None while phases say too little.

    With a scale of 0 it is the posterior mean.
    """
    return _drawn(problem, cells, state.closed, local_evidence(state), rng, scale)


def recommended(
    problem: Problem, cells: Cells, state: LearnerState, allowed: Mask
) -> Indices | None:
    """(n,) the best of the ``allowed`` (n, K) joint arms by the posterior mean.

    None while phases say too little.
    """
    mean = possible_world(problem, cells, state, rng=np.random.default_rng(0), scale=0.0)
    return None if mean is None else best_of(replace(mean, candidates=allowed))


def best_of(world: Objective) -> Indices:
    """(n,) the best joint arm of a world; on chains and trees exactly, and at once."""
    forest = len(world.graph.edges) < world.graph.n_nodes
    request = Request(method="exact" if forest else "auto", bound=None)
    return frozen(solve(world, request).arms, np.int32)


def local_evidence(state: LearnerState) -> Phase | None:
    """What edges showed one by one in closed phases, where they have parameters of their own."""
    return None if state.pooling == "shared" else state.by_edge_closed


def shows_everything(cells: Cells, closed: ByPhase) -> bool:
    """Whether closed phases do; one that only decided how edges are pooled has shown nothing."""
    return len(closed) > 0 and sees_everything(cells, all_of(closed[:-1], closed[-1]))


def _drawn(
    problem: Problem,
    cells: Cells,
    closed: ByPhase,
    local: Phase | None,
    rng: np.random.Generator,
    scale: float,
) -> Objective | None:
    if local is not None:
        return draw_local_world(problem, local, rng=rng, scale=scale)
    if problem.is_bernoulli and (len(closed) or scale > 0):  # its prior is a law to draw from
        return draw_world(problem, cells, closed, rng=rng, scale=scale)
    if shows_everything(cells, closed):
        return draw_world(problem, cells, closed, rng=rng, scale=scale)
    return None
