"""Where a form shows most: the edge, the round, and how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.base.arrays import Array
from edgewise.core.gate.effects import Kept
from edgewise.core.gate.forms import DATA
from edgewise.core.gate.solving import backward, factor, forward
from edgewise.core.local.channels import Channels

if TYPE_CHECKING:
    from edgewise.core.gate.watch import Watch


def place_of(form: str, kept: Kept, watch: Watch) -> dict[str, Any]:
    """The fields of a contradiction that say where it shows."""
    if form == "level":
        return _level(kept)
    if form == "noise" and watch.measured_noise is not None:
        return {"value": watch.measured_noise * kept.sight.problem.stated_noise}
    if form == "edge" and kept.by_edge is not None and kept.levels is None:
        return _edge(kept)
    return {}


def fitted(gram: Array, moment: Array) -> Array:
    """(p,) least squares on the observed directions."""
    L, _ = factor(np.ascontiguousarray(gram))
    return backward(L, forward(L, np.ascontiguousarray(moment)))


def _level(kept: Kept) -> dict[str, Any]:
    """The number whose mean is furthest from what the model says of it."""
    sums, scale = kept.sums, kept.sight.scale
    counts = np.maximum(sums.number_counts, 1.0)
    left = sums.number_rewards - sums.number_features @ fitted(sums.gram, sums.moment)
    worst = int(np.abs(left / np.sqrt(counts)).argmax())
    return {"position": worst, "value": float(left[worst] / counts[worst] * scale[worst])}


def _edge(kept: Kept) -> dict[str, Any]:
    """The edge whose own rewards are furthest from what its kind says."""
    equations, best = kept.by_edge, DATA["edges"].best(kept)
    assert equations is not None
    assert best is not None
    channels, b = equations.channels, fitted(best.gram, best.moment)
    means = _by_block(channels, b)
    worst, most, size = 0, -1.0, 0.0
    for c in range(channels.n_channels):
        own = slice(*channels.starts[c : c + 2])
        S = equations.matrix(c)
        left = equations.moment[own] - S @ means[own]
        deviation = np.linalg.solve(S + np.eye(len(S)), left)
        if left @ deviation > most:
            mean_square = deviation @ S @ deviation / max(equations.freedoms[c], 1.0)
            worst, most, size = c, float(left @ deviation), float(np.sqrt(mean_square))
    problem = kept.sight.problem
    sigma = 1.0 if problem.noise == "estimate" else problem.stated_noise
    position = worst * (problem.n_rewards // channels.n_channels)
    return {"position": position, "value": size * sigma}


def _by_block(channels: Channels, b: Array) -> Array:
    """(P,) the parameters that every block would have if it were like its kind."""
    parts = []
    for block, kind in enumerate(channels.kinds):
        own = b[slice(*channels.mean_starts[kind : kind + 2])]
        parts.append(channels.numbers[block] @ own.reshape(channels.n_covariates, -1))
    return np.concatenate(parts)
