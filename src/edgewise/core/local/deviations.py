"""Which kinds have enough blocks to teach how far blocks of a kind deviate from each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.local.normal_equations import NormalEquations

FEWEST_BLOCKS = 3
"""Fewer measured blocks than this cannot teach a covariance."""


@dataclass(frozen=True, eq=False)
class Deviations:
    """Which kinds share a deviation covariance."""

    groups: Indices
    """(q,) deviation of each kind."""
    dimensions: Indices
    """(g,)."""
    blocks: Indices
    """(g,) measured blocks of each."""
    merged: tuple[tuple[int, int], ...]
    """(kind, kind it learns its deviation with), for kinds with too few blocks of their own."""
    held: tuple[int, ...]
    """Kinds with too few blocks and no other kind of their dimension: no deviation at all."""

    @property
    def teachable(self) -> Mask:
        """(g,) are there enough blocks to learn it?"""
        return np.asarray(self.blocks >= FEWEST_BLOCKS)


def deviations_of(equations: NormalEquations) -> Deviations:
    """Kinds with fewer than three measured blocks learn with others of their dimension.

    Small kinds first join each other; if that is still too few, the largest kind.
    """
    channels = equations.channels
    counts = _measured_blocks(equations)
    teacher = np.arange(channels.n_kinds)
    merged: list[tuple[int, int]] = []
    held: list[int] = []
    for p in np.unique(channels.dimensions):
        same = np.flatnonzero(channels.dimensions == p)
        small = same[counts[same] < FEWEST_BLOCKS]
        if not len(small):
            continue
        largest = int(same[np.argmax(counts[same])])
        if counts[small].sum() >= FEWEST_BLOCKS:
            largest = int(small[0])
        elif counts[largest] < FEWEST_BLOCKS:
            held.extend(small.tolist())
        teacher[small] = largest
        merged.extend((int(k), largest) for k in small if k != largest)
    names, groups = np.unique(teacher, return_inverse=True)
    blocks = np.bincount(groups, weights=counts, minlength=len(names)).astype(int)
    return Deviations(groups, channels.dimensions[names], blocks, tuple(merged), tuple(held))


def _measured_blocks(equations: NormalEquations) -> Indices:
    """(q,) blocks of each kind of which any round showed anything."""
    channels = equations.channels
    diagonal = _gram_diagonals(equations)
    seen = np.add.reduceat(np.append(diagonal, 0.0), channels.block_starts[:-1]) > 0
    return np.bincount(channels.kinds, weights=seen, minlength=channels.n_kinds).astype(int)


def _gram_diagonals(equations: NormalEquations) -> Array:
    channels = equations.channels
    width = np.diff(channels.starts)
    inside = np.arange(channels.n_parameters) - np.repeat(channels.starts[:-1], width)
    at = np.repeat(channels.gram_starts[:-1], width) + inside * (np.repeat(width, width) + 1)
    return np.asarray(equations.gram[at])


def _mean_information(equations: NormalEquations, groups: Indices, width: int) -> Array:
    """(g, p, p) mean S_ee over the measured blocks of each deviation, made regular."""
    channels = equations.channels
    total, counts = np.zeros((int(groups.max()) + 1, width, width)), np.zeros(groups.max() + 1)
    owner = np.repeat(np.arange(channels.n_channels), np.diff(channels.blocks))
    at = channels.gram_starts[owner]
    wide, inside = (
        np.diff(channels.starts)[owner],
        channels.block_starts[:-1] - channels.starts[owner],
    )
    for k, p in enumerate(channels.dimensions):
        own = np.flatnonzero(channels.kinds == k)
        i = inside[own][:, None, None] + np.arange(p)[:, None]
        j = inside[own][:, None, None] + np.arange(p)
        S = equations.gram[at[own][:, None, None] + i * wide[own][:, None, None] + j]
        total[groups[k], :p, :p] += S.sum(axis=0)
        counts[groups[k]] += (np.trace(S, axis1=1, axis2=2) > 0).sum()
    return np.asarray(total / np.maximum(counts, 1)[:, None, None])


def inverse_information(equations: NormalEquations, sharing: Deviations) -> Array:
    """(g, p, p) inverse of the mean information, made regular where nothing was seen."""
    means = _mean_information(equations, sharing.groups, int(sharing.dimensions.max()))
    result = np.zeros_like(means)
    for g, p in enumerate(sharing.dimensions):
        S = means[g, :p, :p]
        size = np.trace(S) / p
        ridge = 1e-3 * size if size > 0 else 1.0
        result[g, :p, :p] = np.linalg.inv(S + ridge * np.eye(p))
    return result
