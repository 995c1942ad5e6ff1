r"""The richer models, as data: what each adds to the model, and what to do when it wins.

A form adds effects g ~ N(0, tau^2 I) with columns D. Integrating them out leaves

.. math:: A_\tau = Z^\top V^{-1} Z, \quad b_\tau = Z^\top V^{-1} y, \quad
          q_\tau = y^\top V^{-1} y, \quad \log\det V, \qquad V = I + \tau^2 D D^\top ,

which follow from the sums kept (:mod:`~edgewise.core.gate.sums`) by Woodbury's identity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled
from edgewise.core.gate.rows import MOST_PARAMETERS, Sight
from edgewise.core.gate.solving import factor, forward
from edgewise.core.gate.sums import SPREADS, Sums
from edgewise.core.local.channels import Channels, Layout
from edgewise.core.local.normal_equations import NormalEquations
from edgewise.core.local.passes import Components, Marginals, marginals
from edgewise.core.model.problem import Problem

EDGE_SPREAD = 0.5
"""tau of edges with matrices of their own: one, as looking at them takes longest."""


class Reduced(NamedTuple):
    """What a form leaves of the data once its effects are integrated out, for every tau."""

    gram: Array
    """(tau, p, p) A."""
    moment: Array
    """(tau, p) b."""
    squares: Array
    """(tau,) q."""
    determinant: Array
    """(tau,) log det V."""


class Best(NamedTuple):
    """The data as the model itself sees them."""

    gram: Array
    """(p, p)"""
    moment: Array
    """(p,)"""
    squares: float
    freedom: int
    """Numbers measured, less levels of rounds."""


class Kept(NamedTuple):
    """All that forms are made of."""

    sight: Sight
    sums: Sums
    by_edge: NormalEquations | None
    """What edges showed one by one, in units of the noise; None where it is not kept."""
    levels: tuple[Array, Array, Array] | None = None
    """Of every channel that has a level: count (C,), sum of features (P,), of rewards (C,)."""


@dataclass(frozen=True)
class Data:
    """Which numbers a form looks at, and how the model itself sees them."""

    best: Callable[[Kept], Best | None]
    starts: tuple[int, ...]
    """n_1: rounds after which bets begin, each with the same share."""
    often: bool
    """Whether to look at them also between starts and answers."""


@dataclass(frozen=True)
class Form:
    """A way in which the model may be wrong."""

    name: str
    says: str
    """What it means if it speaks."""
    remedy: str
    applies: Callable[[Sight], bool]
    reduce: Callable[[Kept], Reduced | None] | None
    """None for what is not a richer model."""
    data: str = "numbers"
    """See :data:`DATA`."""


# -- one effect per group ----------------------------------------------------------------------


def _grouped(sums: Sums, counts: Array, features: Array, rewards: Array) -> Reduced:
    """D has one column per group: D'D = counts (G,), D'Z = features (G, p), D'y = rewards (G,)."""
    gram, moment, squares, determinant = _integrate_groups(
        sums.gram, sums.moment, sums.squares, counts, features, rewards, SPREADS
    )
    return Reduced(gram, moment, squares, determinant)


@compiled
def _integrate_groups(
    A: Array, b: Array, q: float, counts: Array, features: Array, rewards: Array, spreads: Array
) -> tuple[Array, Array, Array, Array]:
    T, p = len(spreads), len(b)
    gram, moment = np.zeros((T, p, p)), np.zeros((T, p))
    squares, determinant = np.zeros(T), np.zeros(T)
    for k in range(T):
        lower = np.zeros((p, p))
        moment[k], squares[k] = b, q
        for g in range(len(counts)):
            share = spreads[k] ** 2 / (1.0 + spreads[k] ** 2 * counts[g])
            determinant[k] += np.log1p(spreads[k] ** 2 * counts[g])
            squares[k] -= share * rewards[g] * rewards[g]
            for i in range(p):
                scaled = share * features[g, i]
                moment[k, i] -= scaled * rewards[g]
                for j in range(i + 1):
                    lower[i, j] += scaled * features[g, j]
        for i in range(p):
            for j in range(p):
                gram[k, i, j] = A[i, j] - (lower[i, j] if j <= i else lower[j, i])
    return gram, moment, squares, determinant


def _levels(kept: Kept) -> Reduced:
    sums = kept.sums
    return _grouped(sums, sums.number_counts, sums.number_features, sums.number_rewards)


def _cells(kept: Kept) -> Reduced:
    sums = kept.sums
    seen = np.flatnonzero(sums.cell_counts)
    counts = sums.cell_counts[seen]
    features = counts[:, None] * kept.sight.cell_features[seen]
    return _grouped(sums, counts, features, sums.cell_rewards[seen])


def _rounds(kept: Kept) -> Reduced:
    sums, T = kept.sums, len(SPREADS)
    return Reduced(
        sums.gram - sums.matrices[4:],
        sums.moment - sums.vectors[5:],
        sums.squares - sums.numbers[3 : 3 + T],
        sums.numbers[3 + T :],
    )


def _noise(kept: Kept) -> Reduced:
    """One effect per number: the noise is larger by a factor of sqrt(1 + tau^2)."""
    sums, shrink = kept.sums, 1.0 / (1.0 + SPREADS**2)
    return Reduced(
        shrink[:, None, None] * sums.gram,
        shrink[:, None] * sums.moment,
        shrink * sums.squares,
        sums.freedom * np.log1p(SPREADS**2),
    )


# -- a few effects for all ---------------------------------------------------------------------


def _dense(sums: Sums, cross: Array, inner: Array, moment: Array) -> Reduced:
    """Z'D = cross (p, k), D'D = inner (k, k), D'y = moment (k,)."""
    gram, by_rewards, squares, determinant = _integrate_columns(
        sums.gram, sums.moment, sums.squares, cross, inner, moment, SPREADS
    )
    return Reduced(gram, by_rewards, squares, determinant)


@compiled
def _integrate_columns(
    A: Array, b: Array, q: float, cross: Array, inner: Array, moment: Array, spreads: Array
) -> tuple[Array, Array, Array, Array]:
    T, p, n = len(spreads), len(b), len(inner)
    gram, moments = np.zeros((T, p, p)), np.zeros((T, p))
    squares, determinant = np.zeros(T), np.zeros(T)
    for k in range(T):
        W = inner.copy()
        for i in range(n):
            W[i, i] += 1.0 / spreads[k] ** 2
        L, _ = factor(W)
        half = np.zeros((p, n))
        for i in range(p):
            half[i] = forward(L, cross[i])
        paid = forward(L, moment)
        squares[k] = q
        for i in range(n):
            squares[k] -= paid[i] * paid[i]
            determinant[k] += 2.0 * np.log(L[i, i] * spreads[k])
        for i in range(p):
            moments[k, i] = b[i]
            for m in range(n):
                moments[k, i] -= half[i, m] * paid[m]
            for j in range(i + 1):
                value = A[i, j]
                for m in range(n):
                    value -= half[i, m] * half[j, m]
                gram[k, i, j] = gram[k, j, i] = value
    return gram, moments, squares, determinant


def _drift(kept: Kept) -> Reduced:
    """Columns: the time, and the time times the rows."""
    matrices, vectors, numbers = kept.sums.matrices, kept.sums.vectors, kept.sums.numbers
    cross = np.column_stack([vectors[2], matrices[1]])
    inner = np.block([[numbers[2:3, None], vectors[3:4]], [vectors[3:4].T, matrices[2]]])
    return _dense(kept.sums, np.ascontiguousarray(cross), inner, np.append(numbers[1], vectors[1]))


def _directions(kept: Kept) -> Reduced:
    sums = kept.sums
    return _dense(sums, sums.matrices[3], sums.gram, sums.vectors[4])


# -- parameters of its own for every edge ------------------------------------------------------


@lru_cache(maxsize=8)
def _layout(channels: Channels) -> Layout:
    """Remembered for the networks in use, which are compared by identity."""
    return channels.layout()


def _of_edges(equations: NormalEquations, spread: float) -> Marginals:
    channels = equations.channels
    width = int(channels.dimensions.max())
    groups = np.zeros(channels.n_kinds, np.int64)
    flat = np.full((channels.n_kinds, channels.n_covariates), np.inf)
    roots = spread * np.eye(width)[None]
    return marginals(equations, _layout(channels), Components(groups, roots, flat, 1.0))


def _edges(kept: Kept) -> Reduced | None:
    if kept.by_edge is None:
        return None
    if kept.levels is not None:
        return _edges_with_levels(kept.by_edge, kept.levels, EDGE_SPREAD)
    found = _of_edges(kept.by_edge, EDGE_SPREAD)
    return Reduced(
        found.information[None],
        found.moment[None],
        np.array([found.quadratic]),
        np.array([found.log_determinant]),
    )


def _edges_with_levels(
    equations: NormalEquations, levels: tuple[Array, Array, Array], spread: float
) -> Reduced:
    """The same where every channel has a level: one more parameter each, after those of kinds."""
    channels, (counts, features, rewards) = equations.channels, levels
    f, C, tau2 = channels.n_means, channels.n_channels, spread**2
    gram, moment = np.zeros((f + C, f + C)), np.zeros(f + C)
    quadratic, determinant = float(equations.squares.sum()), 0.0
    for c in range(C):
        own = slice(*channels.starts[c : c + 2])
        S, b, s, F = equations.matrix(c), equations.moment[own], features[own], _means(channels, c)
        W = np.eye(len(S)) + tau2 * S
        solved = np.linalg.solve(W, np.column_stack([S @ F, s, b]))
        gram[:f, :f] += F.T @ solved[:, :f]
        gram[:f, f + c] = gram[f + c, :f] = F.T @ solved[:, f]
        gram[f + c, f + c] = counts[c] - tau2 * float(s @ solved[:, f])
        moment[:f] += F.T @ solved[:, f + 1]
        moment[f + c] = rewards[c] - tau2 * float(s @ solved[:, f + 1])
        quadratic -= tau2 * float(b @ solved[:, f + 1])
        determinant += float(np.linalg.slogdet(W)[1])
    return Reduced(gram[None], moment[None], np.array([quadratic]), np.array([determinant]))


def _means(channels: Channels, c: int) -> Array:
    """(w, f) F: from what kinds have in common to the parameters of a channel."""
    first = channels.starts[c]
    F = np.zeros((int(channels.starts[c + 1] - first), channels.n_means))
    for block in range(*channels.blocks[c : c + 2]):
        at = np.arange(*channels.block_starts[block : block + 2])
        start = channels.mean_starts[channels.kinds[block]]
        for m, number in enumerate(channels.numbers[block]):
            F[at - first, start + m * len(at) + np.arange(len(at))] = number
    return F


def _width(channels: Channels) -> int:
    """Parameters of an edge if all edges are of one kind, each a channel of its own; else 0."""
    alone = channels.n_blocks == channels.n_channels
    alike = channels.n_means == int(channels.dimensions[0])
    return channels.n_means if alone and alike else 0


def _edges_alike(kept: Kept) -> Best | None:
    if kept.by_edge is None:
        return None
    equations, freedom = kept.by_edge, int(kept.by_edge.freedoms.sum())
    if kept.levels is not None:
        raw = _edges_with_levels(equations, kept.levels, 0.0)
        return Best(raw.gram[0], raw.moment[0], float(raw.squares[0]), freedom)
    width = _width(equations.channels)
    if not width:
        found = _of_edges(equations, 0.0)
        return Best(found.information, found.moment, found.quadratic, freedom)
    gram = equations.gram.reshape(-1, width, width).sum(axis=0)
    moment = equations.moment.reshape(-1, width)
    return Best(gram, moment.sum(axis=0), float(equations.squares.sum()), freedom)


def _numbers_alike(kept: Kept) -> Best:
    sums = kept.sums
    return Best(sums.gram, sums.moment, sums.squares, sums.freedom)


# -- all of them -------------------------------------------------------------------------------

DATA = {
    "numbers": Data(_numbers_alike, (1, 4, 16), often=True),
    "edges": Data(_edges_alike, (4, 32), often=False),
}
"""All numbers on their own; and summed by edge, which takes longer to look at: fewer looks."""
_OUTSIDE = "confirm the answer by measuring it"
FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        Form(
            "level",
            "rewards have levels of their own, whatever the arms",
            f"pass levels=True, or {_OUTSIDE}",
            lambda sight: sight.problem.levels == "none" and sight.n_numbers > 1,
            _levels,
        ),
        Form(
            "round",
            "all rewards of a round move together (time of day, weather)",
            f"pass levels='round', or {_OUTSIDE}",
            lambda sight: not sight.has_round_levels and sight.n_numbers > sight.n_shared,
            _rounds,
        ),
        Form(
            "drift",
            "rewards drift over time",
            f"use rounds from the time that matters, levels='round' if all drift alike, or "
            f"{_OUTSIDE}",
            lambda _: True,
            _drift,
        ),
        Form(
            "edge",
            "edges of a kind have matrices of their own",
            f"pass pooling='partial', kinds or covariates, or {_OUTSIDE}",
            lambda sight: sight.problem.pooling == "shared" and not sight.has_round_levels,
            _edges,
            "edges",
        ),
        Form(
            "cell",
            "pairs of arms pay otherwise than any matrix of their features says",
            f"add features to the arms, such as squares, or {_OUTSIDE}",
            lambda sight: sight.shows_cells,
            _cells,
        ),
        Form(
            "direction",
            "the two directions of an edge have different matrices",
            "measure links, or make the graph directed with a kind per direction",
            lambda sight: sight.has_directions,
            _directions,
        ),
        Form(
            "noise",
            "the noise is larger than stated",
            "state a larger noise, or pass noise='estimate'",
            lambda sight: sight.knows_noise,
            _noise,
        ),
        Form(
            "calibration",
            "later rewards lie outside the local model's intervals more often than they should",
            f"use kinds or covariates, state a larger noise, or {_OUTSIDE}",
            lambda _: False,
            None,
        ),
        Form(
            "outlier",
            "a reward is far from all others of its kind",
            "correct the value, or withdraw it",
            lambda _: True,
            None,
        ),
    )
}
"""By name, in the order in which they are told."""


LOCAL = ("round", "drift", "calibration", "outlier")
"""Forms of the local model: see :mod:`edgewise.core.gate.local`."""


def is_local(problem: Problem) -> bool:
    """Whether edges may have parameters of their own: then the model is another one."""
    return problem.pooling in ("partial", "auto")


@lru_cache(maxsize=32)
def forms_for(sight: Sight, names: tuple[str, ...]) -> tuple[Form, ...]:
    """The forms of these names that can say something about a problem."""
    if is_local(sight.problem):
        return tuple(FORMS[name] for name in names if name in LOCAL)
    large = sight.n_parameters > MOST_PARAMETERS
    chosen = (FORMS[name] for name in names)
    return tuple(form for form in chosen if form.applies(sight) and not (large and form.reduce))
