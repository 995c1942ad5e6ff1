"""Diagonal matrices that dominate a given one: the dual of the Max-Cut semidefinite programme."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from edgewise.allocation.bounds.rounding import gamma
from edgewise.allocation.bounds.spectrum.couplings import Couplings
from edgewise.allocation.bounds.spectrum.largest_eigenvalue import (
    FAILURE,
    LARGEST_DENSE,
    chebyshev_bound,
    cholesky_bound,
    spectrum_window,
)
from edgewise.allocation.bounds.spectrum.mixing import dual_guess
from edgewise.base.arrays import Array

_MOST_RANK = 32
_SECONDS_PER_PRODUCT = 1.2e-8
"""Per entry of a sparse matrix and pair of vectors, measured on large graphs."""
_SECONDS_PER_MIX = 2e-9
"""Per entry and component of a vector."""


class Domination(NamedTuple):
    r"""A diagonal z with :math:`\mathrm{Diag}(z) - C \succeq 0`, proved."""

    diagonal: Array
    """(N,) z >= 0; the numbers as stored are proved, rounding included."""
    failure_probability: float


def dominate(
    couplings: Couplings, *, seconds: float, rng: np.random.Generator
) -> Domination | None:
    r"""A diagonal z of nearly least sum with :math:`\mathrm{Diag}(z) \succeq C`.

    The mixing method guesses y; with :math:`D = \mathrm{Diag}(y)` any bound
    :math:`\theta \ge \lambda_{\max}(D^{-1/2} C D^{-1/2})` makes :math:`z = \theta y` dominate.
    Only :math:`\theta` needs proof: :func:`cholesky_bound` when N is small, else
    :func:`chebyshev_bound`. None if neither gives one.
    """
    entries = max(1, len(couplings.values))
    rank = min(_MOST_RANK, int(np.sqrt(2.0 * couplings.size)) + 2)
    sweeps = int(0.4 * seconds / (_SECONDS_PER_MIX * entries * rank))
    guess = dual_guess(couplings, rank=rank, sweeps=min(3000, max(8, sweeps)), rng=rng)
    # a row that hardly matters must not blow up the scaled matrix
    floor = np.maximum(1e-3 * couplings.row_sums, 1e-300)
    factors = 1.0 / np.sqrt(np.maximum(guess, floor))
    scaled = couplings.scaled(factors)
    found = _scaled_bound(scaled, seconds=0.5 * seconds, rng=rng)
    if found is None:
        return None
    theta, failure = found
    # the entries of the scaled matrix were rounded: by Gershgorin its eigenvalues move this much
    theta += gamma(4) * float(scaled.row_sums.max())
    return Domination(theta * (1.0 + gamma(8)) / factors**2, failure)


def _scaled_bound(
    scaled: Couplings, *, seconds: float, rng: np.random.Generator
) -> tuple[float, float] | None:
    """A bound on the largest eigenvalue, and the probability that it fails."""
    products = int(seconds / (_SECONDS_PER_PRODUCT * len(scaled.values)))
    window = spectrum_window(scaled, steps=min(200, max(40, products // 5)), rng=rng)
    if scaled.size <= LARGEST_DENSE:
        proved = cholesky_bound(scaled.dense(), window[1])
        return None if proved is None else (proved, 0.0)
    likely = chebyshev_bound(scaled, window, degree=min(1000, max(60, products)), rng=rng)
    return None if likely is None else (likely, FAILURE)
