"""A trial on the record of a study: the recommended configuration against today's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from numpy.typing import ArrayLike

from edgewise.core.model.problem import Problem
from edgewise.errors import InvalidRewards
from edgewise.study.files.measurements import Measurements, read_measurements
from edgewise.study.log import decide_trial
from edgewise.study.log.cursor import Cursor
from edgewise.study.log.events import Event
from edgewise.study.log.session import Session
from edgewise.trial.answers import ticket_of, total_of
from edgewise.trial.pairs import TrialRecord
from edgewise.trial.planning import PairsNeeded
from edgewise.trial.report import TrialReport
from edgewise.trial.rule import TrialEnding
from edgewise.trial.ticket import RoundOfTrial, TrialTicket


class StudyTrial:
    """A trial of a study: asks and is told like :class:`~edgewise.Trial`, and is on record.

    Every method is one transaction; several processes may work on it, and one that died goes on
    where it was.
    """

    def __init__(self, session: Session, number: int) -> None:
        self._session = session
        self.number = number
        """1, 2, ... within the study."""

    @property
    def problem(self) -> Problem:
        """The network."""
        return self._session.cursor.base.problem

    @property
    def ending(self) -> TrialEnding:
        """Whether further pairs are asked for, and why not."""
        return self._now().standing.ending

    @property
    def stopped(self) -> bool:
        """Whether the trial is over."""
        return self.ending is not TrialEnding.RUNNING

    def ask(self) -> TrialTicket:
        """The round to deploy; the same for all processes until it is told."""
        return ticket_of(self.number, self.problem, self._now())

    def tell(self, ticket: RoundOfTrial, measured: Measurements) -> None:
        """Record a round: its total, or any figure that is to be large; or all its rewards.

        Rewards as in :meth:`Study.tell`, but all at once. NaN is a gap: the pair is repeated.
        """
        total = _total(self.problem, measured)
        self._request(lambda at: decide_trial.tell(at.state, self.number, ticket, total))

    def correct(self, ticket: RoundOfTrial, measured: Measurements) -> None:
        """Replace a figure that was wrong; the old one stays in the log."""
        total = _total(self.problem, measured)
        self._request(lambda at: decide_trial.correct(at.state, self.number, ticket, total))

    def repeat(self) -> None:
        """Begin the pair that is out again, in the same order: something went wrong with it."""
        self._request(lambda at: decide_trial.repeat(at.state, self.number))

    def end(self) -> None:
        """Take no further pair; what was measured stays, and the interval holds."""
        self._request(lambda at: decide_trial.end(at.state, self.number))

    def report(self) -> TrialReport:
        """What was found so far."""
        return TrialReport.of(self.problem, self._now())

    def plan(self, difference: float, *, noise: float | None = None) -> PairsNeeded:
        """How many pairs in all to expect, as :meth:`edgewise.Trial.plan`."""
        return self.report().plan(difference, noise=noise)

    def __repr__(self) -> str:
        return f"StudyTrial({self._session.name!r}, {self.number}, {self.ending.name})"

    def _now(self) -> TrialRecord:
        return self._session.present().state.trials[self.number - 1]

    def _request(self, request: Callable[[Cursor], Event | None]) -> None:
        self._session.change(lambda _, cursor: request(cursor))


def _total(problem: Problem, measured: Measurements) -> float:
    """The figure of a round, however it was told."""
    by_name = hasattr(measured, "columns") or isinstance(measured, Mapping)
    if not by_name:
        return total_of(problem, cast(ArrayLike, measured))
    which, values = read_measurements(problem, measured)
    if len(which) < problem.n_rewards:
        raise InvalidRewards(
            f"{problem.n_rewards - len(which)} of {problem.n_rewards} measurements are not there; "
            "a round of a trial is told at once; nothing was recorded: tell all of them, with NaN "
            "for those that are lost (the pair is then repeated), or the total"
        )
    return float(values.sum())
