"""A study at one moment: everything asked of it agrees, and nothing is read to answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from edgewise.core.ending import Ending
from edgewise.core.report import Report
from edgewise.core.reporting import compile_report
from edgewise.study.log.cursor import Cursor
from edgewise.study.log.past import Past
from edgewise.study.views.status import History, Recommendation, StudyStatus, status_of
from edgewise.study.views.ticket import StudyTicket


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
        return replace(now, remodelled_from=self.remodelled_from)

    def recommend(self) -> Recommendation:
        """The best joint arm by what is known, and what is proved about it."""
        return Recommendation.of(self.report(), self.remodelled_from)

    def report(self) -> Report:
        """The answer so far, its guarantee, and what it rests on."""
        state = self.cursor.state
        report = compile_report(self.cursor.setting, state.learner, state.ending)
        past = self.remodelled_from
        if past is None:
            return report
        return replace(report, assumes=f"{report.assumes}. {str(past).removesuffix('.')}")

    def history(self) -> History:
        """Totals and progress of every round, without reading the log."""
        return History.of(self.cursor.state)
