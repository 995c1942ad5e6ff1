"""A radio network that can be measured: tilts in, what users report out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices
from edgewise.base.choice import pick
from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidArgument
from edgewise.integrations.cells.booking import Coverage, booked
from edgewise.integrations.cells.network import RadioNetwork
from edgewise.integrations.cells.simulator import Drop, Reception
from edgewise.integrations.cells.tilts import TILTS, TiltTask

BOOKINGS = ("place", "serving")
"""Whom a report belongs to: the cell (relation) of its place before, or the one at the time."""
_TRUTH_SEED = 20_000
"""Of the users that stand for all users, where the truth is asked for."""
_WEAK = -6.0
"""Decibels below which a user is hardly served."""


@dataclass(frozen=True)
class Quality:
    """How users are served, without noise."""

    rate: float
    """Geometric mean of users' rates, megabits per second."""
    fifth_percentile: float
    """Rate that all but the worst twentieth reach."""
    weak: float
    """Share of users below -6 dB."""


@dataclass(frozen=True, eq=False)
class RadioEnvironment:
    """A network in CRRM, with fresh users in every round.

    It is a :class:`~edgewise.integrations.running.System`: methods are tried on it. A number is the
    mean, over the users who are in the places of a cell, of the logarithm of the rate they report
    over the rate that their place had with today's tilts at the same number of users; times the
    share of users who are usually there. So the numbers of a round add up to the logarithm of how
    much the geometric mean rate has grown.

    Build one with :meth:`of`.
    """

    task: TiltTask
    truth: Drop
    """Users that stand for all users."""
    _: KW_ONLY
    error: float = 0.3
    """Deviation of the logarithm of a reported rate: errors are log-normal."""
    n_users: int = 4000
    """Users of a round."""
    booking: str = "place"
    _known: dict[bytes, Array] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        pick("booking", self.booking, {name: name for name in BOOKINGS})
        if not 0.0 <= self.error < np.inf or self.n_users < 1:
            raise InvalidArgument(
                f"error is {self.error} and n_users {self.n_users}; the deviation of a reported "
                "rate's logarithm is at least 0, and a round has at least one user"
            )

    @classmethod
    def of(
        cls,
        network: RadioNetwork,
        *,
        tilts: Sequence[float] = TILTS,
        today: ArrayLike | None = None,
        channels: str = "cell",
        error: float = 0.3,
        n_users: int = 4000,
        booking: str = "place",
        truth_users: int = 8000,
    ) -> RadioEnvironment:
        """The network with ``tilts`` to choose from.

        ``today`` are the tilts in use, one for all or one per cell: by default the common tilt
        that is best for all users. The truth is that of ``truth_users`` users.
        """
        if truth_users < 10 * network.n_cells:
            raise InvalidArgument(
                f"truth_users is {truth_users} for {network.n_cells} cells; ten per cell at least "
                "are needed to know what places have"
            )
        truth = Drop(network, network.users(truth_users, _TRUTH_SEED))
        now = best_common_tilt(truth, tilts) if today is None else today
        here = truth.received(np.broadcast_to(now, (network.n_cells,)))
        coverage = Coverage.of(here)
        task = TiltTask.of(network, coverage, today=now, tilts=tilts, channels=channels)
        return cls(task, truth, error=error, n_users=n_users, booking=booking)

    @property
    def problem(self) -> Problem:
        """The task's."""
        return self.task.problem

    @property
    def today(self) -> Indices:
        """(C,) the tilts in use."""
        return self.task.today

    def means(self, arms: Indices) -> Array:
        """(R, B) numbers of those who stand for all users, without errors."""
        return np.array([self._mean(row) for row in np.asarray(arms, dtype=np.int64)])

    def measured(self, arms: Indices, rng: np.random.Generator) -> tuple[Array, Array]:
        """(R, B) numbers reported by fresh users in a round of each joint arm, and the means."""
        return np.array([self._round(row, rng) for row in arms]), self.means(arms)

    def worths(self, totals: Array) -> Array:
        """(R,) geometric mean rates, megabits per second."""
        today = self._mean(self.today).sum()
        rates: Array = self.quality(self.today).rate * np.exp(totals - today)
        return rates

    def quality(self, arms: Indices) -> Quality:
        """How users are served with a joint arm (C,)."""
        found = self.truth.received(self.task.tilts(arms))
        return Quality(
            float(np.exp(np.log(found.rate).mean())),
            float(np.quantile(found.rate, 0.05)),
            float((found.sinr < _WEAK).mean()),
        )

    def _mean(self, arms: Indices) -> Array:
        key = arms.tobytes()
        if key not in self._known:
            numbers = self._numbers(self.truth, arms, np.zeros(len(self.truth.users)))
            self._known[key] = np.nan_to_num(numbers)
        return self._known[key]

    def _round(self, arms: Indices, rng: np.random.Generator) -> Array:
        drop = Drop(self.task.network, self.task.network.users(self.n_users, rng))
        return self._numbers(drop, arms, self.error * rng.standard_normal(self.n_users))

    def _numbers(self, drop: Drop, arms: Indices, errors: Array) -> Array:
        """(B,) what the users of a drop report."""
        before = drop.received(self.task.tilts(self.today))
        now = drop.received(self.task.tilts(arms))
        report = np.log(now.rate) + errors
        if self.booking == "serving":
            return self._counted(report, self._owners(now))
        return booked(report - np.log(before.rate), self._owners(before), self._shares)

    def _counted(self, report: Array, owners: Indices) -> Array:
        """(B,) sums over whom a cell (relation) serves at the time, as counters show them."""
        known = owners >= 0
        sums = np.bincount(owners[known], report[known], minlength=len(self._shares))
        return sums / len(report)

    def _owners(self, reception: Reception) -> Indices:
        """(U,) the number that each user's report belongs to; -1 for none."""
        if self.problem.measured == "node":
            return reception.cell
        table = np.full((self.task.network.n_cells,) * 2, -1)
        table[tuple(self.problem.graph.edges.T)] = np.arange(len(self.problem.graph.edges))
        found: Indices = table[reception.second, reception.cell]
        return found

    @property
    def _shares(self) -> Array:
        """(B,) of all users."""
        coverage = self.task.coverage
        if self.problem.measured == "node":
            return coverage.shares
        found: Array = coverage.relations[tuple(self.problem.graph.edges.T)]
        return found


def best_common_tilt(truth: Drop, tilts: Sequence[float]) -> float:
    """The one tilt of all cells that gives users the most, by the geometric mean of rates."""
    n_cells = truth.network.n_cells
    logs = [np.log(truth.received(np.full(n_cells, tilt)).rate).mean() for tilt in tilts]
    return float(tilts[int(np.argmax(logs))])
