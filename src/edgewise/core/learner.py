"""The engine: ask for a joint arm, tell its rewards, stop when the evidence suffices."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices, stays_frozen
from edgewise.base.border import border
from edgewise.base.checks import reading, table
from edgewise.base.randomness import Rng, draw_seed
from edgewise.base.scales import staying_finite
from edgewise.core import recipe
from edgewise.core.aim import Aim
from edgewise.core.earnings import Earnings, earnings_of
from edgewise.core.ending import Ending, ending_of
from edgewise.core.evidence.by_edge import by_edge_after, decide_pooling, has_unequal_edges
from edgewise.core.evidence.measuring import (
    ByRound,
    Rounds,
    after,
    measure,
    nothing_measured,
    with_present,
)
from edgewise.core.evidence.rewards import checked_rewards
from edgewise.core.gate.contradiction import Contradiction
from edgewise.core.gate.options import Gate
from edgewise.core.gate.outliers import outliers, screened
from edgewise.core.gate.watch import Told, look, nothing_watched, watch_round
from edgewise.core.local.estimate import LocalEstimate
from edgewise.core.model.configuration import checked_configuration
from edgewise.core.model.problem import Problem
from edgewise.core.outlook import Explanation, Prediction, explain_recommended, predict
from edgewise.core.report import Report
from edgewise.core.reporting import compile_report
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import StoppingRule, Verdict
from edgewise.core.stored import stored_state
from edgewise.core.strategies import Strategy
from edgewise.core.strategies.plan import trusted_by
from edgewise.core.strategies.worlds import recommended
from edgewise.core.targets import Target
from edgewise.core.targets.estimate import local_estimate
from edgewise.core.tie_search import look_for_ties
from edgewise.errors import InvalidArgument, LearnerStopped, SuspiciousReward, UnknownTicket

_VERSION = 3
_BY_NAME = 2
"""The version before: methods by name, usable if they have their usual settings."""


@stays_frozen
@dataclass(frozen=True, eq=False)
class Ticket:
    """One round to deploy: give node i the arm ``arms[i]``, measure, and tell."""

    round: int
    arms: Indices
    """(n,) index of the arm of every node."""


def advance(setting: Setting, state: LearnerState, rounds: Rounds) -> LearnerState:
    """The state after R further rounds (R, q, P), or up to the round at which the rule stops.

    One round at a time or many at once, the result is the same to the last bit. Many at once must
    belong to one phase.
    """
    numbers = state.rounds + 1 + np.arange(len(rounds))
    cumulative = after(state.statistics, rounds)
    later = _counted(state, cumulative, len(numbers))
    if len(numbers) > 1 and is_phase_over(setting, _counted(state, cumulative, len(numbers) - 1)):
        raise InvalidArgument(
            f"{len(numbers)} rounds at once, and the phase ends before the last of them; advance "
            "by fewer rounds at a time"
        )
    over = is_phase_over(setting, later)
    due = setting.target.is_due(setting, numbers)
    due[-1] |= over
    looks: Indices = np.flatnonzero(due)
    if not len(looks):
        return later
    judging = setting.at_look(state, int(numbers[looks[0]]))
    found = setting.target.look(judging, state, numbers[looks], cumulative[looks])
    if found.verdict.stop:
        later = _counted(state, cumulative, int(looks[found.position]) + 1)
    later = replace(later, verdict=found.verdict, answer=found.answer, refuted=found.refuted)
    if found.verdict.stop:
        return later
    return next_phase(setting, later, found.open()) if over else later


def _counted(state: LearnerState, cumulative: ByRound, taken: int) -> LearnerState:
    """With the first ``taken`` rounds counted, before anything is said about them."""
    return replace(
        state,
        rounds=state.rounds + taken,
        statistics=cumulative[taken - 1],
        phase_rounds=state.phase_rounds + taken,
    )


@staying_finite("what the next round is chosen from")
def next_arms(setting: Setting, state: LearnerState) -> Indices:
    """(n,) the joint arm of the next round, a pure function of the state."""
    return setting.plan.joint_arm(setting.problem, state)


@staying_finite("the estimate after this round")
def tell_round(
    setting: Setting, state: LearnerState, arms: Indices, rewards: Array
) -> LearnerState:
    """The state after the round that deployed ``arms`` (n,) and showed ``rewards`` (m,).

    NaN where missing. Raises InvalidRewards, touching nothing, if a reward cannot be summed.
    """
    problem, gate = setting.problem, setting.gate
    if setting.robust:
        rewards = screened(problem, state.watch, arms, rewards)
    told = measure(problem, setting.plan.cells, arms, rewards)
    by_edge = by_edge_after(problem, state.by_edge, arms, rewards)
    later = advance(setting, replace(state, by_edge=by_edge, deployed=arms), told)
    over = len(later.closed) > len(state.closed)
    before = state.by_edge_closed
    pooling = later.pooling or problem.pooling
    this = Told(later.rounds, len(state.closed), arms, rewards, by_edge, before, over, pooling)
    watch = watch_round(problem, gate, state.watch, this)
    answered = later.verdict.stop or later.verdict.settled
    later = replace(later, watch=look(problem, gate, watch, this, now=answered))
    total = float(rewards.sum())
    if total > later.best_total:  # never true for NaN: rounds with gaps do not compete
        later = replace(later, best_arms=arms, best_total=total)
    return look_for_ties(setting, later)


def ending_after(state: LearnerState, *, max_rounds: int | None = None, until: int = 0) -> Ending:
    """Whether further rounds are taken, and why not (:func:`~edgewise.core.ending.ending_of`)."""
    contradicted = bool(state.contradictions)
    return ending_of(
        state.verdict,
        state.rounds,
        max_rounds=max_rounds,
        until=until,
        contradicted=contradicted,
        tie=state.tie,
    )


def initial_state(setting: Setting, seed: int) -> LearnerState:
    """The state before the first round."""
    plan = setting.plan
    watch = nothing_watched(setting.problem, setting.gate)
    return LearnerState.start(setting.problem, plan.cells, plan.phasing.first(), seed, watch)


def is_phase_over(setting: Setting, state: LearnerState) -> bool:
    """Whether the present phase ends here."""
    return setting.plan.phasing.is_over(setting.plan.cells, state)


def next_phase(setting: Setting, state: LearnerState, still_open: Aim | None) -> LearnerState:
    """Close the present phase; the next one is laid out for what is still open.

    A first phase that decides how edges are pooled does not count as evidence.
    """
    nothing, _ = nothing_measured(setting.problem, setting.plan.cells)
    counted, pooling = state.statistics, state.pooling
    if setting.problem.pooling == "auto" and pooling is None:
        counted, pooling = nothing, decide_pooling(setting.problem, state.by_edge)
    closed = replace(
        state,
        closed=with_present(state.closed, counted),
        pooling=pooling,
        by_edge_closed=state.by_edge if has_unequal_edges(setting.problem, pooling) else None,
        statistics=nothing,
        phase_rounds=0,
        aim=setting.plan.phasing.next(state, still_open),
    )
    return replace(closed, centre=_centre_after(setting, closed))


def _centre_after(setting: Setting, closed: LearnerState) -> Indices | None:
    """(n,) where the trust region goes when a phase is over: to the best of what it held.

    Beyond it the model extrapolates.
    """
    trusted = trusted_by(setting.plan, setting.problem, closed)
    if trusted is None:
        return None
    found = recommended(setting.problem, setting.plan.cells, closed, trusted)
    return closed.centre if found is None else found


def saved_run(setting: Setting, state: LearnerState) -> dict[str, Any]:
    """Everything needed to go on later, as a dict of numbers, strings, arrays and dicts."""
    return {
        "version": _VERSION,
        "problem": setting.problem.fingerprint,
        "setting": recipe.to_tree(setting),
        "plan": setting.plan.to_tree(),
        "state": state.to_tree(),
    }


def restored_run(
    problem: Problem,
    saved: Mapping[str, Any],
    *,
    strategy: Strategy | None = None,
    stopping: StoppingRule | None = None,
    target: Target | None = None,
) -> tuple[Setting, LearnerState]:
    """The inverse of :func:`saved_run`; methods that are not part of edgewise are passed again."""
    if saved.get("version") == _BY_NAME:
        saved = recipe.from_names(saved, _VERSION)
    if saved.get("version") != _VERSION:
        raise InvalidArgument(
            f"saved state has version {saved.get('version')!r}, this edgewise reads "
            f"{_VERSION}; restore it with the edgewise that saved it"
        )
    if saved.get("problem") != problem.fingerprint:
        raise InvalidArgument(
            "the saved state belongs to another problem (graph, arms, noise or options "
            "differ); pass the problem it was saved with"
        )
    with reading("setting"):
        setting = recipe.from_tree(
            problem,
            saved["setting"],
            saved["plan"],
            strategy=strategy,
            stopping=stopping,
            target=target,
        )
    return setting, stored_state(setting, table("state", saved.get("state")))


@border
class Learner:
    """Finds the best joint arm by asking for rounds and being told their rewards.

    Parameters
    ----------
    problem
        What to find the best joint arm of.
    delta
        Largest probability of a wrong answer.
    epsilon
        Tolerance. Target ``"pair"``: the pair may be worse than the best by so much, per arc; by
        default 0. Target ``"allocation"``: the joint arm may be worse than the best by so much,
        in global reward; by default 1 % of the range of global rewards, as estimated.
    target
        What to find: ``"pair"``, the best pair of arms of every edge kind, as in the paper; or
        ``"allocation"``, a joint arm whose global reward is certified; or a target of
        :mod:`edgewise.targets` or your own. Where edges have matrices of their own,
        ``"estimate"`` or ``"auto"``. By default the pair in the paper's setting (undirected edges
        of one kind, all arms everywhere), where it decides everything, and elsewhere the
        allocation, or what the pooling of edges allows.
    strategy
        ``"adaptive"`` (fewest rounds; nodes are coordinated), ``"contrast"`` (independent nodes
        whose laws follow what is open), ``"g-optimal"`` (independent nodes, fixed laws),
        ``"thompson"`` or ``"optimistic"`` (earn while they explore) or ``"paper"`` (Algorithm 2 as
        printed); or a strategy of :mod:`edgewise.strategies`, such as ``Limited(...)`` or
        ``Safe(...)``, or your own.
    stopping
        ``"anytime"``, ``"mixture"``, ``"union"``, ``"paper"`` or ``"rivalwise"``, or a rule of
        :mod:`edgewise.stopping` or your own; by default the one that belongs to the strategy:
        ``"mixture"`` for ``"g-optimal"``, ``"paper"`` for ``"paper"``, else ``"anytime"``.
    gate
        What must stay silent for a certificate to count: see :class:`~edgewise.Gate`. By default
        the usual gate, with a probability of 1 % of a false alarm over a whole run.
    trust_model
        Certify whatever the data say about the model; the guarantee then says so.
    robust
        Leave out rewards that are out of the question, as if they were missing: for sensors that
        fail now and then. See docs/gate.md for what is proved.
    rng
        Seed or generator from which the seed of all joint arms is drawn; None for a fresh one.

    Examples
    --------
    >>> import numpy as np, edgewise as ew
    >>> problem = ew.Problem(ew.Graph.circle(n_nodes=6), np.eye(2), noise=0.1)
    >>> environment = ew.BilinearEnvironment(problem, [[2.0, 0.0], [0.0, 1.0]], rng=1)
    >>> learner = ew.Learner(problem, rng=0)
    >>> while not learner.verdict.stop:
    ...     ticket = learner.ask()
    ...     learner.tell(ticket, environment(ticket.arms))
    >>> learner.report().best_pair
    (0, 0)
    """

    def __init__(
        self,
        problem: Problem,
        *,
        delta: float = 0.05,
        epsilon: float | None = None,
        target: str | Target | None = None,
        strategy: str | Strategy = "adaptive",
        stopping: str | StoppingRule | None = None,
        gate: Gate | None = None,
        trust_model: bool = False,
        robust: bool = False,
        rng: Rng = None,
    ) -> None:
        self._setting = Setting.of(
            problem,
            delta=delta,
            epsilon=epsilon,
            strategy=strategy,
            stopping=stopping,
            target=target,
            gate=gate,
            trust_model=trust_model,
            robust=robust,
        )
        self._state = initial_state(self._setting, draw_seed(rng))
        self._ticket: Ticket | None = None

    @property
    def rounds(self) -> int:
        """How many rounds have been told."""
        return self._state.rounds

    @property
    def verdict(self) -> Verdict:
        """Where the comparison stands."""
        return self._state.verdict

    @property
    def problem(self) -> Problem:
        """What is being solved."""
        return self._setting.problem

    @property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """What the data say against the model; nothing is certified then."""
        return self._state.contradictions

    def ending(self, *, max_rounds: int | None = None) -> Ending:
        """Whether further rounds are taken, and why not; none beyond ``max_rounds``."""
        return ending_after(self._state, max_rounds=max_rounds)

    def ask(self) -> Ticket:
        """The next round to deploy. Asking again before telling gives the same round."""
        if self.ending() is Ending.CONTRADICTED:
            said = [one.in_words(self.problem) for one in self.contradictions[:1]]
            raise LearnerStopped(
                f"after round {self.rounds} the data contradict the model: "
                f"{''.join(said) or 'every pair of arms is refuted'}; read report()"
            )
        if self.verdict.stop:
            raise LearnerStopped(
                f"the answer was certified after round {self.rounds}; read report(), or start a "
                "new Learner with a smaller delta or epsilon to go on"
            )
        if self._ticket is None:
            number = self.rounds + 1
            self._ticket = Ticket(number, next_arms(self._setting, self._state))
        return self._ticket

    def tell(self, ticket: Ticket, rewards: ArrayLike) -> None:
        """Record the rewards of a round; NaN where missing.

        One per arc, in the order of ``graph.arcs``; per undirected edge, in that of
        ``graph.edges``; per node; or one number: as the problem says what is measured.

        Wrong input raises and changes nothing. A reward that can hardly be right is recorded with
        a warning (:class:`~edgewise.errors.SuspiciousReward`).
        """
        self._check(ticket)
        values = checked_rewards(rewards, self.problem)
        for strange in outliers(self.problem, self._state.watch, self.ask().arms, values)[:1]:
            said = f"round {self.rounds + 1}: {strange.in_words(self.problem)}; it was recorded"
            warnings.warn(said, SuspiciousReward, stacklevel=2)
        self._state = tell_round(self._setting, self._state, self.ask().arms, values)
        self._ticket = None

    @border
    def report(self, *, max_rounds: int | None = None) -> Report:
        """The answer so far, its guarantee, and what it rests on.

        ``max_rounds`` is the round budget, if there is one: it may be what ended the run.
        """
        return compile_report(self._setting, self._state, self.ending(max_rounds=max_rounds))

    @border
    def predict(self, arms: ArrayLike, *, against: ArrayLike | None = None) -> Prediction:
        """The global reward expected of a joint arm (n,), with an interval for planning.

        ``against`` another joint arm, the difference of the two.
        """
        first = checked_configuration(self.problem, "arms", arms)
        second = (
            None if against is None else checked_configuration(self.problem, "against", against)
        )
        return predict(self._setting, self._state, first, second)

    def explain(self, node: Hashable) -> Explanation:
        """What changes if a node takes another arm than recommended, and which links decide."""
        return explain_recommended(self._setting, self._state, node)

    def earnings(self) -> Earnings | None:
        """What exploring has earned, and what stopping now is expected to cost.

        None while nothing can be estimated, and for graphs of more than 2,000 edges.
        """
        return earnings_of(self._setting, self._state)

    def local_estimate(self) -> LocalEstimate | None:
        """The model of edges that are alike but not equal, fitted to all rounds so far.

        None while nothing is known, and where what edges show one by one is not kept.
        """
        return local_estimate(self._setting, self._state)

    def save(self) -> dict[str, Any]:
        """Everything needed to go on later, as a dict of numbers, strings, arrays and dicts."""
        return saved_run(self._setting, self._state)

    @classmethod
    @border
    def restore(
        cls,
        problem: Problem,
        saved: Mapping[str, Any],
        *,
        strategy: Strategy | None = None,
        stopping: StoppingRule | None = None,
        target: Target | None = None,
    ) -> Learner:
        """A learner that goes on where :meth:`save` left off, bit for bit.

        ``strategy``, ``stopping`` and ``target`` are needed only if they are not part of edgewise.
        """
        learner = cls.__new__(cls)
        learner._setting, learner._state = restored_run(
            problem, saved, strategy=strategy, stopping=stopping, target=target
        )
        learner._ticket = None
        return learner

    def _check(self, ticket: Ticket) -> None:
        number = getattr(ticket, "round", None)
        if not isinstance(number, int):
            raise UnknownTicket(
                f"a ticket from ask() is needed, not {ticket!r}; nothing was recorded"
            )
        if number <= self.rounds:
            raise UnknownTicket(
                f"round {number} has been answered already; nothing was recorded: "
                "ask() for the next round"
            )
        if (
            self.verdict.stop
            or number != self.rounds + 1
            or not np.array_equal(ticket.arms, self.ask().arms)
        ):
            raise UnknownTicket(
                f"round {number} was not asked for, or not with these arms (round "
                f"{self.rounds + 1} is waiting); nothing was recorded: tell the ticket that "
                "ask() returned"
            )
