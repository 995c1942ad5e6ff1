r"""Rewards that can hardly be right: asked about before they are recorded, or left out.

One bad sensor in a thousand should not end a study of weeks. A reward is left out, as if it were
missing, if it is further from what the rounds before say than

.. math:: \big(12 + \beta\sqrt h\big)\,\sigma, \qquad
          \beta^2 = 72 + 4 p \log(1 + N) + 2.2 p, \qquad h = z^\top A^{-1} z ,

N being the rewards so far and p the parameters. That an honest reward is ever that far away has a
probability below :math:`10^{-6}` for a whole run: the proof is in ``docs/gate.md``. So certificates
hold as they stand, whatever gross errors the others are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgewise.base.arrays import Array, Indices
from edgewise.base.compiled import compiled
from edgewise.core.evidence.observed import observed_directions
from edgewise.core.evidence.rewards import LARGEST_REWARD, place_text
from edgewise.core.gate.rows import Sight, sight_of
from edgewise.core.gate.solving import backward, factor, forward, is_seen
from edgewise.core.gate.watch import Watch
from edgewise.core.model.problem import Problem

_BEYOND = 12.0
"""Stated deviations outside the prediction interval at which a reward is asked about."""
_INTERVAL = 3.0
"""Half the width of the prediction interval, in deviations of the prediction."""
_TIMES = 1000.0
"""Times the median size of the round's others at which one is asked about before any estimate."""
_FEW = 10
"""Residuals from which the noise is known well enough, where it is not stated."""
_SURE = 72.0
"""Of beta^2: what the probability of 10^-6 costs."""


@dataclass(frozen=True)
class Outlier:
    """A reward that can hardly be right."""

    position: int
    value: float
    expected: float | None
    """What the rounds before say; None if they say nothing, and the round's others were asked."""
    deviation: float
    """Of the noise; without an estimate, the median size of the round's others."""

    def in_words(self, problem: Problem) -> str:
        """Where, what, and what was expected."""
        place = place_text(problem, self.position)
        if self.expected is None:
            return (
                f"the reward of {place} is {self.value:.6g}, "
                f"{abs(self.value) / self.deviation:.3g} times the median size of the round's "
                f"others ({self.deviation:.4g})"
            )
        away = abs(self.value - self.expected) / self.deviation
        return (
            f"the reward of {place} is {self.value:.6g}, and the rounds before say "
            f"{self.expected:.4g}: {away:.3g} deviations of the noise away"
        )


def outliers(
    problem: Problem, watch: Watch | None, arms: Indices, rewards: Array
) -> tuple[Outlier, ...]:
    """The rewards (m,) of a round, NaN where missing, that can hardly be right; largest first."""
    if watch is None:
        return ()
    sight = sight_of(problem)
    sigma = _deviation(sight, watch)
    if watch.sums.count and sigma is not None and not sight.has_round_levels:
        found = _against_prediction(sight, watch, arms, rewards, sigma)
    else:
        seen = _seen(rewards)
        found = _against_others(sight, rewards, seen, seen)
    return tuple(sorted(found, key=lambda one: -abs(one.value - (one.expected or 0.0))))


def _seen(rewards: Array) -> Indices:
    """Where a reward is there; those too large are refused elsewhere."""
    return np.flatnonzero(np.abs(rewards) <= LARGEST_REWARD)


def _deviation(sight: Sight, watch: Watch) -> float | None:
    """Of a number in its unit: 1 if the noise is stated, else as measured; None if unknown."""
    local = sight.problem.pooling in ("partial", "auto")
    measured = watch.measured_noise if watch.residual[1] >= _FEW else None
    if sight.knows_noise:
        return max(1.0, measured or 0.0) if local else 1.0
    return measured or None  # rewards that were all alike so far do not tell how much they vary


def _against_prediction(
    sight: Sight, watch: Watch, arms: Indices, rewards: Array, sigma: float
) -> list[Outlier]:
    scale, sums, bar = sight.scale, watch.sums, _BEYOND * sigma
    if sight.shows_cells and not _is_any_far(
        sums.gram, sums.moment, sight.cell_features, sight.factors, bar, arms, rewards, *sight.eyes
    ):
        return []
    L, theta = _fitted(sums.gram, sums.moment)
    expected = sight.means(arms, theta)
    away = np.abs(rewards / scale - expected)
    if not (away > bar).any():
        return []
    seen = _seen(rewards)
    far = seen[away[seen] > bar]
    rows = sight.full_rows(arms)
    found, unknown = [], []
    for position in far.tolist():
        if not is_seen(L, rows[position]):
            unknown.append(position)
            continue
        spread = np.sqrt(1.0 + float(np.sum(forward(L, rows[position]) ** 2)))
        if away[position] > (_BEYOND + _INTERVAL * spread) * sigma:
            unit = float(scale[position])
            found.append(
                Outlier(
                    position,
                    float(rewards[position]),
                    float(expected[position]) * unit,
                    sigma * unit,
                )
            )
    return found + _against_others(sight, rewards, seen, np.array(unknown, np.int64))


@compiled
def _fitted(gram: Array, moment: Array) -> tuple[Array, Array]:
    """The factor of Z'Z, and the estimate (p,) on the observed directions."""
    L, _ = factor(gram)
    return L, backward(L, forward(L, moment))


@compiled
def _is_any_far(
    gram: Array,
    moment: Array,
    features: Array,
    factors: Array,
    bar: float,
    arms: Indices,
    rewards: Array,
    first_cells: Indices,
    first: Indices,
    second: Indices,
    n_arms: int,
    scale: Array,
) -> bool:
    """Whether a reward is further from the estimate than a bar, in deviations; gaps are not.

    Asked of every round before anything else, so in one call; what is a little nearer than the bar
    passes too, so that rounding decides nothing here.
    """
    _, theta = _fitted(gram, moment)
    means, known = np.zeros(len(features)), np.zeros(len(features), np.bool_)
    for c in range(len(rewards)):
        cell = first_cells[c] + arms[first[c]] * n_arms + arms[second[c]]
        if not known[cell]:
            known[cell] = True
            for i in range(len(theta)):
                means[cell] += features[cell, i] * theta[i]
        if abs(rewards[c] / scale[c] - means[cell] * factors[c]) > (1.0 - 1e-6) * bar:
            return True
    return False


def _against_others(sight: Sight, rewards: Array, seen: Indices, asked: Indices) -> list[Outlier]:
    """Of the numbers ``asked`` about, those far larger than the others of the round."""
    sizes = np.abs(rewards[seen])
    if len(seen) < 3:
        return []
    typical = float(np.median(sizes))
    least = float(sight.scale.max()) if sight.knows_noise else 0.0
    bar = _TIMES * max(typical, least)
    return [
        Outlier(position, float(rewards[position]), None, max(typical, least))
        for position in asked.tolist()
        if bar > 0.0 and abs(rewards[position]) > bar
    ]


# -- left out ----------------------------------------------------------------------------------


def screened(problem: Problem, watch: Watch | None, arms: Indices, rewards: Array) -> Array:
    """(m,) the rewards that count: NaN also where one is out of the question.

    Nothing is left out before the rounds say something, nor where the noise is not stated.
    """
    sight = sight_of(problem)
    if watch is None or not watch.sums.count or not sight.knows_noise or sight.has_round_levels:
        return rewards
    sums = watch.sums
    L, theta = _fitted(sums.gram, sums.moment)
    away = np.abs(rewards / sight.scale - sight.means(arms, theta))
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
