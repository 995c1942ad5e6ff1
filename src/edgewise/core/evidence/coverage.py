"""Has everything been seen that must be? Asked of what a phase has gathered."""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array
from edgewise.core.aim import Aim
from edgewise.core.evidence.measuring import Statistics, Total
from edgewise.core.evidence.observed import are_inside, in_range, observed_directions
from edgewise.core.model.cells import Cells


def sees_everything(cells: Cells, statistics: Statistics | Total) -> bool:
    """Whether all that cells can reveal has been observed, so that every contrast is estimable."""
    grams = statistics.grams(cells)
    if not cells.joint:
        return all(
            len(observed_directions(gram)[0]) >= dimension
            for gram, dimension in zip(grams, cells.dimensions, strict=True)
        )
    return bool(in_range(grams[0], _all_contrasts(cells)).all())


def unseen_pairs(cells: Cells, statistics: Statistics | Total) -> list[tuple[int, int, int]]:
    """(kind, k, l) of the pairs whose difference to the others of their kind is not estimable."""
    grams = statistics.grams(cells)
    found: list[tuple[int, int, int]] = []
    for kind, (features, shown) in enumerate(zip(cells.features, cells.showable, strict=True)):
        numbers = np.flatnonzero(shown)
        contrasts = features[numbers] - features[numbers].mean(axis=0)
        _, basis = observed_directions(grams[kind])
        inside = are_inside(contrasts, contrasts @ basis)
        found.extend((kind, int(k), int(l)) for k, l in cells.pairs[numbers[~inside]])
    return found


def sees(cells: Cells, statistics: Statistics, aim: Aim) -> bool:
    """Whether the contrasts of an aim can be estimated."""
    grams, contrasts = statistics.grams(cells), aim.contrasts(cells)
    return all(
        in_range(grams[kind], contrasts[aim.kinds == kind]).all() for kind in np.unique(aim.kinds)
    )


def _all_contrasts(cells: Cells) -> Array:
    """Every cell minus the first of its kind, and every arm's own term minus the first's."""
    shows = list(zip(cells.features, cells.showable, strict=True))
    if cells.own is not None and cells.own_showable is not None:
        shows.extend(zip(cells.own, cells.own_showable, strict=True))
    return np.vstack([features[shown] - features[shown][:1] for features, shown in shows])
