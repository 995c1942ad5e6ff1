r"""Evidence from signs: for differences that are symmetric around their centre, and no more.

If :math:`D_k` is symmetric around m given what came before, the sign of :math:`D_k - m` is a fair
coin given its size, and a bet on it,

.. math:: E_n(m) = \frac{1}{|\Theta|} \sum_{\theta \in \Theta} \prod_{k \le n}
          \left(1 + c \tanh\frac{\theta (D_k - m)}{s_{k-1}}\right),

is a martingale, for every scale :math:`s_{k-1}` that the past determines: here a robust deviation
of the differences before, which does not depend on m, so that :math:`E_n(m)` falls in m.
With c = 1 the stakes would be those of the likelihood ratio of two Gaussians given the size; with
c = 0.9 a single wild value cannot take everything. The first two pairs have no scale; on
them the plain sign is bet on. Proofs: ``docs/confirm.md``.

The coin that decides which of a pair comes first *makes* the differences symmetric: around the
difference between the candidates, if that is the same in every pair, whatever else drifts, jumps
or swings from one round to the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import bisect
from scipy.special import ndtr

from edgewise.base.arrays import Array
from edgewise.base.border import border
from edgewise.trial.sequence import Interval, checked_differences, levels_of

EFFECTS = np.array([0.3, 0.6, 1.2, 2.4])
"""Effects, in deviations, that the bets are made for."""

_WITHOUT_SCALE = 2
"""So many first pairs have no deviation of earlier ones."""
_SIGMA_OF_MEDIAN = 1.4826
"""1 over the median size of a standard Gaussian."""
_DOUBLINGS = 60
_LARGEST_STAKE = 0.9


@border
def sign_evidence(differences: ArrayLike, *, null: float = 0.0) -> float:
    """Evidence against "symmetric around a centre of at most ``null``", at any time.

    >>> sign_evidence([1.0] * 8) > 20 > 1 > sign_evidence([-1.0] * 8)
    True
    """
    values = checked_differences(differences)
    with np.errstate(over="ignore"):
        return float(np.exp(_final(values, past_deviations(values), null)))


@border
def sign_interval(
    differences: ArrayLike, *, delta: float = 0.05, lower_share: float = 0.5
) -> Interval:
    """An interval that covers the centre after every pair at once, with probability 1 - ``delta``.

    ``lower_share`` is the part of ``delta`` spent on the lower end.
    """
    values = checked_differences(differences)
    below, above = levels_of(delta, lower_share)
    return _lowest(values, below), -_lowest(-values, above)


def past_deviations(differences: Array) -> Array:
    """(..., n) a robust deviation of the differences before each; 0 where there are not two.

    The median distance from their median, in units that make it sigma for a Gaussian: one wild
    value, which the assumption allows, leaves it as it is.
    """
    scales = np.zeros(differences.shape)
    for k in range(_WITHOUT_SCALE, differences.shape[-1]):
        past = differences[..., :k]
        distances = np.abs(past - np.median(past, axis=-1, keepdims=True))
        scales[..., k] = _SIGMA_OF_MEDIAN * np.median(distances, axis=-1)
    return scales


def log_sign_evidence(differences: Array, scales: Array, null: float) -> Array:
    """(..., n) log E_k(null) after every pair k, of differences and scales (..., n)."""
    apart, known = (differences - null)[..., None], scales[..., None] > 0
    plain = (2.0 * ndtr(EFFECTS) - 1.0) * np.sign(apart)
    stakes = _LARGEST_STAKE * np.tanh(EFFECTS * apart / np.where(known, scales[..., None], 1.0))
    grown = np.log1p(np.where(known, stakes, plain)).cumsum(axis=-2)
    best = grown.max(axis=-1)
    return np.asarray(best + np.log(np.exp(grown - best[..., None]).mean(axis=-1)))


def _lowest(differences: Array, level: float) -> float:
    """The largest centre that is refuted from above; -inf if none is."""
    scales = past_deviations(differences)

    def excess(null: float) -> float:
        return _final(differences, scales, null) + float(np.log(level))

    if not len(differences) or excess(-np.inf) <= 0:
        return -np.inf
    step = float(np.ptp(differences)) or float(np.abs(differences).max()) or 1.0
    tried = (float(differences.min()) - step * 2.0**power for power in range(_DOUBLINGS))
    low = next((null for null in tried if excess(null) > 0), None)
    if low is None:
        return -np.inf
    return float(bisect(excess, low, float(differences.max()), xtol=1e-9 * step))


def _final(differences: Array, scales: Array, null: float) -> float:
    """Log E_n(null); 0 before the first pair."""
    path = log_sign_evidence(differences, scales, null)
    return float(path[-1]) if len(path) else 0.0
