"""The paper's own solver: Frank-Wolfe on the simplex of designs."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from edgewise.base.arrays import Array
from edgewise.base.compiled import compiled
from edgewise.core.design.variance import squared_lengths

_STEPS_BETWEEN_FACTORISATIONS = 500
"""Each rank-one update loses a digit or so of the last place; 500 of them stay below 1e-12."""


def frank_wolfe(arms: Array, *, tolerance: float, max_iterations: int) -> tuple[Array, int]:
    r"""Frank-Wolfe from the uniform design: weights and the number of steps taken.

    Each step moves mass to the arm of largest variance, by the amount that maximises
    :math:`\log\det\Sigma` along the segment:

    .. math:: w \leftarrow (1 - a) w + a e_k, \qquad a = \frac{v_k / d - 1}{v_k - 1}

    ``arms`` must span their space and have at least two dimensions (in one, ``a`` is 1 and the
    answer is the longest arm).

    References
    ----------
    .. [1] Fedorov, V. V. (1972). *Theory of Optimal Experiments*, chapter 2.
    """
    n_arms, dimension = arms.shape
    weights = np.full(n_arms, 1.0 / n_arms)
    threshold = dimension * (1.0 + tolerance)
    taken = 0
    while True:
        root = np.linalg.cholesky((arms.T * weights) @ arms).T
        spread = squared_lengths(arms, root)
        if spread.max() <= threshold or taken >= max_iterations:
            return weights, taken
        inverse = scipy.linalg.cho_solve((root, False), np.eye(dimension), check_finite=False)
        steps = min(_STEPS_BETWEEN_FACTORISATIONS, max_iterations - taken)
        taken += _descend(arms, weights, np.ascontiguousarray(inverse), spread, steps, threshold)


@compiled
def _descend(
    arms: Array, weights: Array, inverse: Array, spread: Array, steps: int, threshold: float
) -> int:
    """Frank-Wolfe steps in place, by rank-one updates; the number taken."""
    n_arms, dimension = arms.shape
    for step in range(steps):
        k = np.argmax(spread)
        worst = spread[k]
        if worst <= threshold:
            return step
        a = (worst / dimension - 1.0) / (worst - 1.0)
        shrink = 1.0 / (1.0 - a)
        # Sherman-Morrison on (1 - a) Sigma + a x x'.
        factor = a / (1.0 - a + a * worst)
        direction = inverse @ arms[k]
        overlap = arms @ direction
        for i in range(n_arms):
            weights[i] *= 1.0 - a
            spread[i] = (spread[i] - factor * overlap[i] ** 2) * shrink
        weights[k] += a
        for i in range(dimension):
            for j in range(dimension):
                inverse[i, j] = (inverse[i, j] - factor * direction[i] * direction[j]) * shrink
    return steps
