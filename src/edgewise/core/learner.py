"""The engine: ask for a joint arm, tell its rewards, stop when the evidence suffices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from edgewise.base.arrays import Array, Indices
from edgewise.core.evidence.statistics import CellStatistics, observe
from edgewise.core.model.problem import Problem
from edgewise.core.needs import Needs
from edgewise.core.report import Ending, Report
from edgewise.core.reporting import compile_report
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import StoppingRule, Verdict
from edgewise.core.strategies.strategy import Strategy
from edgewise.core.targets import TARGETS
from edgewise.errors import InvalidArgument, InvalidRewards, LearnerStopped, UnknownTicket

_VERSION = 2


@dataclass(frozen=True, eq=False)
class Ticket:
    """One round to deploy: give node i the arm ``arms[i]``, measure, and tell."""

    round: int
    arms: Indices
    """(n,) index of the arm of every node."""


def advance(setting: Setting, state: LearnerState, rounds: CellStatistics) -> LearnerState:
    """The state after R further rounds (R, q, P), or up to the round at which the rule stops.

    One round at a time or many at once, the result is the same to the last bit. Plans with phases
    choose every joint arm anew and take one round at a time.
    """
    numbers = state.rounds + 1 + np.arange(len(rounds.information))
    if setting.plan.has_phases and len(numbers) > 1:
        raise InvalidArgument(
            f"{len(numbers)} rounds at once for a plan with phases; advance one round at a time"
        )
    cumulative = state.statistics.followed_by(rounds)
    after = replace(
        state,
        rounds=int(numbers[-1]),
        statistics=cumulative[-1],
        phase_rounds=state.phase_rounds + len(numbers),
    )
    over = setting.plan.phase_over(setting.problem, after)
    target = TARGETS[setting.target]
    due = target.is_due(setting, numbers)
    due[-1] |= over
    looks: Indices = np.flatnonzero(due)
    if not len(looks):
        return after
    found = target.look(setting, state, numbers[looks], cumulative[looks])
    after = replace(after, verdict=found.verdict, answer=found.answer)
    if found.verdict.stop:
        taken = int(looks[found.position]) + 1
        return replace(
            after,
            rounds=state.rounds + taken,
            statistics=cumulative[taken - 1],
            phase_rounds=state.phase_rounds + taken,
        )
    return next_phase(setting, after, found.needs()) if over else after


def tell_round(
    setting: Setting, state: LearnerState, arms: Indices, rewards: Array
) -> LearnerState:
    """The state after the round that deployed ``arms`` (n,) and showed ``rewards`` (m,).

    NaN where missing. Raises InvalidRewards, touching nothing, if a reward cannot be summed.
    """
    told = observe(setting.problem.graph, setting.plan.cells, arms, rewards)
    after = advance(setting, state, told[None])
    total = float(rewards.sum())
    if total > after.best_total:  # never true for NaN: rounds with gaps do not compete
        after = replace(after, best_arms=arms, best_total=total)
    return after


def next_phase(setting: Setting, state: LearnerState, needs: Needs | None) -> LearnerState:
    """Close the present phase; the next one is laid out for what is still open."""
    return replace(
        state,
        closed=state.closed.with_another(state.statistics),
        statistics=CellStatistics.zero(setting.plan.cells),
        phase_rounds=0,
        aim=setting.plan.next_aim(state, needs),
    )


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
        ``"allocation"``, a joint arm whose global reward is certified. By default the pair in
        the paper's setting (undirected edges of one kind, all arms everywhere), where it
        decides everything, and the allocation elsewhere.
    strategy
        ``"adaptive"`` (fewest rounds; nodes are coordinated), ``"g-optimal"`` (independent nodes)
        or ``"paper"``, or a :class:`~edgewise.core.strategies.strategy.Strategy`.
    stopping
        ``"anytime"``, ``"mixture"``, ``"union"`` or ``"paper"``, or a rule of your own; by default
        the one that belongs to the strategy: in the same order ``"anytime"``, ``"mixture"``,
        ``"paper"``.
    rng
        Generator or seed from which the seed of all joint arms is drawn.

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
        target: str | None = None,
        strategy: str | Strategy = "adaptive",
        stopping: str | StoppingRule | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        self._setting = Setting.of(
            problem,
            delta=delta,
            epsilon=epsilon,
            strategy=strategy,
            stopping=stopping,
            target=target,
        )
        seed = int(np.random.default_rng(rng).integers(2**64, dtype=np.uint64))
        plan = self._setting.plan
        self._state = LearnerState.start(plan.cells, plan.first_aim(), seed)
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

    def ask(self) -> Ticket:
        """The next round to deploy. Asking again before telling gives the same round."""
        if self.verdict.stop:
            raise LearnerStopped(
                f"the answer was certified after round {self.rounds}; read report(), or start a "
                "new Learner with a smaller delta or epsilon to go on"
            )
        if self._ticket is None:
            number = self.rounds + 1
            self._ticket = Ticket(number, self._setting.plan.joint_arm(self.problem, self._state))
        return self._ticket

    def tell(self, ticket: Ticket, rewards: ArrayLike) -> None:
        """Record the rewards (m,) of a round, in ``graph.arcs`` order; NaN where missing.

        Wrong input raises and changes nothing.
        """
        self._check(ticket)
        values = checked_rewards(rewards, self.problem.graph.n_arcs)
        self._state = tell_round(self._setting, self._state, self.ask().arms, values)
        self._ticket = None

    def report(self) -> Report:
        """The answer so far, its guarantee, and what it rests on."""
        stalled = Ending.STALLED if self.verdict.stalled else Ending.RUNNING
        ending = Ending.CERTIFIED if self.verdict.stop else stalled
        return compile_report(self._setting, self._state, ending)

    def save(self) -> dict[str, Any]:
        """Everything needed to go on later, as a dict of numbers, strings and arrays."""
        return {
            "version": _VERSION,
            "problem": self.problem.fingerprint,
            "delta": self._setting.delta,
            "epsilon": self._setting.epsilon,
            "target": self._setting.target,
            "strategy": self._setting.strategy.name,
            "stopping": self._setting.rule.name,
            # a name does not tell settings apart: Union(growth=2) is called "union" as well
            "methods": repr((self._setting.strategy, self._setting.rule)),
            **self._setting.plan.memory(),
            **self._state.to_dict(),
        }

    @classmethod
    def restore(
        cls,
        problem: Problem,
        saved: Mapping[str, Any],
        *,
        strategy: Strategy | None = None,
        stopping: StoppingRule | None = None,
    ) -> Learner:
        """A learner that goes on where :meth:`save` left off, bit for bit.

        ``strategy`` and ``stopping`` are needed only if they were not built-in ones with their
        usual settings.
        """
        if saved.get("version") != _VERSION:
            raise InvalidArgument(
                f"saved state has version {saved.get('version')!r}, this edgewise reads "
                f"{_VERSION}; restore it with the edgewise that saved it"
            )
        if saved["problem"] != problem.fingerprint:
            raise InvalidArgument(
                "the saved state belongs to another problem (graph, arms, noise or options "
                "differ); pass the problem it was saved with"
            )
        learner = cls(
            problem,
            delta=saved["delta"],
            epsilon=saved["epsilon"],
            target=saved["target"],
            strategy=strategy or saved["strategy"],
            stopping=stopping or saved["stopping"],
            rng=0,
        )
        setting = learner._setting
        if repr((setting.strategy, setting.rule)) != saved["methods"]:
            raise InvalidArgument(
                f"the state was saved with {saved['methods']}, not "
                f"{(setting.strategy, setting.rule)}; pass strategy= and stopping= as they were"
            )
        learner._setting = replace(setting, plan=setting.plan.recall(saved))
        learner._state = LearnerState.from_dict(saved)
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


def checked_rewards(rewards: ArrayLike, n_arcs: int) -> Array:
    """(m,) the rewards of a round as numbers, NaN where missing, or InvalidRewards."""
    if isinstance(rewards, np.ma.MaskedArray):  # masked is missing, whatever lies underneath
        rewards = np.ma.filled(rewards.astype(float), np.nan)
    try:
        values = np.asarray(rewards, dtype=None if np.iscomplexobj(rewards) else float)
        values = values.astype(float, casting="same_kind", copy=False)
    except (TypeError, ValueError) as error:
        raise InvalidRewards(
            f"rewards are not numbers ({error}); give {n_arcs} numbers, NaN where missing; "
            "nothing was recorded"
        ) from error
    if values.shape != (n_arcs,):
        raise InvalidRewards(
            f"rewards have shape {values.shape}; one per arc is needed, ({n_arcs},), in the order "
            "of graph.arcs, NaN where missing; nothing was recorded"
        )
    return np.ascontiguousarray(values)
