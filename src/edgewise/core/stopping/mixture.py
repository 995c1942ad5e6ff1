"""A mixture martingale: looks after every round at no cost, for Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgewise.base import checks
from edgewise.base.arrays import Array, Indices, Mask
from edgewise.base.border import border
from edgewise.base.compiled import compiled
from edgewise.base.wording import shown
from edgewise.core.evidence.evidence import Evidence
from edgewise.errors import InvalidArgument


def log_mixture(statistic: Array, information: Array, scales: Array) -> Array:
    r"""Log of the e-process of a Brownian motion with drift at most zero.

    .. math:: E = \frac1J \sum_j 2 \sqrt{\frac{r_j}{I + r_j}}
        \exp\frac{W^2}{2(I + r_j)} \Phi\!\left(\frac{W}{\sqrt{I + r_j}}\right)

    the likelihood ratio of W against drift zero, averaged over half-normal drifts of precision
    :math:`r_j`. W (``statistic``) and I (``information``) are (R,), scales (J,).
    """
    return _log_mixture(statistic, information, scales)


@compiled
def _log_mixture(statistic: Array, information: Array, scales: Array) -> Array:
    result = np.empty(len(statistic))
    terms = np.empty(len(scales))
    for c in range(len(statistic)):
        for j in range(len(scales)):
            total = information[c] + scales[j]
            z = statistic[c] / math.sqrt(total)
            terms[j] = 0.5 * math.log(scales[j] / total) + log_tilted(z)
        largest = terms.max()
        result[c] = largest + math.log(np.exp(terms - largest).mean())
    return result


@compiled
def _mixture_margin(information: Array, scales: Array, log_odds: float) -> Array:
    """W at which log E reaches log_odds, by bisection: log E grows with W."""
    result = np.empty(len(information))
    statistic = np.empty(1)
    price = log_odds + math.log(len(scales))
    for c in range(len(information)):
        high = math.inf  # one scale alone reaches the level there, as 2 Phi(z) >= 1 for z >= 0
        for r in scales:
            total = information[c] + r
            high = min(high, math.sqrt(2.0 * total * (price + 0.5 * math.log(total / r))))
        low = 0.0
        for _ in range(60):
            statistic[0] = 0.5 * (low + high)
            if _log_mixture(statistic, information[c : c + 1], scales)[0] < log_odds:
                low = statistic[0]
            else:
                high = statistic[0]
        result[c] = high
    return result


@compiled
def log_tilted(z: float) -> float:
    """log(2 exp(z^2/2) Phi(z)); erfc underflows below -37, where the Mills ratio takes over."""
    if z > -30.0:
        return 0.5 * z * z + math.log(math.erfc(-z / math.sqrt(2.0)))
    return math.log(2.0 / (-z * math.sqrt(2.0 * math.pi))) + math.log1p(-1.0 / (z * z))


@border
@dataclass(frozen=True)
class Mixture:
    r"""Stop when the e-value against every rival reaches :math:`(P - 1)/\delta`.

    With :math:`I = 1/s^2`, the score :math:`W = I\hat\Delta` of a fixed contrast is a Brownian
    motion in I when the noise is Gaussian and the joint arms do not depend on the rewards; the
    mixture of :func:`log_mixture` is then an e-process, and Ville's inequality covers all rounds
    at once: see docs/stopping.md. Strength is ``log E / log((P - 1)/delta)``.
    """

    decades: tuple[int, int] = (-4, 4)
    """Precisions :math:`r_j = 10^j/\\sigma^2`: they cover gaps of sigma/100 to 100 sigma."""
    name: str = "mixture"
    assumes: str = (
        "independent Gaussian noise of one deviation, at most the stated one; joint arms and gaps "
        "in the data depend, if at all, on earlier phases' rewards only"
    )
    allows_ridge: bool = False
    allows_phases: bool = True
    needs_phases: bool = False

    def __post_init__(self) -> None:
        given: object = self.decades  # whatever was passed
        values = given if isinstance(given, tuple | list) else ()
        decades = [checks.whole("decades", one, least=-300, most=300) for one in values]
        if len(decades) != 2 or decades[0] > decades[1]:
            raise InvalidArgument(
                f"decades are {shown(self.decades)}; give the exponents of the smallest and the "
                "largest precision, e.g. (-4, 4)",
                argument="decades",
            )

    def is_due(self, rounds: Indices) -> Mask:
        """After every round."""
        return np.ones(len(rounds), np.bool_)

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Array:
        """``log E / log((P - 1)/delta)`` per rival."""
        rivals = np.isfinite(evidence.gaps)
        sigma = np.broadcast_to(evidence.noise[:, None, None], rivals.shape)[rivals]
        # in units of sigma, so that a bound on sigma that falls only raises the e-values
        gaps = (evidence.gaps[rivals] + epsilon) / sigma
        information = 1.0 / evidence.variances[rivals]
        threshold = math.log(max(evidence.n_rivals, 1) / delta)
        strength = np.where(evidence.gaps > 0, np.inf, -np.inf)
        strength[rivals] = log_mixture(information * gaps, information, self.scales) / threshold
        return strength

    def contrast_width(self, variances: Array, *, rounds: int, log_odds: float) -> Array:  # noqa: ARG002
        """(T,) W/I at which log E reaches ``log_odds``: the same at whatever round."""
        information = 1.0 / variances
        return _mixture_margin(information, self.scales, log_odds) * variances

    @property
    def scales(self) -> Array:
        """(J,) precisions in units of sigma."""
        low, high = self.decades
        return np.logspace(low, high, high - low + 1)
