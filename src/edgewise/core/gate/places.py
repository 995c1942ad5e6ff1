"""Where a form shows most: the edge, the round, and how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.base.arrays import Array
from edgewise.core.gate.edges import alike, equations_of
from edgewise.core.gate.effects import Kept
from edgewise.core.gate.rows import Sight
from edgewise.core.gate.solving import backward, factor, forward
from edgewise.core.local.channels import Channels
from edgewise.core.local.normal_equations import NormalEquations

if TYPE_CHECKING:
    from edgewise.core.gate.watch import Watch


def place_of(form: str, kept: Kept, watch: Watch) -> dict[str, Any]:
    """The fields of a contradiction that say where it shows."""
    if form == "level":
        return _level(kept)
    if form == "noise" and watch.measured_noise is not None:
        return {"value": watch.measured_noise * kept.sight.problem.stated_noise}
    has_levels = kept.sight.problem.has_channel_levels
    if form == "edge" and kept.by_edge is not None and not has_levels:
        return _edge(kept.sight, equations_of(kept.sight, kept.by_edge))
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


def _edge(sight: Sight, equations: NormalEquations) -> dict[str, Any]:
    """The edge whose own rewards are furthest from what its kind says."""
    best = alike(equations)
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
    problem = sight.problem
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
