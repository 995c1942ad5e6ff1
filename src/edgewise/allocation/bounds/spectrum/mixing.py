"""The mixing method: the Max-Cut semidefinite programme one unit vector at a time."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgewise.allocation.bounds.spectrum.couplings import Couplings
from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled

_Floats: TypeAlias = NDArray[np.float32]


def dual_guess(couplings: Couplings, *, rank: int, sweeps: int, rng: np.random.Generator) -> Array:
    r"""(N,) nearly optimal y for the dual of :math:`\max \langle C, V V^\top \rangle`, unit rows V.

    Every sweep replaces each row by the best one given the others [1]_,

    .. math:: v_i \leftarrow g_i / \lVert g_i \rVert, \quad g_i = \sum_j C_{ij} v_j .

    At the optimum :math:`y_i = \lVert g_i \rVert`: then :math:`\mathrm{Diag}(y) - C \succeq 0`
    and :math:`\sum y_i` is the value. Before that neither holds exactly: y is a guess.

    .. [1] P.-W. Wang, W.-C. Chang, J. Z. Kolter, *The Mixing method*, 2017.
    """
    # single precision: half the memory to move, and a guess need not be better
    vectors = rng.standard_normal((couplings.size, rank), dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-30))
    unit = float(np.abs(couplings.values).max())
    factors = (couplings.values / unit).astype(np.float32)
    pull = np.zeros(rank, np.float32)
    lengths = np.zeros(couplings.size)
    before = 0.0
    for sweep in range(sweeps):
        _sweep(couplings, factors, vectors, pull, lengths)
        value = float(lengths.sum())
        if sweep > 5 and value - before < 1e-7 * value:
            break
        before = value
    return unit * lengths


@compiled
def _sweep(
    couplings: Couplings, factors: _Floats, vectors: _Floats, pull: _Floats, lengths: Array
) -> None:
    rank = vectors.shape[1]
    for i in range(len(lengths)):
        for t in range(rank):
            pull[t] = 0.0
        for p in range(couplings.starts[i], couplings.starts[i + 1]):
            c, other = factors[p], vectors[couplings.neighbours[p]]
            for t in range(rank):
                pull[t] += c * other[t]
        square = 0.0
        for t in range(rank):
            square += pull[t] * pull[t]
        lengths[i] = np.sqrt(square)
        if square > 0.0:
            scale = np.float32(1.0 / lengths[i])
            for t in range(rank):
                vectors[i, t] = pull[t] * scale
