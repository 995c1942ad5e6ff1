"""Least squares on cells, one kind at a time, compiled.

Inner loops are updates of one contiguous row by another, which compilers turn into vector
instructions without reordering any sum.
"""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled
from edgewise.core.evidence.equations import Equations, Gathering
from edgewise.core.evidence.observed import are_inside, observed_directions
from edgewise.core.evidence.statistics import CellStatistics
from edgewise.core.model.cells import Cells

_SINGULAR = 1e-10
"""A pivot this small, relative to its diagonal entry, means the direction was never observed."""

SAME = 1e-18
"""Squared relative distance below which two cells have the same feature, hence the same reward
(duplicate arms, or x and -x): they are one answer, not rivals."""


def estimate(
    cells: Cells, statistics: CellStatistics | Equations | Gathering, *, ridge: float = 0.0
) -> Array:
    r"""(q, p) :math:`\hat\theta = (\rho I + A)^{-1} b` of every kind; NaN where not estimable."""
    if not isinstance(statistics, CellStatistics):
        return _joint_estimate(cells, statistics.equations)
    theta = np.full((len(cells.features), cells.features.shape[2]), np.nan)
    for kind, features in enumerate(cells.features):
        dimension = int(cells.dimensions[kind])
        moment = np.empty(dimension)
        if _solve(
            features,
            cells.products[kind],
            statistics.information[kind],
            statistics.rewards[kind],
            ridge,
            np.empty((dimension, dimension)),
            moment,
        ):
            theta[kind] = 0.0
            theta[kind, :dimension] = moment
    return theta


def _joint_estimate(cells: Cells, data: Equations) -> Array:
    """One vector for all kinds; NaN for kinds of which some contrast is out of range."""
    values, basis = observed_directions(data.gram)
    theta = np.tile(basis @ ((basis.T @ data.moment) / values), (len(cells.features), 1))
    for kind, features in enumerate(cells.features):
        contrasts = features[cells.showable[kind]] - features[cells.showable[kind]][:1]
        if not are_inside(contrasts, contrasts @ basis).all():
            theta[kind] = np.nan
    return theta


@compiled
def all_contrasts(
    features: Array,
    products: Array,
    dimension: int,
    showable: Mask,
    information: Array,
    rewards: Array,
    ridge: float,
    theta: Array,
    leaders: Indices,
    gaps: Array,
    variances: Array,
) -> None:
    """Per round: estimate, leader, and the gap and variance of every contrast with the leader.

    Rounds at which A is singular are left as they are.
    """
    n_pairs = len(features)
    columns = np.ascontiguousarray(features[:, :dimension].T)
    gram, moment = np.empty((dimension, dimension)), np.empty(dimension)
    estimates, distance, size = np.empty(n_pairs), np.empty(n_pairs), np.empty(n_pairs)
    whitened = np.empty((dimension, n_pairs))
    for r in range(len(information)):
        if not _solve(features, products, information[r], rewards[r], ridge, gram, moment):
            continue
        leader = _lead(columns, moment, showable, estimates)
        whitened[:] = columns
        _substitute(gram, whitened)
        distance[:] = 0.0
        size[:] = 0.0
        for i in range(dimension):
            row, own = whitened[i], whitened[i, leader]
            for c in range(n_pairs):
                distance[c] += (row[c] - own) * (row[c] - own)
                size[c] += row[c] * row[c]
        for c in range(n_pairs):
            if showable[c] and distance[c] > SAME * (size[c] + size[leader]):
                gaps[r, c] = estimates[leader] - estimates[c]
                variances[r, c] = distance[c]
            else:
                gaps[r, c] = np.inf
        leaders[r] = leader
        theta[r] = 0.0
        theta[r, :dimension] = moment


@compiled
def one_contrast(
    features: Array,
    products: Array,
    dimension: int,
    showable: Mask,
    rival: int,
    information: Array,
    rewards: Array,
    ridge: float,
    needed: Array,
    gaps: Array,
    variances: Array,
) -> None:
    r"""Per round: gap and variance of the contrast between the leader and one rival.

    Rounds at which some rival surely has :math:`\hat\Delta^2/s^2` below ``needed`` are left as they
    are. Let t be the last round computed, L the sum of squares up to it, z the contrast, and
    :math:`\theta_0` the best fit with :math:`z^\top\theta_0 = 0`. Then
    :math:`\hat\Delta^2/s^2 = L(\theta_0) - \min L`, and what is told later can raise it by no more
    than the squares of its cell means around :math:`\theta_0`. If another pair leads later, the
    leader of t is a rival that :math:`\hat\theta_t` does not refute: the same with
    :math:`\hat\theta_t` for :math:`\theta_0`.
    """
    columns = np.ascontiguousarray(features[:, :dimension].T)
    gram, moment = np.empty((dimension, dimension)), np.empty(dimension)
    estimates, first, second = np.empty(len(features)), np.empty(dimension), np.empty(dimension)
    alike = np.empty(len(features))
    last, reached = -1, 0.0
    for r in range(len(information)):
        if last >= 0 and needed[r] > 0.0:
            more = _squares_since(information, rewards, last, r, estimates)
            if more < needed[r]:
                more = _squares_since(information, rewards, last, r, alike)
                if reached + more < needed[r]:
                    continue
        last = -1
        if not _solve(features, products, information[r], rewards[r], ridge, gram, moment):
            continue
        leader = _lead(columns, moment, showable, estimates)
        first[:] = columns[:, leader]
        second[:] = columns[:, rival]
        _forward(gram, first)
        _forward(gram, second)
        distance, size = 0.0, 0.0
        for i in range(dimension):
            distance += (second[i] - first[i]) * (second[i] - first[i])
            size += first[i] * first[i] + second[i] * second[i]
        gaps[r] = np.inf
        if distance > SAME * size:  # else the leader is the rival or a twin of it
            gap = estimates[leader] - estimates[rival]
            gaps[r] = gap
            variances[r] = distance
            first -= second
            _backward(gram, first)
            _lead(columns, first, showable, alike)
            alike *= -gap / distance
            alike += estimates
            last, reached = r, gap * gap / distance


@compiled
def _squares_since(
    information: Array, rewards: Array, start: int, end: int, expected: Array
) -> float:
    """Of what was told between two rounds, around what is expected of a cell."""
    total = 0.0
    for c in range(len(expected)):
        weight = information[end, c] - information[start, c]
        if weight > 0.0:
            off = rewards[end, c] - rewards[start, c] - weight * expected[c]
            total += off * off / weight
    return total


@compiled
def _lead(columns: Array, theta: Array, showable: Mask, estimates: Array) -> int:
    """Fill the estimated rewards of all cells; the showable one with the largest."""
    estimates[:] = 0.0
    for i in range(len(theta)):
        row, scale = columns[i], theta[i]
        for c in range(len(row)):
            estimates[c] += scale * row[c]
    leader = -1
    for c in range(len(estimates)):
        if showable[c] and (leader < 0 or estimates[c] > estimates[leader]):
            leader = c
    return leader


@compiled
def _solve(
    features: Array,
    products: Array,
    information: Array,
    rewards: Array,
    ridge: float,
    gram: Array,
    theta: Array,
) -> bool:
    """Overwrite ``gram`` with the factor U of A = U'U and ``theta`` with the estimate."""
    if len(products):
        _gram_from_products(products, information, features.shape[1], gram)
    else:
        _gram_from_features(features, information, gram)
    theta[:] = 0.0
    for c in range(len(features)):
        feature, reward = features[c], rewards[c]
        for i in range(len(theta)):
            theta[i] += reward * feature[i]
    for i in range(len(theta)):
        gram[i, i] += ridge
    if not _factorise(gram):
        return False
    _forward(gram, theta)
    _backward(gram, theta)
    return True


@compiled
def _gram_from_products(products: Array, information: Array, width: int, gram: Array) -> None:
    """The upper triangle of A from the tabulated upper triangles of all phi phi'."""
    packed = np.zeros(products.shape[1])
    for c in range(len(products)):
        product, weight = products[c], information[c]
        if weight > 0.0:
            for position in range(len(packed)):
                packed[position] += weight * product[position]
    start = 0
    for i in range(len(gram)):
        row = gram[i]
        for j in range(i, len(gram)):
            row[j] = packed[start + j - i]
        start += width - i


@compiled
def _gram_from_features(features: Array, information: Array, gram: Array) -> None:
    """The same when there are too many cells to tabulate; whole rows vectorise best."""
    dimension = len(gram)
    gram[:] = 0.0
    for c in range(len(features)):
        feature, weight = features[c], information[c]
        if weight > 0.0:
            for i in range(dimension):
                row, scaled = gram[i], weight * feature[i]
                for j in range(dimension):
                    row[j] += scaled * feature[j]


@compiled
def _factorise(gram: Array) -> bool:
    """Overwrite the upper triangle of A with U, U'U = A; False if A is singular."""
    dimension = len(gram)
    for j in range(dimension):
        row = gram[j]
        floor = row[j] * _SINGULAR
        for i in range(j):
            above = gram[i]
            factor = above[j]
            for l in range(j, dimension):
                row[l] -= factor * above[l]
        if not row[j] > floor:
            return False
        scale = 1.0 / np.sqrt(row[j])
        for l in range(j, dimension):
            row[l] *= scale
    return True


@compiled
def _substitute(factor: Array, rows: Array) -> None:
    """Overwrite ``rows`` (p, c) with the solution V of U' V = rows."""
    for j in range(len(factor)):
        row = rows[j]
        for i in range(j):
            above = rows[i]
            scale = factor[i, j]
            for c in range(len(row)):
                row[c] -= scale * above[c]
        scale = 1.0 / factor[j, j]
        for c in range(len(row)):
            row[c] *= scale


@compiled
def _forward(factor: Array, vector: Array) -> None:
    """Overwrite ``vector`` with the solution v of U' v = vector."""
    for i in range(len(factor)):
        row = factor[i]
        vector[i] /= row[i]
        value = vector[i]
        for j in range(i + 1, len(factor)):
            vector[j] -= value * row[j]


@compiled
def _backward(factor: Array, vector: Array) -> None:
    """Overwrite ``vector`` with the solution v of U v = vector."""
    for i in range(len(factor) - 1, -1, -1):
        row = factor[i]
        for j in range(i + 1, len(factor)):
            vector[i] -= row[j] * vector[j]
        vector[i] /= row[i]
