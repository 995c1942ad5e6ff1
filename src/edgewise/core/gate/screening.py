r"""The robust fall-back: rewards that are out of the question do not count.

One bad sensor in a thousand should not end a study of weeks. A reward is left out, as if it were
missing, if it is further from what the rounds before say than

.. math:: \big(12 + \beta\sqrt h\big)\,\sigma, \qquad
          \beta^2 = 72 + 4 p \log(1 + N) + 2.2 p, \qquad h = z^\top A^{-1} z ,

N being the rewards so far and p the parameters. That an honest reward is ever that far away has a
probability below :math:`10^{-6}` for a whole run: the proof is in ``docs/gate.md``. So certificates
hold as they stand, whatever gross errors the others are.
"""

from __future__ import annotations

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.observed import observed_directions
from edgewise.core.gate.rows import sight_of
from edgewise.core.gate.solving import backward, factor, forward, is_seen
from edgewise.core.gate.watch import Watch
from edgewise.core.model.problem import Problem

_BEYOND = 12.0
_SURE = 72.0


def screened(problem: Problem, watch: Watch | None, arms: Indices, rewards: Array) -> Array:
    """(m,) the rewards that count: NaN also where one is out of the question.

    Nothing is left out before the rounds say something, nor where the noise is not stated.
    """
    sight = sight_of(problem)
    if watch is None or not watch.sums.count or not sight.knows_noise or sight.has_round_levels:
        return rewards
    sums = watch.sums
    L, _ = factor(sums.gram)
    away = np.abs(rewards / sight.scale - sight.means(arms, backward(L, forward(L, sums.moment))))
    far = np.flatnonzero(away > _BEYOND)
    if not len(far):
        return rewards
    values, _ = observed_directions(sums.gram)
    if values[-1] > (1.0 + sums.count) ** 2 * values[0]:  # the proof needs a better design
        return rewards
    rows, counted = sight.full_rows(arms), rewards.copy()
    p = len(sums.moment)
    beta = np.sqrt(_SURE + p * (4.0 * np.log1p(sums.count) + 2.2))
    for position in far.tolist():
        z = rows[position]
        deviation = float(np.sqrt(np.sum(forward(L, z) ** 2)))
        if is_seen(L, z) and away[position] > _BEYOND + beta * deviation:
            counted[position] = np.nan
    return counted
