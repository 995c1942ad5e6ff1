"""Laying out a design as one joint arm: nodes are filled one after the other, greedily."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled
from edgewise.core.aim import Aim
from edgewise.core.model.cells import Cells
from edgewise.core.model.problem import Problem
from edgewise.network.graph import Graph

_REFRESHES = 256
"""How often at most the gains are computed anew within one round."""

_TOUGHEST = 64
"""Contrasts that steer a refresh; the others are better off and would hardly count."""

_NEGLIGIBLE = 1e-6


def lay_out(
    problem: Problem,
    cells: Cells,
    order: Indices,
    inverse: Array,
    aim: Aim,
    *,
    power: float,
    doubt: float,
    seen: Array,
) -> Indices:
    r"""The joint arm (n,) that improves the worst-served contrast most, greedily.

    With :math:`h_y = 1/(y^\top A^{-1} y)` the information on contrast y and n_y what it needs, the
    soft minimum of :math:`h_y/n_y` has in cell c of y's kind the slope

    .. math:: \Gamma_c = \sum_y \frac{q_y}{n_y}
        \Big(\frac{\phi_c^\top A^{-1} y}{y^\top A^{-1} y}\Big)^2,
        \qquad q_y \propto \Big(\frac{n_y}{h_y}\Big)^{\text{power}} .

    Nodes are visited in ``order``; each takes the arm with the largest sum of slopes over its
    edges, against the arms its neighbours already have, or the best they could still get. A grows
    by every edge that becomes complete, and the slopes are refreshed as it does: a round shows a
    mixture of cells, not one cell everywhere.

    Without contrasts the slope is that of log det A in a model that may be wrong: what a cell pays
    beyond its features is taken for normal with variance ``doubt`` :math:`\tau^2` (in units of the
    noise's), so that

    .. math:: \Gamma_c = \log\Big(1 + \phi_c^\top A^{-1} \phi_c
        + \frac{\tau^2}{1 + \tau^2 N_c}\Big) ,

    the second term (:math:`N_c` how often the cell was ``seen``) without regard to what cells tell
    about each other. Terms that may be there: DuMouchel and Jones, *A simple Bayesian modification
    of D-optimal designs to reduce dependence on an assumed model*, Technometrics 36, 1994.

    ``inverse`` (q, p, p) is :math:`A^{-1}` at the start, overwritten; ``seen`` is (q, P).
    """
    graph = problem.classes.graph
    adjacency = graph.adjacency
    arms = np.zeros(graph.n_nodes, np.int32)
    refresh = max(1, len(graph.edges) // _REFRESHES)
    _fill(
        adjacency.starts,
        adjacency.neighbours,
        adjacency.edge_ids,
        *graph.columns,
        graph.directed,
        order,
        *problem.candidate_sets,
        cells.features,
        cells.pair_index,
        inverse,
        aim.contrasts(cells),
        aim.kinds,
        aim.needs,
        power,
        doubt,
        seen.copy(),
        refresh,
        arms,
    )
    return arms


def breadth_first(graph: Graph) -> Indices:
    """Nodes in an order in which each but the first of its component has an earlier neighbour.

    Components start at a node of largest degree: its arm constrains most edges.
    """
    adjacency = graph.adjacency
    by_degree = np.argsort(-graph.degrees, kind="stable")
    return _breadth_first(adjacency.starts, adjacency.neighbours, by_degree)


@compiled
def _breadth_first(starts: Indices, neighbours: Indices, roots: Indices) -> Indices:
    order = np.empty(len(roots), np.int64)
    seen = np.zeros(len(roots), np.bool_)
    filled = 0
    for root in roots:
        if seen[root]:
            continue
        seen[root] = True
        order[filled] = root
        position = filled
        filled += 1
        while position < filled:
            i = order[position]
            position += 1
            for e in range(starts[i], starts[i + 1]):
                j = neighbours[e]
                if not seen[j]:
                    seen[j] = True
                    order[filled] = j
                    filled += 1
    return order


@compiled
def _fill(
    starts: Indices,
    neighbours: Indices,
    edge_ids: Indices,
    edges: Indices,
    edge_kinds: Indices,
    weights: Array,
    directed: bool,
    order: Indices,
    masks: Mask,
    groups: Indices,
    features: Array,
    pair_index: Indices,
    inverse: Array,
    contrasts: Array,
    kinds: Indices,
    needs: Array,
    power: float,
    doubt: float,
    seen: Array,
    refresh: int,
    arms: Indices,
) -> None:
    n_kinds, n_arms = len(features), len(pair_index)
    slopes = np.empty((n_kinds, n_arms, n_arms))
    outlook = np.empty((2, n_kinds, len(masks), n_arms))
    known = np.zeros((2, n_kinds, len(masks)), np.bool_)
    score = np.empty(n_arms)
    assigned = np.zeros(len(order), np.bool_)
    since = refresh
    for i in order:
        if since >= refresh:
            since = 0
            known[:] = False
            if len(contrasts):
                cell_slopes = _contrast_slopes(features, inverse, contrasts, kinds, needs, power)
            else:
                cell_slopes = _determinant_slopes(features, inverse, doubt, seen)
            _by_arms(cell_slopes, pair_index, slopes)
        score[:] = 0.0
        for position in range(starts[i], starts[i + 1]):
            e, j = edge_ids[position], neighbours[position]
            kind = edge_kinds[e] if len(edge_kinds) else 0
            squared = weights[e] * weights[e] if len(weights) else 1.0
            side = 0 if edges[e, 0] == i else 1
            theirs = groups[j]
            if not assigned[j] and not known[side, kind, theirs]:
                known[side, kind, theirs] = True
                _look_ahead(slopes[kind], side, masks[theirs], outlook[side, kind, theirs])
            for k in range(n_arms):
                if not assigned[j]:
                    score[k] += squared * outlook[side, kind, theirs, k]
                elif side == 0:
                    score[k] += squared * slopes[kind, k, arms[j]]
                else:
                    score[k] += squared * slopes[kind, arms[j], k]
        best = -1
        for k in range(n_arms):
            if masks[groups[i], k] and (best < 0 or score[k] > score[best]):
                best = k
        arms[i], assigned[i] = best, True
        for position in range(starts[i], starts[i + 1]):
            e, j = edge_ids[position], neighbours[position]
            if assigned[j]:
                kind = edge_kinds[e] if len(edge_kinds) else 0
                squared = weights[e] * weights[e] if len(weights) else 1.0
                pair = pair_index[arms[edges[e, 0]], arms[edges[e, 1]]]
                copies = squared if directed else 2.0 * squared
                _add_observation(inverse[kind], features[kind, pair], copies)
                seen[kind, pair] += copies
                since += 1


@compiled
def _add_observation(inverse: Array, feature: Array, weight: float) -> None:
    """Sherman-Morrison: the inverse of A + weight phi phi'."""
    image = np.zeros(len(feature))
    for i in range(len(feature)):
        row, value = inverse[i], feature[i]
        for j in range(len(feature)):
            image[j] += value * row[j]
    spread = 0.0
    for i in range(len(feature)):
        spread += feature[i] * image[i]
    factor = weight / (1.0 + weight * spread)
    for i in range(len(feature)):
        row, scaled = inverse[i], factor * image[i]
        for j in range(len(feature)):
            row[j] -= scaled * image[j]


@compiled
def _by_arms(cell_slopes: Array, pair_index: Indices, slopes: Array) -> None:
    """Slopes per kind and arms at the two ends."""
    n_arms = len(pair_index)
    for kind in range(len(cell_slopes)):
        for k in range(n_arms):
            for l in range(n_arms):
                slopes[kind, k, l] = cell_slopes[kind, pair_index[k, l]]


@compiled
def _look_ahead(slopes: Array, side: int, mask: Mask, outlook: Array) -> None:
    """The best each arm at one end can hope for, when the other end may have the arms in mask."""
    outlook[:] = -np.inf
    for k in range(len(outlook)):
        for l in range(len(outlook)):
            if mask[l]:
                slope = slopes[k, l] if side == 0 else slopes[l, k]
                outlook[k] = max(outlook[k], slope)


@compiled
def _determinant_slopes(features: Array, inverse: Array, doubt: float, seen: Array) -> Array:
    """What one more observation of a cell would add to log det A, and to the doubt about it."""
    cell_slopes = np.empty(features.shape[:2])
    for kind in range(len(features)):
        images = features[kind] @ inverse[kind]
        for c in range(features.shape[1]):
            beyond = doubt / (1.0 + doubt * seen[kind, c])
            cell_slopes[kind, c] = np.log1p((images[c] * features[kind, c]).sum() + beyond)
    return cell_slopes


@compiled
def _contrast_slopes(
    features: Array,
    inverse: Array,
    contrasts: Array,
    kinds: Indices,
    needs: Array,
    power: float,
) -> Array:
    cell_slopes = np.zeros(features.shape[:2])
    images = np.empty_like(contrasts)
    variance = np.empty(len(contrasts))
    for t in range(len(contrasts)):
        images[t] = inverse[kinds[t]] @ contrasts[t]
        variance[t] = (images[t] * contrasts[t]).sum()
    lack = variance * needs
    toughest = np.argsort(-lack)[:_TOUGHEST]
    weight = (lack / lack.max()) ** power
    for t in toughest:
        if weight[t] > _NEGLIGIBLE:
            scale = weight[t] / (needs[t] * variance[t] * variance[t])
            reach = features[kinds[t]] @ images[t]
            cell_slopes[kinds[t]] += scale * reach * reach
    return cell_slopes
