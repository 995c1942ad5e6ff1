"""D-optimal design on many arms: a working set, solved by Newton steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.design.interior_point import Point, centred, root_of, solve_restricted
from edgewise.core.design.variance import squared_lengths

_STEPS_PER_ROUND = 60
_ROUNDS_WITHOUT_GAIN = 10
_ROUNDING = 1e-12
"""A gap below this cannot be told from rounding: slacks are kept away from zero by as much."""


@dataclass(frozen=True, eq=False)
class _Descent:
    """What one round leaves to the next."""

    members: Indices
    point: Point
    candidates: Indices
    tolerance: float
    """Gap to which the working set is solved in this round, if the one asked for is smaller."""


def newton(arms: Array, *, tolerance: float, max_iterations: int) -> tuple[Array, int]:
    """Weights of a design whose gap is at most ``tolerance``, and the Newton steps taken.

    Round by round: solve on the working set, price every candidate, admit the worst violators,
    release the arms without mass, and forget for good those that no optimum can use. ``arms`` must
    be whitened and span their space. When rounding makes the tolerance unreachable, the best
    design found is returned.
    """
    search = _start(arms)
    best, best_gap = np.empty(0), np.inf
    taken = stale = 0
    while True:
        point, steps = solve_restricted(
            arms[search.members],
            search.point,
            tolerance=max(search.tolerance, tolerance / 4.0),
            max_steps=min(_STEPS_PER_ROUND, max_iterations - taken),
        )
        taken += steps
        weights = _weights(len(arms), search.members, point.masses, 0.2 * tolerance)
        spread, candidates = _priced(arms, weights, search.candidates, tolerance)
        gap = spread.max() / arms.shape[1] - 1.0
        stale = 0 if gap < 0.9 * best_gap else stale + 1
        if gap < best_gap:
            best, best_gap = weights, gap
        # Half the tolerance: the certificate is computed anew and must not fail by a rounding.
        if gap <= tolerance / 2.0 or taken >= max_iterations or stale >= _ROUNDS_WITHOUT_GAIN:
            return best, taken
        search = _next_round(arms, search, point, candidates, spread)


def elimination_bound(worst_variance: float, dimension: int) -> float:
    r"""Variance below which an arm has no mass in any optimal design.

    .. math:: d\,\bigl[1 + e/2 - \sqrt{e\,(4 + e - 4/d)}/2\bigr], \qquad e = \max_k v_k - d

    References
    ----------
    .. [1] Harman, R. and Pronzato, L. (2007). Improvements on removing nonoptimal support points
       in D-optimum design algorithms. *Statistics & Probability Letters* 77, 90-94.

    >>> elimination_bound(3.0, 3)
    3.0
    """
    # At the optimum e is rounding noise of either sign; noise that is positive only keeps more.
    e = max(worst_variance - dimension, 0.0)
    root = float(np.sqrt(e * (4.0 + e - 4.0 / dimension)))
    return dimension * (1.0 + e / 2.0 - root / 2.0)


def _start(arms: Array) -> _Descent:
    n_arms, dimension = arms.shape
    size = max(6 * dimension, 50)
    members = np.arange(n_arms) if n_arms <= 2 * size else _spanning(arms, size)
    uniform = np.full(len(members), dimension / len(members))
    point = centred(arms[members], uniform, margin=0.1)
    return _Descent(members, point, np.arange(n_arms), tolerance=0.1)


def _spanning(arms: Array, size: int) -> Indices:
    """The longest arms, which bear most of the mass in whitened coordinates, and a good basis."""
    longest = np.argsort(-np.einsum("kd,kd->k", arms, arms), kind="stable")
    for pool in (longest[: 10 * size], longest):
        triangle, pivots = scipy.linalg.qr(arms[pool].T, mode="r", pivoting=True)
        depths = np.abs(triangle.diagonal())
        # The longest arms may crowd in a subspace (equal arms do): then look among all of them.
        if depths[-1] > 1e-3 * depths[0]:
            break
    return np.union1d(longest[:size], pool[pivots[: arms.shape[1]]])


def _weights(n_arms: int, members: Indices, masses: Array, negligible: float) -> Array:
    """The design of these masses, without the arms that matter less than ``negligible`` together.

    Removing masses of sum ``s`` raises the variances by at most ``1 / (1 - s)`` where ``g <= 1``.
    """
    kept = masses >= min(negligible, 0.1) / len(masses)
    weights = np.zeros(n_arms)
    weights[members[kept]] = masses[kept]
    weights /= weights.sum()
    return weights


def _priced(
    arms: Array, weights: Array, candidates: Indices, tolerance: float
) -> tuple[Array, Indices]:
    """Variance of every candidate, and the candidates: all arms again if one was missed.

    In exact arithmetic none is: this is the safety net under the elimination.
    """
    support = np.flatnonzero(weights)
    root = root_of(arms[support], weights[support])
    half = arms.shape[1] * (1.0 + tolerance / 2.0)
    if 2 * len(candidates) < len(arms):
        spread = squared_lengths(arms[candidates], root)
        if spread.max() > half:
            return spread, candidates
    everything = squared_lengths(arms, root)
    if everything.max() <= half or everything[candidates].max() > half:
        return everything[candidates], candidates
    return everything, np.arange(len(arms))


def _next_round(
    arms: Array, search: _Descent, point: Point, candidates: Indices, spread: Array
) -> _Descent:
    dimension = arms.shape[1]
    gap = float(spread.max()) / dimension - 1.0
    possible = spread >= elimination_bound(float(spread.max()), dimension)
    kept = _kept(point, np.isin(search.members, candidates[possible]))
    wanted = (spread > dimension * (1.0 + search.tolerance)) & ~np.isin(candidates, search.members)
    room = max(2 * dimension, len(search.members) // 3)
    order = np.flatnonzero(wanted)
    order = order[np.argsort(-spread[order], kind="stable")][: 8 * room]
    root = root_of(arms[search.members], point.masses)
    admitted = _distinct(arms, root, candidates[order], room, separation=gap)
    members = np.concatenate([search.members[kept], admitted])
    masses = np.concatenate([point.masses[kept], np.zeros(len(admitted))])
    fresh = centred(
        arms[members],
        masses,
        margin=0.1 * min(max(gap, _ROUNDING), 1.0),
        product=max(point.mean_product, 0.1 * gap * dimension / len(members)),
    )
    # Nothing to admit: the working set is probably complete, so the next round goes to the end.
    tolerance = min(search.tolerance, gap / 20.0) if len(admitted) else 0.0
    return _Descent(members, fresh, candidates[possible], tolerance)


def _kept(point: Point, possible: Mask) -> Mask:
    """Members that stay: those with mass, unless no optimum uses them.

    Where ``g <= 1``, removing a total mass below 0.1 leaves at least 0.9 of the information.
    """
    u, z = point.masses, point.slacks
    kept = ((u > 0.01 * z) | (u > 1e-3 * u.max())) & possible
    return kept if u[~kept].sum() < 0.1 else np.ones_like(kept)


def _distinct(arms: Array, root: Array, order: Indices, room: int, *, separation: float) -> Indices:
    """At most ``room`` of the arms, first come first served, no two of them nearly parallel.

    Violators come in clusters around each maximum of the variance. Two arms closer than the
    square root of the gap have equal variances at the present accuracy: one of them is enough now.
    """
    rows = scipy.linalg.solve_triangular(root, arms[order].T, trans="T", check_finite=False).T
    rows = np.ascontiguousarray(rows / np.linalg.norm(rows, axis=1)[:, None])
    free = np.ones(len(order), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < room and free.any():
        first = int(free.argmax())
        chosen.append(first)
        free &= (rows @ rows[first]) ** 2 < 1.0 - separation
        free[first] = False
    return order[chosen]
