r"""Upper confidence values: what every cell may be worth, and the allocation problem they pose.

.. math:: u_c = \phi_c^\top\hat\theta + w\,\sigma\,\|\phi_c\|_{A^{-1}}

The sum over edges of upper confidence values is never below the upper confidence value of the sum,
and it is what an allocator can maximise. Directions that were not observed count for nothing. Where
edges have parameters of their own the deviations are those of the local model's posterior.
"""

from __future__ import annotations

import math

import numpy as np

from edgewise.allocation.instance.objective import Objective
from edgewise.base.arrays import Array
from edgewise.core.evidence.by_edge import local_network
from edgewise.core.evidence.coverage import sees_everything
from edgewise.core.evidence.drawing import noise_in_use, normal_by_kind, posterior_of
from edgewise.core.evidence.measuring import ByPhase, Total, all_of
from edgewise.core.evidence.observed import observed_directions
from edgewise.core.local.estimate import objective_of
from edgewise.core.local.network import LocalNetwork
from edgewise.core.local.normal_equations import Phase
from edgewise.core.local.posterior import Posterior
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem


def upper_world(
    problem: Problem, cells: Cells, closed: ByPhase, *, width: float | None, delta: float
) -> Objective:
    """The allocation problem of upper confidence values, after phases that show everything.

    ``width`` in standard errors; None for the one that holds for all cells and phases at once with
    probability 1 - delta.
    """
    first, seen = _until_everything(cells, closed), all_of(closed[:-1], closed[-1])
    sigma = noise_in_use(problem, seen)
    shape = cells.showable.shape
    means, reach, own = np.zeros(shape), np.zeros(shape), None
    now = normal_by_kind(cells, seen)
    for kind, ((A, b), (A_1, _)) in enumerate(zip(now, normal_by_kind(cells, first), strict=True)):
        chosen = simultaneous_width(A_1, A, delta / len(now)) if width is None else width
        values, basis = observed_directions(A)
        whitening, mean = basis / np.sqrt(values), (basis.T @ b) / np.sqrt(values)
        members = slice(None) if cells.joint else slice(kind, kind + 1)
        coordinates = cells.features[members] @ whitening
        means[members] = coordinates @ mean
        reach[members] = chosen * sigma * np.linalg.norm(coordinates, axis=-1)
        if cells.own is not None:
            single = cells.own @ whitening
            upper = single @ mean + chosen * sigma * np.linalg.norm(single, axis=-1)
            own = upper[problem.kind_of_node]
    return _posed(problem, means[:, cells.pair_index], reach[:, cells.pair_index], own)


def upper_local_world(problem: Problem, seen: Phase, *, width: float) -> Objective:
    """The same where edges have parameters of their own: posterior mean and deviations."""
    network, posterior = local_network(problem), posterior_of(problem, seen)
    world = objective_of(network, posterior.mean)
    reach, own = _deviations(network, posterior)
    signs = np.sign(world.graph.weight_of_edge)[:, None, None]
    unary = None if own is None else world.unary_of_node + width * own
    tables = world.tables + width * signs * reach
    return Objective.of(world.graph, tables, problem.candidates, unary)


def simultaneous_width(A_1: Array, A: Array, delta: float) -> float:
    r"""Standard errors within which every direction is estimated, at all times at once.

    .. math:: \beta = \sqrt{2\log\tfrac2\delta + \log\tfrac{\det A}{\det A_1}}
              + \sqrt p + \sqrt{2\log\tfrac2\delta} ,

    with A_1 (p, p) the information of rounds that were fixed in advance and A (p, p) that of all
    rounds: the first part is the self-normalised bound for what came later, with A_1 as its
    regulariser, the rest bounds the first rounds' own noise.
    """
    log_odds = 2.0 * math.log(2.0 / delta)
    values, _ = observed_directions(A_1)
    return math.sqrt(log_odds + growth(A_1, A - A_1)) + math.sqrt(len(values)) + math.sqrt(log_odds)


def growth(A: Array, more: Array) -> float:
    """Log of det(A + more)/det(A), in the directions that A (p, p) has observed."""
    values, basis = observed_directions(A)
    whitening = basis / np.sqrt(values)
    return float(np.linalg.slogdet(np.eye(len(values)) + whitening.T @ more @ whitening)[1])


def _until_everything(cells: Cells, closed: ByPhase) -> Total:
    """The first phases, up to the one after which everything has been seen."""
    for last in range(len(closed)):
        first = all_of(closed[:last], closed[last])
        if sees_everything(cells, first):
            break
    return first


def _posed(problem: Problem, means: Array, reach: Array, own: Array | None) -> Objective:
    """Where a weight is negative, what an edge may be worth at best is its lower value."""
    graph = problem.classes.graph
    if not graph.has_negative_weights:
        return Objective.of(graph, means + reach, problem.candidates, own)
    kinds, signs = graph.kind_of_edge, np.sign(graph.weight_of_edge)[:, None, None]
    tables = graph.n_directions * (means[kinds] + signs * reach[kinds])
    return Objective.of(graph.edge_by_edge(), tables, problem.candidates, own)


def _deviations(network: LocalNetwork, posterior: Posterior) -> tuple[Array, Array | None]:
    """(E, K, K) and (n, K): deviations of what both directions of every edge bring, and of nodes'
    own terms; those of an edge's terms are added up.
    """
    blocks, starts = list(posterior.covariances()), network.channels.block_starts
    terms = [blocks[block] for block in np.searchsorted(starts, network.term_starts)]
    features = network.measurement.features
    each = np.sqrt(np.einsum("klp,tpr,klr->tkl", features, np.array(terms), features))
    edges = network.by_edge(each)
    if not len(network.own_starts):
        return edges, None
    arms = network.measurement.problem.whitening.coordinates
    own = [blocks[block] for block in np.searchsorted(starts, network.own_starts)]
    return edges, np.sqrt(np.einsum("kp,npr,kr->nk", arms, np.array(own), arms))
