r"""Laws of independent nodes, chosen for contrasts.

.. math:: \max_\mu \min_y \frac{h_y(\mu)}{n_y}, \qquad h_y(\mu) = \frac1{y^\top A(\mu)^{-1} y}

where A is the expected information of a round in which every node draws from the law of its
candidate set. When all nodes share one law, A is quadratic in it and :math:`\sqrt{h_y}` is concave
(docs/theory.md), so what is found here is the global optimum up to the stated gap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from edgewise.base.arrays import Array, Indices, frozen
from edgewise.base.threads import single_threaded
from edgewise.core.design.expected import ExpectedCells

_SHARPNESS = (8.0, 256.0)
"""First and last exponent of the soft minimum over contrasts; it doubles when progress stalls."""
_STEPS = (0.5, 2.0)
"""First and largest exponent of a multiplicative step."""
_STALLED = 1e-4
_NEGLIGIBLE = 1e-5
"""Contrasts with less of the weight than this do not steer a step."""


@dataclass(frozen=True, eq=False)
class ContrastLaws:
    """Laws of the nodes, what they achieve, and what no laws can exceed."""

    weights: Array
    """(S, K) law of each candidate set."""
    information: float
    """Smallest information on a contrast over its need, expected from one round."""
    bound: float
    """An upper bound on what any laws achieve, proved where the problem is concave."""
    evaluations: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights, float))

    @property
    def gap(self) -> float:
        """Relative distance to the bound."""
        return max(self.bound / self.information - 1.0, 0.0)


def contrast_laws(
    expected: ExpectedCells,
    contrasts: Array,
    kinds: Indices,
    needs: Array,
    *,
    everywhere: Array,
    explore: float = 0.05,
    tolerance: float = 0.05,
    max_evaluations: int = 50,
) -> ContrastLaws:
    r"""Maximise the smallest information on a contrast over what it needs.

    With :math:`s_y = \sqrt{h_y/n_y}`, homogeneous of degree 1 in all laws together, ascend the
    soft minimum :math:`(\sum_y s_y^{-a})^{-1/a}` by multiplicative steps
    :math:`\mu_k \leftarrow \mu_k g_k^\gamma`, g the gradient, never downhill, while a grows.
    Where every :math:`s_y` is concave, any weights :math:`q` on the contrasts prove for all laws

    .. math:: \min_y s_y(\nu) \le \sum_y q_y \nabla s_y(\mu)^\top \nu
        \le \sum_s \max_k \sum_y q_y \frac{\partial s_y}{\partial\mu_{sk}}(\mu)

    by the tangent at the law reached, as :math:`\nabla s_y(\mu)^\top\mu = s_y(\mu)`.

    Parameters
    ----------
    expected
        The model of a round.
    contrasts, kinds, needs
        (T, p), (T,), (T,) what is to be told apart, on which kind of edges, and the information
        that takes, in any unit; T >= 1.
    everywhere
        (S, K) laws that leave nothing unseen; the search starts near them.
    explore
        Share of ``everywhere`` in the laws returned; the rest is free.
    tolerance
        Gap at which the search ends; where the problem is not concave, possibly before it has
        reached a local optimum.
    max_evaluations
        Limit on the evaluations of the objective.

    Returns
    -------
    ContrastLaws
        The best laws seen; their gap exceeds the tolerance if the evaluations ran out.
    """
    programme = _Programme.of(expected, contrasts, kinds, needs, everywhere, explore)
    # positive on every candidate: multiplicative steps never revive an arm
    start = 0.5 * (everywhere + expected.masks / expected.masks.sum(axis=1, keepdims=True))
    with single_threaded():
        return _ascend(programme, start, tolerance, max_evaluations)


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """Free laws and what they achieve."""

    free: Array
    soft: float
    """Logarithm of the soft minimum of s."""
    slopes: Array
    """(S, K) its derivative in the free laws."""
    least: float
    """Smallest s."""
    most: float
    """Bound on the smallest s of any laws."""


class _OfKind(NamedTuple):
    """The contrasts of one kind of edges."""

    kind: int
    positions: Indices
    features: Array
    """(P, p) without padding."""
    contrasts: Array
    """(T, p)"""


@dataclass(frozen=True, eq=False)
class _Programme:
    """The soft minimum over contrasts, as a function of the laws."""

    expected: ExpectedCells
    kinds: tuple[_OfKind, ...]
    needs: Array
    everywhere: Array
    explore: float

    @classmethod
    def of(
        cls,
        expected: ExpectedCells,
        contrasts: Array,
        kinds: Indices,
        needs: Array,
        everywhere: Array,
        explore: float,
    ) -> _Programme:
        groups = []
        for kind in np.unique(kinds).tolist():
            mine = np.flatnonzero(kinds == kind)
            p = int(expected.cells.dimensions[kind])
            features = expected.cells.features[kind, :, :p]
            groups.append(_OfKind(kind, mine, features, contrasts[mine, :p]))
        return cls(expected, tuple(groups), needs, everywhere, explore)

    def laws(self, free: Array) -> Array:
        """The laws nodes draw from: linear in the free part, whose rows sum to 1."""
        return (1.0 - self.explore) * free + self.explore * self.everywhere

    def at(self, free: Array, sharpness: float) -> _Evaluation:
        """Evaluate the soft minimum and its slopes."""
        laws = self.laws(free)
        images, variances = self._solve(self.expected.information(laws))
        s = (variances * self.needs) ** -0.5
        least = float(s.min())
        weights = (least / s) ** sharpness
        soft = math.log(least) - math.log(weights.sum()) / sharpness
        weights[weights < _NEGLIGIBLE] = 0.0
        weights /= weights.sum()
        by_law = self.expected.slopes(laws, self._cell_slopes(images, 0.5 * weights / variances))
        slopes = (1.0 - self.explore) * by_law
        slopes += self.explore * (by_law * self.everywhere).sum(axis=1, keepdims=True)
        most = float(slopes.max(axis=1).sum() / (weights / s).sum())
        return _Evaluation(free, soft, slopes, least, most)

    def _solve(self, information: Array) -> tuple[list[Array], Array]:
        """A^-1 y (p, T) per kind, and y' A^-1 y of every contrast."""
        images, variances = [], np.empty(len(self.needs))
        for kind, positions, phi, y in self.kinds:
            image = np.linalg.solve((phi.T * information[kind]) @ phi, y.T)
            variances[positions] = (image * y.T).sum(axis=0)
            images.append(image)
        return images, variances

    def _cell_slopes(self, images: list[Array], pull: Array) -> Array:
        """(q, P) sum over contrasts of pull * (phi' A^-1 y)^2."""
        result = np.zeros(self.expected.cells.showable.shape)
        for (kind, positions, phi, _), image in zip(self.kinds, images, strict=True):
            mine = pull[positions]
            steering = mine > 0.0
            result[kind] = (phi @ image[:, steering]) ** 2 @ mine[steering]
        return result


def _ascend(
    programme: _Programme, free: Array, tolerance: float, max_evaluations: int
) -> ContrastLaws:
    sharpness, step = _SHARPNESS[0], _STEPS[0]
    point = best = programme.at(free, sharpness)
    most, evaluations = best.most, 1
    while (most / best.least) ** 2 > 1.0 + tolerance and evaluations < max_evaluations:
        trial = programme.at(_moved(point, step), sharpness)
        gain = trial.soft - point.soft
        if gain > 0.0:
            point, step = trial, min(1.5 * step, _STEPS[1])
        else:
            step /= 3.0
        if abs(gain) < _STALLED and sharpness < _SHARPNESS[1]:
            sharpness, step = 2.0 * sharpness, max(0.5 * step, 1e-3)
            point = programme.at(point.free, sharpness)
            evaluations += 1
        evaluations += 1
        best = max(best, trial, key=lambda seen: seen.least)
        most = min(most, trial.most, point.most)
    return ContrastLaws(programme.laws(best.free), best.least**2, most**2, evaluations)


def _moved(point: _Evaluation, step: float) -> Array:
    """Arms with more than average slope gain; a law that matters to no contrast stays."""
    mean = (point.free * point.slopes).sum(axis=1, keepdims=True)
    relative = np.divide(point.slopes, mean, out=np.ones_like(point.slopes), where=mean > 0)
    moved: Array = point.free * relative**step
    moved /= moved.sum(axis=1, keepdims=True)
    return moved
