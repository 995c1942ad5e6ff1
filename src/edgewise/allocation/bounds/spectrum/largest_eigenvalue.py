"""Proved upper bounds on the largest eigenvalue of a symmetric matrix.

A computed eigenvalue proves nothing: an iteration may have missed the largest one. Two ways out:
a Cholesky factorisation that runs to its end (deterministic, small matrices), and a polynomial
that would make any larger eigenvalue show, applied to random vectors (any size, with a stated
probability of failure). Both are ours because both carry a proof; library solvers give none.
"""

from __future__ import annotations

import math

import numpy as np

from edgewise.allocation.bounds.rounding import gamma
from edgewise.allocation.bounds.spectrum.couplings import Couplings, multiply
from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled
from edgewise.base.threads import single_threaded

FAILURE = 1e-9
"""Most that the random check errs by, over the draw of its start vectors."""
LARGEST_DENSE = 3000
"""Rows up to which a dense Cholesky factorisation (N^3 / 3 operations) is used."""
_N_VECTORS = 2


def cholesky_bound(matrix: Array, guess: float) -> float | None:
    r"""A number that no eigenvalue of a symmetric matrix H without diagonal exceeds.

    If the Cholesky factorisation of :math:`\tau I - H` runs to completion in floating point, its
    factor satisfies :math:`R^\top R = \tau I - H + \Delta` with
    :math:`\lVert\Delta\rVert \le \gamma_{N+1} / (1 - \gamma_{N+1}) \, N \tau` [1]_; so
    :math:`\lambda_{\max}(H) \le \tau + \lVert\Delta\rVert`. Tries :math:`\tau` a little above
    ``guess`` first; None when no attempt succeeds.

    .. [1] S. M. Rump, *Verification of positive definiteness*, BIT 46 (2006); Higham, theorem 10.3.
    """
    n = len(matrix)
    # four times the theorem's: kernels may multiply by reciprocals instead of dividing
    relative = 4.0 * gamma(n + 2) * n
    for margin in (4.0 * relative, 1e-9, 1e-7, 1e-5, 1e-3, 1e-1):
        top = abs(guess) * (1.0 + margin) + 1e-300
        shifted = -matrix
        shifted[np.diag_indices(n)] = top
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            continue
        return top * (1.0 + relative)
    return None


def chebyshev_bound(
    matrix: Couplings, window: tuple[float, float], *, degree: int, rng: np.random.Generator
) -> float | None:
    r"""A number that no eigenvalue of H exceeds, except with probability ``FAILURE``.

    Map the window (a, b) affinely to (-1, 1) by x. If q is a unit eigenvector with
    :math:`x(\lambda_{\max}) > 1`, then for a standard normal vector g

    .. math:: \lVert T_k(x(H)) g \rVert \ge T_k(x(\lambda_{\max})) \, |q^\top g|, \qquad
              P(|q^\top g| \le t) \le t \sqrt{2/\pi} .

    With r vectors and :math:`(t \sqrt{2/\pi})^r` = ``FAILURE``, the largest observed norm N
    bounds :math:`T_k(x(\lambda_{\max})) \le N / t` and so the eigenvalue. Rounding errors of norm
    :math:`\varepsilon_j` in step j of the recurrence replace t by
    :math:`t - \sum_j (k - j + 1) \varepsilon_j / T_j(x)`, see docs/bounds.md. None when they
    swallow all of it.

    Any window gives a valid bound; one close to the spectrum gives a sharp one. It must not
    depend on the vectors drawn here.
    """
    a, b = window
    b = max(b, a + 1e-6 * (abs(a) + abs(b)))
    slope, offset = 4.0 / (b - a), 2.0 * (b + a) / (b - a)
    starts = rng.standard_normal((matrix.size, _N_VECTORS))
    norms = _chebyshev_norms(matrix, starts, slope, offset, degree) * (1.0 + gamma(matrix.size + 8))
    step = gamma(matrix.most_in_row + 8) * (slope * matrix.row_sums.max() + abs(offset) + 1.0)
    # the error made in computing vector j = 1 .. k from the two before it
    errors = step * (norms[:-1] + np.vstack([np.zeros(_N_VECTORS), norms[:-2]]))
    x = _largest_hidden(norms[-1], errors)
    if x is None:
        return None
    return (2.0 * x + offset) / slope + 1e-12 * (x + abs(offset)) / slope


def _largest_hidden(norms: Array, errors: Array) -> float | None:
    """The least x found such that an eigenvalue beyond it would have shown in the norms."""
    degree = len(errors)
    threshold = FAILURE ** (1.0 / _N_VECTORS) * math.sqrt(math.pi / 2.0)
    steps = np.arange(1, degree + 1)
    repeats = (degree + 1.0 - steps)[:, None]

    def shows(angle: float) -> bool:
        """Whether every norm is below what an eigenvalue at cosh(angle) would make it."""
        growth = np.cosh(np.minimum(angle * steps, 700.0))
        left = threshold - (errors * repeats / growth[:, None]).sum(axis=0)
        return bool(np.all(growth[-1] * left > norms))

    low, high = 0.0, 1.0 / degree
    while not shows(high):
        low, high = high, 2.0 * high
        if high * degree > 600.0:
            return None
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if shows(middle) else (middle, high)
    return math.cosh(high)


@compiled
def _chebyshev_norms(
    matrix: Couplings, before: Array, slope: float, offset: float, degree: int
) -> Array:
    """(degree + 1, 2) norms of the vectors of the three-term recurrence, from two starts at once.

    Both are read by the same pass over the matrix. ``before`` is overwritten.
    """
    norms = np.zeros((degree + 1, 2))
    present = before.copy()
    for i in range(len(before)):
        norms[0, 0] += before[i, 0] ** 2
        norms[0, 1] += before[i, 1] ** 2
    for j in range(degree):
        # T_1 = x T_0 and T_{j+1} = 2 x T_j - T_{j-1}
        half, keep = (0.5, 0.0) if j == 0 else (1.0, 1.0)
        for i in range(len(before)):
            first, second = 0.0, 0.0
            for p in range(matrix.starts[i], matrix.starts[i + 1]):
                other = matrix.neighbours[p]
                first += matrix.values[p] * present[other, 0]
                second += matrix.values[p] * present[other, 1]
            first = half * (slope * first - offset * present[i, 0]) - keep * before[i, 0]
            second = half * (slope * second - offset * present[i, 1]) - keep * before[i, 1]
            norms[j + 1, 0] += first**2
            norms[j + 1, 1] += second**2
            before[i, 0], before[i, 1] = first, second
        before, present = present, before
    return np.sqrt(norms)


def spectrum_window(
    matrix: Couplings, *, steps: int, rng: np.random.Generator
) -> tuple[float, float]:
    """About the least and the largest eigenvalue, by Lanczos: an estimate, no proof.

    Kept beside scipy's ``eigsh``, which is as fast for the same digits (0.15 s at 20,000 rows):
    here the work is counted, so that it is the same on every machine, and any size will do.
    """
    from scipy.linalg import eigvalsh_tridiagonal

    with single_threaded():  # many threads only wait for each other: 40 times slower when busy
        diagonal, beside = _lanczos(matrix, min(steps, matrix.size), rng)
    values = eigvalsh_tridiagonal(np.array(diagonal), np.array(beside))
    return float(values[0]), float(values[-1])


def _lanczos(
    matrix: Couplings, steps: int, rng: np.random.Generator
) -> tuple[list[float], list[float]]:
    """Diagonal and off-diagonal of the matrix in a Krylov basis from a random vector."""
    vector = rng.standard_normal(matrix.size)
    vector /= np.linalg.norm(vector)
    before, product = np.zeros_like(vector), np.empty_like(vector)
    diagonal, beside = [], [0.0]
    for _ in range(steps):
        multiply(matrix, vector, product)
        diagonal.append(float(vector @ product))
        rest = product - diagonal[-1] * vector - beside[-1] * before
        length = float(np.linalg.norm(rest))
        if length <= 1e-12 * (abs(diagonal[-1]) + beside[-1]):
            break
        beside.append(length)
        before, vector = vector, rest / length
    return diagonal, beside[1 : len(diagonal)]
