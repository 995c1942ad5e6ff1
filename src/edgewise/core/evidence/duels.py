"""One cell against another, phase by phase: what is known of contrasts before one of them leads."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.compiled import compiled
from edgewise.core.evidence.least_squares import SAME
from edgewise.core.evidence.observed import OUTSIDE, are_inside, observed_directions


@dataclass(frozen=True, eq=False)
class Duels:
    r"""What phases say about the contrasts :math:`\phi_{z'} - \phi_z`, for sigma = 1.

    :math:`W = \sum_j D_j/s_j^2` and :math:`I = \sum_j 1/s_j^2` over the phases whose data
    determine the contrast. A cell and its twins (the same features) have no contrast. Arrays are
    (B, Z) for claimants z' against cells z, or (T,) for a list of contrasts.
    """

    score: Array
    """W"""
    information: Array
    """I; 0 where no phase determines the contrast."""
    unit: Array
    """The information of the first phase that does: known before that phase's rewards."""

    @property
    def estimates(self) -> Array:
        """W/I; 0 where nothing is known."""
        known = np.where(self.information > 0, self.information, 1.0)
        estimates: Array = np.where(self.information > 0, self.score / known, 0.0)
        return estimates

    @property
    def reversed(self) -> Duels:
        """The other way round."""
        return replace(self, score=-self.score)

    def followed_by(self, later: Duels) -> Duels:
        """Both one after the other."""
        return Duels(
            self.score + later.score,
            self.information + later.information,
            np.where(self.unit > 0, self.unit, later.unit),
        )

    def moved(self, deviations: float) -> Duels:
        """With estimates that are larger by so many standard errors of a unit of noise."""
        return replace(self, score=self.score + deviations * np.sqrt(self.information))

    def times(self, factor: float) -> Duels:
        """With so many times the information, and the same estimates."""
        return replace(self, score=factor * self.score, information=factor * self.information)


def fight(
    features: Array, claimants: Indices, cells: Indices, phases: list[tuple[Array, Array]]
) -> Duels:
    """Claimants (B,) against cells (Z,) with features (P, p), over phases with A and b."""
    shape = (len(claimants), len(cells))
    duels = Duels(np.zeros(shape), np.zeros(shape), np.zeros(shape))
    for A, b in phases:
        values, basis = observed_directions(A)
        inside = features @ basis
        _add_phase(
            features,
            features - inside @ basis.T,
            inside / np.sqrt(values),
            inside @ ((basis.T @ b) / values),
            claimants,
            cells,
            duels.score,
            duels.information,
            duels.unit,
        )
    return duels


def meet(contrasts: Array, phases: list[tuple[Array, Array]]) -> Duels:
    """Contrasts (T, p), whatever cells they are of, over phases with A (p, p) and b (p,)."""
    score, information, unit = np.zeros((3, len(contrasts)))
    for A, b in phases:
        values, basis = observed_directions(A)
        inside = contrasts @ basis
        seen = are_inside(contrasts, inside)
        precision = np.zeros(len(contrasts))
        precision[seen] = 1.0 / (inside[seen] ** 2 @ (1.0 / values))
        score += precision * (inside @ ((basis.T @ b) / values))
        information += precision
        unit = np.where(unit > 0, unit, precision)
    return Duels(score, information, unit)


def twins(features: Array, claimants: Indices, cells: Indices) -> Mask:
    """(B, Z) whether claimant and cell are the same, or have the same features."""
    return _twins(features, claimants, cells)


@compiled
def _add_phase(
    features: Array,
    outside: Array,
    whitened: Array,
    estimates: Array,
    claimants: Indices,
    cells: Indices,
    score: Array,
    information: Array,
    unit: Array,
) -> None:
    for i in range(len(claimants)):
        for j in range(len(cells)):
            one, other = claimants[i], cells[j]
            if _are_twins(features, one, other):
                continue
            if _distance(outside, one, other) > OUTSIDE * _distance(features, one, other):
                continue
            precision = 1.0 / _distance(whitened, one, other)
            score[i, j] += precision * (estimates[one] - estimates[other])
            information[i, j] += precision
            if unit[i, j] == 0.0:
                unit[i, j] = precision


@compiled
def _twins(features: Array, claimants: Indices, cells: Indices) -> Mask:
    result = np.empty((len(claimants), len(cells)), np.bool_)
    for i in range(len(claimants)):
        for j in range(len(cells)):
            result[i, j] = _are_twins(features, claimants[i], cells[j])
    return result


@compiled
def _are_twins(features: Array, one: int, other: int) -> bool:
    size = 0.0
    for i in range(features.shape[1]):
        size += features[one, i] ** 2 + features[other, i] ** 2
    return _distance(features, one, other) <= SAME * size


@compiled
def _distance(rows: Array, one: int, other: int) -> float:
    """Squared; summed difference by difference, so that close cells lose no digits."""
    total = 0.0
    for i in range(rows.shape[1]):
        total += (rows[one, i] - rows[other, i]) ** 2
    return total
