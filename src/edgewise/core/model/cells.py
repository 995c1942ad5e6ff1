"""Cells: what one edge can show. Everything downstream works on cells only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask, frozen
from edgewise.core.model.pairs import matrices_of, ordered_pairs, unordered_pairs
from edgewise.core.model.problem import Problem

_LARGEST_TABLE = 1 << 22
"""Numbers in the table of feature products (32 MB); larger problems form products as needed."""


@dataclass(frozen=True, eq=False)
class Cells:
    r"""The cells (edge kind, pair of arms) of a problem and their features.

    Every edge of kind q that shows the pair c has the mean reward :math:`\phi_{qc}^\top\theta_q`.

    *Unordered* pairs {k, l} (both directions observed; only :math:`S = (M + M^\top)/2` matters):
    :math:`\phi = \mathrm{svec}((x_k x_l^\top + x_l x_k^\top)/2)`, off-diagonals scaled by
    :math:`\sqrt 2`, followed by :math:`(x_k + x_l)/\sqrt 2` when there is a node term.

    *Ordered* pairs (k, l) (directed edges, and the paper's own form):
    :math:`\phi = \mathrm{vec}(x_k x_l^\top)`, row by row, followed by :math:`x_k`.
    """

    ordered: bool
    pairs: Indices
    """(P, 2) the arms of each pair; k <= l when unordered."""
    pair_index: Indices
    """(K, K) the pair shown by arms k and l."""
    features: Array
    """(q, P, p) per kind; columns from ``dimensions[q]`` on are zero."""
    dimensions: Indices
    """(q,) number of parameters of each kind that its edges can reveal."""
    showable: Mask
    """(q, P) whether an edge of the kind can show the pair (candidate masks forbid some)."""
    arm_transform: Array
    """(d, r) from arms to the coordinates the features are made of."""
    rotations: Array
    """(q, p0, p) from a kind's raw features to ``features``."""
    node_term: bool

    @cached_property
    def n_rivals(self) -> int:
        """How many cells compete with the best of their kind: sum over kinds of (cells - 1)."""
        return int(np.maximum(self.showable.sum(axis=1) - 1, 0).sum())

    @cached_property
    def products(self) -> Array:
        """(q, P, p(p + 1)/2) upper triangles of all phi phi'; (q, 0, 0) if that would be large."""
        n_kinds, n_pairs, p = self.features.shape
        if n_kinds * n_pairs * p * (p + 1) // 2 > _LARGEST_TABLE:
            return np.zeros((n_kinds, 0, 0))
        row, column = np.triu_indices(p)
        return frozen(self.features[:, :, row] * self.features[:, :, column], float)

    def grams(self, information: Array) -> Array:
        """(q, p, p) A of each kind, from N_c (q, P)."""
        gram: Array = np.einsum("qc,qci,qcj->qij", information, self.features, self.features)
        return gram

    def padded(self, grams: Array) -> Array:
        """The same (q, p, p), in place, with 1 on the diagonal of the dimensions a kind lacks."""
        for kind, dimension in enumerate(self.dimensions):
            lacking = np.arange(dimension, grams.shape[1])
            grams[kind, lacking, lacking] = 1.0
        return grams

    def means(self, theta: Array) -> Array:
        """(q, P) mean reward of every cell under parameters theta (q, p)."""
        means: Array = np.einsum("qcp,qp->qc", self.features, theta)
        return means

    def averages(self, tables: Array) -> Array:
        """(q, P) the mean reward of every cell, from tables (q, K, K) by the arms at both ends.

        The two directions are averaged if pairs are unordered.
        """
        k, l = self.pairs.T
        there, back = tables[:, k, l], tables[:, l, k]
        return there if self.ordered else 0.5 * (there + back)

    def tables(self, theta: Array) -> Array:
        """(q, K, K) mean reward of an edge by the arms at its two nodes, node term included."""
        return self.means(theta)[:, self.pair_index]

    def matrices(self, theta: Array) -> Array:
        """(q, d, d) the matrices that theta stands for: S if unordered, M if ordered."""
        r = self.arm_transform.shape[1]
        raw = np.einsum("qip,qp->qi", self.rotations, theta)
        size = r * r if self.ordered else r * (r + 1) // 2
        inner = matrices_of(raw[:, :size], r, ordered=self.ordered)
        return self.arm_transform @ inner @ self.arm_transform.T

    def node_terms(self, theta: Array) -> Array | None:
        """(q, d) the vectors beta, or None without a node term."""
        if not self.node_term:
            return None
        r = self.arm_transform.shape[1]
        raw: Array = np.einsum("qip,qp->qi", self.rotations, theta)[:, -r:]
        scale = 1.0 if self.ordered else math.sqrt(2.0)
        return scale * raw @ self.arm_transform.T

    @classmethod
    def of(cls, problem: Problem) -> Cells:
        """The product's own form: unordered pairs where both directions are observed."""
        return _build(problem, problem.graph.directed, whiten=True)

    @classmethod
    def as_printed(cls, problem: Problem) -> Cells:
        """The paper's form: ordered pairs, :math:`d^2` parameters, arms as they are given.

        Coordinates matter there because the paper starts from :math:`A_0 = I`.
        """
        return _build(problem, ordered=True, whiten=problem.whitening.rank < problem.dimension)


def _build(problem: Problem, ordered: bool, whiten: bool) -> Cells:
    if whiten:
        arms, transform = problem.whitening.coordinates, problem.whitening.transform
    else:
        arms, transform = problem.arms, np.eye(problem.dimension)
    pairs = ordered_pairs(len(arms)) if ordered else unordered_pairs(len(arms))
    raw = pairs.features(arms)
    k, l = pairs.arms.T
    if problem.node_term:
        first, second = arms[k], arms[l]
        own = first if ordered else (first + second) * math.sqrt(0.5)
        raw = np.hstack([raw, own])
    showable = problem.showable[:, k, l]
    rotations, dimensions = _rotations(raw, showable)
    return Cells(
        ordered=ordered,
        pairs=frozen(pairs.arms, np.int32),
        pair_index=frozen(pairs.index, np.int32),
        features=frozen(np.einsum("ci,qip->qcp", raw, rotations), float),
        dimensions=frozen(dimensions, np.int64),
        showable=frozen(showable, np.bool_),
        arm_transform=frozen(transform, float),
        rotations=frozen(rotations, float),
        node_term=problem.node_term,
    )


def _rotations(raw: Array, showable: Mask) -> tuple[Array, Indices]:
    """Per kind, an orthonormal basis of what its edges can reveal, padded with zero columns.

    Without candidate masks that is everything and the basis is the identity.
    """
    n_kinds, p = len(showable), raw.shape[1]
    rotations = np.broadcast_to(np.eye(p), (n_kinds, p, p)).copy()
    dimensions = np.full(n_kinds, p)
    for kind in range(n_kinds):
        if showable[kind].all():
            continue
        _, values, basis = np.linalg.svd(raw[showable[kind]], full_matrices=False)
        rank = int((values > values[0] * max(raw.shape) * np.finfo(float).eps).sum())
        rotations[kind] = 0.0
        rotations[kind, :, :rank] = basis[:rank].T
        dimensions[kind] = rank
    return rotations, dimensions
