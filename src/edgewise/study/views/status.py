"""Where a study stands, as values that print well."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass

from edgewise.allocation.instance.result import Allocation
from edgewise.base.arrays import Array
from edgewise.base.html import summary
from edgewise.base.scales import staying_finite
from edgewise.base.wording import counted, harmless, listed
from edgewise.core.claim import Claim, Confirmation, claim_of
from edgewise.core.earnings import Earnings, earnings_of
from edgewise.core.ending import Ending, in_words
from edgewise.core.evidence.by_edge import edges_differ
from edgewise.core.evidence.least_squares import estimate
from edgewise.core.evidence.noise import NoiseEstimate, estimate_noise
from edgewise.core.gate.contradiction import Contradiction
from edgewise.core.gate.contradiction import in_words as contradicted_in_words
from edgewise.core.gate.forms import is_local
from edgewise.core.gate.lack_of_fit import LackOfFit, lack_of_fit, untested
from edgewise.core.local.homogeneity import Homogeneity
from edgewise.core.model.options import Noise
from edgewise.core.model.problem import Problem
from edgewise.core.regret import Regret
from edgewise.core.report import Estimated, Report, differs_in_words
from edgewise.core.reporting import estimated_now
from edgewise.core.setting import Setting
from edgewise.core.targets import Forecast
from edgewise.formats.names import labelled
from edgewise.study.log.fold import Certificate, StudyState
from edgewise.study.log.past import Past
from edgewise.study.views.ticket import StudyTicket
from edgewise.trial.report import TrialReport
from edgewise.trial.report import in_words as in_words_of
from edgewise.trial.ticket import TrialTicket

_SHOWN = 20
"""Nodes of a recommendation that a notebook shows."""


@dataclass(frozen=True, eq=False)
class StudyStatus:
    """Where a study stands. ``print(status)`` gives the summary."""

    name: str
    rounds: int
    """Rounds closed so far."""
    max_rounds: int | None
    pending: StudyTicket | None
    """The round that is out for measurement."""
    phase: int
    """0 for the first; strategies that never change their mind have one."""
    ending: Ending
    target: str
    delta: float
    epsilon: float | None
    progress: float
    """About the fraction of the rounds needed; 1 at the stop."""
    leaders: tuple[tuple[Hashable, Hashable], ...]
    """The leading pair of arms of each edge kind, in the user's labels."""
    rival: tuple[Hashable, Hashable] | None
    """The pair of arms closest to the leader of its kind."""
    regret: Regret | None
    """Target ``"allocation"``: how much the joint arm recommended at the last look may miss."""
    forecast: Forecast | None
    """Rounds still needed: see :class:`edgewise.targets.Forecast`."""
    certificates: tuple[Certificate, ...]
    """Every stop so far, with the confidence it had."""
    noise: Noise
    """As stated in the problem."""
    noise_estimate: NoiseEstimate | None
    lack_of_fit: LackOfFit | None
    untested: str
    """Why the fit may not have been tested yet; empty if only repeats are missing."""
    claim: Claim
    """How far the answer can be relied on."""
    edges: str | None
    """Whether edges of a kind differ, in words with the remedy; None while it cannot be told."""
    homogeneity: Homogeneity | None
    estimated: Estimated | None
    """What is expected, where the answer rests on the local model."""
    earnings: Earnings | None = None
    """What exploring has earned, if the problem says what runs today."""
    remodelled_from: Past | None = None
    """The rounds that were seen before the model was chosen, if some were."""
    added: str = ""
    """Which rounds came from outside, and what that means; empty if none did."""
    contradictions: tuple[Contradiction, ...] = ()
    """What the data say against the model, the strongest first."""
    contradicted: tuple[str, ...] = ()
    """The strongest in words, what, where and what to do; then what else speaks."""
    trial: TrialReport | None = None
    """The trial begun last, running or over."""
    trial_ticket: TrialTicket | None = None
    """The round that the running trial has out."""
    confirmation: Confirmation = Confirmation.UNCONFIRMED
    """Whether a trial has borne out the present answer."""

    @property
    def stopped(self) -> bool:
        """Whether ``ask`` needs ``extend`` first."""
        return self.ending is not Ending.RUNNING

    @property
    def missing(self) -> int:
        """Numbers of the pending round not measured yet."""
        return 0 if self.pending is None else self.pending.missing

    @property
    def headline(self) -> str:
        """Name, rounds and ending, in words."""
        rounds = counted(self.rounds, "round")
        budget = "" if self.max_rounds is None else f" of at most {self.max_rounds}"
        said = in_words(self.ending, self.claim)
        if self.contradicted:
            going_on = "" if self.stopped else "; rounds go on"
            said = f"the data contradict the model: {self.contradicted[0]}{going_on}"
        if self.confirmation is Confirmation.CONTRADICTED:
            said = f"a trial contradicts the answer: see recommend (by the model, {said})"
        return f"Study {self.name!r}: {rounds}{budget}, {said}"

    @property
    def withdrawn(self) -> tuple[str, ...]:
        """Certificates that were given and do not count any more, in words."""
        return tuple(
            f"the certificate of round {one.round}, after round {one.withdrawn}"
            for one in self.certificates
            if one.withdrawn is not None
        )

    def rows(self) -> list[tuple[str, str]]:
        """The rest as labels and texts, in the order in which they are read."""
        rows = [("contradicted", text) for text in self.contradicted[1:]]
        rows += [("withdrawn", text) for text in self.withdrawn]
        rows += self._standing()
        if self.remodelled_from is not None:
            rows.append(("seen before", str(self.remodelled_from)))
        if self.added:
            rows.append(("added", self.added))
        return rows

    def _standing(self) -> list[tuple[str, str]]:
        rows = [
            ("waiting for", self._waiting()),
            ("leader", " and ".join(map(_pair, self.leaders)) or "not estimable yet"),
            ("evidence", self._evidence()),
        ]
        if self.regret is not None and math.isfinite(self.regret.bound):
            rows.append(("regret", _regret(self.regret)))
        if self.forecast is not None:
            rows.append(("rounds left", str(self.forecast)))
        if self.noise_estimate is not None:
            rows.append(("noise", _noise(self.noise, self.noise_estimate)))
        if self.estimated is not None:
            rows[2:] = [("estimate", str(self.estimated)), ("further rounds", self._further())]
        if self.earnings is not None:
            rows += self.earnings.rows()
        if self.edges is not None:
            rows.append(("edges", self.edges))
        if self.lack_of_fit is not None:
            rows.append(("lack of fit", f"p = {self.lack_of_fit.p_value:.3g}"))
        elif self.untested and self.rounds:
            rows.append(("lack of fit", self.untested))
        if self.trial is not None:
            rows[1:1] = [("trial", self.trial.headline.removeprefix("Trial: ")), *self._measured()]
        return rows

    def _repr_html_(self) -> str:
        return summary(self.headline, self.rows())

    def __str__(self) -> str:
        return listed(self.headline, self.rows())

    def _evidence(self) -> str:
        tolerance = "" if self.epsilon is None else f", epsilon = {self.epsilon:g}"
        against = "" if self.rival is None else f", against {_pair(self.rival)}"
        share = min(self.progress, 1.0)
        return f"{share:.0%} of what delta = {self.delta:g}{tolerance} needs{against}"

    def _further(self) -> str:
        worth = None if self.estimated is None else self.estimated.worth_of_rounds
        if worth is None:
            return "what they would bring is asked at the next look"
        return f"expected to bring at most {worth:.3g} in global reward"

    def _measured(self) -> list[tuple[str, str]]:
        """What the trial measured, a row per comparison and warning."""
        if self.trial is None:
            return []
        found = [("", in_words_of(one)) for one in self.trial.comparisons]
        return found + [("", warning) for warning in self.trial.warnings]

    def _waiting(self) -> str:
        if self.trial_ticket is not None:
            return f"round {self.trial_ticket.key} of the trial"
        if self.pending is None:
            return "nothing"
        return f"round {self.pending.key}: {counted(self.missing, 'measurement')} missing"


@dataclass(frozen=True, eq=False)
class History:
    """How a study got where it is, round by round: what a plot needs."""

    totals: Array
    """(rounds,) sum of each round's rewards; NaN if some are missing."""
    progress: Array
    """(rounds,) progress after each round, as known then."""
    phase_ends: tuple[int, ...]
    """The last round of every phase that is over."""
    earnings: Earnings | None = None
    """What exploring has earned, if the problem says what runs today."""

    @classmethod
    def of(cls, setting: Setting, state: StudyState) -> History:
        """The history that a state remembers."""
        known = setting.problem.baseline is not None
        earned = earnings_of(setting, state.learner) if known else None
        return cls(state.totals, state.progress, state.phase_ends, earned)


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The best joint arm by what is known today."""

    problem: Problem
    allocation: Allocation | None
    """None while not every direction has been observed."""
    certified: bool
    guarantee: str
    """What is proved about it, in words."""
    remodelled_from: Past | None = None
    """The rounds that were seen before the model was chosen, if some were."""
    contradictions: tuple[Contradiction, ...] = ()
    """What the data say against the model, the strongest first."""
    confirmation: Confirmation = Confirmation.UNCONFIRMED
    """Whether a trial has borne it out. If one contradicts the model, ``allocation`` is what the
    trial found better: the baseline, if there were two candidates."""

    @classmethod
    def of(cls, report: Report, past: Past | None = None) -> Recommendation:
        """The recommendation a report makes."""
        said = report.guarantee
        if past is not None and str(past) not in said:
            said = f"{said} {past}"
        return cls(
            report.problem,
            report.allocation,
            report.certified,
            said,
            past,
            report.contradictions,
            report.confirmation,
        )

    def table(self) -> list[dict[str, Hashable]]:
        """One row per node, ``{"node": ..., "arm": ...}`` by label; empty while not estimable."""
        return [] if self.allocation is None else labelled(self.problem, self.allocation.arms)

    def _repr_html_(self) -> str:
        rows = [(str(row["node"]), str(row["arm"])) for row in self.table()]
        more = [("...", f"{len(rows) - _SHOWN} more")] if len(rows) > _SHOWN else []
        return summary(str(self), rows[:_SHOWN] + more)

    def __str__(self) -> str:
        if self.allocation is None:
            return harmless(f"No recommendation yet. {self.guarantee}")
        if self.confirmation is Confirmation.CONTRADICTED:
            return harmless(self.guarantee)
        estimate = (
            f"Estimated global reward {self.allocation.value:.6g}, at most "
            f"{self.allocation.upper_bound:.6g} is possible by the estimate."
        )
        parts = (estimate, harmless(self.guarantee))
        return "\n".join(reversed(parts) if self.contradictions else parts)


@staying_finite("the estimate")
def status_of(
    name: str, setting: Setting, state: StudyState, pending: StudyTicket | None
) -> StudyStatus:
    """The status of a study in a state; ``pending`` is the ticket of the round that is out."""
    problem, cells, learner = setting.problem, setting.plan.cells, state.learner
    total, verdict = learner.total, learner.verdict
    differ = edges_differ(learner.by_edge)
    estimated = estimated_now(setting, learner)
    return StudyStatus(
        name=name,
        rounds=learner.rounds,
        max_rounds=state.max_rounds,
        pending=pending,
        phase=len(state.phase_ends),
        ending=state.ending,
        target=setting.target.name,
        delta=state.delta,
        epsilon=state.epsilon,
        progress=verdict.progress,
        leaders=tuple(_named(problem, pair) for pair in verdict.pairs),
        rival=None if verdict.rival is None else _named(problem, verdict.rival[1:]),
        regret=None if learner.answer is None or learner.contradictions else learner.answer.regret,
        forecast=setting.forecast(learner),
        earnings=None if problem.baseline is None else earnings_of(setting, learner),
        certificates=state.certificates,
        noise=problem.noise,
        noise_estimate=estimate_noise(total),
        lack_of_fit=lack_of_fit(
            cells,
            total,
            estimate(cells, total),
            learner.watch,
            None if is_local(problem) else learner.by_phase,
        ),
        untested=untested(problem, certified=state.ending is Ending.CERTIFIED),
        claim=claim_of(
            state.ending is Ending.CERTIFIED, estimated is not None, bool(learner.contradictions)
        ),
        edges=None if differ is None else differs_in_words(differ, problem),
        homogeneity=differ,
        estimated=estimated,
        contradictions=learner.contradictions,
        contradicted=contradicted_in_words(learner.contradictions, problem),
    )


def _named(problem: Problem, pair: tuple[int, int]) -> tuple[Hashable, Hashable]:
    labels = problem.arm_labels
    return pair if labels is None else (labels[pair[0]], labels[pair[1]])


def _pair(pair: tuple[Hashable, Hashable]) -> str:
    return f"({pair[0]}, {pair[1]})"


def _regret(regret: Regret) -> str:
    return (
        f"at most {regret.bound:.4g} of global reward, {regret.optimisation:.4g} of it due to "
        "optimisation"
    )


def _noise(stated: Noise, measured: NoiseEstimate) -> str:
    said = f"stated {stated:g}" if isinstance(stated, float) else "estimate"
    said = "of rewards of 0 and 1" if stated == "bernoulli" else said
    if isinstance(stated, tuple):
        said = "stated per channel (units of it)"
    interval = f"{measured.low:.4g} to {measured.high:.4g}"
    return f"{said}, measured {measured.deviation:.4g} (95 %: {interval})"
