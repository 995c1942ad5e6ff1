r"""Refutation for good: which cells cannot be the best of their kind, with no union over rivals.

Let :math:`H_z` say that cell z is the best of its kind. Everybody else, z', is a *claimant*. Under
:math:`H_z` the contrast :math:`\phi_{z'} - \phi_z` has drift at most zero, so what a unit of
capital staked on z' against z becomes, :math:`e_{z',z}`, is a supermartingale over phases, and so
is every average over claimants. A cell is refuted, for good, when the capital staked against it
reaches :math:`1/\delta`: that happens to the best cell with probability at most :math:`\delta`,
and nothing else needs protection. The proof is in docs/stopping.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from edgewise.base.arrays import Array, Indices, Mask
from edgewise.core.evidence.duels import Duels, fight, twins
from edgewise.core.evidence.evidence import Evidence
from edgewise.core.evidence.measuring import ByPhase
from edgewise.core.evidence.observed import are_inside, observed_directions
from edgewise.core.model.cells import Cells
from edgewise.core.stopping.bets import Stakes, log_bets
from edgewise.core.stopping.rivalwise import Rivalwise
from edgewise.core.stopping.simultaneous import Account, margins
from edgewise.errors import InvalidArgument

_CLAIMANTS = 128
"""So many claimants are followed, those with the largest estimates; what is staked on the others
is given up, which is always allowed."""

_TOO_MANY = 512
"""With more cells than this nothing is staked on all of them alike: each would get too little."""

_EARLY = Stakes(1.0 / 12.0, count=1)
"""Differences so large that the phases which weights are learnt from show them."""
_EVEN = Stakes(1.0 / 12.0)
"""The same and smaller ones."""
_WITH_WEIGHTS = Stakes(0.5)
"""By then some phases were not enough: smaller differences."""
_RIVALWISE = Rivalwise()
"""For comparisons with one leader, and for confidence widths."""


@dataclass(frozen=True, eq=False)
class Contest:
    """What phases say about claimants (B,) and the cells (Z,) of a kind that are left."""

    claimants: Indices
    cells: Indices
    learning: Duels
    """(B, Z) over the phases that the weights are learnt from."""
    since: Duels
    """(B, Z) over the phases after them."""
    weights: Array
    """(B, Z) of the claimants, learnt; they add up to 1 at most for every cell."""
    even: Array
    """(B, Z) the same if all were alike."""
    noise: float

    @property
    def all(self) -> Duels:
        """(B, Z) over all phases."""
        return self.learning.followed_by(self.since)

    def grown(self, factor: float, shift: float) -> Contest:
        """With so many times the information, and gaps so many standard errors larger."""
        moved = self.all.moved(shift * self.noise)
        return replace(self, since=self.since.followed_by(moved.times(factor - 1.0)))


@dataclass(frozen=True)
class Anytime:
    r"""Looks when a phase ends; refutes a cell, for good, when the capital against it is 1/delta.

    Capital of 1 per cell is divided into three accounts. One (``even``) is staked on all claimants
    alike and stays there. One (``early``) is staked alike while weights are learnt, then with the
    weights. The rest is kept until the weights are learnt, from the phases until every contrast
    can be estimated, and then staked with them. The weight of a claimant is
    :math:`\exp(-\kappa^2 z^2/2)`, z the standard errors by which it is behind, mixed with a share
    ``spread`` of equal ones.
    """

    early: float = 0.25
    even: float = 0.1
    spread: float = 0.05
    sharpness: float = 1.5
    """:math:`\\kappa`"""
    alike: float = 0.5
    """For allocations: the part of delta that all contrasts share alike. The rest they share by
    learnt weights; at 1 nothing is learnt, as in earlier versions."""
    name: str = "anytime"
    assumes: str = (
        "independent sub-Gaussian noise; inside a phase, joint arms and gaps in the data depend "
        "on earlier phases' rewards only"
    )
    allows_ridge: bool = False
    allows_phases: bool = True
    needs_phases: bool = True

    def __post_init__(self) -> None:
        shares = (self.early, self.even, self.spread)
        if not (min(shares) > 0 and self.early + self.even < 1 and self.spread <= 1):
            raise InvalidArgument(
                f"early is {self.early}, even {self.even} and spread {self.spread}; they are "
                "shares above 0, of which early and even leave something"
            )
        if not 0 < self.alike <= 1:
            raise InvalidArgument(f"alike is {self.alike}; it is a share above 0, at most 1")

    @property
    def weighs(self) -> bool:
        """Whether contrasts of allocations have learnt weights."""
        return self.alike < 1.0

    def is_due(self, rounds: Indices) -> Mask:
        """Never inside a phase."""
        return np.zeros(len(rounds), np.bool_)

    def __call__(self, evidence: Evidence, *, delta: float, epsilon: float) -> Array:
        """Rival by rival, for targets that compare one leader with others."""
        return _RIVALWISE(evidence, delta=delta, epsilon=epsilon)

    def contrast_width(self, variances: Array, *, rounds: int, log_odds: float) -> Array:
        """Contrast by contrast."""
        return _RIVALWISE.contrast_width(variances, rounds=rounds, log_odds=log_odds)

    def margins(
        self,
        learning: Duels,
        since: Duels,
        *,
        weights: Array,
        even: float,
        noise: float,
        nats: float,
    ) -> Array:
        """A share ``alike`` of the capital is staked evenly on all phases, the rest by weight."""
        whole = learning.followed_by(since)
        return margins(
            Account(since, (1.0 - self.alike) * weights, _WITH_WEIGHTS),
            Account(whole, np.full(len(weights), self.alike * even), _EVEN),
            whole.estimates,
            noise=noise,
            nats=nats,
        )

    def contest(
        self,
        cells: Cells,
        kind: int,
        phases: ByPhase,
        *,
        left: Indices,
        noise: Array,
    ) -> Contest:
        """All cells of a kind against those (Z,) that are left, by phases (J, q, P).

        ``noise`` (J,) is sigma, or a bound on it as known after each phase.
        """
        features, shown = cells.features[kind], np.flatnonzero(cells.showable[kind])
        normal = phases.normal(cells, kind)
        claimants = _claimants(features, shown, normal)
        count, behind = _learning(features, shown, normal, noise)
        plausible = np.exp(-0.5 * (self.sharpness * behind) ** 2)
        chance = (1.0 - self.spread) * plausible / plausible.sum() + self.spread / len(shown)
        rivals = ~twins(features, shown, left)
        followed = np.searchsorted(shown, claimants)
        return Contest(
            claimants=claimants,
            cells=left,
            learning=fight(features, claimants, left, normal[:count]),
            since=fight(features, claimants, left, normal[count:]),
            weights=_shares(np.where(rivals, chance[:, None], 0.0))[followed],
            even=_shares(np.where(rivals & (len(shown) <= _TOO_MANY), 1.0, 0.0))[followed],
            noise=float(noise[-1]),
        )

    def against(self, contest: Contest) -> Array:
        """(Z,) log of the capital staked against each cell."""
        return _sum(self._capital(contest, 0.0))

    def within(self, contest: Contest, leader: int, epsilon: float) -> Array:
        """(Z,) log of the capital staked on the leader being worse by less than epsilon."""
        row = np.flatnonzero(contest.claimants == leader)
        return _sum(self._capital(contest, epsilon)[:, row])

    def _capital(self, contest: Contest, epsilon: float) -> Array:
        """(2, B, Z) log capital on each claimant: with learnt weights, and with equal ones."""
        noise = contest.noise
        with np.errstate(divide="ignore"):
            weights, even = np.log(contest.weights), np.log(contest.even)
        won = _sum(even + log_bets(contest.learning, _EARLY, noise=noise))
        carried = np.logaddexp(math.log1p(-self.early - self.even), math.log(self.early) + won)
        later = log_bets(contest.since, _WITH_WEIGHTS, noise=noise, epsilon=epsilon)
        whole = log_bets(contest.all, _EVEN, noise=noise, epsilon=epsilon)
        return np.stack([carried + weights + later, math.log(self.even) + even + whole])


def _claimants(features: Array, shown: Indices, normal: list[tuple[Array, Array]]) -> Indices:
    """(B,) the cells with the largest estimates, in order."""
    if len(shown) <= _CLAIMANTS:
        return shown
    gram, moment = (np.sum(parts, axis=0) for parts in zip(*normal, strict=True))
    values, basis = observed_directions(gram)
    theta = basis @ ((basis.T @ moment) / values)
    best = np.argsort(-(features[shown] @ theta), kind="stable")[:_CLAIMANTS]
    return np.sort(shown[best])


def _shares(stakes: Array) -> Array:
    """(P', Z) the same stakes as parts of 1, for every cell; nothing where nothing is staked."""
    total = stakes.sum(axis=0)
    shares: Array = np.divide(stakes, total, out=np.zeros_like(stakes), where=total > 0)
    return shares


def _sum(capital: Array) -> Array:
    """(Z,) log of the sum over accounts and claimants."""
    rows = math.prod(capital.shape[:-1])  # -1 would not do where no cell is left
    total: Array = np.logaddexp.reduce(capital.reshape(rows, capital.shape[-1]), axis=0)
    return total


def _learning(
    features: Array, shown: Indices, normal: list[tuple[Array, Array]], noise: Array
) -> tuple[int, Array]:
    """How many phases the weights are learnt from, and standard errors behind the leader (P',).

    As many as it takes until every contrast can be estimated and the noise has a bound; all of
    them, and nobody behind, if that is not so yet.
    """
    contrasts = features[shown] - features[shown[0]]
    gram, moment = 0.0 * normal[0][0], 0.0 * normal[0][1]
    for count, ((A, b), sigma) in enumerate(zip(normal, noise, strict=True), start=1):
        gram, moment = gram + A, moment + b
        values, basis = observed_directions(gram)
        inside = contrasts @ basis
        if np.isfinite(sigma) and are_inside(contrasts, inside).all():
            estimates = inside @ ((basis.T @ moment) / values)
            leader = int(estimates.argmax())
            deviations = sigma * np.sqrt((inside - inside[leader]) ** 2 @ (1.0 / values))
            behind = np.zeros(len(shown))
            np.divide(estimates[leader] - estimates, deviations, out=behind, where=deviations > 0)
            return count, behind
    return len(normal), np.zeros(len(shown))
