"""Identification on a partitioned graph: the learner's own engine, fed by tables from workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgewise.base.border import border
from edgewise.base.checks import function, one_of
from edgewise.base.randomness import Rng, draw_seed
from edgewise.cluster.engine import Engine, Here, OnDask
from edgewise.cluster.identification.advising import adviser
from edgewise.cluster.identification.measuring import MeasuredRewards, round_folder, write_arms
from edgewise.cluster.identification.rounds import Draw, Environment, run_round
from edgewise.cluster.partitions.graph import PartitionedGraph
from edgewise.core.ending import Ending
from edgewise.core.learner import advance, ending_after, initial_state, restored_run, saved_run
from edgewise.core.model.problem import Problem
from edgewise.core.report import Report
from edgewise.core.reporting import compile_report
from edgewise.core.setting import Setting
from edgewise.core.state import LearnerState
from edgewise.core.stopping import StoppingRule, Verdict
from edgewise.core.strategies import Contrast, GOptimal, Strategy, sampling_strategy
from edgewise.core.strategies.contrast import ContrastPhases
from edgewise.core.strategies.independent import IndependentNodes
from edgewise.errors import InvalidArgument, InvalidProblem, LearnerStopped, UnknownTicket


@dataclass(frozen=True)
class RoundFiles:
    """One round to deploy: the joint arm lies in Parquet files, columns node and arm."""

    round: int
    folder: str


@border
class PartitionedLearner:
    """Finds the best pair of arms on a partitioned graph, as :class:`~edgewise.Learner` does.

    Workers draw the arms of the edges they hold, get or read the rewards there, and sum them by
    cell; only those tables come here. The result is the same to the last bit for any number of
    workers, and that of a learner whose graph has the same edges in the same order. The model is
    trusted: the gate looks at single rewards, which stay where they are.

    Parameters
    ----------
    problem
        Its graph is a :class:`PartitionedGraph`; a reward per arc, all arms everywhere.
    delta, epsilon, stopping, rng
        As in :class:`~edgewise.Learner`.
    strategy
        ``"contrast"`` or ``"g-optimal"``: independent nodes, which need no coordination.
    target
        ``"pair"``. ``"allocation"`` is refused: every look of it searches for the best joint arms
        of many tables on the whole graph. The report allocates, with a bound, all the same.
    dask
        A ``distributed.Client``, or an engine of :func:`working_on`; None: in this process.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        delta: float = 0.05,
        epsilon: float | None = None,
        strategy: str | Strategy = "contrast",
        stopping: str | StoppingRule | None = None,
        target: str = "pair",
        rng: Rng = None,
        dask: Any = None,
    ) -> None:
        _check_problem(problem)
        _check_target(target)
        self._setting = Setting.of(
            problem,
            delta=delta,
            epsilon=epsilon,
            strategy=_checked_strategy(strategy),
            stopping=stopping,
            target="pair",
            trust_model=True,
        )
        self._state = initial_state(self._setting, draw_seed(rng))
        self._engine = _engine(dask)

    @property
    def problem(self) -> Problem:
        """What is to be found out."""
        return self._setting.problem

    @property
    def graph(self) -> PartitionedGraph:
        """The problem's."""
        assert isinstance(self.problem.graph, PartitionedGraph)  # _check_problem has seen to it
        return self.problem.graph

    @property
    def rounds(self) -> int:
        """How many rounds have been told."""
        return self._state.rounds

    @property
    def verdict(self) -> Verdict:
        """Where the comparison stands."""
        return self._state.verdict

    @property
    def state(self) -> LearnerState:
        """What the rounds have taught so far."""
        return self._state

    def ending(self, *, max_rounds: int | None = None) -> Ending:
        """Whether it is over, and why."""
        return ending_after(self._state, max_rounds=max_rounds)

    @border
    def ask(self, folder: str | Path) -> RoundFiles:
        """The next round, for a live network: workers write its joint arm as Parquet files."""
        draw = self._draw()
        tasks = [
            self._engine.submit(write_arms, draw, str(folder), one.number, one.first, one.last)
            for one in self.graph.ranges
        ]
        for task in tasks:
            self._engine.result(task)
        return RoundFiles(draw.round, str(round_folder(folder, draw.round)))

    @border
    def tell(self, ticket: Any, measured: str | Path) -> None:
        """Record the round's measurements, a Parquet file per partition (column reward)."""
        number = getattr(ticket, "round", None)
        if number != self.rounds + 1:
            raise UnknownTicket(
                f"a ticket of round {number} was told, and round {self.rounds + 1} is waiting; "
                "tell what ask() gave last; nothing was recorded"
            )
        self.run_round(MeasuredRewards(str(measured)))

    def run_round(self, environment: Environment) -> None:
        """Deploy the next round where the partitions are, and record what it shows.

        Whatever goes wrong raises and changes nothing.
        """
        function("environment", environment, "the rewards of a share of the edges")
        draw = self._draw()
        partitions, cells = self.graph.partitions, self._setting.plan.cells
        told = run_round(self._engine, partitions, cells, draw, environment)
        self._state = advance(self._setting, self._state, told[None])

    @border
    def report(self, *, max_rounds: int | None = None) -> Report:
        """The answer so far, its guarantee, and the allocation that it recommends."""
        ending = self.ending(max_rounds=max_rounds)
        advise = adviser(self._engine, self.graph)
        return compile_report(self._setting, self._state, ending, advise=advise)

    def save(self) -> dict[str, Any]:
        """Everything needed to go on later, as a dict of plain values."""
        return saved_run(self._setting, self._state)

    @classmethod
    @border
    def restore(
        cls, problem: Problem, saved: Mapping[str, Any], *, dask: Any = None
    ) -> PartitionedLearner:
        """A learner that goes on where :meth:`save` left off, bit for bit."""
        _check_problem(problem)
        learner = cls.__new__(cls)
        learner._setting, learner._state = restored_run(problem, saved)
        learner._engine = _engine(dask)
        return learner

    def _draw(self) -> Draw:
        """The recipe of the next joint arm."""
        if self.ending() is not Ending.RUNNING:
            raise LearnerStopped(f"the learner has ended after round {self.rounds}; read report()")
        plan, state = self._setting.plan, self._state
        assert isinstance(plan, ContrastPhases | IndependentNodes)  # _checked_strategy
        laws = plan.laws(state.aim) if isinstance(plan, ContrastPhases) else plan.laws
        law = tuple(laws.weights[0].tolist())
        return Draw(self.graph.n_nodes, law, state.seed, state.rounds + 1)


def _engine(dask: Any) -> Engine:
    """An engine as it is, or that of a client."""
    if dask is None:
        return Here()
    if isinstance(dask, Here | OnDask):
        return dask
    if type(dask).__name__ == "Client" and hasattr(dask, "submit"):
        return OnDask(dask)
    raise InvalidArgument(
        f"dask is a {type(dask).__name__}; a learner takes a distributed.Client, or what "
        "edgewise.cluster.working_on(address) gives; None is this process",
        argument="dask",
    )


def _checked_strategy(strategy: str | Strategy) -> Strategy:
    chosen = sampling_strategy(strategy)
    if not isinstance(chosen, GOptimal | Contrast):
        raise InvalidArgument(
            f"strategy {chosen.name!r} coordinates the nodes or needs the whole graph; on "
            "partitions use strategy='contrast' or 'g-optimal', whose nodes are independent",
            argument="strategy",
        )
    return chosen


def _check_target(target: str) -> None:
    one_of("target", target, ("pair", "allocation"))
    if target == "allocation":
        raise InvalidArgument(
            "target 'allocation' searches the whole graph for rivals at every look, which "
            "partitions do not allow; use target='pair': the report allocates, with a bound on "
            "what is lost for the estimated tables",
            argument="target",
        )


def _check_problem(problem: Problem) -> None:
    if not isinstance(problem.graph, PartitionedGraph):
        raise InvalidProblem(
            "the problem's graph is in memory; use edgewise.identify, or make it a PartitionedGraph"
        )
    if not problem.is_plain or problem.candidates is not None or problem.is_bernoulli:
        raise InvalidProblem(
            "on partitions every arc has a reward with Gaussian or sub-Gaussian noise, edges of a "
            "kind share a matrix, and every node may take every arm: leave measured, levels, "
            "pooling, interaction, candidates and noise='bernoulli' out"
        )
