r"""What the rounds leave behind: normal equations per channel, levels projected out.

Inside a phase a channel keeps its count, its means and its centred second moments. They are
updated round by round (no large sums are subtracted from each other), so memory does not grow
with the number of rounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.choice import pick
from edgewise.base.compiled import compiled
from edgewise.core.local.channels import Channels
from edgewise.errors import InvalidArgument

_LEVELS = {"none": (False, False), "channel": (True, False), "round": (False, True)} | {
    "both": (True, True)
}
"""Name -> is there a level per channel and phase, is there one per round."""


@dataclass(frozen=True, eq=False)
class Phase:
    """Count, means and centred second moments of every channel, over the rounds of one phase."""

    channels: Channels
    counts: Array
    """(C,) rewards seen, T."""
    feature_means: Array
    """(P,)."""
    reward_means: Array
    """(C,)."""
    gram: Array
    """Flat (w, w) per channel: sum of z~z~'."""
    moment: Array
    """(P,) sum of z~r~."""
    squares: Array
    """(C,) sum of r~r~."""
    rounds: tuple[Array, Array] | None = None
    """(R, P) features and (R, C) rewards themselves: needed for levels per round only."""

    @classmethod
    def empty(cls, channels: Channels, *, keep_rounds: bool = False) -> Phase:
        """Nothing seen yet; ``keep_rounds`` where there are levels per round."""
        C, P = channels.n_channels, channels.n_parameters
        kept = (np.zeros((0, P)), np.zeros((0, C))) if keep_rounds else None
        gram = np.zeros(channels.gram_starts[-1])
        return cls(
            channels, np.zeros(C), np.zeros(P), np.zeros(C), gram, np.zeros(P), np.zeros(C), kept
        )

    def add(self, features: ArrayLike, rewards: ArrayLike) -> Phase:
        """The phase with further rounds.

        Parameters
        ----------
        features
            (R, P) or (P,): what multiplies every parameter, rounds in rows.
        rewards
            (R, C) or (C,): NaN where nothing was measured.
        """
        z = np.ascontiguousarray(np.atleast_2d(np.asarray(features, dtype=float)))
        r = np.ascontiguousarray(np.atleast_2d(np.asarray(rewards, dtype=float)))
        _check_rounds(self.channels, z, r)
        new = (self.counts, self.feature_means, self.reward_means)
        counts, z_means, r_means = (values.copy() for values in new)
        gram, moment, squares = self.gram.copy(), self.moment.copy(), self.squares.copy()
        starts, gram_starts = self.channels.starts, self.channels.gram_starts
        _add_rounds(starts, gram_starts, z, r, counts, z_means, r_means, gram, moment, squares)
        kept = self.rounds
        if kept is not None:
            kept = (np.vstack([kept[0], z]), np.vstack([kept[1], r]))
        return Phase(self.channels, counts, z_means, r_means, gram, moment, squares, kept)


@dataclass(frozen=True, eq=False)
class NormalEquations:
    r"""All that the data say about the parameters.

    .. math:: S_c = \sum \tilde z \tilde z^\top, \quad C_c = \sum \tilde z \tilde r, \quad
              \sum \tilde r^2

    with levels per channel and phase projected out. Levels per round couple the channels; they
    stay in the model as flat fixed effects with orthonormal columns X: X'X = I, and ``cross`` =
    Z'X, ``nuisance_moment`` = X'r~.
    """

    channels: Channels
    gram: Array
    """Flat (w, w) per channel, S_c."""
    moment: Array
    """(P,) C_c, channel after channel."""
    squares: Array
    """(C,)."""
    freedoms: Array
    """(C,) rewards minus the levels projected out; their sum is N."""
    cross: Array
    """(P, R)."""
    nuisance_moment: Array
    """(R,)."""

    @property
    def n_nuisances(self) -> int:
        """R: independent levels of rounds."""
        return len(self.nuisance_moment)

    def matrix(self, channel: int) -> Array:
        """(w, w) S of one channel."""
        first, last = self.channels.gram_starts[channel : channel + 2]
        width = int(np.diff(self.channels.starts[channel : channel + 2])[0])
        return self.gram[first:last].reshape(width, width)

    def __add__(self, other: NormalEquations) -> NormalEquations:
        """Phases pool by adding what was centred inside each."""
        return NormalEquations(
            self.channels,
            self.gram + other.gram,
            self.moment + other.moment,
            self.squares + other.squares,
            self.freedoms + other.freedoms,
            np.hstack([self.cross, other.cross]),
            np.concatenate([self.nuisance_moment, other.nuisance_moment]),
        )


def normal_equations(
    phases: Phase | Iterable[Phase], levels: str = "channel", *, noise: ArrayLike | None = None
) -> NormalEquations:
    """Normal equations of one or several phases.

    ``levels``: "none", "channel" (a constant per channel and phase), "round" (one per round,
    common to all channels) or "both". ``noise``: (C,) stated noise deviations, or their ratios;
    rows are divided by them, so that sigma is 1, or the factor that the ratios lack.
    """
    per_channel, per_round = pick("kind of levels", levels, _LEVELS)
    each = [phases] if isinstance(phases, Phase) else list(phases)
    if not each:
        raise InvalidArgument("no phase was given; pass at least one, Phase.empty(channels)")
    done = [_of_phase(phase, per_channel, per_round, _precisions(phase, noise)) for phase in each]
    return reduce(add, done)


def _precisions(phase: Phase, noise: ArrayLike | None) -> Array:
    if noise is None:
        return np.ones(phase.channels.n_channels)
    deviations = np.broadcast_to(np.asarray(noise, dtype=float), phase.channels.n_channels)
    if not (np.isfinite(deviations) & (deviations > 0)).all():
        raise InvalidArgument("noise must be finite and above 0 for every channel; state it anew")
    return np.asarray(1.0 / deviations**2)


def _of_phase(
    phase: Phase, per_channel: bool, per_round: bool, precisions: Array
) -> NormalEquations:
    channels, T = phase.channels, phase.counts
    gram, moment, squares = phase.gram.copy(), phase.moment.copy(), phase.squares.copy()
    if not per_channel:
        means = (phase.feature_means, phase.reward_means)
        _add_means(channels.starts, channels.gram_starts, T, *means, gram, moment, squares)
    width, alike = np.diff(channels.starts), bool((precisions == precisions[:1]).all())
    cross, nuisance_moment = _round_levels(phase, per_channel, per_round, precisions)
    return NormalEquations(
        channels,
        gram * (precisions[0] if alike and len(width) else np.repeat(precisions, width**2)),
        moment * np.repeat(precisions, width),
        squares * precisions,
        np.maximum(T - 1, 0) if per_channel else T.copy(),
        cross,
        nuisance_moment,
    )


def _round_levels(
    phase: Phase, per_channel: bool, per_round: bool, precisions: Array
) -> tuple[Array, Array]:
    """Z'X and X'r~ for an orthonormal basis X of what levels per round can explain."""
    channels = phase.channels
    if not per_round:
        return np.zeros((channels.n_parameters, 0)), np.zeros(0)
    if phase.rounds is None:
        raise InvalidArgument(
            "levels per round need the rounds themselves; use Phase.empty(..., keep_rounds=True)"
        )
    z, r = phase.rounds
    seen: Mask = ~np.isnan(r)
    weights = seen * precisions
    if per_channel:
        z = z - phase.feature_means
        r = r - phase.reward_means
    of_channel = np.repeat(np.arange(channels.n_channels), np.diff(channels.starts))
    information = np.diag(weights.sum(axis=1))
    if per_channel:
        information -= (weights / np.maximum(phase.counts, 1)) @ seen.T
    values, vectors = np.linalg.eigh(information)
    kept = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-300)
    basis = vectors[:, kept] / np.sqrt(values[kept])
    cross = (z * weights[:, of_channel]).T @ basis
    return cross, (np.where(seen, r, 0.0) * weights).sum(axis=1) @ basis


def _check_rounds(channels: Channels, z: Array, r: Array) -> None:
    if z.shape != (len(r), channels.n_parameters) or r.shape[1] != channels.n_channels:
        raise InvalidArgument(
            f"features have shape {z.shape} and rewards {r.shape}; these channels need "
            f"(R, {channels.n_parameters}) and (R, {channels.n_channels})"
        )
    if not np.isfinite(z).all() or np.isinf(r).any():
        raise InvalidArgument("features must be finite, and rewards finite or NaN (not measured)")


@compiled
def _add_rounds(
    starts: Indices,
    gram_starts: Indices,
    features: Array,
    rewards: Array,
    counts: Array,
    feature_means: Array,
    reward_means: Array,
    gram: Array,
    moment: Array,
    squares: Array,
) -> None:
    """Update means and centred moments by one row at a time."""
    for c in range(len(counts)):
        first, width = starts[c], starts[c + 1] - starts[c]
        S = gram[gram_starts[c] : gram_starts[c + 1]].reshape(width, width)
        step = np.empty(width)
        for t in range(len(rewards)):
            if np.isnan(rewards[t, c]):
                continue
            counts[c] += 1.0
            shrink = (counts[c] - 1.0) / counts[c]
            above = rewards[t, c] - reward_means[c]
            reward_means[c] += above / counts[c]
            squares[c] += shrink * above * above
            for i in range(width):
                step[i] = features[t, first + i] - feature_means[first + i]
                feature_means[first + i] += step[i] / counts[c]
                moment[first + i] += shrink * above * step[i]
            for i in range(width):
                row, scale = S[i], shrink * step[i]
                for j in range(width):
                    row[j] += scale * step[j]


@compiled
def _add_means(
    starts: Indices,
    gram_starts: Indices,
    counts: Array,
    feature_means: Array,
    reward_means: Array,
    gram: Array,
    moment: Array,
    squares: Array,
) -> None:
    """Undo the centring: add T times the products of the means."""
    for c in range(len(counts)):
        first, width = starts[c], starts[c + 1] - starts[c]
        S = gram[gram_starts[c] : gram_starts[c + 1]].reshape(width, width)
        squares[c] += counts[c] * reward_means[c] ** 2
        for i in range(width):
            moment[first + i] += counts[c] * reward_means[c] * feature_means[first + i]
            for j in range(width):
                S[i, j] += counts[c] * feature_means[first + i] * feature_means[first + j]
