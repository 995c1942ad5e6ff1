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
    directions: bool
    """Whether the parameters are those of M; else of its symmetric part."""
    joint: bool = False
    """Whether all kinds have one vector of parameters, of which each has its features."""
    own: Array | None = None
    """(s, K, p) features of an arm's own term at a node, by kind of node; None if there is none."""
    own_showable: Mask | None = None
    """(s, K) whether some node of the kind can be given the arm."""
    interaction: bool = True
    """Whether there are matrices at all, or node terms alone."""

    @property
    def n_parameters(self) -> int:
        """How many numbers are unknown."""
        return int(self.dimensions[0] if self.joint else self.dimensions.sum())

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
        """(q, d, d) the matrices that theta stands for: M if it has directions, else S."""
        r = self.arm_transform.shape[1]
        raw = np.einsum("qip,qp->qi", self.rotations, theta)
        if not self.interaction:
            return np.zeros((len(raw), len(self.arm_transform), len(self.arm_transform)))
        size = r * r if self.directions else r * (r + 1) // 2
        inner = matrices_of(raw[:, :size], r, ordered=self.directions)
        return self.arm_transform @ inner @ self.arm_transform.T

    def node_terms(self, theta: Array) -> Array | None:
        """(q, d) the vectors beta, or None without a node term."""
        if not self.node_term:
            return None
        r = self.arm_transform.shape[1]
        raw: Array = np.einsum("qip,qp->qi", self.rotations, theta)[:, -r:]
        scale = 1.0 if self.directions else math.sqrt(2.0)
        return scale * raw @ self.arm_transform.T

    @classmethod
    def of(cls, problem: Problem) -> Cells:
        """The product's own form: unordered pairs where both directions are observed."""
        return cls.by_kind(problem) if problem.is_plain else _build_joint(problem)

    @classmethod
    def by_kind(cls, problem: Problem) -> Cells:
        """As if every arc were measured and every class of edges had parameters of its own."""
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
        directions=ordered,
    )


def _build_joint(problem: Problem) -> Cells:
    """One vector of parameters for all classes of edges, and for the own terms of nodes."""
    arms, transform = problem.whitening.coordinates, problem.whitening.transform
    directed, n_arms = problem.graph.directed, problem.n_arms
    compared = ordered_pairs(n_arms) if directed else unordered_pairs(n_arms)
    k, l = compared.arms.T
    raw = raw_features(problem)
    raw = raw[k, l] if directed else 0.5 * (raw[k, l] + raw[l, k])
    loadings = problem.classes.loadings
    n_own = _n_own(problem)
    shared = np.einsum("ug,ij->uigj", loadings, np.eye(raw.shape[1]))
    shared = shared.reshape(len(loadings), raw.shape[1], -1)
    rotations = np.concatenate([shared, np.zeros((*shared.shape[:2], n_own))], axis=2)
    p = rotations.shape[2]
    return Cells(
        ordered=directed,
        pairs=frozen(compared.arms, np.int32),
        pair_index=frozen(compared.index, np.int32),
        features=frozen(np.einsum("ci,uip->ucp", raw, rotations), float),
        dimensions=frozen(np.full(len(loadings), p), np.int64),
        showable=frozen(problem.showable[:, k, l], np.bool_),
        arm_transform=frozen(transform, float),
        rotations=frozen(rotations, float),
        node_term=problem.node_term,
        directions=tells_directions(problem),
        joint=True,
        own=_own_features(arms, n_own, p) if n_own else None,
        own_showable=_own_showable(problem) if n_own else None,
        interaction=problem.interaction,
    )


def raw_features(problem: Problem, *, directions: bool = False) -> Array:
    """(K, K, p0) what multiplies the parameters of an edge, by the arms at its two ends.

    vec(x_k x_l') where ``directions`` are told apart (also at directed edges, and where numbers
    are measured at nodes), else svec of the symmetric part; followed by the node term, if there is
    one. Without interaction the node term is all.
    """
    arms, n_arms = problem.whitening.coordinates, problem.n_arms
    ordered = directions or tells_directions(problem)
    pairs = ordered_pairs(n_arms) if ordered else unordered_pairs(n_arms)
    raw = pairs.features(arms)[:, : None if problem.interaction else 0]
    if problem.node_term:
        first, second = arms[pairs.arms.T]
        raw = np.hstack([raw, first if ordered else (first + second) * math.sqrt(0.5)])
    features: Array = raw[pairs.index]
    return features


def tells_directions(problem: Problem) -> bool:
    """Whether what is measured depends on M, not only on its symmetric part."""
    return problem.graph.directed or problem.measured == "node"


def _n_own(problem: Problem) -> int:
    """Parameters of own terms: an arm's features for every kind of node."""
    if not problem.own_term:
        return 0
    n_kinds = 1 if problem.node_kinds is None else int(problem.node_kinds.max()) + 1
    return n_kinds * problem.whitening.rank


def _own_features(arms: Array, n_own: int, p: int) -> Array:
    n_kinds, r = n_own // arms.shape[1], arms.shape[1]
    own = np.zeros((n_kinds, len(arms), p))
    for kind in range(n_kinds):
        first = p - n_own + kind * r
        own[kind, :, first : first + r] = arms
    return frozen(own, float)


def _own_showable(problem: Problem) -> Mask:
    (masks, groups), kinds = problem.candidate_sets, problem.kind_of_node
    shown = np.zeros((int(kinds.max()) + 1, problem.n_arms), np.bool_)
    np.logical_or.at(shown, kinds, masks[groups])
    return frozen(shown, np.bool_)


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
