"""The trial: is a configuration really better than today's? Measured, without a model."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from edgewise.base.border import border
from edgewise.base.randomness import Rng
from edgewise.base.wording import harmless
from edgewise.core.model.problem import Problem
from edgewise.trial.answers import find, is_new, refuse_gap, ticket_of, total_of
from edgewise.trial.pairs import TrialRecord
from edgewise.trial.planning import PairsNeeded
from edgewise.trial.report import TrialReport
from edgewise.trial.rule import TrialEnding
from edgewise.trial.setup import named, set_up
from edgewise.trial.ticket import RoundOfTrial, TrialTicket


@border
class Trial:
    """Compares a candidate with a baseline in randomised pairs, until the difference is decided.

    Both are deployed once in every pair, in an order decided by a coin; what counts is the
    difference of the figures measured. One may look after every pair and stop at any time: the
    interval holds at all times at once. With several ``candidates`` it is a tournament: every
    block deploys all that are left, those shown to be worse drop out, and the confidence holds for
    all comparisons together.

    Parameters
    ----------
    problem
        The network; its model is not used.
    baseline, candidate
        (n,) the arm of every node, or one arm for all of them.
    candidates
        Several candidates by name, instead of ``candidate``.
    delta
        Largest probability that the interval ever misses the difference, and so of a wrong ending.
    margin
        End also when the candidate is worse by less than this; worse by more ends as ``WORSE``.
    width
        Instead of deciding which is better: end when the interval is this narrow.
    max_pairs
        End undecided after so many.
    rng
        Of the coins.

    Examples
    --------
    >>> import numpy as np, edgewise as ew
    >>> problem = ew.Problem(ew.Graph.circle(n_nodes=4), np.eye(2), noise=0.1)
    >>> trial = ew.Trial(problem, baseline=[0, 0, 0, 0], candidate=[1, 0, 1, 0], rng=0)
    >>> rng = np.random.default_rng(1)
    >>> while not trial.stopped:
    ...     ticket = trial.ask()
    ...     trial.tell(ticket, 5.0 + ticket.arms.sum() + 0.3 * rng.standard_normal())
    >>> report = trial.report()
    >>> report.ending.name, report.interval[0] < 2.0 < report.interval[1]
    ('BETTER', True)
    """

    def __init__(
        self,
        problem: Problem,
        *,
        baseline: ArrayLike,
        candidate: ArrayLike | None = None,
        candidates: Mapping[str, ArrayLike] | None = None,
        delta: float = 0.05,
        margin: float = 0.0,
        width: float | None = None,
        max_pairs: int = 100,
        rng: Rng = None,
    ) -> None:
        self._problem = problem
        design = set_up(
            problem,
            baseline=baseline,
            candidates=named(candidate, candidates),
            delta=delta,
            margin=margin,
            width=width,
            max_pairs=max_pairs,
            rng=rng,
        )
        self._record = TrialRecord.start(design)

    @property
    def problem(self) -> Problem:
        """The network."""
        return self._problem

    @property
    def ending(self) -> TrialEnding:
        """Whether further pairs are asked for, and why not."""
        return self._record.standing.ending

    @property
    def stopped(self) -> bool:
        """Whether the trial is over."""
        return self.ending is not TrialEnding.RUNNING

    def ask(self) -> TrialTicket:
        """The round to deploy; the same until it is told."""
        return ticket_of(1, self._problem, self._record)

    def tell(self, ticket: RoundOfTrial, measured: ArrayLike) -> None:
        """Record a round: its total, or any figure that is to be large; or its rewards (m,).

        NaN, or a reward that is missing, is a gap: the pair is repeated, never filled in. Telling
        the same again is harmless; another value is refused.
        """
        place = find(1, self._record, ticket)
        total = total_of(self._problem, measured)
        if is_new(place, total):
            self._record = self._record.told(place.candidate, total)

    def correct(self, ticket: RoundOfTrial, measured: ArrayLike) -> None:
        """Replace a figure that was wrong; what follows is judged anew."""
        place = find(1, self._record, ticket)
        total = total_of(self._problem, measured)
        refuse_gap(place, total)
        self._record = self._record.corrected(place.block, place.candidate, total)

    def repeat(self) -> None:
        """Begin the pair that is out again, in the same order: something went wrong with it."""
        self.ask()  # raises when the trial is over
        self._record = self._record.repeated()

    def end(self) -> None:
        """Take no further pair; what was measured stays, and the interval holds."""
        self._record = self._record.ended()

    def report(self) -> TrialReport:
        """What was found so far."""
        return TrialReport.of(self._problem, self._record)

    def plan(self, difference: float, *, noise: float | None = None) -> PairsNeeded:
        """How many pairs to expect if the difference is ``difference``.

        By the deviation of the pairs so far (from the third on), else by ``noise``, that of one
        measured number, else by the noise the problem states.
        """
        return self.report().plan(difference, noise=noise)

    def __repr__(self) -> str:
        names = harmless(" against ".join(reversed(self._record.design.names)))
        return f"Trial({names}, {self.ending.name})"
