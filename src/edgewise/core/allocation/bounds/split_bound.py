"""Rewards of edges split freely among the cycles through them."""

from __future__ import annotations

from typing import Any

import numpy as np

from edgewise.core.allocation.bounds.bound import Bound
from edgewise.core.allocation.bounds.cycles import Cycles, Packing, edge_weights
from edgewise.core.allocation.bounds.rounding import PAIRWISE, careful_sum, gamma
from edgewise.core.allocation.bounds.smooth_split import smooth_bound
from edgewise.core.allocation.bounds.step_tables import Problem, Split, maxima
from edgewise.core.allocation.deadline import Deadline
from edgewise.core.allocation.objective import Objective
from edgewise.core.arrays import Array
from edgewise.core.threads import single_threaded

MOST_NUMBERS = 10**6
"""Entries of all parts up to which a split is tried; a few hundred megabytes with the method's."""
_SECONDS_PER_NUMBER = 6e-9
"""Per entry of a part and arm, for one gradient, measured."""
_SECONDS_PER_ROUND = 5e-4
_HEATS = (1e-3, 3e-4)
"""Smoothing, relative to the spread of the tables, from coarse to fine."""


def split_bound(
    objective: Objective, packing: Packing, *, seconds: float, deadline: Deadline | None = None
) -> Bound | None:
    r"""The odd-cycle bound with a table of its own for every step of every cycle.

    Let closed walk c hold a part :math:`\theta_{cs}` (K x K) of the table of the edge of its step
    s, and the nodes of e hold parts :math:`\mu_{ei}` (K) of it. Whatever the parts,

    .. math:: F_{\max} \le \sum_i \max_k \Bigl(u_i + \sum_{e \ni i} \mu_{ei}\Bigr)[k]
              + \sum_e \max_{kl} \Bigl(G_e - \mu_{ei} - \mu_{ej} - \sum_{s \to e} \theta_{cs}\Bigr)
              + \sum_c \max_a \sum_{s \in c} \theta_{cs}[a_s, a_{s+1}],

    since the parts add up to F for every allocation. A packing is the choice
    :math:`\theta = y_c (G_e - \max G_e) / w_e`; from there a quasi-Newton method descends on the
    smoothed bound, for ``seconds`` of counted work or until the deadline. Kinds, directions,
    signs, masks and node terms only change the tables.
    """
    problem = _problem(objective, packing.cycles)
    n_arms = objective.n_arms
    numbers = (len(problem.cycles.edges) + 2 * len(problem.edges)) * n_arms**2
    rounds = int(seconds / (_SECONDS_PER_NUMBER * numbers * (n_arms + 10) + _SECONDS_PER_ROUND))
    if numbers > MOST_NUMBERS or rounds < len(_HEATS):
        return None
    split = _from_packing(problem, packing, edge_weights(objective.graph))
    best = _evaluated(problem, split)
    spread = float(np.ptp(problem.tables, axis=(1, 2)).max())
    for heat in _HEATS:
        if spread > 0.0:
            split = _descend(problem, split, heat * spread, rounds // len(_HEATS), deadline)
            best = min(best, _evaluated(problem, split))
    return best


def _problem(objective: Objective, cycles: Cycles) -> Problem:
    graph, K = objective.graph, objective.n_arms
    kinds = np.zeros(len(graph.edges), np.int64) if graph.kinds is None else graph.kinds
    tables = objective.tables[kinds] * (1.0 if graph.directed else 2.0)
    if graph.weights is not None:
        tables = tables * graph.weights[:, None, None]
    shape = (graph.n_nodes, K)
    unary = np.zeros(shape) if objective.unary is None else np.array(objective.unary)
    allowed = np.ones(shape, bool) if objective.candidates is None else objective.candidates
    return Problem(tables, unary, np.array(allowed), graph.edges, cycles)


def _from_packing(problem: Problem, packing: Packing, weights: Array) -> Split:
    """Every step holds the share of its edge's table that the packing gives it."""
    cycles, tables = packing.cycles, problem.tables
    shares = np.repeat(packing.amounts, cycles.lengths) / weights[cycles.edges]
    slack = tables - tables.max(axis=(1, 2), keepdims=True)
    steps = slack[cycles.edges] * shares[:, None, None]
    backwards = problem.edges[cycles.edges, 0] != cycles.nodes
    steps[backwards] = steps[backwards].transpose(0, 2, 1)
    return Split(steps, np.zeros((len(tables), 2, tables.shape[1])))


def _evaluated(problem: Problem, split: Split) -> Bound:
    """The bound of a split, rounded up."""
    value, error = careful_sum(maxima(problem, split))
    sizes = [np.abs(array).max(axis=-1, initial=0.0).sum() for array in (problem.unary, split.ends)]
    sizes += [np.abs(array).max(axis=(1, 2)).sum() for array in (problem.tables, split.steps)]
    # terms that one number is the sum of: parts of an edge, edges of a node, steps of a walk
    parts = np.bincount(problem.cycles.edges, minlength=1).max()
    degree = np.bincount(problem.edges.ravel()).max()
    longest = problem.cycles.lengths.max(initial=0)
    margin = gamma(float(parts + degree + longest) + PAIRWISE) * 4.0 * float(sum(sizes))
    return Bound(value + error + margin, "cycle-split")


def _descend(
    problem: Problem, split: Split, heat: float, rounds: int, deadline: Deadline | None
) -> Split:
    from scipy.optimize import minimize

    def as_split(flat: Array) -> Split:
        middle = split.steps.size
        return Split(
            flat[:middle].reshape(split.steps.shape), flat[middle:].reshape(split.ends.shape)
        )

    def value_and_slope(flat: Array) -> tuple[float, Array]:
        slope = np.empty_like(flat)
        return smooth_bound(problem, as_split(flat), heat, as_split(slope)), slope

    def stop_in_time(_: Array) -> None:
        if deadline is not None and deadline.passed:
            raise StopIteration

    start = np.concatenate([split.steps.ravel(), split.ends.ravel()])
    options: dict[str, Any] = {"maxiter": rounds, "maxfun": rounds, "maxcor": 10}
    with single_threaded():
        found = minimize(
            value_and_slope,
            start,
            jac=True,
            method="L-BFGS-B",
            callback=stop_in_time,
            options=options,
        )
    return as_split(found.x)
