"""From statistics to evidence: the leader of each kind, and how far every rival is behind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgewise.core.arrays import Array, Indices, Mask
from edgewise.core.cells import Cells
from edgewise.core.compiled import compiled
from edgewise.core.problem import Problem

_SINGULAR = 1e-10
"""A pivot this small, relative to its diagonal entry, means the direction was never observed."""

_SAME = 1e-18
"""Squared relative distance below which two cells have the same feature, hence the same reward
(duplicate arms, or x and -x): they are one answer, not rivals."""


@dataclass(frozen=True, eq=False)
class Evidence:
    r"""What a stopping rule may look at, for R successive rounds at once.

    For the leader :math:`\hat z` (largest estimate) of a kind and a rival z with contrast
    :math:`y = \phi_{\hat z} - \phi_z`: the empirical gap :math:`y^\top\hat\theta` and its
    deviation :math:`\sigma \sqrt{y^\top A^{-1} y}`. Cells that are no rivals (the leader, cells
    equal to it, cells no edge can show) have gap infinity. Rounds after which some direction is
    still unobserved have leader -1 and gap -infinity.
    """

    rounds: NDArray[np.int64]
    """(R,)"""
    theta: Array
    """(R, q, p) least-squares estimate; NaN where not estimable."""
    leaders: Indices
    """(R, q) pair with the largest estimated reward."""
    gaps: Array
    """(R, q, P)"""
    deviations: Array
    """(R, q, P)"""
    n_rivals: int
    n_edges: int
    n_arms: int
    noise: float


def gather(
    problem: Problem,
    cells: Cells,
    rounds: NDArray[np.int64],
    information: Array,
    rewards: Array,
    *,
    ridge: float = 0.0,
) -> Evidence:
    r"""Least squares after each of R rounds, :math:`\hat\theta = (\rho I + A)^{-1} b`.

    ``information`` and ``rewards`` are cumulative, (R, q, P). ``ridge`` is the paper's
    :math:`A_0 = I`; zero everywhere else.
    """
    n_rounds, n_kinds, n_pairs = information.shape
    theta = np.full((n_rounds, n_kinds, cells.features.shape[2]), np.nan)
    leaders = np.full((n_rounds, n_kinds), -1)
    gaps = np.full((n_rounds, n_kinds, n_pairs), -np.inf)
    variances = np.ones((n_rounds, n_kinds, n_pairs))
    for kind in range(n_kinds):
        _contrasts(
            cells.features[kind],
            int(cells.dimensions[kind]),
            cells.showable[kind],
            information[:, kind],
            rewards[:, kind],
            ridge,
            theta[:, kind],
            leaders[:, kind],
            gaps[:, kind],
            variances[:, kind],
        )
    deviations = problem.noise * np.sqrt(variances)
    return Evidence(
        rounds=rounds,
        theta=theta,
        leaders=leaders,
        gaps=gaps,
        deviations=deviations,
        n_rivals=cells.n_rivals,
        n_edges=problem.graph.n_edges,
        n_arms=problem.n_arms,
        noise=problem.noise,
    )


@compiled
def _contrasts(
    features: Array,
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
    """Fill the rows of one kind: estimate, leader, gaps and contrast variances per round.

    Inner loops are updates of one contiguous row by another, which compilers turn into vector
    instructions without reordering any sum.
    """
    n_pairs = len(features)
    columns = np.ascontiguousarray(features[:, :dimension].T)
    gram = np.empty((dimension, dimension))
    whitened = np.empty((dimension, n_pairs))
    moment = np.empty(dimension)
    estimate, distance, size = np.empty(n_pairs), np.empty(n_pairs), np.empty(n_pairs)
    for r in range(len(information)):
        _normal_equations(features, information[r], rewards[r], ridge, gram, moment)
        if not _factorise(gram):
            continue
        whitened[:] = columns
        _substitute(gram, whitened)
        _substitute(gram, moment.reshape(dimension, 1))
        estimate[:] = 0.0  # phi' theta = (U^-T phi)' (U^-T b)
        for i in range(dimension):
            row, scale = whitened[i], moment[i]
            for c in range(n_pairs):
                estimate[c] += scale * row[c]
        leader = -1
        for c in range(n_pairs):
            if showable[c] and (leader < 0 or estimate[c] > estimate[leader]):
                leader = c
        leaders[r] = leader
        distance[:] = 0.0
        size[:] = 0.0
        for i in range(dimension):
            row, own = whitened[i], whitened[i, leader]
            for c in range(n_pairs):
                distance[c] += (row[c] - own) * (row[c] - own)
                size[c] += row[c] * row[c]
        for c in range(n_pairs):
            if showable[c] and distance[c] > _SAME * (size[c] + size[leader]):
                gaps[r, c] = estimate[leader] - estimate[c]
                variances[r, c] = distance[c]
            else:
                gaps[r, c] = np.inf
        _back_substitute(gram, moment)
        theta[r] = 0.0
        theta[r, :dimension] = moment


@compiled
def _normal_equations(
    features: Array, information: Array, rewards: Array, ridge: float, gram: Array, moment: Array
) -> None:
    """The upper triangle of A and the moment b."""
    dimension = len(moment)
    gram[:] = 0.0
    moment[:] = 0.0
    for i in range(dimension):
        gram[i, i] = ridge
    for c in range(len(features)):
        if information[c] > 0.0:
            feature = features[c]
            for i in range(dimension):
                row = gram[i]
                scaled = information[c] * feature[i]
                for j in range(i, dimension):
                    row[j] += scaled * feature[j]
                moment[i] += rewards[c] * feature[i]


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
def _back_substitute(factor: Array, vector: Array) -> None:
    """Overwrite ``vector`` with the solution v of U v = vector."""
    for i in range(len(factor) - 1, -1, -1):
        for j in range(i + 1, len(factor)):
            vector[i] -= factor[i, j] * vector[j]
        vector[i] /= factor[i, i]
