"""A study at one moment: everything asked of it agrees, and nothing is read to answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from edgewise.core.earnings import Earnings, earnings_of
from edgewise.core.ending import Ending
from edgewise.core.report import Report
from edgewise.core.reporting import compile_report, expected_objective
from edgewise.errors import InvalidArgument
from edgewise.study.log.cursor import Cursor
from edgewise.study.log.outside import in_words
from edgewise.study.log.past import Past
from edgewise.study.views.confirmation import candidates_of, measured_of, with_measured
from edgewise.study.views.details import Details, details_of
from edgewise.study.views.rivals import Rivals, rivals_of
from edgewise.study.views.status import History, Recommendation, StudyStatus, status_of
from edgewise.study.views.ticket import StudyTicket
from edgewise.trial.answers import ticket_of
from edgewise.trial.pairs import TrialRecord
from edgewise.trial.planning import PairsNeeded
from edgewise.trial.report import TrialReport
from edgewise.trial.rule import TrialEnding
from edgewise.trial.setup import set_up
from edgewise.trial.ticket import TrialTicket


@dataclass(frozen=True, eq=False)
class Moment:
    """What a study is, as of an entry of its log."""

    name: str
    cursor: Cursor

    @property
    def pending(self) -> StudyTicket | None:
        """The round that is out for measurement."""
        pending = self.cursor.state.pending
        if pending is None:
            return None
        return StudyTicket.of(self.name, self.cursor.identity, self.cursor.base.problem, pending)

    @property
    def remodelled_from(self) -> Past | None:
        """The rounds that were seen before the model was chosen; None if there are none."""
        past = self.cursor.created.past
        return None if past is None else Past.from_tree(past)

    @property
    def added(self) -> str:
        """Which rounds came from outside, and what that means; empty if none did."""
        phases = self.cursor.base.rule.allows_phases
        return in_words(self.cursor.state.outside, phases=phases)

    @property
    def rounds(self) -> int:
        """Rounds closed so far."""
        return self.cursor.state.learner.rounds

    @property
    def ending(self) -> Ending:
        """Whether further rounds are taken, and why not."""
        return self.cursor.state.ending

    def status(self) -> StudyStatus:
        """Where the study stands."""
        now = status_of(self.name, self.cursor.setting, self.cursor.state, self.pending)
        now = replace(now, remodelled_from=self.remodelled_from, added=self.added)
        if not self.cursor.state.trials:
            return now
        report = self.report()  # a trial is about a joint arm: is that still the answer?
        return replace(
            now,
            trial=self.trial,
            trial_ticket=self.trial_ticket,
            confirmation=report.confirmation,
            claim=report.claim,
        )

    @property
    def trial(self) -> TrialReport | None:
        """The trial begun last, running or over; None if there was none."""
        trials = self.cursor.state.trials
        return TrialReport.of(self.cursor.base.problem, trials[-1]) if trials else None

    @property
    def trial_ticket(self) -> TrialTicket | None:
        """The round that the running trial has out; None if no trial is running."""
        trials = self.cursor.state.trials
        if not trials or trials[-1].standing.ending is not TrialEnding.RUNNING:
            return None
        return ticket_of(len(trials), self.cursor.base.problem, trials[-1])

    def rivals(self) -> Rivals | None:
        """How far the closest rivals of the leading pair are behind; None before one leads."""
        return rivals_of(self.cursor.setting, self.cursor.state)

    def recommend(self) -> Recommendation:
        """The best joint arm by what is known, and what is proved about it."""
        return Recommendation.of(self.report(), self.remodelled_from)

    def pairs_needed(
        self,
        baseline: ArrayLike,
        candidate: ArrayLike | None,
        difference: float | None,
        delta: float,
    ) -> PairsNeeded:
        """How many pairs a trial may be expected to take, by the model and the noise so far."""
        setting, learner = self.cursor.setting, self.cursor.state.learner
        report = compile_report(setting, learner, self.ending)
        design = set_up(
            setting.problem,
            baseline=baseline,
            candidates=candidates_of(report, candidate, None),
            delta=delta,
            rng=0,  # no coin is thrown
        )
        if design.n_candidates == 1:
            return PairsNeeded(0, 0, 0.0, 0.0)
        if difference is None:
            expected = expected_objective(setting, learner)
            if expected is None:
                raise InvalidArgument(
                    "the model cannot say yet what difference to expect; pass difference=, or tell "
                    "more rounds first",
                    argument="difference",
                )
            difference = expected.value(design.arms[-1]) - expected.value(design.arms[0])
        trial = TrialReport.of(setting.problem, TrialRecord.start(design))
        noise = report.noise_estimate
        return trial.plan(difference, noise=None if noise is None else noise.deviation)

    def report(self) -> Report:
        """The answer so far, its guarantee, and what it rests on."""
        state = self.cursor.state
        setting = self.cursor.setting
        report = compile_report(setting, state.learner, state.ending)
        past = self.remodelled_from
        if report.allocation is not None and state.trials:
            found = measured_of(setting.problem, state.trials, report.allocation.arms)
            if found is not None:
                report = with_measured(report, found, expected_objective(setting, state.learner))
        said = [report.assumes, self.added, "" if past is None else str(past)]
        told = ". ".join(text.removesuffix(".") for text in said if text)
        return replace(report, assumes=told)

    def details(self) -> Details:
        """What the report rests on: pairs of arms, configurations, channels."""
        return details_of(self.cursor.setting, self.cursor.state.learner, self.report())

    def earnings(self) -> Earnings | None:
        """What exploring has earned, and cost; None while nothing can be estimated."""
        return earnings_of(self.cursor.setting, self.cursor.state.learner)

    def history(self) -> History:
        """Totals, progress and what was earned, without reading the log."""
        return History.of(self.cursor.setting, self.cursor.state)
